/**
 * Operations with a generated form: their inputs, settings, run button and result, from the table `OPERATIONS`.
 *
 * A panel adds `operationSection(app, ["grid"])`; the Edit panel shows all of its own, in groups.
 */
import { messageOf, type App } from "../app";
import { Failed } from "../connection";
import { button, check, choice, download, el, visible, type Child } from "../dom";
import { OPERATIONS, type OperationDone, type OperationInputs, type RunOperation } from "../messages";
import { sentence } from "../panels/find_example";
import { keyedPoints } from "../key_lane";
import { curveEditor } from "./curve_editor";
import { settingsForm, type Control, type Form } from "./form";
import { gradeTable } from "./measures";

export interface Operation {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly panel: string;
  readonly group: string;
  readonly takes: readonly string[];
  readonly gives: string;
  readonly button: string;
  readonly skip: readonly string[];
  readonly as_new: boolean;
  readonly forms: readonly (readonly Control[])[];
}

type Fields = Partial<RunOperation>;

/** Called with the result of a run, and with the id of the clip that was selected. */
export type Finished = (done: OperationDone, motion: string | null) => void;

export interface Menu {
  element: HTMLElement;
  shown(): void;
  /** Open the operations of a group. */
  choose?(group: string): void;
}

/** Controls in the scene for the settings of an operation; `changed` is called after changes in its form. */
export interface SceneTool {
  element: HTMLElement;
  changed(): void;
}

/** Called with an operation and its form. Returns its controls in the scene, if there are any. */
export type MakeTool = (operation: Operation, form: Form<Record<string, unknown>>) => SceneTool | null;

/** One input of an operation: its control, and the fields of the command that it fills. */
interface Input {
  element: Child;
  fields(): Fields;
  /** The fields that the user has chosen, which are kept when the input is redrawn; by default all. */
  kept?(): Fields;
}

const NONE: OperationInputs = { graphs: [], spaces: [], positions: [], files: [] };
/** Labels of inputs that are files or graphs, and the texts shown if there are none. */
const CHOICES: Record<string, { label: string; none: string; list: (known: OperationInputs) => string[] }> = {
  graph: { label: "Graph", none: "Build a graph first, or put a saved one into the open folder.", list: ({ graphs }) => graphs },
  file: { label: "File", none: "The open folder has no file of the required type.", list: ({ positions }) => positions },
  space: { label: "Target control", none: "The open folder has no target controls. The Find panel saves them.", list: ({ spaces }) => spaces },
};
/** Texts of choices, for settings whose values are not words that users know. */
const TEXTS: Record<string, [string, string][]> = {
  posture: [["pitch", "forward/back lean of the upper-body clip"], ["full", "full posture of the upper-body clip"], ["", "posture of the selected clip"]],
  align: [["loop", "start anywhere in the first cycle, loop if too short"], ["first_minimum", "start at the first matching frame, stop when either clip ends"]],
  part: [["upper_body", "upper body"], ["arms", "both arms"], ["left_arm", "left arm"], ["right_arm", "right arm"], ["head", "head"]],
};
/** Settings that begin with other values than the library's defaults. */
const INITIAL = (app: App): Record<string, Record<string, unknown>> => ({
  save: app.welcome?.folder ? {} : { target: "download" },
  // A dragged path is rarely as long as the steps.
  path: { stretch: true },
});
const PICTURE = /\.(png|gif|webp)$/;

export function operationsOf(panel: string): Operation[] {
  return OPERATIONS.filter((each) => each.panel === panel);
}

/**
 * All operations of a panel: their groups, the operations of one group, and the form of the one that is chosen.
 * `opened` is called with the one that is chosen.
 */
export function operationMenu(app: App, panel: string, makeTool?: MakeTool, opened?: (operation: Operation) => void): Menu {
  const all = operationsOf(panel);
  const groups = [...new Set(all.map(({ group }) => group))];
  const forms = new Map<string, ReturnType<typeof operationForm>>();
  // The operation that was last open in each group.
  const last = new Map(groups.map((group) => [group, all.find((each) => each.group === group)!]));
  const [bar, chips, body] = [el("div", { class: "segments", role: "group" }), el("div", { class: "chips" }), el("div")];
  let current = all[0]!;
  const pressable = (text: string, on: boolean, press: () => void, title = "", cls = "") => {
    const node = button(text, press, title, cls);
    node.setAttribute("aria-pressed", String(on));
    return node;
  };
  const open = (operation: Operation) => {
    current = operation;
    last.set(operation.group, operation);
    bar.replaceChildren(...groups.map((group) => pressable(group, group === operation.group, () => choose(group))));
    const shown = all.filter(({ group }) => group === operation.group);
    chips.replaceChildren(...shown.map((each) => pressable(each.title, each === operation, () => open(each), each.about, "chip")));
    const form = forms.get(operation.name) ?? operationForm(app, operation, undefined, makeTool);
    forms.set(operation.name, form);
    body.replaceChildren(form.element, ...elsewhere(app, operation.group));
    form.shown();
    opened?.(operation);
    app.keys.refresh();
  };
  const choose = (group: string) => {
    if (last.has(group)) open(last.get(group)!);
    // The form begins below the bar, which has stuck to the top of the panel and stays there.
    const panel = element.closest(".tab-body");
    if (panel) panel.scrollTop += Math.min(0, element.getBoundingClientRect().top - panel.getBoundingClientRect().top);
  };
  const element = el("div", { class: `stack operations${groups.length > 1 ? " grouped" : ""}` }, ...(groups.length > 1 ? [bar] : []), chips, body);
  open(current);
  return { element, shown: () => forms.get(current.name)?.shown(), choose };
}

/** Where else to look for something that is expected in a group. */
function elsewhere(app: App, group: string): HTMLElement[] {
  if (group !== "Repair") return [];
  const link = button("Clean up", () => app.openPanel.emit("compare"), "Open the Compare panel", "link");
  return [el("p", { class: "dim" }, "Do feet slide? Use ", link, " in Compare.")];
}

/** One operation as a section of a panel, folded unless `open`; `finished` is called after each run. */
export function operationSection(app: App, name: string, finished?: Finished, open = false): HTMLElement {
  const operation = OPERATIONS.find((each) => each.name === name)!;
  const form = operationForm(app, operation, finished);
  if (open) return el("section", {}, el("h3", { text: operation.title }), form.element);
  const summary = el("summary", { class: "dim", text: operation.title });
  return el("details", { class: "folded", on: { toggle: () => form.shown() } }, summary, form.element);
}

function operationForm(app: App, operation: Operation, finished?: Finished, makeTool?: MakeTool): Menu {
  const result = el("div", { class: "stack", aria: { live: "polite" } });
  const failure = el("p", { class: "missed", hidden: true, role: "alert" });
  let inputs: Input[] = [];
  let known = NONE;
  let asNew = operation.as_new;
  const inputBox = el("div", { class: "stack" });
  const names = new Set<string>();
  const joints = () => [...Object.keys(app.selected?.info.roles ?? {}), ...(app.selected?.info.joints ?? [])];
  // Options of the same name in several classes have one control.
  const controls = operation.forms.flat().filter(({ name }) => !names.has(name) && names.add(name) && !operation.skip.includes(name));
  const form = settingsForm<Record<string, unknown>>(controls, { changed: () => changed(), suggest: { joint: joints }, choices: fitting(controls), initial: INITIAL(app)[operation.name] ?? {} });
  const tool = makeTool?.(operation, form) ?? null;
  const takesClip = operation.takes.some((take) => take === "motion" || take === "recording");
  const canRetarget = controls.some(({ name }) => name === "retarget");
  /** Run again with clips of different skeletons retargeted. */
  const retarget = button("Retarget and try again", () => {
    form.set({ ...form.value, retarget: true });
    void run();
  }, "Bring the clips onto one skeleton first. This turns on Retarget under Advanced.");
  const fail = (text: string, parameter = "", type = "") => {
    failure.replaceChildren(...(text ? [el("span", { text })] : []), ...(type === "DifferentSkeletons" && canRetarget ? [el("span", { class: "row" }, retarget)] : []));
    failure.hidden = !text;
    failed = app.selected?.info.motion;
    // The error stands below the control that it is about.
    const wrong = form.mark(text ? parameter : "");
    if (wrong) wrong.after(failure);
    else element.append(failure);
    if (text) failure.scrollIntoView({ block: "nearest" });
  };
  const changed = () => {
    fail("");
    tool?.changed();
  };
  const drawInputs = () => {
    const kept = Object.assign({}, ...inputs.map((each) => (each.kept ?? each.fields)())) as Fields;
    inputs = operation.takes.map((take) => makeInput(app, operation, take, known, kept));
    if (operation.skip.includes("start")) inputs.push(makeInput(app, operation, "span", known, kept));
    inputBox.replaceChildren(...inputs.flatMap(({ element }) => (element ? [element] : [])));
    inputBox.hidden = !inputBox.childElementCount;
    go.disabled = takesClip && (!app.selected || (operation.takes[0] === "motion" && app.selected.info.kind !== "motion"));
  };
  /** The clips that the shown result is about: the selected one, and those that were made; with their steps. */
  let about = new Map<string, number>();
  let made: string[] = [];
  let failed: string | undefined;
  const go = button(operation.button, () => void run(), operation.about, "primary");
  const run = async () => {
    fail("");
    const motion = app.selected?.info.motion ?? null;
    const fields = Object.assign({ operation: operation.name, motion, as_new: asNew, settings: form.value }, ...inputs.map((each) => each.fields())) as RunOperation;
    go.disabled = true;
    const changed = operation.gives === "motion" && !asNew ? motion : null;
    if (changed) app.changing.add(changed);
    try {
      const done = await app.run(operation.title, "operate", fields, undefined, () => undefined);
      showResult(app, operation, done, result);
      made = done.motions.map((each) => each.motion);
      const source = takesClip && motion && !made.includes(motion) ? [app.motions.get(motion)?.info] : [];
      about = new Map([...source, ...done.motions].flatMap((info) => (info ? [[info.motion, info.steps[info.undo]!.number]] : [])));
      drawResult();
      // The timeline of the new clip may take room from the panel.
      requestAnimationFrame(() => requestAnimationFrame(() => result.scrollIntoView({ block: "nearest" })));
      finished?.(done, motion);
      if (done.graph) void refresh();
    } catch (error) {
      // Errors about a clip that was closed in the meantime are no news.
      const isClosed = takesClip && motion !== null && !app.motions.has(motion);
      if (!isClosed && !(error instanceof Failed && error.type === "Cancelled")) fail(sentence(messageOf(error)), ...(error instanceof Failed ? ([error.parameter, error.type] as const) : []));
    } finally {
      if (changed) app.changing.delete(changed);
      drawInputs();
    }
  };
  const refresh = async () => {
    if (operation.takes.some((take) => take in CHOICES || take === "other")) known = await app.connection.ask("operation_inputs", {}).catch(() => NONE);
    drawInputs();
  };
  for (const signal of [app.motionsChanged, app.selectionChanged]) signal.on(() => element.isConnected && drawInputs());
  // Messages about a clip disappear when another is selected.
  app.selectionChanged.on(() => {
    if (!failure.hidden && app.selected?.info.motion !== failed) fail("");
  });
  /** Hide a result while another clip is selected, and while what it describes is undone. */
  const drawResult = () => {
    const isDone = (id: string) => {
      const info = app.motions.get(id)?.info;
      return info?.steps.slice(0, info.undo + 1).some(({ number }) => number === about.get(id)) ?? false;
    };
    const others = takesClip && about.size > 0 && !about.has(app.selected?.info.motion ?? "");
    result.hidden = others || (made.length > 0 ? !made.some(isDone) : ![...about.keys()].every(isDone));
  };
  for (const signal of [app.motionsChanged, app.selectionChanged, app.infoChanged]) signal.on(drawResult);
  app.playback.changed.on(() => {
    if (element.isConnected) for (const { element: node } of inputs) (node as HTMLElement & { draw?: () => void })?.draw?.();
  });
  const own = operation.gives === "motion" ? [check("As a new clip", asNew, (on) => (asNew = on), "Keep the original and add the result to the clips. Otherwise the clip is changed, which can be undone.")] : [];
  const element = el("section", { class: "operation" }, el("p", { class: "dim", text: operation.about }), ...(tool ? [tool.element] : []), inputBox, ...(controls.length ? [form.element] : []), ...own, el("div", { class: "row" }, go), result);
  drawInputs();
  return { element, shown: () => void refresh() };
}

/** The texts of choices for the controls of that name with those choices. */
function fitting(controls: readonly Control[]): Record<string, [string, string][]> {
  const fits = (name: string, texts: [string, string][]) =>
    controls.some((each) => each.name === name && each.choices.length > 1 && each.choices.every((value) => texts.some(([key]) => key === value)));
  return Object.fromEntries(Object.entries(TEXTS).filter(([name, texts]) => fits(name, texts)));
}

/** A line of text that follows the playhead or the marked range. */
function liveText(text: () => string): HTMLElement {
  const node = el("p", { class: "fact" });
  const draw = () => {
    const now = text();
    if (node.textContent !== now) node.textContent = now;
  };
  draw();
  return Object.assign(node, { draw });
}

function makeInput(app: App, operation: Operation, take: string, known: OperationInputs, kept: Fields): Input {
  const { playback } = app;
  const seconds = (frame: number) => `${(frame / playback.fps).toFixed(2)} s`;
  const clips = [...app.motions.values()].filter(({ info }) => info.kind === "motion").map(({ info }) => info);
  if (take === "motion" && operation.panel === "layer") {
    const base = choice("Base clip", clips.map(({ motion, name }) => [motion, name]), app.selected?.info.motion ?? "", (id) => app.select(id), "The selected clip, which keeps everything that is not taken from the other one");
    return { element: clips.length ? base : el("p", { class: "fact", text: "Select a clip first." }), fields: () => ({}) };
  }
  if (take === "motion" || take === "recording") {
    const text = () => (app.selected ? `Clip: ${visible(app.selected.info.name)}` : "Select a clip first.");
    return { element: liveText(text), fields: () => ({}) };
  }
  if (take === "frame") return { element: liveText(() => `Playhead: frame ${playback.frame}, ${seconds(playback.frame)}`), fields: () => ({ frame: playback.frame }) };
  if (take === "range" || take === "span") {
    const none = take === "range" ? "No range is marked. Press I at its start and O at its end." : "Range: the entire clip. Mark a part with I and O.";
    const text = () => (playback.region ? `Range: frames ${playback.region[0]} to ${playback.region[1] - 1}, ${seconds(playback.region[1] - playback.region[0])}` : none);
    return { element: liveText(text), fields: () => ({ range: playback.region }) };
  }
  if (take === "other") {
    // The clip that was used last comes first.
    const recent = [...app.recent];
    const others = clips.filter(({ motion }) => motion !== app.selected?.info.motion)
      .sort((a, b) => recent.indexOf(b.motion) - recent.indexOf(a.motion));
    const open = new Set(clips.map(({ file }) => file));
    const files = known.files.filter((path) => !open.has(path));
    const options: [string, string][] = [...others.map(({ motion, name }): [string, string] => [motion, name]), ...files.map((path): [string, string] => [`file:${path}`, `${path} (file)`])];
    const before = kept.other ?? (kept.file ? `file:${kept.file}` : "");
    let picked = options.some(([value]) => value === before);
    const first = picked ? before : (options[0]?.[0] ?? "");
    const pick = choice({ retarget: "Onto", splice: "Upper body of", transplant: "Body part of" }[operation.name] ?? "Other clip", options, first, () => (picked = true), "Another open clip, or a file in the folder");
    const fields = () => (pick.select.value.startsWith("file:") ? { file: pick.select.value.slice(5), other: null } : { other: pick.select.value || null, file: "" });
    return { element: pick, fields, kept: () => (picked ? fields() : {}) };
  }
  if (take === "motions") {
    // A clip that is compared with others is not among them, unless it is the only one.
    const others = clips.filter(({ motion }) => !operation.takes.includes("motion") || motion !== app.selected?.info.motion);
    const chosen = new Set(kept.motions?.length ? kept.motions.filter((id) => app.motions.has(id)) : (others.length ? others : clips).map(({ motion }) => motion));
    const rows = clips.map(({ motion, name }) => check(visible(name), chosen.has(motion), (on) => void (on ? chosen.add(motion) : chosen.delete(motion))));
    return { element: el("div", { class: "pick-list", role: "group", aria: { label: "Clips" } }, ...rows), fields: () => ({ motions: [...chosen] }) };
  }
  const listed = CHOICES[take];
  if (listed) {
    const options = listed.list(known).map((each): [string, string] => [each, each || "the graph in this panel"]);
    const field = take === "graph" ? "graph" : "file";
    const before = kept[field] ?? "";
    const pick = choice(listed.label, options, options.some(([value]) => value === before) ? before : (options[0]?.[0] ?? ""), () => undefined);
    return { element: options.length ? pick : el("p", { class: "dim", text: listed.none }), fields: () => ({ [field]: pick.select.value }) };
  }
  if (take === "curve") {
    let points = kept.points?.length ? kept.points : ([[0, 1], [1, 1]] as [number, number][]);
    // The middle of the editor is the recorded speed, its ends a quarter and four times of it.
    const speed = (v: number) => 16 ** (v - 0.5);
    const take = (drawn: [number, number][]) => {
      points = drawn.map(([t, v]) => [t, speed(v)]);
      app.keys.refresh();
    };
    const editor = curveEditor("Speed", points.map(([t, value]) => [t, 0.5 + Math.log(value) / Math.log(16)]), take);
    const element = el("div", { class: "stack" }, editor.element, el("p", { class: "dim", text: "Middle: recorded speed. Top: 4 times as fast. Bottom: a quarter. Click to add points, here or below the timeline." }));
    app.keys.offer("speed", element, () => app.selected && keyedPoints("Speed", editor.points, app.selected.info.n_frames, (v) => `${Number(speed(v).toFixed(2))} ×`, (drawn) => {
      editor.points = drawn;
      take(drawn);
    }));
    return { element, fields: () => ({ points }) };
  }
  if (take === "points") return drawnPath(app, kept.points ?? []);
  return { element: null, fields: () => ({}) };
}

/** A button to draw a path on the floor. */
function drawnPath(app: App, points: [number, number][]): Input {
  let stop: (() => void) | null = null;
  const text = () => (points.length ? `Path: ${length(points).toFixed(1)} m` : "No path is drawn.");
  const said = el("span", { class: "dim", text: text() });
  const draw = button(points.length ? "Draw again" : "Draw path", () => {
    stop?.();
    said.textContent = "Drag on the floor to draw the path.";
    stop = app.drawOnGround((stroke) => {
      points = stroke.points;
      said.textContent = text();
      stop?.();
      stop = null;
    });
  }, "Draw the path on the floor of the scene");
  return { element: el("div", { class: "row" }, draw, said), fields: () => ({ points }) };
}

function length(points: [number, number][]): number {
  return points.slice(1).reduce((sum, [x, z], k) => sum + Math.hypot(x - points[k]![0], z - points[k]![1]), 0);
}

function showResult(app: App, operation: Operation, done: OperationDone, box: HTMLElement): void {
  const [first, ...others] = done.motions;
  if (first && app.motions.has(first.motion)) {
    app.update(first);
    // Mirrored and moved clips may have left the view.
    void app.bringIntoView(app.motions.get(first.motion)!).catch(() => undefined);
  } else if (first && !others.length && !operation.as_new) app.present(first);
  else app.history.together(() => done.motions.forEach((each) => app.add(each)));
  const notes = done.notes.map((text) => el("p", { text: sentence(text) }));
  box.replaceChildren(...notes, ...resultParts(app, done), ...done.files.map(fileResult));
  // A download that was asked for needs no second click.
  if (operation.name === "save") for (const { url, name } of done.files) download(url, name);
  if (operation.name === "save" && !done.files.length) app.folderChanged.emit();
}

/** The grades of a result, and its table; with grades, the table is folded. */
export function resultParts(app: App, done: OperationDone): HTMLElement[] {
  const table = done.rows.length ? [resultTable(app, done)] : [];
  if (!done.grades.length) return table;
  const all = table.map((each) => el("details", { class: "folded" }, el("summary", { class: "dim", text: "All metrics, with definitions" }), each));
  return [gradeTable(done.grades, done.columns.length === 3 ? done.columns.slice(1) : undefined), ...all];
}

/** The table of a result. */
function resultTable(app: App, { columns, rows, links }: OperationDone): HTMLElement {
  const follow = (link: string) => {
    const [kind, ...rest] = link.split(":");
    if (kind === "frame") app.playback.seek(Number(rest[0]));
    else void app.open({ path: rest.join(":") });
  };
  const head = el("tr", {}, ...columns.map((text) => el("th", { text })));
  const body = rows.map((row, k) => {
    const link = links[k];
    const [name = "", ...cells] = row;
    if (link?.startsWith("about:")) return definedRow(name, link.slice(6), cells);
    const start = link ? button(name, () => follow(link), link.startsWith("frame") ? "Move the playhead there" : "Open this clip", "link") : name;
    return el("tr", {}, el("th", {}, start), ...cells.map((text) => el("td", { text })));
  });
  return el("div", { class: "table-box result-table" }, el("table", { class: "measures" }, el("thead", {}, head), el("tbody", {}, ...body)));
}

/** A row whose name shows its definition when it is pressed. */
function definedRow(name: string, definition: string, cells: readonly string[]): HTMLElement {
  const text = el("p", { class: "dim definition", text: sentence(definition), hidden: true });
  const open = button(name, () => {
    text.hidden = !text.hidden;
    open.setAttribute("aria-expanded", String(!text.hidden));
  }, definition, "link");
  open.setAttribute("aria-expanded", "false");
  return el("tr", {}, el("th", {}, open, text), ...cells.map((each) => el("td", { text: each })));
}

function fileResult({ url, name }: { url: string; name: string }): HTMLElement {
  const link = Object.assign(el("a", { class: "download", text: `Download ${name}` }), { href: url, download: name });
  const box = el("div", { class: "stack" });
  if (PICTURE.test(name)) {
    const picture = Object.assign(el("img", { class: "preview" }), { alt: name });
    box.append(picture);
    // Downloads have no media type; a picture needs one.
    void fetch(url, { credentials: "same-origin", cache: "no-store" }).then((reply) => reply.blob())
      .then((data) => (picture.src = URL.createObjectURL(data)), () => picture.remove());
  }
  box.append(link);
  return box;
}
