/** Looking at points that are dragged: spine, neck, head and eyes of any motion turn there, one look after another. */
import * as THREE from "three";
import type { App } from "../app";
import { button, check, cssVariable, el } from "../dom";
import type { LookDone } from "../messages";
import type { Target } from "../pointer";
import { latest } from "../widgets/latest";
import { figureText } from "../widgets/measures";

type Place = [number, number, number];

/** A look from a time on; without a point it goes back to what the motion does by itself. */
interface Goal {
  time: number;
  point: Place | null;
  target: Target | null;
  /** Its line in the list: what came of it, and where it is, for those who type. */
  told: HTMLElement;
  fields: HTMLInputElement[];
}

/** Metres that the line of sight is drawn. */
const SIGHT = 1.2;
/** Seconds that two looks are apart at least. */
const APART = 0.05;

export class LookSection {
  readonly element: HTMLElement;
  private base = "";
  private made: string | null = null;
  private goals: Goal[] = [];
  private done: LookDone | null = null;
  private visible = false;
  private sight: THREE.Line | null = null;
  private readonly options = { steady: true, eyes: false };
  private readonly about = el("p", { class: "dim" });
  private readonly list = el("ul", { class: "looks", aria: { label: "Looks" } });
  private readonly said = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly add = button("Look from here", () => this.addGoal(true), "From this time on it looks at a point, which you drag in the scene", "primary");
  private readonly back = button("Back from here", () => this.addGoal(false), "From this time on it looks where it does by itself");
  private readonly fresh = button("Done", () => this.finish(), "Keep the motion as it is; further looks make another one");
  private readonly ask: () => void;

  constructor(private readonly app: App) {
    this.ask = latest(() => this.answer());
    this.element = el("section", {}, el("h3", { text: "Look at a point" }), this.about,
      el("div", { class: "row" }, this.add, this.back), this.list, this.said,
      el("div", { class: "checks" },
        check("Eyes hold steady", this.options.steady, (on) => this.change({ steady: on })),
        check("Joint for the eyes", this.options.eyes, (on) => this.change({ eyes: on })),
      ),
      el("div", { class: "row" }, this.fresh));
    app.selectionChanged.on(() => this.draw());
    app.motionsChanged.on(() => {
      if (this.base && (!app.motions.has(this.base) || (this.made && !app.motions.has(this.made)))) this.finish();
    });
    app.playback.changed.on(() => this.drawSight());
    this.draw();
  }

  shown(): void {
    this.visible = true;
    for (const goal of this.goals) this.hold(goal);
    this.draw();
    this.drawSight();
  }

  hidden(): void {
    this.visible = false;
    for (const goal of this.goals) release(goal);
    this.drawSight();
  }

  private get last(): boolean {
    return this.app.selected?.info.motion === this.made;
  }

  private change(options: Partial<typeof this.options>): void {
    Object.assign(this.options, options);
    if (this.goals.length) this.ask();
  }

  private addGoal(atPoint: boolean): void {
    const shot = this.app.selected;
    if (!shot || shot.info.kind !== "motion") return;
    if (!this.last) {
      this.finish();
      this.base = shot.info.motion;
    }
    const time = this.freeTime(this.app.playback.seconds, shot.info.seconds);
    const stature = shot.info.stature || 1.7;
    const centre = shot.figure.centre();
    const point: Place | null = atPoint ? [centre.x + 0.55 * stature, (shot.info.floor ?? 0) + 0.9 * stature, centre.z + 0.7 * stature] : null;
    const goal: Goal = { time, point, target: null, told: el("span", { class: "what" }), fields: [] };
    this.goals = [...this.goals, goal].sort((a, b) => a.time - b.time);
    this.hold(goal);
    this.drawList();
    this.ask();
  }

  /** The nearest time at which no other look begins. */
  private freeTime(wanted: number, most: number): number {
    let time = Math.min(Math.max(0, wanted), most);
    while (this.goals.some((goal) => Math.abs(goal.time - time) < APART)) time += APART;
    return Number(Math.min(time, most).toFixed(3));
  }

  private hold(goal: Goal): void {
    if (!goal.point || goal.target || !this.visible) return;
    const move = (at: Place) => {
      goal.point = at;
      goal.fields.forEach((field, axis) => (field.value = at[axis]!.toFixed(2)));
      this.ask();
    };
    goal.target = this.app.dragTarget({ at: goal.point, plane: "view", radius: 0.05, moved: move, dropped: move });
  }

  private async answer(): Promise<void> {
    const { base, goals } = this;
    if (!goals.length) return;
    const fields = { motion: base, made: this.made, goals: goals.map(({ time, point }) => ({ time, point })), ...this.options };
    const done = await this.app.ask("layer_look", fields);
    // The person may have begun another one meanwhile.
    if (base !== this.base || !this.goals.length) return;
    const first = !this.made;
    this.done = done;
    this.made = done.motion.motion;
    if (first) {
      const under = this.app.motions.get(base);
      if (under) under.figure.visible = false;
      this.app.add(done.motion);
    } else this.app.update(done.motion);
    this.draw();
    this.drawSight();
  }

  private finish(): void {
    for (const goal of this.goals) release(goal);
    this.goals = [];
    this.base = "";
    this.made = null;
    this.done = null;
    this.drawList();
    this.drawSight();
  }

  /** The looks have changed, not only what came of them. */
  private drawList(): void {
    this.list.replaceChildren(...this.goals.map((goal, k) => this.row(goal, k)));
    this.draw();
  }

  private draw(): void {
    const info = this.app.selected?.info;
    const usable = info?.kind === "motion";
    this.add.disabled = this.back.disabled = !usable;
    this.fresh.hidden = !this.goals.length;
    const base = this.app.motions.get(this.base)?.info.name;
    this.about.textContent = !usable ? "Choose a motion first." : this.last && base ? `Looks of ${base}; drag the points in the scene.`
      : `Let ${info.name} look at something.`;
    for (const goal of this.goals) goal.told.textContent = this.told(goal);
    this.said.textContent = this.done?.notes.join(" ") ?? "";
  }

  private row(goal: Goal, k: number): HTMLElement {
    const time = el("input", { type: "number", min: "0", step: "0.05", value: String(goal.time), aria: { label: `Look ${k + 1} begins at, seconds` } });
    time.addEventListener("change", () => {
      const most = this.app.motions.get(this.base)?.info.seconds ?? 0;
      this.goals = this.goals.filter((each) => each !== goal);
      goal.time = this.freeTime(time.valueAsNumber || 0, most);
      this.goals = [...this.goals, goal].sort((a, b) => a.time - b.time);
      this.drawList();
      this.ask();
    });
    const gone = button("×", () => this.removeGoal(goal), "Take this look away", "quiet");
    gone.setAttribute("aria-label", `Take look ${k + 1} away`);
    return el("li", {}, el("div", { class: "look-head" }, time, el("span", { class: "dim", text: "s" }), goal.told, gone), this.placeFields(goal, k));
  }

  /** Where the point is, to be typed: x, y, z in metres. */
  private placeFields(goal: Goal, k: number): HTMLElement | null {
    if (!goal.point) return null;
    goal.fields = goal.point.map((value, axis) => {
      const field = el("input", { type: "number", step: "0.1", value: value.toFixed(2), aria: { label: `Look ${k + 1}, ${"xyz"[axis]}, metres` } });
      field.addEventListener("change", () => {
        if (!goal.point || !Number.isFinite(field.valueAsNumber)) return;
        goal.point[axis] = field.valueAsNumber;
        goal.target?.set(goal.point);
        this.ask();
      });
      return field;
    });
    return el("div", { class: "look-place" }, el("span", { class: "dim", text: "at" }), ...goal.fields, el("span", { class: "dim", text: "m" }));
  }

  private removeGoal(goal: Goal): void {
    release(goal);
    this.goals = this.goals.filter((each) => each !== goal);
    this.drawList();
    // A motion without any look is what it was made of.
    if (this.goals.length) this.ask();
    else if (this.made) void this.app.forget(this.made).catch(() => undefined);
  }

  /** What came of a look. */
  private told(goal: Goal): string {
    if (!goal.point) return "back";
    const report = this.done?.looks.find((look) => Math.abs(look.time - goal.time) < 1e-3);
    if (!report) return "at a point";
    if (report.settled === null) return "no time to settle";
    const missed = report.missed === null ? "" : `, ${figureText(Number(report.missed.toFixed(1)))}° off`;
    return `settles at ${report.settled.toFixed(2)} s${missed}`;
  }

  /** The line of sight at the current frame. */
  private drawSight(): void {
    const { done } = this;
    const on = this.visible && done !== null && this.last;
    if (this.sight && this.sight.visible !== on) {
      this.sight.visible = on;
      this.app.stage.invalidate();
    }
    if (!on) return;
    if (!this.sight) {
      const shape = new THREE.BufferGeometry();
      shape.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6), 3));
      this.sight = new THREE.Line(shape, new THREE.LineBasicMaterial({ color: cssVariable("--accent") }));
      this.sight.frustumCulled = false;
      this.app.stage.scene.add(this.sight);
    }
    const i = 3 * Math.min(Math.floor(this.app.playback.frame / done.step), done.places.length / 3 - 1);
    const from = new THREE.Vector3().fromArray(done.places, i);
    const to = new THREE.Vector3().fromArray(done.directions, i).multiplyScalar(SIGHT).add(from);
    const ends = this.sight.geometry.getAttribute("position") as THREE.BufferAttribute;
    ends.setXYZ(0, from.x, from.y, from.z);
    ends.setXYZ(1, to.x, to.y, to.z);
    ends.needsUpdate = true;
    this.app.stage.invalidate();
  }
}

function release(goal: Goal): void {
  goal.target?.remove();
  goal.target = null;
}
