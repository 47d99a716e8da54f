/**
 * Target control: a parametric motion ("space") built from matches, controlled by sliders or by a point dragged in the
 * scene.
 */
import type { App } from "../app";
import { button, check, choice, el, setOptions } from "../dom";
import { FORMS, type Aimed, type AimMotion, type SavedFiles, type SearchDone, type SpaceMade, type SpaceSettings, type SynthesisSettings } from "../messages";
import { settingsForm } from "../widgets/form";
import { latest } from "../widgets/latest";
import { slider, type Slider } from "../widgets/slider";
import { AimMarks } from "./find_marks";
import { savedFiles, type Saved } from "./find_saved";

type Place = [number, number, number];

/** Radius that is shown around a body with its target, relative to its height. */
const REACH = 0.9;

/** Features that can control a space; "position" also needs a joint and a moment. */
export const FEATURES: [string, string][] = [
  ["position", "joint target"], ["turn", "turn angle (°)"], ["speed", "speed (m/s)"], ["turn,speed", "turn (°) and speed (m/s)"],
  ["traveled", "distance (m)"], ["step_height", "step height (m)"], ["duration", "duration (s)"],
];
export const MOMENTS: [string, string][] = [
  ["farthest", "farthest from start"], ["highest", "highest"], ["lowest", "lowest"], ["fastest", "fastest"], ["slowest", "slowest"],
  ["start", "start"], ["end", "end"],
];
const DEGREES: Record<string, string> = { rad: "°", "rad/s": "°/s", "rad/m": "°/m" };

export class AimSection {
  readonly element: HTMLElement;
  private feature = "position";
  private moment = "farthest";
  private refine = true;
  private readonly building = settingsForm<SpaceSettings>(FORMS.SpaceSettings, { skip: ["crop"] }); // matches are used whole
  private readonly generating = settingsForm<SynthesisSettings>(FORMS.SynthesisSettings, { skip: ["name"], changed: () => this.again() });
  private space: SpaceMade | null = null;
  private motion = "";
  private request: AimMotion | null = null;
  /** The target that was last released, which the history keeps; null for that of the first motion. */
  private released: Pick<AimMotion, "target" | "point"> | null = null;
  private dragging = false;
  /** Whether the motion plays on after the drag. */
  private resumes = false;
  private sliders: Slider[] = [];
  private readonly marks: AimMarks;
  private readonly joint = choice("Joint", [], "", () => undefined, "The joint that reaches the target");
  private readonly at = choice("At", MOMENTS, this.moment, (value) => (this.moment = value), "When the joint reaches the target");
  private readonly about = el("div", { class: "dim" });
  private readonly said = el("p", { aria: { live: "polite" } });
  private readonly back = el("div", { class: "row", hidden: true }, button("Move target within reach", () => this.comeBack(), "Move the target to the closest point that the motion can reach"));
  private reached: number[] = [];
  private readonly params = el("div", { class: "stack" });
  private readonly asked = el("div", { class: "stack", hidden: true });
  private readonly making: HTMLElement;
  private readonly saved: Saved;
  private listed: SavedFiles = { files: [], is_open: false, clips: 0 };
  private readonly ask: () => void;

  /**
   * @param chosen returns the number of the search, and the numbers of its excluded matches
   * @param written called when a file was saved
   */
  constructor(private readonly app: App, private readonly chosen: () => { search: number; drop: number[] }, written: () => void) {
    this.ask = latest(() => this.answer());
    this.marks = new AimMarks(app, (point, done) => this.drag(point, done));
    const make = button("Create target control", () => void this.make(), "Blend the matches into one motion that reaches the target you drag", "primary");
    const keep = button("Keep as new clip", () => void this.keep(), "Add a copy of this motion to the clips; the target control stays active");
    this.asked.append(this.about, this.params, this.said, this.back,
      check("Refine when the target or slider is released", this.refine, (on) => (this.refine = on), "When you release the target or a slider, improve the accuracy, which takes longer"), this.generating.element, el("div", { class: "row" }, keep));
    this.saved = savedFiles(app, { kind: "space", name: "target_control", open: (path) => void this.load(path), saved: written });
    this.making = el("div", { class: "stack" }, choice("Control", FEATURES, this.feature, (value) => {
      this.feature = value;
      this.joint.hidden = this.at.hidden = value !== "position";
    }, "What you control: where a joint ends up, or a property of the whole motion"), this.joint, this.at, this.building.element, el("div", { class: "row" }, make));
    this.asked.append(this.saved.saving);
    this.element = el("section", { hidden: true }, el("h3", { text: "Target control" }), this.making, this.saved.opening, this.asked);
    app.motionsChanged.on(() => {
      if (this.motion && !app.motions.has(this.motion)) this.marks.hide();
    });
    app.history.registerState("aim", { read: () => this.released, write: (state) => this.putBack(state as AimSection["released"]) });
  }

  /** Whether there are matches to build a space from. */
  set canMake(on: boolean) {
    this.making.hidden = !on;
    this.draw();
  }

  /** Set the list of the folder's files. */
  files(listed: SavedFiles): void {
    this.listed = listed;
    this.draw();
  }

  private draw(): void {
    this.saved.show(this.listed.files, this.listed.is_open && !!this.space);
    this.element.hidden = this.making.hidden && this.saved.opening.hidden && !this.space;
  }

  shown(): void {
    if (this.space && this.app.motions.has(this.motion)) this.marks.show();
  }

  hidden(): void {
    this.marks.hide();
  }

  clear(): void {
    this.space = null;
    this.released = null;
    this.motion = "";
    this.asked.hidden = true;
    this.marks.clear();
    this.draw();
  }

  /** Offer the joints of the matches, starting with the one that moves fastest. */
  suggest(found: SearchDone): void {
    const roles = Object.keys(found.body.roles);
    setOptions(this.joint.select, roles.map((role): [string, string] => [role, role.replaceAll("_", " ")]), found.joint);
    this.at.select.value = this.moment = found.moment;
  }

  private async make(): Promise<void> {
    const feature = this.feature === "position" ? `position:${this.joint.select.value}@${this.moment}` : this.feature;
    let space: SpaceMade;
    try {
      space = await this.app.run("Building the target control", "aim_make", { ...this.chosen(), feature, settings: this.building.value });
    } catch {
      return;
    }
    this.begin(space);
  }

  private async load(path: string): Promise<void> {
    const space = await this.app.run("Opening the target control", "aim_load", { path }).catch(() => null);
    if (space) this.begin(space);
  }

  private begin(space: SpaceMade): void {
    const shot = this.app.add(space.first.motion);
    this.restore(space);
    const { playback, stage } = this.app;
    const { moment } = space.first;
    // A character that plays would leave its target behind, and the camera would go with the character.
    playback.playing = moment === null;
    playback.seek(moment ?? 0);
    // Farther away than for a body alone, for what it can reach.
    const look = () => shot.character.show(this.app.frameOf(shot)) && stage.focus(shot.character.center(), REACH * (shot.info.stature || 1.7));
    void shot.frames.load(playback.frame, playback.frame + 1).then(look, () => undefined);
    this.asked.scrollIntoView({ block: "nearest" });
  }

  /** Show a space and its last motion. */
  restore(space: SpaceMade): void {
    this.clear();
    this.space = space;
    const { used, given, notes, first } = space;
    const rate = Number(first.motion.fps.toFixed(2));
    this.about.replaceChildren(el("p", { text: `Built from ${used === given ? used : `${used} of ${given}`} examples at ${rate} Hz.` }));
    if (notes.length) {
      const lines = notes.map((line) => el("li", { text: line }));
      this.about.append(el("details", {}, el("summary", { text: `${notes.length} ${notes.length === 1 ? "note" : "notes"}` }), el("ul", {}, ...lines)));
    }
    this.drawSliders(space);
    this.asked.hidden = false;
    this.marks.reach(space.points);
    this.take(space.first);
    this.draw();
    if (this.app.selected?.info.motion !== this.motion) return;
    // Hide the other motions, which would be in the same place.
    for (const [id, shot] of this.app.motions) if (id !== this.motion) shot.character.visible = false;
    this.app.motionsChanged.emit();
  }

  private drawSliders(space: SpaceMade): void {
    this.sliders = space.names.map((name, k) => {
      const unit = space.units[k]!;
      const [low, high] = [shownValue(space.low[k]!, unit), shownValue(space.high[k]!, unit)];
      const step = Number(((high - low) / 200).toPrecision(1)) || 0.001;
      const [min, max] = [Math.floor(low / step) * step, Math.ceil(high / step) * step].map((value) => Number(value.toPrecision(6))) as [number, number];
      const label = name.replaceAll("_", " ");
      return slider({ label, unit: DEGREES[unit] ?? unit, min, max, step, value: low, input: () => this.slide(false), change: () => this.slide(true) });
    });
    this.params.replaceChildren(...this.sliders.map(({ element }) => element));
  }

  private slide(done: boolean): void {
    const units = this.space!.units;
    this.sliders.forEach(finishEdit);
    this.want({ target: this.sliders.map(({ value }, k) => realValue(value, units[k]!)) }, done);
  }

  private drag(point: Place, done: boolean): void {
    this.want({ point }, done);
  }

  /** Move the target back to the nearest reachable one, whose motion is shown. */
  private comeBack(): void {
    this.setSliders(this.reached);
    this.want({ target: this.reached }, true);
  }

  private setSliders(values: number[]): void {
    this.sliders.forEach((each, k) => {
      each.value = shownValue(values[k]!, this.space!.units[k]!);
      finishEdit(each);
    });
  }

  /** Request a motion. During a drag, the character shows the moment of the target; afterward, it plays. */
  private want(request: AimMotion, done: boolean): void {
    if (!this.dragging && !done && this.app.selected?.info.motion !== this.motion && this.app.motions.has(this.motion)) this.app.select(this.motion);
    if (!this.dragging && !done) this.resumes = this.app.playback.playing;
    this.dragging = !done;
    this.request = { ...request, refine: done && this.refine, settings: this.generating.value };
    if (done) {
      this.released = request.point ? { point: request.point } : { target: request.target };
      this.app.history.recordChange("Move target");
    }
    this.ask();
  }

  /** Take up an earlier target again. */
  private putBack(state: AimSection["released"]): void {
    if (!this.space || JSON.stringify(state) === JSON.stringify(this.released)) return;
    this.want(state ?? { target: this.space.first.target }, true);
    this.released = state;
  }

  /** Repeat the last request after a change of the options. */
  private again(): void {
    if (this.request) this.want(this.request, true);
  }

  private async answer(): Promise<void> {
    if (!this.request || !this.space) return;
    const request = this.request;
    const { space } = this;
    const reply = await this.app.ask("aim", request);
    if (space !== this.space) return;
    this.take(reply, request);
    const { playback } = this.app;
    if (this.app.selected?.info.motion !== this.motion) return;
    if (this.dragging && reply.moment !== null) {
      playback.playing = false;
      playback.seek(reply.moment);
    } else if (!this.dragging && this.resumes && !playback.playing) playback.toggle();
  }

  /** Show the reply to a request. A control that is being dragged stays where it is. */
  private take(reply: Aimed, request: AimMotion = {}): void {
    this.motion = reply.motion.motion;
    if (this.app.motions.has(this.motion)) this.app.update(reply.motion, this.app.connection.blockOf(reply));
    else this.app.add(reply.motion);
    this.reached = reply.reached;
    this.back.hidden = !reply.projected;
    if (!request.target) this.setSliders(reply.projected ? reply.aimed : reply.target);
    this.marks.place(reply, !this.dragging || !request.point);
    const errors = Object.entries(reply.errors).map(([unit, value]) => errorText(value, unit)).join(", ");
    this.said.textContent = reply.projected ? `Out of reach: the closest possible motion misses the target by ${errors}.` : `Misses the target by ${errors}.`;
    this.said.classList.toggle("missed", reply.projected);
  }

  private async keep(): Promise<void> {
    await this.app.ask("aim_keep", {}).then((info) => {
      const shot = this.app.add(info, false);
      shot.character.visible = false;
      this.app.motionsChanged.emit();
      this.app.notices.info(`Added ${info.name} to the clips.`);
    }, () => undefined);
  }
}

/** Update the number field to the slider's value, which is clamped and rounded to steps. */
function finishEdit(each: Slider): void {
  each.value = Number(each.value);
}

/** Convert a value for display: radians to degrees, three decimals. */
function shownValue(value: number, unit: string): number {
  return Number((unit in DEGREES ? (value * 180) / Math.PI : value).toFixed(3));
}

function realValue(value: number, unit: string): number {
  return unit in DEGREES ? (value * Math.PI) / 180 : value;
}

function errorText(value: number, unit: string): string {
  if (unit === "m" && value < 0.0005) return "less than 1 mm";
  if (unit === "m") return value < 0.01 ? `${(1000 * value).toFixed(1)} mm` : `${(100 * value).toFixed(1)} cm`;
  return unit in DEGREES ? `${shownValue(value, unit).toPrecision(2)}${DEGREES[unit]}` : `${value.toPrecision(2)} ${unit}`;
}
