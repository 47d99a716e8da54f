/** View panel: display options, facts about the motion, its contacts and labels, and export. */
import type { App, Panel } from "../app";
import { button, check, choice, el } from "../dom";
import type { Style } from "../limbs";
import { FORMS, type ContactSettings, type Export, type LoadSettings, type MotionInfo } from "../messages";
import { settingsForm } from "../widgets/form";
import { slider } from "../widgets/slider";

export function mount(app: App): Panel {
  const about = el("dl", { class: "facts" });
  const save = button("Save annotations", () => void saveSidecar(app), "Save contacts and labels to the sidecar file (Ctrl+S)");
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
    about.replaceChildren(...(info ? [...facts(info), ...clipChoice(app, info)] : [el("dd", { class: "dim", text: "No clip is open." })]));
    save.disabled = !info?.unsaved;
    find.disabled = info?.kind !== "motion";
  };
  app.selectionChanged.on(draw);
  app.infoChanged.on(draw);
  draw();

  const element = el("div", { class: "panel" },
    el("section", {}, el("h3", { text: "Clip" }), about, findingsList(app), readingOptions(app)),
    el("section", {}, el("h3", { text: "Contacts and labels" }), el("div", { class: "row" }, find, save), detection.element, el("div", { class: "row" }, rename, remove), hint),
    drawingSection(app),
    el("section", {}, el("h3", { text: "Curves" }), app.curves.chooser),
    exportSection(app),
  );
  return { element };
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
  return el("section", {}, el("h3", { text: "Display" }),
    body,
    el("div", { class: "checks" },
      check("Trail", shown.trail, (trail) => app.show({ trail }), "Show the path on the floor"),
      check("Contacts", shown.contacts, (contacts) => app.show({ contacts }), "Show the contact points, orange while they touch"),
      check("Joint names", shown.names, (names) => app.show({ names })),
      check("Point cloud", shown.cloud, (cloud) => {
        app.show({ cloud });
        void showCloud(app);
      }, "Show the points by which frames are compared"),
    ),
    slider({ label: "Onion skin poses", title: "Number of earlier and of later poses that are shown", min: 0, max: 8, step: 1, value: shown.ghosts, input: (ghosts) => app.show({ ghosts }) }).element,
    slider({ label: "Onion skin spacing", title: "Time between two of these poses", unit: "s", min: 0.05, max: 1, step: 0.05, value: shown.ghostStep, input: (ghostStep) => app.show({ ghostStep }) }).element,
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
  const out = rows.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]);
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
  const element = el("details", { class: "folded findings" }, summary, list);
  let checked = "";
  const draw = async () => {
    const info = app.selected?.info;
    const key = info ? `${info.motion} ${info.revision}` : "";
    if (key === checked) return;
    checked = key;
    element.hidden = true;
    if (!info) return;
    const { findings } = await app.connection.ask("check", { motion: info.motion });
    if (key !== checked || !findings.length) return;
    const severe = findings.filter((each) => each.severity === "severe").length;
    summary.textContent = `${findings.length} finding${findings.length > 1 ? "s" : ""}${severe ? `, ${severe} severe` : ""}`;
    list.replaceChildren(...findings.map((each) => el("li", {},
      button(`Frame ${each.start}`, () => app.playback.seek(each.start), "Move the playhead to this finding"),
      el("span", { text: ` ${each.text}` }),
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
  const again = button("Open again", () => {
    const info = app.selected?.info;
    if (info?.file) void app.open({ path: info.file, where: info.where, settings: form.value });
  }, "Open the file of this clip once more with these settings");
  const draw = () => (again.disabled = !app.selected?.info.file);
  app.selectionChanged.on(draw);
  draw();
  return el("details", { class: "folded" }, el("summary", { class: "dim", text: "Unit, axes and rate" }), form.element, el("div", { class: "row" }, again));
}

async function findContacts(app: App, settings: Partial<ContactSettings>): Promise<void> {
  const motion = app.selected?.info.motion;
  if (motion) await app.run("Detecting contacts", "detect_contacts", { motion, settings }).then((info) => app.update(info), () => undefined);
}

export async function saveSidecar(app: App): Promise<void> {
  const info = app.selected?.info;
  if (!info?.unsaved) return;
  try {
    const saved = await app.ask("save_sidecar", { motion: info.motion });
    app.update(saved.motion);
    if (saved.url) download(saved.url, saved.path);
    app.notices.info(`Saved ${saved.path}`);
  } catch {
    // The error was already shown.
  }
}

/** Export the selected motion: to the open folder, if there is one, or as a download. */
function exportSection(app: App): HTMLElement {
  let format: Export["format"] = "glb";
  const formats: [string, string][] = [["glb", "GLB"], ["fbx", "FBX"], ["bvh", "BVH"], ["npz", "NPZ"]];
  const pick = choice("Format", formats, format, (value) => (format = value as Export["format"]));
  const name = el("input", { type: "text", aria: { label: "File name" } });
  const said = el("p", { class: "dim", aria: { live: "polite" } });
  const hasFolder = Boolean(app.welcome?.folder);
  const save = button("Save to folder", () => void saveToFolder(app, format, name, said), "Save to the open folder, with contacts and labels in a sidecar file. Existing files are never overwritten.");
  const fetch = button(hasFolder ? "Download" : "Export", () => void exportFile(app, format, said), "Download the selected clip");
  let named = "";
  const draw = () => {
    const info = app.selected?.info;
    save.disabled = fetch.disabled = info?.kind !== "motion";
    if (!info || info.motion === named) return;
    named = info.motion;
    name.value = info.name;
    said.textContent = "";
    if (!hasFolder || info.kind !== "motion") return;
    // Suggest a free name, because saving under a taken name would be refused.
    app.connection.ask("free_name", { name: info.name }).then((free) => {
      if (app.selected?.info.motion === named && name.value === info.name) name.value = free.name;
    }, () => undefined);
  };
  app.selectionChanged.on(draw);
  draw();
  const lacks = hasFolder
    ? "A download contains only the motion. To keep contacts, labels and floor, use Save to folder, which also writes NAME.marey.json."
    : "The exported file contains only the motion. Contacts, labels and floor are in a separate sidecar file, NAME.marey.json.";
  const rows = hasFolder ? [el("label", { class: "field" }, el("span", { text: "Name" }), name), el("div", { class: "row" }, save, fetch)] : [el("div", { class: "row" }, fetch)];
  return el("section", {}, el("h3", { text: "Export" }), pick, ...rows, said, el("p", { class: "dim", text: lacks }));
}

async function saveToFolder(app: App, format: Export["format"], name: HTMLInputElement, said: HTMLElement): Promise<void> {
  const motion = app.selected?.info.motion;
  if (!motion) return;
  const wanted = name.value.trim();
  const saved = await app.run("Writing the file", "save_in_folder", { motion, format, name: wanted }).catch(() => null);
  if (!saved) return;
  name.value = saved.free;
  said.textContent = saved.path ? `Saved ${saved.path}` : `“${wanted}” already exists. Nothing was saved. Press Save to folder again to save as “${saved.free}”.`;
  if (saved.path) app.folderChanged.emit();
}

async function exportFile(app: App, format: Export["format"], said: HTMLElement): Promise<void> {
  const info = app.selected?.info;
  if (!info) return;
  const file = await app.run("Writing the file", "export", { motions: [info.motion], format, name: info.name }).catch(() => null);
  if (!file) return;
  download(file.url, file.name);
  const { sidecar, sidecar_name } = file;
  said.replaceChildren(...(sidecar ? ["Contacts and labels: ", button(sidecar_name, () => download(sidecar, sidecar_name), "Download the sidecar file; keep it next to the motion file", "quiet")] : []));
}

export function download(url: string, name: string): void {
  const link = el("a");
  link.href = url;
  link.download = name;
  link.click();
}
