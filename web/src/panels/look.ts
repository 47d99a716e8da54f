/** View panel: display options, facts about the motion, its contacts and labels, and export. */
import type { App, Panel } from "../app";
import { button, check, choice, el } from "../dom";
import type { Style } from "../limbs";
import { FORMS, type ContactSettings, type LoadSettings, type MotionInfo } from "../messages";
import { hasChanges, saveSelected } from "../saving";
import { settingsForm } from "../widgets/form";
import { operationSection } from "../widgets/operations";
import { slider } from "../widgets/slider";

export function mount(app: App): Panel {
  const about = el("div", { class: "about-clip" });
  const save = button("Save", () => void saveSelected(app), "Save changes (Ctrl+S): contacts and labels to the sidecar file, a changed motion to a new file");
  const find = button("Detect contacts", () => void findContacts(app, detection.value), "Detect the floor height and foot contacts");
  const detection = settingsForm<ContactSettings>(FORMS.ContactSettings);
  const rename = button("Rename", () => app.timeline.renameSelected(), "Rename the selected label (double-click, or F2)");
  const remove = button("Remove", () => app.timeline.removeSelected(), "Remove the selected contact or label (Delete)");
  const hint = el("p", { class: "dim", text: "Drag in a lane to add an interval; drag the interval or its ends to change it. Keyboard: Tab to the lanes, select with the arrow keys, Enter adds one over the marked range, Alt+arrows move it." });
  const drawSelection = () => {
    rename.disabled = app.timeline.selection !== "label";
    remove.disabled = app.timeline.selection === null;
  };
  app.timeline.spanSelected.on(drawSelection);
  drawSelection();

  const draw = () => {
    const info = app.selected?.info ?? null;
    about.replaceChildren(...(info ? [...facts(info), ...clipChoice(app, info)] : [el("p", { class: "dim", text: "No clip is open." })]));
    save.disabled = !info || !hasChanges(info);
    find.disabled = info?.kind !== "motion";
  };
  app.selectionChanged.on(draw);
  app.infoChanged.on(draw);
  draw();

  const saveAs = operationSection(app, "save", undefined, true);
  const element = el("div", { class: "panel" },
    el("section", {}, el("h3", { text: "Contacts and labels" }), el("div", { class: "row" }, find, save), detection.element, el("div", { class: "row" }, rename, remove), hint),
    drawingSection(app),
    el("section", {}, el("h3", { text: "Clip" }), about, findingsList(app), readingOptions(app)),
    el("section", {}, el("h3", { text: "Curves" }), app.curves.chooser),
    saveAs,
  );
  // The File menu shows how to save a clip.
  const use = (what: string) => {
    if (what !== "save") return;
    saveAs.scrollIntoView({ block: "start" });
    saveAs.querySelector("select")?.focus({ preventScroll: true });
  };
  return { element, use };
}

function drawingSection(app: App): HTMLElement {
  const { shown } = app;
  const styles: [Style, string][] = [["limbs", "solid limbs"], ["bones", "thin bones"], ["skin", "skin from the file"]];
  const body = choice("Body", styles, shown.style, (style) => {
    app.show({ style: style as Style });
    markSkin();
  });
  const markSkin = () => {
    const none = !app.selected?.info.skin;
    body.select.options[2]!.disabled = none && body.select.value !== "skin";
    body.title = none ? "How the body is drawn. Skins are shown only for GLB files." : "How the body is drawn";
  };
  app.selectionChanged.on(markSkin);
  markSkin();
  return el("section", {}, el("h3", { text: "View options" }),
    body,
    el("div", { class: "checks" },
      check("Path", shown.trail, (trail) => app.show({ trail }), "Show the path on the floor"),
      check("Contacts", shown.contacts, (contacts) => app.show({ contacts }), "Show contact points (orange while they touch something) and footprints (green: planted, red: sliding)"),
      check("Joint names", shown.names, (names) => app.show({ names })),
      check("Before edit", shown.before, (before) => app.show({ before }), "Show the clip as it was before the last edit, in gray"),
      check("Point cloud", shown.cloud, (cloud) => {
        app.show({ cloud });
        void showCloud(app);
      }, "Show the points used to compare frames"),
    ),
    slider({ label: "Onion skin poses", title: "Number of poses to show before and after the current frame", min: 0, max: 8, step: 1, value: shown.ghosts, input: (ghosts) => app.show({ ghosts }) }).element,
    slider({ label: "Onion skin spacing", title: "Time between adjacent poses", unit: "s", min: 0.05, max: 1, step: 0.05, value: shown.ghostStep, input: (ghostStep) => app.show({ ghostStep }) }).element,
    cloudWatch(app),
  );
}

/** Update the point cloud when the frame changes, one request at a time. Returns no element. */
function cloudWatch(app: App): null {
  let busy = false;
  app.playback.changed.on(() => {
    if (busy || !app.shown.cloud) return;
    busy = true;
    const frame = app.playback.frame;
    void showCloud(app).finally(() => {
      busy = false;
      if (app.shown.cloud && frame !== app.playback.frame && !app.playback.playing) app.playback.changed.emit();
    });
  });
  return null;
}

async function showCloud(app: App): Promise<void> {
  const shot = app.selected;
  if (!shot || !app.shown.cloud) return;
  try {
    const { points } = await app.ask("cloud", { motion: shot.info.motion, frame: app.playback.frame });
    if (app.shown.cloud) shot.character.setCloud(new Float32Array(points));
  } catch {
    app.show({ cloud: false });
  }
}

function facts(info: MotionInfo): HTMLElement[] {
  const rows: [string, string][] = [
    ["Name", info.name],
    ["File", info.file || "not saved"],
    ["Duration", `${info.n_frames} frames, ${info.seconds.toFixed(2)} s at ${Number(info.fps.toFixed(3))} Hz`],
    [info.kind === "markers" ? "Markers" : "Joints", String(info.joints.length)],
  ];
  if (info.stature > 0) rows.push(["Height", `${info.stature.toFixed(2)} m`]);
  if (info.floor !== null) rows.push(["Floor height", `${info.floor.toFixed(3)} m`]);
  if (info.history.length) rows.push(["History", info.history.join("; ")]);
  for (const line of info.warnings) rows.push(["Notes", line]);
  const out: HTMLElement[] = [el("dl", { class: "facts" }, ...rows.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]))];
  if (info.evidence.length) {
    const lines = info.evidence.map((text) => el("li", { text }));
    out.push(el("details", {}, el("summary", { text: "Import details" }), el("ul", {}, ...lines)));
  }
  return out;
}

/** What is wrong or doubtful with the clip, folded: the clip is checked quietly when it is selected or changed. */
function findingsList(app: App): HTMLElement {
  const summary = el("summary", { class: "dim" });
  const list = el("ul", {});
  const element = el("details", { class: "folded findings", hidden: true }, summary, list);
  let checked = "";
  const draw = async () => {
    const info = app.selected?.info;
    const key = info ? `${info.motion} ${info.revision}` : "";
    if (key === checked) return;
    checked = key;
    element.hidden = true;
    if (!info) return;
    const { rows, links } = await app.connection.ask("operate", { operation: "check", motion: info.motion, settings: {} });
    if (key !== checked || !rows.length) return;
    const severe = rows.filter(([severity]) => severity === "severe").length;
    summary.textContent = `${rows.length} issue${rows.length > 1 ? "s" : ""}${severe ? `, ${severe} severe` : ""}`;
    list.replaceChildren(...rows.map(([, frame, text], k) => el("li", {},
      button(`Frame ${frame}`, () => app.playback.seek(Number(links[k]!.split(":")[1])), "Move the playhead to this issue"),
      el("span", { text: ` ${text}` }),
    )));
    element.hidden = false;
  };
  const quietly = () => void draw().catch(() => undefined);
  app.selectionChanged.on(quietly);
  app.infoChanged.on(quietly);
  quietly();
  return element;
}

/** For files with several clips: choosing another clip opens it as well. */
function clipChoice(app: App, info: MotionInfo): HTMLElement[] {
  if (info.clips.length < 2 || !info.file) return [];
  const clips = info.clips.map((clip): [string, string] => [clip, clip]);
  const open = (clip: string) => void app.open({ path: info.file, where: info.where, settings: { clip } });
  return [choice("Clip", [["", "open another clip…"], ...clips], "", (clip) => clip && open(clip))];
}

/** Controls for a file whose unit, axes or rate were not recognized. */
function readingOptions(app: App): HTMLElement {
  const form = settingsForm<LoadSettings>(FORMS.LoadSettings, { skip: ["fps", "clip"] });
  const again = button("Reopen file", () => {
    const info = app.selected?.info;
    if (info?.file) void app.open({ path: info.file, where: info.where, settings: form.value });
  }, "Reopen this clip's file with these settings");
  const draw = () => (again.disabled = !app.selected?.info.file);
  app.selectionChanged.on(draw);
  draw();
  return el("details", { class: "folded" }, el("summary", { class: "dim", text: "Unit, axes and rate" }), form.element, el("div", { class: "row" }, again));
}

export async function findContacts(app: App, settings: Partial<ContactSettings> = {}): Promise<void> {
  const motion = app.selected?.info.motion;
  if (motion) await app.run("Detecting contacts", "detect_contacts", { motion, settings }).then((info) => app.update(info), () => undefined);
}
