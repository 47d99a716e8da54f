/** The player of `marey view`: a self-contained page with its motions inside. */
import { button, byId, choice, el, isOurs, releaseClicked, toggle } from "./dom";
import { CharacterView, SHOWN, type Shown } from "./character_view";
import { Frames, type Block } from "./frames";
import type { ViewData, ViewMotion } from "./messages";
import { Playback } from "./playback";
import { Stage, type Triple } from "./scene";
import { readSkin } from "./skin";
import { Themes } from "./theme";
import { Timeline } from "./timeline";
import { TimeScale } from "./timescale";
import { transport } from "./transport";
import { viewbar } from "./viewbar";

const SCALE = 32767;
const UNSEEN = -32768;
const COLORS = ["#7f9bc0", "#c98a5e", "#79a884", "#a98bbd", "#b9a24f", "#6fa7ad"];

class Player {
  readonly stage = new Stage(byId("stage"), location.hash === "#fine");
  readonly playback = new Playback();
  readonly timeline = new Timeline(byId("timeline"), this.playback, new TimeScale(), false);
  following = true;
  private all = false;
  private shown: Shown = { ...SHOWN };
  private characters: CharacterView[] = [];
  private selected = 0;
  private readonly dressed: Promise<void>;
  private lastCenter: ReturnType<CharacterView["center"]> | null = null;

  constructor(private readonly data: ViewData) {
    this.characters = data.motions.map((motion, i) => this.makeCharacter(motion, COLORS[i % COLORS.length]!));
    this.playback.changed.on(() => this.showFrame());
    this.stage.ticked.on((seconds) => {
      this.playback.tick(seconds);
      for (const character of this.characters) character.placeNames();
    });
    this.select(0);
    this.dressed = this.dress();
    // Drawing waits until the frames have been decoded; loading the first frame starts that.
    void this.characters[0]?.frames.load(0, 1).then(() => {
      this.lastCenter = null;
      this.focus();
    });
  }

  get subject(): CharacterView | null {
    return this.characters[this.selected] ?? null;
  }

  focus(): void {
    const character = this.characters[this.selected];
    if (!character) return;
    character.show(this.playback.frame);
    this.stage.focus(character.center(), 0.62 * (character.info.stature || 1.7));
  }

  select(index: number): void {
    const motion = this.data.motions[index];
    if (!motion) return;
    this.selected = index;
    this.playback.lead(motion.info.n_frames, motion.info.fps);
    this.timeline.show(motion.info);
    this.stage.floor = motion.info.floor ?? 0;
    this.showAll(this.all);
  }

  /** Show all motions at once, or only the selected one. */
  showAll(all: boolean): void {
    this.all = all;
    this.refresh();
    this.characters.forEach((character, i) => (character.visible = all || i === this.selected));
    this.showFrame();
  }

  show(change: Partial<Shown>): void {
    this.shown = { ...this.shown, ...change };
    this.refresh();
    this.showFrame();
  }

  /** Stop, and show all motions as in the pictures of `marey render`. */
  pose(shown: Partial<Shown>): void {
    if (this.playback.playing) this.playback.toggle();
    this.following = false;
    this.show(shown);
    this.showAll(true);
  }

  /** Draw one frame of each motion, seen from `eye`, and return it as a data URL of a PNG file. */
  async picture(frames: number[], width: number, height: number, eye: Triple, target: Triple): Promise<string> {
    await this.dressed;
    await Promise.all(this.characters.map((character, i) => character.frames.load(frames[i]!, frames[i]! + 1)));
    this.characters.forEach((character, i) => character.show(frames[i]!));
    return this.stage.picture(width, height, eye, target);
  }

  /** Only the selected character shows names and ghosts; for several characters, they would be clutter. */
  private refresh(): void {
    const others = { ...this.shown, names: false, ghosts: 0 };
    this.characters.forEach((character, i) => character.refresh(character.info, i === this.selected ? this.shown : others));
  }

  /** Load the skins. If a skin cannot be read, the character keeps its limbs. */
  private async dress(): Promise<void> {
    for (const [i, { info, skin }] of this.data.motions.entries()) {
      const body = skin === null ? undefined : this.data.skins[skin];
      if (body === undefined) continue;
      try {
        this.characters[i]!.setSkin(await readSkin(bytesOf(body).buffer, info.joints));
      } catch (error) {
        console.warn(`cannot show the skin of ${info.name}:`, error);
      }
    }
    this.stage.invalidate();
  }

  private makeCharacter(motion: ViewMotion, color: string): CharacterView {
    const block = unpack(motion);
    const frames = new Frames(motion.info.n_frames, block.nJoints, async () => block, motion.info.n_frames);
    const character = new CharacterView(this.stage, motion.info, frames, color, { ...this.shown });
    const hips = motion.info.roles["hips"] ?? 0;
    const path = new Float32Array(3 * block.nFrames);
    for (let f = 0; f < block.nFrames; f++) {
      const at = 3 * (f * block.nJoints + hips);
      path.set(block.positions.subarray(at, at + 3), 3 * f);
    }
    if (motion.info.kind === "motion") character.setTrail(path, motion.info.floor ?? 0);
    return character;
  }

  private showFrame(): void {
    this.characters.forEach((character, i) => {
      const seconds = this.playback.seconds;
      character.show(i === this.selected ? this.playback.frame : Math.min(character.info.n_frames - 1, Math.round(seconds * character.info.fps)));
    });
    const center = this.following ? this.characters[this.selected]?.center() : undefined;
    if (center && this.lastCenter) this.stage.follow(center.clone().sub(this.lastCenter).setY(0));
    this.lastCenter = center ?? null;
  }
}

/** Decode a motion that was quantized to 16-bit integers; see ViewMotion. */
export function unpack(motion: ViewMotion): Block {
  const nJoints = motion.info.joints.length;
  const nFrames = motion.info.n_frames;
  const packed = int16(motion.positions);
  const positions = new Float32Array(packed.length);
  packed.forEach((q, i) => {
    const k = i % 3;
    positions[i] = q === UNSEEN ? NaN : motion.low[k]! + (q + SCALE) * motion.step[k]!;
  });
  const rotations = Float32Array.from(int16(motion.rotations), (q) => q / SCALE);
  return { version: 1, kind: 1, nJoints, id: 0, first: 0, nFrames, positions, rotations };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

function int16(base64: string): Int16Array {
  const bytes = bytesOf(base64);
  const view = new DataView(bytes.buffer);
  return Int16Array.from({ length: bytes.length / 2 }, (_, i) => view.getInt16(2 * i, true));
}

/** Create the page's elements here, so the HTML file around this script has only data. */
function layout(title: string): void {
  const notices = el("div", { class: "floating", role: "toolbar", aria: { label: "Camera" } });
  notices.id = "viewbar";
  const part = (tag: "header" | "main" | "section" | "div", id: string, ...inside: Node[]) => {
    const node = el(tag, {}, ...inside);
    node.id = id;
    return node;
  };
  document.body.append(
    part("header", "topbar", el("h1", { text: title }), el("span", { class: "spacer" })),
    part("main", "stage", notices),
    part("section", "bottom", part("div", "transport"), part("div", "timeline")),
  );
}

function start(): void {
  const data = JSON.parse(byId("marey-data").textContent ?? "") as ViewData;
  const themes = new Themes();
  layout(data.title);
  const player = new Player(data);
  transport(byId("transport"), player.playback);
  const viewKey = viewbar(byId("viewbar"), player);
  const names = data.motions.map((motion, i): [string, string] => [String(i), motion.info.name]);
  if (names.length > 1) {
    const all = location.hash === "#all"; // of the page's address
    player.showAll(all);
    byId("topbar").append(
      choice("Clip", names, "0", (value) => player.select(Number(value))),
      toggle("Show all", all, (on) => player.showAll(on), "Show all clips at once"),
    );
  }
  const dark = button("◐", () => themes.toggle(), "Switch between light and dark theme", "quiet");
  dark.setAttribute("aria-label", "Switch between light and dark theme");
  const bones = toggle("Bones", false, (on) => {
    skin.set(false);
    player.show({ style: on ? "bones" : "limbs" });
  }, "Draw thin bones instead of solid limbs");
  const skin = toggle("Skin", data.skins.length > 0, (on) => {
    bones.set(false);
    player.show({ style: on ? "skin" : "limbs" });
  }, "Show the skin from the file instead of solid limbs");
  if (data.skins.length) player.show({ style: "skin" });
  byId("topbar").append(
    toggle("Joint names", false, (on) => player.show({ names: on }), "Show joint names"),
    bones,
    ...(data.skins.length ? [skin] : []),
    toggle("Onion skin", false, (on) => player.show({ ghosts: on ? 3 : 0 }), "Show earlier and later poses"),
    dark,
  );
  themes.changed.on(() => {
    player.stage.applyTheme();
    player.timeline.draw();
  });
  releaseClicked();
  document.addEventListener("keydown", (event) => {
    if (isOurs(event) && (viewKey(event) || player.playback.key(event))) event.preventDefault();
  });
  Object.assign(window, { marey: player });
  player.playback.toggle();
}

start();
