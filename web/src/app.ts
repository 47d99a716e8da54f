/**
 * The application: everything that panels work with.
 *
 * A panel is a module `panels/<name>.ts` that exports `mount(app: App): Panel` and is listed in `panels/index.ts`.
 * It builds its own elements (with `dom.ts` and `widgets/*`), sends commands with `app.ask`, and shows results by
 * adding motions. The page itself never computes motion.
 *
 * Motions
 *   app.motions            the open motions, keyed by id, in order: `info` (from the server), `frames`, `character`
 *   app.selected           the motion that sets the time and whose lanes the timeline shows; `app.select(id)`
 *   app.add(info)          add a motion from a reply to the scene; `app.update(info)` if it has changed
 *   app.present(info)      show a new motion: alone, centered, playing from its start
 *   app.forget(id)         remove it from the scene and close it on the server
 *   app.motionsChanged, app.selectionChanged, app.infoChanged: signals
 *
 * Commands
 *   app.ask("clean", {...})            returns the reply; errors are shown to the user, then thrown
 *   app.run("Cleaning", "clean", {..}) the same for long jobs: shows progress and a cancel button
 *   app.events                         events sent by the server
 *   new LiveCharacter(app.stage, app.connection, started, color)   draws a live stream; see live.ts
 *
 * Scene and time
 *   app.stage              three.js: `stage.scene`, `stage.camera`, `stage.onGround(event)`, `stage.invalidate()`
 *   app.playback           frame, seek, play, speed, loop region (`region` is also the marked range)
 *   app.timeline, app.scale, app.curves
 *   app.drawOnGround(...)  lets the user draw a line on the floor; see pointer.ts
 *   app.dragTarget(...)    a handle in the scene that the user can drag; see pointer.ts
 *   app.history            one undo history; panels add their state with `registerState` and `recordChange`
 *   app.shown              what is drawn of each character; `app.show({...})` changes it
 *   widgets/               slider, curve_editor (weights over time), measures (a table of metrics), notices
 */
import { Failed, type AskOptions, type Connection } from "./connection";
import { freeColor } from "./colors";
import { Curves } from "./curves";
import { byId } from "./dom";
import { CharacterView, SHOWN, type Shown } from "./character_view";
import { Follower } from "./follower";
import { Frames, type Block } from "./frames";
import { History, type Change } from "./history";
import type { Commands, MotionInfo, OpenFile, Welcome } from "./messages";
import { KeyLane } from "./key_lane";
import { Picker } from "./picking";
import { Playback } from "./playback";
import { drawOnGround, dragTarget, type Stroke, type Target, type TargetOptions } from "./pointer";
import { Stage } from "./scene";
import { saveChoice } from "./tab_state";
import { Signal } from "./signal";
import { loadSkin } from "./skin";
import { Themes } from "./theme";
import { readTrail } from "./trail";
import { Timeline } from "./timeline";
import { TimeScale } from "./timescale";
import { Waiting } from "./waiting";
import { Notices } from "./widgets/notices";

export interface Panel {
  /** The content of the tab. */
  element: HTMLElement;
  /** Called when the tab is opened; `hidden` is called when it is left. */
  shown?(): void;
  hidden?(): void;
  /** Called after `shown` if another panel has opened this one with a text after the colon. */
  use?(what: string): void;
  /** Called after `shown` if open clips were sent here, which are to be used and no others. */
  take?(clips: readonly string[]): void;
}

/** A motion in the scene. */
export interface Shot {
  info: MotionInfo;
  frames: Frames;
  character: CharacterView;
  /** Number of the step whose frames are shown as the state before the last edit; null for none. */
  before: number | null;
}

type Asked = Exclude<keyof Commands, "frames" | "hello">;

export class App {
  readonly stage: Stage;
  readonly playback = new Playback();
  readonly scale = new TimeScale();
  readonly timeline: Timeline;
  readonly curves: Curves;
  /** The editable curve below the timeline. */
  readonly keys: KeyLane;
  readonly themes = new Themes();
  readonly notices: Notices;
  readonly motions = new Map<string, Shot>();
  readonly motionsChanged = new Signal();
  /** Whether a panel places the clips in the scene. */
  held = false;
  readonly selectionChanged = new Signal();
  readonly infoChanged = new Signal<MotionInfo>();
  /** The path of a motion was loaded. */
  readonly trailLoaded = new Signal();
  /** A job from before a page reload has ended; panels may ask for the current state. */
  readonly workEnded = new Signal();
  /** A file was written to the folder. */
  readonly folderChanged = new Signal();
  /** Open a panel by its name; what follows a colon is passed to it. */
  readonly openPanel = new Signal<string>();
  /** Open a panel with these open clips. */
  readonly clipsSent = new Signal<{ panel: string; clips: string[] }>();
  readonly history = new History(this);
  readonly picker: Picker;
  /** Seconds by which motions were moved in time, keyed by id. */
  readonly offsets = new Map<string, number>();
  selected: Shot | null = null;
  /** Ids of motions in the order in which they were last selected. */
  readonly recent = new Set<string>();
  /** Ids of the motions that an operation is changing now. */
  readonly changing = new Set<string>();
  shown: Shown = { ...SHOWN };
  readonly followingChanged = new Signal<boolean>();
  /** The server's welcome; null until it has answered. */
  welcome: Welcome | null = null;
  private readonly follower: Follower;
  /** Characters whose skin was already requested. */
  private readonly dressed = new WeakSet<CharacterView>();
  /** Number of edits of contacts and labels that the server has not answered yet. */
  private readonly edits = new WeakMap<Shot, number>();
  private readonly waiting: Waiting;
  /** Whether the time has changed since the characters were last drawn. */
  private stale = false;

  constructor(readonly connection: Connection) {
    this.notices = new Notices(byId("notices"));
    this.waiting = new Waiting(byId("notices"));
    this.stage = new Stage(byId("stage"));
    this.follower = new Follower(this.stage);
    this.timeline = new Timeline(byId("timeline"), this.playback, this.scale);
    this.keys = new KeyLane(byId("keys"), this.playback, this.scale);
    for (const signal of [this.motionsChanged, this.selectionChanged, this.infoChanged]) signal.on(() => this.keys.refresh());
    this.picker = new Picker(this);
    this.curves = new Curves(byId("curves"), this.playback, this.scale, this);
    this.themes.changed.on(() => this.repaint());
    this.stage.ticked.on((seconds) => this.tick(seconds));
    this.playback.changed.on(() => (this.stale = true));
    this.connection.events.on((event) => {
      if (event.event === "motion_changed") this.update(event.motion);
    });
    this.timeline.contactsEdited.on((lanes) => void this.edit("set_contacts", (motion) => ({ motion, lanes })));
    this.timeline.labelsEdited.on((edit) => void this.edit("set_labels", (motion) => ({ motion, ...edit })));
  }

  /** Send a command to the server and return the reply. An error is shown to the user, or passed to `report`, and thrown. */
  async ask<K extends Asked>(
    name: K,
    fields: Commands[K]["fields"],
    options: AskOptions = {},
    report?: (text: string, error: unknown) => void,
  ): Promise<Commands[K]["reply"]> {
    const answer = this.connection.ask(name, fields, options);
    // Jobs that report progress have their own notice.
    if (!options.progress) this.waiting.watch("Working…", answer);
    const motion = "motion" in fields && typeof fields.motion === "string" ? fields.motion : "";
    // Do not report errors about a clip that was closed in the meantime.
    return this.reportFailure(answer, report ?? ((text) => (!motion || this.motions.has(motion)) && this.notices.error(text, motion)));
  }

  /** Wait for a reply and report a failure to the user. */
  private async reportFailure<T>(answer: Promise<T>, report: (text: string, error: unknown) => void = (text) => this.notices.error(text)): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof Failed && error.type === "Cancelled")) report(messageOf(error), error);
      throw error;
    }
  }

  /** Run a long job: shows its title, its progress and a cancel button. `stop` cancels it too. */
  async run<K extends Asked>(
    title: string,
    name: K,
    fields: Commands[K]["fields"],
    stop = new AbortController(),
    report?: (text: string, error: unknown) => void,
  ): Promise<Commands[K]["reply"]> {
    saveChoice(`title ${name}`, title);
    const notice = this.notices.job(title, () => stop.abort());
    try {
      return await this.ask(name, fields, { signal: stop.signal, progress: (fraction, text) => notice.progress(fraction, text) }, report);
    } finally {
      notice.close();
    }
  }

  /** Report a failed command; if the skeletons differ, offer to turn on retargeting and try `again`. */
  offerRetarget(again: () => void): (text: string, error: unknown) => void {
    return (text, error) => {
      if (error instanceof Failed && error.type === "DifferentSkeletons") this.notices.ask(text, [["Retarget and try again", again]]);
      else this.notices.error(text);
    };
  }

  get events(): Connection["events"] {
    return this.connection.events;
  }

  /** Load a file, add it to the scene and select it. An error is shown to the user or passed to `report`. */
  async open(file: OpenFile, asked = this.connection.ask("open", file), report?: (text: string) => void): Promise<void> {
    this.waiting.watch(`Opening ${file.path || "the first file"}…`, asked);
    try {
      const info = await this.reportFailure(asked, report);
      const shot = this.add(info);
      this.playback.seek(0);
      await this.bringIntoView(shot);
      for (const warning of info.warnings.slice(0, 2)) this.notices.note(warning, info.motion, info.name);
    } catch {
      // The error was shown.
    }
  }

  /** Move the camera to a motion that was just opened or made, if it is out of view or if `always` is set. */
  async bringIntoView(shot: Shot, always = false): Promise<void> {
    // The current time may have changed while the frame was loading.
    for (let tries = 0; tries < 4 && !shot.character.show(this.frameOf(shot)); tries++) await this.arrival(shot);
    if (shot !== this.selected) return;
    if (!always && this.stage.seesBox(shot.character.box())) this.goAlong();
    else this.focus();
  }

  /** Wait until the frame that a motion shows now has been loaded. */
  private async arrival(shot: Shot): Promise<void> {
    await shot.frames.load(this.frameOf(shot), this.frameOf(shot) + 1);
  }

  add(info: MotionInfo, select = true): Shot {
    const old = this.motions.get(info.motion);
    if (old) {
      this.update(info);
      if (select) this.select(info.motion);
      return old;
    }
    const shot = this.makeShot(info, freeColor(new Set([...this.motions.values()].map(({ character }) => character.color))));
    this.motions.set(info.motion, shot);
    this.motionsChanged.emit();
    if (select || !this.selected) this.select(info.motion);
    else shot.character.show(this.frameOf(shot));
    void this.dress(shot);
    this.history.recordMotion(info);
    return shot;
  }

  /** Show a new motion: alone, playing from its start, and centered in the view unless `look` moves the camera. */
  present(info: MotionInfo, look: (shot: Shot) => void = () => this.focus()): Shot {
    for (const { character } of this.motions.values()) character.visible = false;
    const shot = this.add(info);
    shot.character.visible = true;
    this.playback.seek(0);
    void shot.frames.load(0, 1).then(() => this.selected === shot && look(shot), () => undefined);
    if (!this.playback.playing) this.playback.toggle();
    return shot;
  }

  /** Apply the server's new description of a motion. Outdated frames are fetched again, except those in `block`. */
  update(info: MotionInfo, block?: Block): void {
    const shot = this.motions.get(info.motion);
    if (!shot) {
      this.add(info, false);
      return;
    }
    const moved = info.revision !== shot.info.revision;
    const rebuilt = info.n_frames !== shot.info.n_frames || info.joints.length !== shot.info.joints.length;
    if (rebuilt) {
      const old = shot.character;
      Object.assign(shot, this.makeShot(info, old.color, block));
      shot.character.visible = old.visible;
      shot.character.group.position.copy(old.group.position);
      // The old body stays until the new frames have been loaded; otherwise the character would flicker during a drag.
      void this.arrival(shot).catch(() => undefined).then(() => old.dispose());
    } else {
      shot.info = info;
      if (moved) {
        shot.frames.clear();
        if (block) shot.frames.put(block);
        void this.loadTrail(shot, block);
      }
      this.showBefore(shot);
      shot.character.refresh(info, this.shownOf(shot));
    }
    this.notices.keepNotes(info.motion, info.warnings);
    const posed = shot.character.show(this.frameOf(shot));
    if (shot === this.selected) {
      // The camera must not jump to a motion that was replaced.
      this.follower.restart();
      if (posed) this.goAlong();
      this.stage.floor = info.floor ?? 0;
      // The reply to an older edit would remove newer edits from the timeline.
      if (!this.edits.get(shot)) this.timeline.show(info);
      if (rebuilt) this.playback.lead(info.n_frames, info.fps);
    }
    this.history.recordMotion(info);
    this.infoChanged.emit(info);
  }

  /** Close a motion. Returns the change, which can be undone. */
  async forget(id: string): Promise<Change | null> {
    const info = this.motions.get(id)?.info;
    await this.shut(id);
    return info ? this.history.recordClosed(info) : null;
  }

  /** Close a motion without an entry in the history. */
  async shut(id: string): Promise<void> {
    this.drop(id);
    await this.ask("close", { motion: id });
  }

  select(id: string): void {
    const shot = this.motions.get(id) ?? null;
    const first = !this.selected;
    // A motion that the user selects is shown, even if it was hidden before.
    if (shot && shot !== this.selected) shot.character.visible = true;
    this.follower.restart(!first && shot !== this.selected);
    this.selected = shot;
    this.recent.delete(id);
    this.recent.add(id);
    if (shot) {
      this.stage.floor = shot.info.floor ?? 0;
      this.playback.lead(shot.info.n_frames, shot.info.fps);
      if (first) void this.bringIntoView(shot, true).catch(() => undefined);
    } else {
      if (this.playback.playing) this.playback.toggle();
      this.playback.lead(1, this.playback.fps);
    }
    this.timeline.show(shot?.info ?? null);
    this.redraw();
    this.goAlong();
    this.selectionChanged.emit();
  }

  /** Change what is drawn of the characters. */
  show(change: Partial<Shown>): void {
    this.shown = { ...this.shown, ...change };
    this.redraw();
  }

  /** Center the view on the selected character. */
  focus(): void {
    const shot = this.selected;
    if (!shot) return;
    shot.character.show(this.frameOf(shot));
    if (!shot.character.posed) return;
    this.stage.focus(shot.character.center(), 0.62 * (shot.info.stature || 1.7));
    this.follower.restart(false);
    this.goAlong();
  }

  /** The character that views are relative to. */
  get subject(): CharacterView | null {
    return this.selected?.character ?? null;
  }

  /** Whether the camera follows the selected character. */
  get following(): boolean {
    return this.follower.on;
  }

  set following(on: boolean) {
    this.follower.on = on;
    this.followingChanged.emit(on);
  }

  /** The frame of a motion at the current time. Motions with different frame rates are synchronized in seconds. */
  frameOf(shot: Shot): number {
    if (shot === this.selected) return this.playback.frame;
    const seconds = this.playback.seconds - this.delayOf(shot.info.motion);
    return Math.max(0, Math.min(shot.info.n_frames - 1, Math.round(seconds * shot.info.fps)));
  }

  /** Seconds by which a motion starts later than the selected one. */
  delayOf(id: string): number {
    return (this.offsets.get(id) ?? 0) - (this.offsets.get(this.selected?.info.motion ?? "") ?? 0);
  }

  drawOnGround(done: (stroke: Stroke) => void): () => void {
    return drawOnGround(this.stage, done);
  }

  dragTarget(options: TargetOptions): Target {
    return dragTarget(this.stage, options);
  }

  /** Remove a motion from the scene, without closing it on the server. */
  drop(id: string): void {
    const shot = this.motions.get(id);
    if (!shot) return;
    shot.character.dispose();
    this.motions.delete(id);
    this.notices.forget(id);
    if (this.selected === shot) this.select([...this.motions.keys()].pop() ?? "");
    this.motionsChanged.emit();
  }

  private redraw(): void {
    for (const shot of this.motions.values()) {
      shot.character.refresh(shot.info, this.shownOf(shot));
      shot.character.show(this.frameOf(shot));
      void this.dress(shot);
    }
    this.stage.invalidate();
  }

  /** Fetch the skin from the motion's own file once it is needed. If that fails, the character keeps its limbs. */
  private async dress({ info, character }: Shot): Promise<void> {
    if (this.shown.style !== "skin" || !info.skin || this.dressed.has(character)) return;
    this.dressed.add(character);
    try {
      const skin = await loadSkin(info.skin, info.joints);
      if (this.motions.get(info.motion)?.character === character) character.setSkin(skin);
      else skin.dispose();
    } catch (error) {
      this.notices.error(`Cannot show the skin of ${info.name}: ${messageOf(error)}`);
    }
  }

  /** Only the selected character shows names, ghosts and a cloud; for several characters, they would be clutter. */
  private shownOf(shot: Shot): Shown {
    return shot === this.selected ? this.shown : { ...this.shown, names: false, ghosts: 0, cloud: false, before: false };
  }

  private makeShot(info: MotionInfo, color: string, block?: Block): Shot {
    const fetch = (start: number, stop: number) => this.connection.frames(info.motion, start, stop);
    const frames = new Frames(info.n_frames, info.joints.length, fetch, this.welcome?.block_frames);
    const character = new CharacterView(this.stage, info, frames, color, { ...this.shown });
    const shot: Shot = { info, frames, character, before: null };
    this.showBefore(shot);
    frames.arrived.on(() => {
      character.show(this.frameOf(this.motions.get(info.motion) ?? shot));
      if (this.selected?.character === character) this.goAlong();
    });
    if (block) frames.put(block);
    void this.loadTrail(shot, block);
    return shot;
  }

  /** Let a character also show its pose before the last edit. */
  private showBefore(shot: Shot): void {
    const { motion, n_frames, joints, before } = shot.info;
    if (before === shot.before) return;
    shot.before = before;
    const fetch = (start: number, stop: number) => this.connection.frames(motion, start, stop, before);
    shot.character.setBefore(before === null ? null : new Frames(n_frames, joints.length, fetch, this.welcome?.block_frames));
  }

  private async loadTrail(shot: Shot, block?: Block): Promise<void> {
    const points = await readTrail(this.connection, shot.info, block);
    if (!points) return;
    shot.character.setTrail(points, shot.info.floor ?? 0);
    this.trailLoaded.emit();
  }

  private async edit<K extends "set_contacts" | "set_labels">(
    name: K,
    fields: (motion: string) => Commands[K]["fields"],
  ): Promise<void> {
    const shot = this.selected;
    if (!shot) return;
    const count = (by: number) => this.edits.set(shot, (this.edits.get(shot) ?? 0) + by);
    count(1);
    try {
      const info = await this.ask(name, fields(shot.info.motion)).finally(() => count(-1));
      this.update(info);
    } catch {
      if (shot === this.selected) this.timeline.show(shot.info);
    }
  }

  private tick(seconds: number): void {
    this.playback.tick(seconds);
    if (this.stale) {
      this.stale = false;
      this.showFrame();
    }
    for (const shot of this.motions.values()) shot.character.placeNames();
  }

  private showFrame(): void {
    for (const shot of this.motions.values()) if (shot.character.visible) shot.character.show(this.frameOf(shot));
    this.goAlong();
  }

  /** Move the camera along with the selected character. */
  goAlong(): void {
    this.follower.follow(this.selected?.character);
  }

  private repaint(): void {
    this.stage.applyTheme();
    this.timeline.draw();
    this.curves.draw();
    this.keys.draw();
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
