/**
 * Demos of the start page. Each opens generated clips and operates the controls of a panel. Each control that it uses is
 * highlighted for a moment, so that the user sees how to do the same.
 */
import type { App } from "./app";

export interface Demo {
  title: string;
  about: string;
  run(app: App): Promise<void>;
}

const PATIENCE_MS = 60000;
const MARKED_MS = 1600;
/** Milliseconds for which the drive demo holds the key W; then the user takes over. */
const HELD_MS = 6000;

export const DEMOS: Demo[] = [
  { title: "Clean a sliding walk", about: "Lock feet that slide, and compare before and after.", run: cleanWalk },
  { title: "Blend a walk and a run", about: "Mix two clips into a jog.", run: blendGaits },
  { title: "Draw a path", about: "Join walks into a motion graph and let it walk along a path.", run: followPath },
  { title: "Drive a character", about: "Steer a walking character with the keyboard.", run: driveCharacter },
];

async function cleanWalk(app: App): Promise<void> {
  const name = await openSample(app, "walk", { seconds: 5 }, "sliding walk", 0.3);
  openPanel(app, "compare");
  const before = app.motions.size;
  await press("Clean up");
  await until(() => app.motions.size > before && app.selected?.info.motion !== name);
  play(app);
}

async function blendGaits(app: App): Promise<void> {
  const names = [await openSample(app, "walk", { seconds: 5 }, "walk"), await openSample(app, "run", {}, "run")];
  openPanel(app, "blend");
  await tick(app, names);
  await press("Blend");
  await until(() => !names.includes(app.selected!.info.motion));
  app.present(app.selected!.info);
}

async function followPath(app: App): Promise<void> {
  const names = [
    await openSample(app, "walk", { seconds: 6, fps: 30 }, "straight"),
    await openSample(app, "walk", { seconds: 6, fps: 30, turn_rate: 0.6 }, "left"),
    await openSample(app, "walk", { seconds: 6, fps: 30, turn_rate: -0.6 }, "right"),
  ];
  openPanel(app, "graph");
  const isOwn = Boolean(find("Random walk"));
  await tick(app, names);
  if (isOwn) app.notices.info("The demo builds its own graph. Undo or History brings yours back, with its path.");
  const newest = () => app.history.changes.at(-1);
  const before = newest();
  await press("Build graph");
  await until(() => newest() !== before && newest()?.title === "Build graph");
  await until(() => find("Random walk"));
  app.openPanel.emit("graph:path");
  await press("Follow path");
  await until(() => !names.includes(app.selected!.info.motion));
  play(app);
}

/** The demo of the start page: `stopping` if it was built before, otherwise a blend tree, which is ready sooner. */
async function driveCharacter(app: App): Promise<void> {
  const { recipes } = await app.ask("drive_list", {});
  if (recipes.some(({ name, is_built }) => name === "stopping" && is_built)) await driveStopping(app);
  else await drive(app, "This blend tree keeps moving; the character “stopping” stops when you let go.", () => set("Controller", "tree"));
}

/** The example of the Drive panel. */
async function driveStopping(app: App): Promise<void> {
  await drive(app, "The character stops when you let go.", () => {
    set("Controller", "character");
    set("Character", "recipe:stopping");
  });
}

async function drive(app: App, about: string, choose: () => void): Promise<void> {
  openPanel(app, "drive");
  await until(() => find("Start"));
  choose();
  await press("Start");
  const isDriving = () => document.body.classList.contains("driving");
  // Building a character takes a while. The button can be pressed again if the user has canceled that.
  await until(() => isDriving() || find("Start"), Infinity);
  if (!isDriving()) return;
  const key = (type: string) => document.dispatchEvent(new KeyboardEvent(type, { key: "w", code: "KeyW", bubbles: true }));
  key("keydown");
  app.notices.info(`Your turn: steer with W, A, S and D or the arrow keys. ${about}`);
  setTimeout(() => key("keyup"), HELD_MS);
}

/** Examples of the panels, by name. */
export const EXAMPLES: Record<string, (app: App) => Promise<void>> = {
  look: async (app) => void (await openSample(app, "medley", {}, "medley")),
  edit: mirrorWalk,
  compare: cleanWalk,
  blend: blendGaits,
  graph: followPath,
  find: findKicks,
  layer: carryCup,
  author: previewWalker,
  drive: driveStopping,
};

async function mirrorWalk(app: App): Promise<void> {
  await openSample(app, "walk", { seconds: 4, turn_rate: 0.4 }, "walk to the left");
  await press("Pose");
  await press("Mirror");
  await press("Apply");
}

async function findKicks(app: App): Promise<void> {
  await openSample(app, "kick_grid", { fps: 30 }, "kicks");
  const kick = app.selected!.info.labels.find(({ name }) => name.includes("kick"));
  if (kick) app.playback.setRegion([kick.start, kick.stop]);
  await press("Find similar");
}

async function carryCup(app: App): Promise<void> {
  await openSample(app, "carry_cup", { seconds: 4 }, "carry a cup");
  await openSample(app, "walk", { seconds: 4 }, "walk");
  await press("Body part");
  await press("Combine");
}

async function previewWalker(): Promise<void> {
  await until(() => fieldOf("Start from")?.querySelector('option[value="recipe:walking"]'));
  set("Start from", "recipe:walking");
  await press("Preview");
}

// --- Controls of the panels

async function openSample(app: App, sample: string, options: Record<string, number>, name: string, slide = 0): Promise<string> {
  const info = await app.ask("open_sample", { sample, options, name, slide });
  app.present(info);
  return info.motion;
}

function openPanel(app: App, name: string): void {
  app.openPanel.emit(name);
}

function panel(): HTMLElement | null {
  return document.querySelector<HTMLElement>("#right .tab-body .panel");
}

function find(label: string): HTMLButtonElement | undefined {
  return [...(panel()?.querySelectorAll("button") ?? [])].find((each) => each.textContent === label && !each.disabled && each.offsetParent);
}

async function press(label: string): Promise<void> {
  const found = await until(() => find(label));
  mark(found);
  found.click();
}

/** Check the clips with these ids in the list of a panel, and no others. */
async function tick(app: App, ids: string[]): Promise<void> {
  const row = (id: string) => panel()?.querySelector<HTMLElement>(`.blend-list [data-motion="${id}"]`);
  for (const id of [...app.motions.keys()].filter((each) => !ids.includes(each)).concat(ids)) {
    const wanted = ids.includes(id);
    // A list is redrawn after each change.
    const found = wanted ? await until(() => row(id)) : row(id);
    const input = found?.querySelector("input");
    if (!found || !input) continue;
    if (wanted) mark(found);
    if (input.checked !== wanted) input.click();
  }
}

function fieldOf(label: string): HTMLElement | undefined {
  return [...(panel()?.querySelectorAll<HTMLElement>("label.field") ?? [])].find((each) => each.firstElementChild?.textContent === label);
}

function set(label: string, value: string): void {
  const field = fieldOf(label);
  const select = field?.querySelector("select");
  if (!select) return;
  mark(field!);
  select.value = value;
  select.dispatchEvent(new Event("change"));
}

function play(app: App): void {
  if (!app.playback.playing) app.playback.toggle();
}

function mark(node: HTMLElement): void {
  node.scrollIntoView({ block: "center" });
  node.classList.add("demo-mark");
  setTimeout(() => node.classList.remove("demo-mark"), MARKED_MS);
}

/** Wait until `find` returns something, and return it. */
async function until<T>(find: () => T | undefined | null | false, patience = PATIENCE_MS): Promise<T> {
  const end = performance.now() + patience;
  for (;;) {
    const found = find();
    if (found) return found;
    if (performance.now() > end) throw new Error("the demo did not finish; see the notices");
    await new Promise((done) => setTimeout(done, 50));
  }
}
