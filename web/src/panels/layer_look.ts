/** Look at dragged points or in directions: rotates spine, neck, head and eyes of any motion, from one gaze target to the next. */
import * as THREE from "three";
import type { App } from "../app";
import { button, check, choice, cssVariable, el, setOptions } from "../dom";
import type { KeyedCurve } from "../key_lane";
import { saveChoice, tabState } from "../tab_state";
import { FORMS, type GazeSettings, type LookDone } from "../messages";
import type { Target } from "../pointer";
import { settingsForm, type Form } from "../widgets/form";
import { latest } from "../widgets/latest";
import { metricText } from "../widgets/measures";

type Place = [number, number, number];

/** Yaw to the left and pitch upward, in radians. */
type Angles = [number, number];

/** A gaze target that starts at `time`; without a point or angles, the gaze returns to that of the original motion. */
interface Goal {
  time: number;
  point: Place | null;
  angles: Angles | null;
  target: Target | null;
  /** Color of its ball and of its number in the list. */
  color: string;
  /** Its row in the list: the status, and number fields for the position. */
  status: HTMLElement;
  fields: HTMLInputElement[];
}

/** State that survives a page reload. */
interface Choices {
  base: string;
  made: string | null;
  goals: { time: number; point: Place | null; angles: Angles | null }[];
  eyes: boolean;
  map: string;
  settings: Partial<GazeSettings>;
}

/** State in the undo history. */
type GazeState = Pick<Choices, "base" | "made" | "goals">;

/** Drawn length of the line of sight, in meters. */
const SIGHT = 1.2;
/** Minimum time between two gaze targets, in seconds. */
const APART = 0.05;
/** Minimum distance in meters of a new ball from all others, and the step by which it is moved aside. */
const [ROOM, ASIDE] = [0.25, 0.3];
const UP = new THREE.Vector3(0, 1, 0);
const COLORS = ["#2f7fd1", "#d1702f", "#3a9a5c", "#9a5cc0", "#b8932a", "#c2486f"];

export class LookSection {
  readonly element: HTMLElement;
  private base = "";
  private made: string | null = null;
  private goals: Goal[] = [];
  private done: LookDone | null = null;
  private visible = false;
  /** Number of series of gaze targets so far. Replies about an earlier series are ignored. */
  private series = 0;
  /** Numbers of requests sent and answered, and whether the series ends with the last. */
  private requests = 0;
  private answered = 0;
  private ending = false;
  private colorsUsed = 0;
  private sight: THREE.Line | null = null;
  private eyes = false;
  private readonly form: Form<GazeSettings>;
  private readonly about = el("p", { class: "dim" });
  private readonly list = el("ul", { class: "looks", aria: { label: "Gaze targets" } });
  private readonly said = el("p", { class: "dim", aria: { live: "polite" } });
  private map = "";
  private readonly add = button("Add gaze target", () => this.addGoal("point"), "From the current time on, look at a point that you can drag in the scene", "primary");
  private readonly turn = button("Add direction", () => this.addGoal("angles"), "From the current time on, look at a yaw and pitch relative to the body's heading");
  private readonly back = button("End gaze", () => this.addGoal("back"), "From the current time on, return to the original gaze");
  private readonly fresh = button("Finish", () => this.end(), "Finish this clip; the next gaze target starts a new one");
  private readonly maps = choice("Gaze map", [["", "built-in"]], "", (value) => {
    this.map = value;
    this.changed();
  }, "Gaze style: the built-in one, or a gaze map from the folder");
  private readonly next: () => void;

  constructor(private readonly app: App) {
    this.next = latest(() => this.answer());
    const before = app.welcome?.resumed ? (tabState().choices["look"] as Choices | undefined) : undefined;
    this.eyes = before?.eyes ?? false;
    this.map = before?.map ?? "";
    this.form = settingsForm(FORMS.GazeSettings, { initial: before?.settings, changed: () => this.changed() });
    this.element = el("section", {}, el("h3", { text: "Gaze" }), this.about,
      el("div", { class: "row" }, this.add, this.turn, this.back), this.list, this.said, this.maps,
      check("Add an eye joint", this.eyes, (on) => {
        this.eyes = on;
        this.changed();
      }, "Add a joint to the head that points along the gaze"),
      this.form.element,
      el("div", { class: "row" }, this.fresh));
    app.selectionChanged.on(() => {
      this.holdAll();
      this.draw();
      this.drawSight();
    });
    app.motionsChanged.on(() => {
      const base = app.motions.get(this.base);
      if (!this.base || (base && (!this.made || app.motions.has(this.made)))) return;
      if (base) base.character.visible = true;
      this.finish();
    });
    app.playback.changed.on(() => this.drawSight());
    window.addEventListener("pagehide", () => {
      const { base, made, eyes, map } = this;
      const choices: Choices = { base, made, eyes, map, settings: this.form.value, goals: this.asked() };
      saveChoice("look", choices);
    });
    app.history.registerState("gaze", { read: () => this.state(), write: (state) => this.putBack(state as GazeState) });
    app.keys.offer("gaze", this.element, () => this.keyedGaze());
    this.draw();
    // After a reload, the motions are added right after the panels are built.
    if (before) queueMicrotask(() => this.takeUp(before));
  }

  /** Continue with the gaze targets from before a reload, if their motions still exist. */
  private takeUp({ base, made, goals }: Choices): void {
    const { motions } = this.app;
    if (this.goals.length || !goals.length || !motions.has(base) || !made || !motions.has(made)) return;
    [this.base, this.made] = [base, made];
    this.goals = goals.map((goal) => this.newGoal(goal.time, goal.point, goal.angles));
    for (const goal of this.goals) this.hold(goal);
    this.drawList();
    this.app.history.resetBaseline();
    this.ask();
  }

  private state(): GazeState {
    return { base: this.base, made: this.made, goals: this.asked() };
  }

  /** Note a change of the gaze targets. The first one is part of the change that makes the clip. */
  private note(title: string): void {
    if (this.made) this.app.history.recordChange(title);
  }

  /** Restore earlier gaze targets. */
  private putBack({ base, made, goals }: GazeState): void {
    const { motions } = this.app;
    if (!goals.length || !motions.has(base) || (made && !motions.has(made))) {
      this.finish();
      return;
    }
    for (const goal of this.goals) release(goal);
    [this.base, this.made, this.colorsUsed] = [base, made, 0];
    this.goals = goals.map((goal) => this.newGoal(goal.time, goal.point, goal.angles));
    for (const goal of this.goals) this.hold(goal);
    this.drawList();
    this.ask();
  }

  shown(): void {
    this.visible = true;
    void this.listMaps();
    this.holdAll();
    this.draw();
    this.drawSight();
  }

  hidden(): void {
    this.visible = false;
    this.holdAll();
    this.drawSight();
  }

  /** Offer the gaze maps in the folder; the control is hidden if there are none. */
  private async listMaps(): Promise<void> {
    const sources = await this.app.connection.ask("author_sources", {}).catch(() => null);
    const options: [string, string][] = [["", "built-in"]];
    for (const { path, kind } of sources?.files ?? []) if (kind === "gaze") options.push([path, path]);
    if (!options.some(([path]) => path === this.map)) this.map = "";
    setOptions(this.maps.select, options, this.map);
    this.maps.hidden = options.length < 2;
  }

  /** The gaze targets as the server takes them. */
  private asked(): Choices["goals"] {
    return this.goals.map(({ time, point, angles }) => ({ time, point, angles }));
  }

  private get last(): boolean {
    return this.app.selected?.info.motion === this.made;
  }

  /** Whether the gaze targets belong to the selected clip. While the first is being applied, that is the original. */
  private get ours(): boolean {
    return this.last || (!this.made && this.app.selected?.info.motion === this.base);
  }

  private changed(): void {
    if (this.goals.length && this.ours) this.ask();
  }

  private addGoal(kind: "point" | "angles" | "back", yaw = Math.PI / 4): void {
    const shot = this.app.selected;
    if (!shot || shot.info.kind !== "motion") return;
    if (!this.goals.length || !this.ours) {
      this.finish();
      this.base = shot.info.motion;
    }
    // A character that plays would leave the target behind, and the camera would go with the character.
    this.app.playback.step(0);
    const time = this.freeTime(this.app.playback.seconds, shot.info.seconds);
    const stature = shot.info.stature || 1.7;
    // In front of the body and to its left, where it does not hide the face.
    const ahead = new THREE.Vector3(0.55, 0, 0.7).applyAxisAngle(UP, shot.character.facing()).multiplyScalar(stature).add(shot.character.center());
    const point: Place | null = kind === "point" ? [ahead.x, (shot.info.floor ?? 0) + 0.9 * stature, ahead.z] : null;
    const goal = this.newGoal(time, point && this.freePlace(point), kind === "angles" ? [yaw, 0] : null);
    this.goals = [...this.goals, goal].sort((a, b) => a.time - b.time);
    this.hold(goal);
    this.drawList();
    this.note("Add gaze target");
    this.ask();
  }

  /** The gaze targets on the timeline: their times, and the angle to the left of those that are directions. */
  private keyedGaze(): KeyedCurve | null {
    const info = this.app.selected?.info;
    if (!info || !this.goals.length || !this.last) return null;
    return {
      title: "Gaze", joined: false,
      text: (value) => `${Math.round(180 * value - 90)}°`,
      keys: this.goals.map(({ time, angles, color }) => ({ frame: time * info.fps, value: angles && 0.5 + angles[0] / Math.PI, color })),
      moved: (index, { frame, value }, done) => {
        const goal = this.goals[index]!;
        goal.time = Number((frame / info.fps).toFixed(3));
        if (goal.angles && value !== null) goal.angles[0] = (value - 0.5) * Math.PI;
        this.drawList();
        if (done) this.note("Change gaze target");
        this.ask();
      },
      added: ({ frame, value }) => {
        this.app.playback.seek(Math.round(frame));
        this.addGoal("angles", ((value ?? 0.5) - 0.5) * Math.PI);
      },
      removed: (index) => this.removeGoal(this.goals[index]!),
    };
  }

  private newGoal(time: number, point: Place | null, angles: Angles | null): Goal {
    const color = COLORS[this.colorsUsed++ % COLORS.length]!;
    return { time, point, angles, color, target: null, status: el("span", { class: "what" }), fields: [] };
  }

  /** Find a position without another ball: move sideways, as seen by the camera. */
  private freePlace(wanted: Place): Place {
    const aside = new THREE.Vector3().setFromMatrixColumn(this.app.stage.camera.matrixWorld, 0).setLength(ASIDE);
    const at = new THREE.Vector3(...wanted);
    while (this.goals.some(({ point }) => point && at.distanceTo(new THREE.Vector3(...point)) < ROOM)) at.sub(aside);
    return [at.x, at.y, at.z];
  }

  /** Find a time at or after `wanted` at which no other gaze target starts. */
  private freeTime(wanted: number, most: number): number {
    let time = Math.min(Math.max(0, wanted), most);
    while (this.goals.some((goal) => Math.abs(goal.time - time) < APART)) time += APART;
    return Number(Math.min(time, most).toFixed(3));
  }

  /** Show the balls of the gaze targets if they belong to the selected clip, and hide them otherwise. */
  private holdAll(): void {
    for (const goal of this.goals) {
      if (this.visible && this.ours) this.hold(goal);
      else release(goal);
    }
  }

  private hold(goal: Goal): void {
    if (!goal.point || goal.target || !this.visible || !this.ours) return;
    const move = (at: Place) => {
      goal.point = at;
      goal.fields.forEach((field, axis) => (field.value = at[axis]!.toFixed(2)));
      this.ask();
    };
    const drop = (at: Place) => {
      move(at);
      this.note("Move gaze target");
    };
    goal.target = this.app.dragTarget({ at: goal.point, plane: "view", radius: 0.05, color: goal.color, moved: move, dropped: drop });
  }

  /** The gaze targets have changed: generate the motion again. */
  private ask(): void {
    this.requests++;
    this.next();
  }

  private async answer(): Promise<void> {
    const { app, base, goals, series, requests } = this;
    if (!goals.length) return;
    const fields = { motion: base, made: this.made, goals: this.asked(), eyes: this.eyes, map: this.map || null, settings: this.form.value };
    const done = await app.ask("layer_look", fields).catch(() => null);
    if (series !== this.series) {
      // The user has ended this series or started another in the meantime.
      if (done && app.motions.has(done.motion.motion)) app.update(done.motion);
      else if (done) void app.connection.ask("close", { motion: done.motion.motion }).catch(() => undefined);
      return;
    }
    this.answered = requests;
    if (done) this.take(done, base);
    if (this.ending && requests === this.requests) this.finish();
  }

  private take(done: LookDone, base: string): void {
    const first = !this.made;
    this.done = done;
    this.made = done.motion.motion;
    if (first) {
      const under = this.app.motions.get(base);
      if (under) under.character.visible = false;
      this.app.add(done.motion);
    } else this.app.update(done.motion, this.app.connection.blockOf(done));
    this.draw();
    this.drawSight();
  }

  private reportOf(goal: Goal): LookDone["looks"][number] | undefined {
    return this.done?.looks.find((look) => Math.abs(look.time - goal.time) < 1e-3);
  }

  /** Keep the motion as it is; if it is still being generated, once it is finished. */
  private end(): void {
    this.ending = true;
    if (this.answered === this.requests) this.finish();
  }

  private finish(): void {
    this.series++;
    this.answered = this.requests;
    this.ending = false;
    this.colorsUsed = 0;
    for (const goal of this.goals) release(goal);
    this.goals = [];
    this.base = "";
    this.made = null;
    this.done = null;
    this.drawList();
    this.drawSight();
  }

  /** Rebuild the list, because the gaze targets have changed, not only their status. */
  private drawList(): void {
    this.list.replaceChildren(...this.goals.map((goal, k) => this.row(goal, k)));
    this.app.keys.refresh();
    this.draw();
  }

  private draw(): void {
    const info = this.app.selected?.info;
    const usable = info?.kind === "motion";
    this.add.disabled = this.turn.disabled = this.back.disabled = !usable;
    this.list.hidden = this.said.hidden = !this.ours;
    this.fresh.hidden = !this.goals.length || !this.ours;
    const base = this.app.motions.get(this.base)?.info.name;
    this.about.textContent = !usable ? "Select a clip first." : this.last && base ? `Gaze targets of ${base}. Drag them in the scene.`
      : `Make ${info.name} look at something.`;
    for (const goal of this.goals) goal.status.textContent = this.describe(goal);
    this.said.textContent = this.done?.notes.join(" ") ?? "";
  }

  private row(goal: Goal, k: number): HTMLElement {
    const time = el("input", { type: "number", min: "0", step: "0.05", value: String(goal.time), aria: { label: `Start time of gaze target ${k + 1}, seconds` } });
    time.addEventListener("change", () => {
      const most = this.app.motions.get(this.base)?.info.seconds ?? 0;
      this.goals = this.goals.filter((each) => each !== goal);
      goal.time = this.freeTime(time.valueAsNumber || 0, most);
      this.goals = [...this.goals, goal].sort((a, b) => a.time - b.time);
      this.drawList();
      this.note("Change time of gaze target");
      this.ask();
    });
    const gone = button("×", () => this.removeGoal(goal), "Remove this gaze target", "quiet");
    gone.setAttribute("aria-label", `Remove gaze target ${k + 1}`);
    const number = el("span", { class: "letter", text: goal.point || goal.angles ? String(k + 1) : "" });
    number.style.setProperty("--dot", goal.color);
    return el("li", {}, el("div", { class: "look-head" }, number, time, el("span", { class: "dim", text: "s" }), goal.status, gone), this.placeFields(goal, k) ?? this.angleFields(goal, k));
  }

  /** Number fields for the point: x, y, z in meters. */
  private placeFields(goal: Goal, k: number): HTMLElement | null {
    if (!goal.point) return null;
    goal.fields = goal.point.map((value, axis) => {
      const field = el("input", { type: "number", step: "0.1", value: value.toFixed(2), aria: { label: `Gaze target ${k + 1}, ${"xyz"[axis]}, meters` } });
      field.addEventListener("change", () => {
        if (!goal.point || !Number.isFinite(field.valueAsNumber)) return;
        goal.point[axis] = field.valueAsNumber;
        goal.target?.set(goal.point);
        this.note("Move gaze target");
        this.ask();
      });
      return field;
    });
    return el("div", { class: "look-place" }, el("span", { class: "dim", text: "at" }), ...goal.fields, el("span", { class: "dim", text: "m" }));
  }

  /** Number fields for the direction: yaw to the left and pitch upward in degrees. */
  private angleFields(goal: Goal, k: number): HTMLElement | null {
    const { angles } = goal;
    if (!angles) return null;
    const fields = angles.map((value, axis) => {
      const what = axis ? "up" : "to the left";
      const field = el("input", { type: "number", step: "5", value: String(Math.round(value * 180 / Math.PI)), aria: { label: `Gaze target ${k + 1}, ${what}, degrees` } });
      field.addEventListener("change", () => {
        if (!Number.isFinite(field.valueAsNumber)) return;
        angles[axis] = field.valueAsNumber * Math.PI / 180;
        this.note("Change gaze direction");
        this.ask();
      });
      return [field, el("span", { class: "dim", text: `° ${what}` })];
    });
    return el("div", { class: "look-place" }, ...fields.flat());
  }

  private removeGoal(goal: Goal): void {
    release(goal);
    this.goals = this.goals.filter((each) => each !== goal);
    this.drawList();
    // Without gaze targets, show the original motion again.
    if (this.goals.length) {
      this.note("Remove gaze target");
      this.ask();
      return;
    }
    const { made, base } = this;
    this.finish();
    const under = this.app.motions.get(base);
    if (under) under.character.visible = true;
    if (under) this.app.select(base);
    if (made) void this.app.forget(made).catch(() => undefined);
  }

  /** The status of a gaze target, as text. */
  private describe(goal: Goal): string {
    if (!goal.point && !goal.angles) return "original gaze";
    const report = this.reportOf(goal);
    if (!report) return "at target";
    if (report.settled === null) return "not reached: too little time";
    const missed = report.missed === null ? "" : `, ${metricText(Number(report.missed.toFixed(1)))}° off`;
    return `reached at ${report.settled.toFixed(2)} s${missed}`;
  }

  /** Draw the line of sight at the current frame. */
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
