/**
 * One undo history for everything: changes of motions, which the server stores, new and closed clips, and the state of
 * panels, such as drawn curves, paths and thresholds.
 *
 * A change of a motion is recognized by its step number, whichever panel made it. A panel registers its state with
 * `registerState` and calls `recordChange` after a change by the user. A change of a motion also records the panel
 * states that have changed since the last record.
 */
import type { App } from "./app";
import type { MotionInfo } from "./messages";
import { Signal } from "./signal";

/** State of a panel: how to read it as a plain value, and how to restore it. */
export interface PanelState {
  read(): unknown;
  write(state: unknown): void | Promise<void>;
}

export interface Change {
  readonly title: string;
  /** Id of the motion that was changed, added or closed; "" for a change of a panel. */
  readonly motion: string;
  undo?(): Promise<unknown>;
  redo?(): Promise<unknown>;
  /** Changes with the same key, one after the other, are one change. */
  readonly key: string;
  /** States of panels before and after the change, as JSON. */
  readonly states: Map<string, [before: string, after: string]>;
  /** Changes with the same number are undone and redone together, such as the two clips of a split. */
  group?: number;
}

const MAX_CHANGES = 200;
/** Keys of the changes that have made or closed a clip. */
const [MADE, CLOSED] = ["made", "closed"];

export class History {
  readonly changed = new Signal();
  /** All changes; those before `at` are done, the others are undone. */
  readonly changes: Change[] = [];
  at = 0;
  private readonly panels = new Map<string, PanelState>();
  private readonly states = new Map<string, string>();
  /** The number of the last step of each motion. */
  private readonly steps = new Map<string, number>();
  private replaying = false;
  private groups = 0;
  private group: number | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly app: App) {}

  /** Include the state of a panel in the history. */
  registerState(name: string, panel: PanelState): void {
    this.panels.set(name, panel);
    this.states.set(name, JSON.stringify(panel.read()));
  }

  /** Record a change of panels by the user. Does nothing if no state has changed. */
  recordChange(title: string, key = ""): void {
    if (this.replaying) return;
    const top = this.top;
    const states = this.compare();
    if (!states.size) return;
    if (key && top?.key === key) this.extend(top, states);
    else this.push({ title, motion: "", key, states });
  }

  /** Record the changes that `work` makes as one. */
  together(work: () => void): void {
    this.group = ++this.groups;
    work();
    this.group = undefined;
  }

  /** Make the current states of panels the baseline: later records do not include changes up to now. */
  resetBaseline(): void {
    this.compare();
  }

  /** Record that a motion was added or changed. */
  recordMotion(info: MotionInfo): void {
    const now = numberOf(info);
    const before = this.steps.get(info.motion);
    this.steps.set(info.motion, now);
    if (this.replaying) return;
    if (before === undefined) {
      if (!info.file) this.push(this.madeChange(info));
      for (let k = 1; k <= info.undo; k++) this.push(this.stepChange(info, k));
    } else if (now === before) {
      // The server has merged a change with the previous one.
      const top = this.top;
      if (top?.motion === info.motion) this.extend(top, this.compare());
    } else if (info.steps[info.undo - 1]?.number === before) {
      this.push(this.stepChange(info, info.undo));
    } else if (info.steps.length === 1) {
      // The panel that made this motion regenerates it after each change of the panel's state.
      this.remove((each) => each.motion === info.motion && each.key !== MADE && each.key !== CLOSED);
    } else {
      this.forget(info.motion);
    }
  }

  /** Record that a clip was closed. */
  recordClosed(info: MotionInfo): Change {
    const { motion } = info;
    const change = { title: `Close ${info.name}`, motion, key: CLOSED, states: this.compare(), undo: () => this.reopen(motion), redo: () => this.app.shut(motion) };
    this.push(change);
    return change;
  }

  /** Undo one change out of order, if it is still done. */
  revert(change: Change): void {
    if (this.top === change) void this.undo();
    else if (this.changes.indexOf(change) >= 0 && this.changes.indexOf(change) < this.at) {
      void this.enqueue(async () => {
        await this.replay(change, true);
        this.remove((each) => each === change);
      });
    }
  }

  /** Rebuild the changes of motions after a reload of the page. */
  restore(infos: readonly MotionInfo[]): void {
    const found = infos.flatMap((info) => {
      this.steps.set(info.motion, numberOf(info));
      const made = info.file ? [] : [{ number: info.steps[0]!.number, done: true, change: this.madeChange(info) }];
      return [...made, ...info.steps.slice(1).map(({ number }, k) => ({ number, done: k < info.undo, change: this.stepChange(info, k + 1) }))];
    });
    found.sort((a, b) => Number(b.done) - Number(a.done) || a.number - b.number);
    this.changes.splice(0, this.changes.length, ...found.map(({ change }) => change));
    this.at = found.filter(({ done }) => done).length;
    this.changed.emit();
  }

  /** Forget the changes of a motion that cannot be undone anymore. */
  forget(motion: string): void {
    this.remove((each) => each.motion === motion);
  }

  undo(): Promise<void> {
    return this.goTo(() => this.wholeGroup(this.at - 1, -1));
  }

  redo(): Promise<void> {
    return this.goTo(() => this.wholeGroup(this.at + 1, 1));
  }

  /** Go on from `to` while the next change belongs to the same group. */
  private wholeGroup(to: number, by: 1 | -1): number {
    const group = (at: number) => this.changes[at]?.group;
    while (group(to) !== undefined && group(to) === group(to - 1)) to += by;
    return to;
  }

  /** Undo or redo changes until `to` of them are done. Steps that are requested meanwhile wait. */
  goTo(to: number | (() => number)): Promise<void> {
    return this.enqueue(async () => {
      const goal = Math.max(0, Math.min(this.changes.length, typeof to === "number" ? to : to()));
      while (this.at !== goal) {
        const back = goal < this.at;
        const change = this.changes[back ? this.at - 1 : this.at]!;
        try {
          await this.replay(change, back);
          this.at += back ? -1 : 1;
        } catch {
          // The error was already shown. What belongs to the same motion cannot be undone either.
          this.remove((each) => each === change || (change.motion !== "" && each.motion === change.motion));
          return;
        }
      }
    });
  }

  private enqueue(work: () => Promise<void>): Promise<void> {
    this.last = this.last.then(work).catch(() => undefined).then(() => this.changed.emit());
    return this.last;
  }

  private async replay(change: Change, back: boolean): Promise<void> {
    this.replaying = true;
    try {
      await (back ? change.undo : change.redo)?.();
      for (const [name, [before, after]] of change.states) {
        await this.panels.get(name)?.write(JSON.parse(back ? before : after));
      }
    } finally {
      this.compare();
      this.replaying = false;
    }
  }

  private get top(): Change | undefined {
    return this.at === this.changes.length ? this.changes[this.at - 1] : undefined;
  }

  private push(change: Change): void {
    for (const [name, pair] of this.compare()) change.states.set(name, pair);
    if (this.group !== undefined) change.group = this.group;
    this.changes.splice(this.at, Infinity, change);
    if (this.changes.length > MAX_CHANGES) this.changes.shift();
    this.at = this.changes.length;
    this.changed.emit();
  }

  private extend(change: Change, states: Change["states"]): void {
    for (const [name, [before, after]] of states) change.states.set(name, [change.states.get(name)?.[0] ?? before, after]);
  }

  private remove(which: (change: Change) => boolean): void {
    const done = this.changes.slice(0, this.at).filter((each) => !which(each));
    this.changes.splice(0, this.changes.length, ...done, ...this.changes.slice(this.at).filter((each) => !which(each)));
    this.at = done.length;
    this.changed.emit();
  }

  /** Read the states of all panels. Returns those that have changed since the last call. */
  private compare(): Change["states"] {
    const found: Change["states"] = new Map();
    for (const [name, panel] of this.panels) {
      const [before, after] = [this.states.get(name)!, JSON.stringify(panel.read())];
      if (before !== after) found.set(name, [before, after]);
      this.states.set(name, after);
    }
    return found;
  }

  /** The change from step `k - 1` to step `k` of a motion. */
  private stepChange({ motion, name, steps }: MotionInfo, k: number): Change {
    const [before, after] = [steps[k - 1]!.number, steps[k]!.number];
    const text = steps[k]!.name;
    return {
      title: `${text.charAt(0).toUpperCase()}${text.slice(1)}: ${name}`, motion, key: "", states: new Map(),
      undo: () => this.step("undo", motion, after), redo: () => this.step("redo", motion, before),
    };
  }

  /** The change that has made a clip. */
  private madeChange({ motion, name }: MotionInfo): Change {
    return { title: `New clip: ${name}`, motion, key: MADE, states: new Map(), undo: () => this.app.shut(motion), redo: () => this.reopen(motion) };
  }

  /** Undo or redo a step of a motion whose current step is `from`. */
  private async step(which: "undo" | "redo", motion: string, from: number): Promise<void> {
    if (this.steps.get(motion) !== from) throw new Error(`the clip has changed in the meantime, so this step cannot be ${which === "undo" ? "undone" : "redone"}`);
    const info = await this.app.ask(which, { motion });
    this.app.update(info);
    if (this.app.selected?.info.motion !== motion) this.app.select(motion);
    const shot = this.app.motions.get(motion);
    if (shot) void this.app.bringIntoView(shot).catch(() => undefined);
  }

  private async reopen(motion: string): Promise<void> {
    this.app.add(await this.app.ask("reopen", { motion }));
  }
}

function numberOf(info: MotionInfo): number {
  return info.steps[info.undo]!.number;
}
