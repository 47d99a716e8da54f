/** A path on the ground, drawn in segments with one label each, for the graph to follow. */
import * as THREE from "three";
import type { App, Shot } from "../app";
import { button, choice, cssVariable, el, setOptions, toggle } from "../dom";
import type { Stage } from "../scene";
import { saveChoice, tabState } from "../tab_state";
import { FORMS, type GraphPathSettings, type PathFollowed, type PathStretch } from "../messages";
import { settingsForm } from "../widgets/form";
import { metricText } from "../widgets/measures";

const DRAWN = 0.12;
const WALKED = 0.03;
const SMOOTHED = 0.045;
/** A segment that starts within this distance (m) of the previous end is joined to it without a note. */
const JOINS = 0.6;

/** The result of following a path, except the motion. */
type Way = Omit<PathFollowed, "motion">;

export class PathSection {
  readonly element: HTMLElement;
  private labels: string[] = [];
  private stretches: PathStretch[] = [];
  private style: string | null = null;
  private done: Way | null = null;
  private endDrawing: (() => void) | null = null;
  private readonly ribbons: Ribbons;
  private readonly walked: Ribbons;
  private readonly list = el("ul", { class: "stretches", aria: { label: "Segments of the path" } });
  private readonly said = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly hint = el("p", { class: "dim", hidden: true, text: "Drag on the floor to draw a segment of the path." });
  private readonly why = el("p", { hidden: true, aria: { live: "polite" } });
  private readonly styles = choice("Action", [], "", (value) => (this.style = value || null), "Clip label for the segments you draw next");
  private readonly pen = toggle("Draw path", false, (on) => this.drawing(on), "Draw on the floor with the left mouse button; click here again to orbit the camera instead");
  private readonly clear = button("Clear", () => this.reset(), "Remove the path");
  private readonly go = button("Follow path", () => void this.follow(), "Generate a motion that follows the path", "primary");

  // There are no other characters on the page.
  private readonly settings = settingsForm<GraphPathSettings>(FORMS.GraphPathSettings, { skip: ["min_distance"] });

  /** `walk` sends the segments and the settings to the server. */
  constructor(
    private readonly app: App,
    private readonly walk: (stretches: PathStretch[], settings: Partial<GraphPathSettings>) => Promise<PathFollowed | null>,
  ) {
    this.ribbons = new Ribbons(app.stage);
    this.walked = new Ribbons(app.stage, 1);
    this.element = el("section", {}, el("h3", { text: "Path" }), this.styles, this.list, this.settings.element,
      el("div", { class: "row" }, this.pen, this.go, this.clear), this.hint, this.said, this.why);
    app.themes.changed.on(() => this.showWay());
    app.history.registerState("path", { read: () => [this.stretches, this.done], write: (state) => this.put(state as [PathStretch[], Way | null]) });
    this.show();
  }

  /** Restore the path that was drawn before a page reload. */
  restore(): void {
    const { stretches, done } = stored(this.labels);
    this.put([stretches, done]);
    this.app.history.resetBaseline();
  }

  private put([stretches, done]: [PathStretch[], Way | null]): void {
    this.stretches = stretches;
    this.done = done;
    this.show();
    this.showWay();
    this.updateText();
    this.store();
  }

  /** Whether the mouse draws. */
  get isDrawing(): boolean {
    return this.endDrawing !== null;
  }

  /** Set the labels of a new graph. */
  set choices(labels: string[]) {
    this.labels = labels;
    this.style = null;
    this.styles.hidden = labels.length < 2;
    for (const stretch of this.stretches) if (stretch.label !== null && !labels.includes(stretch.label)) stretch.label = null;
    setOptions(this.styles.select, [["", "anything"], ...labels.map((label): [string, string] => [label, label])], "");
    this.show();
  }

  /** The tab was left: the mouse rotates the camera again. */
  leave(): void {
    this.pen.set(false);
    this.drawing(false);
    this.appear(false);
  }

  /** Show or hide what is drawn on the floor, which belongs to this panel alone. */
  appear(on: boolean): void {
    for (const lines of [this.ribbons, this.walked]) lines.appear(on);
  }

  /** Draw an S on the floor, in place of what is drawn there. */
  drawExample(): void {
    if (this.stretches.length) this.reset();
    this.add(Array.from({ length: 33 }, (_, k): Place => [1.2 * Math.sin((k * Math.PI) / 16), k / 3]));
  }

  private drawing(on: boolean): void {
    this.endDrawing?.();
    this.endDrawing = null;
    this.hint.hidden = !on;
    if (!on) return;
    // Stop playback, because a moving character moves the camera and the floor under the pointer.
    this.app.playback.step(0);
    // Look straight down, for an undistorted drawing.
    lookFromAbove(this.app.stage, this.stretches.flatMap(({ points }) => points));
    this.endDrawing = this.app.drawOnGround(({ points }) => this.add(points));
  }

  private add(points: Place[]): void {
    const last = this.stretches[this.stretches.length - 1]?.points.at(-1);
    const first = points[0]!;
    const gap = last ? Math.hypot(first[0] - last[0], first[1] - last[1]) : 0;
    if (last && gap > JOINS) this.app.notices.info(`A straight line bridges the ${gap.toFixed(1)} m gap between the two segments.`);
    const from = last ? [last, ...points] : points;
    this.stretches.push({ points: from, label: this.style });
    this.edited("Draw path segment");
  }

  private store(): void {
    saveChoice("graph", { stretches: this.stretches, done: this.done });
  }

  /** Show and keep a path that the user has changed. */
  private edited(title: string): void {
    this.show();
    this.store();
    this.app.history.recordChange(title);
  }

  private reset(): void {
    this.put([[], null]);
    this.app.history.recordChange("Clear path");
  }

  private show(): void {
    this.ribbons.clear();
    for (const { points, label } of this.stretches) this.ribbons.add(points, labelColor(this.labels, label), DRAWN, 0.85);
    this.list.replaceChildren(...this.stretches.map((stretch, i) => this.row(stretch, i)));
    this.go.disabled = this.clear.disabled = !this.stretches.length;
  }

  private row(stretch: PathStretch, index: number): HTMLElement {
    const length = stretch.points.reduce((sum, [x, z], i, all) => sum + (i ? Math.hypot(x - all[i - 1]![0], z - all[i - 1]![1]) : 0), 0);
    const options: [string, string][] = [["", "anything"], ...this.labels.map((label): [string, string] => [label, label])];
    const pick = choice(`${length.toFixed(1)} m`, options, stretch.label ?? "", (value) => {
      stretch.label = value || null;
      this.edited("Change action of a path segment");
    });
    pick.style.setProperty("--dot", labelColor(this.labels, stretch.label));
    const remove = button("×", () => {
      this.stretches.splice(index, 1);
      this.edited("Remove path segment");
    }, "Remove this segment", "quiet");
    remove.setAttribute("aria-label", `Remove segment ${index + 1}`);
    return el("li", {}, pick, remove);
  }

  /** Show the smoothed path and the walk, in colors that no label has. */
  private showWay(): void {
    this.walked.clear();
    if (!this.done) return;
    this.walked.add(this.done.path, cssVariable("--dim"), SMOOTHED);
    this.walked.add(this.done.way, cssVariable("--text"), WALKED);
  }

  private async follow(): Promise<void> {
    // If one segment has a label, the graph needs one for each: segments without a label take the previous one's.
    const named = this.stretches.find(({ label }) => label !== null)?.label ?? null;
    let last = named;
    const stretches = this.stretches.map(({ points, label }) => ({ points, label: (last = label ?? last) }));
    const followed = await this.walk(stretches, this.settings.value);
    if (!followed) return;
    this.pen.set(false);
    this.drawing(false);
    const { motion, ...done } = followed;
    this.done = done;
    this.showWay();
    this.updateText();
    this.store();
    this.app.present(motion, (shot) => {
      if (!this.isDrawing) lookAtPath(this.app, shot, [...done.path, ...done.way]);
    });
  }

  private updateText(): void {
    const { done } = this;
    this.said.textContent = !done ? "" : `${metricText(done.length)} m. Distance from the path: average ${metricText(100 * done.mean_distance)} cm, `
      + `max ${metricText(100 * done.largest_distance)} cm, at the end ${metricText(100 * done.end_distance)} cm.`
      + done.styles.map(({ label, start, stop, through }) =>
        ` ${label} ${start.toFixed(1)}–${stop.toFixed(1)} s${through.length ? ` (through ${through.join(", ")})` : ""}.`).join("");
    this.why.textContent = done?.why ?? "";
    this.why.hidden = !done?.why;
  }
}

const isPlaces = (points: unknown): points is Place[] =>
  Array.isArray(points) && points.length > 1 && points.every((at) => Array.isArray(at) && at.length === 2 && at.every((each) => Number.isFinite(each)));

/** Return the path, and the walk along it, that this tab has saved; invalid data is skipped. */
function stored(labels: readonly string[]): { stretches: PathStretch[]; done: Way | null } {
  const read = (tabState().choices["graph"] ?? {}) as { stretches?: unknown; done?: Partial<Way> | null };
  const stretches = (Array.isArray(read.stretches) ? (read.stretches as Partial<PathStretch>[]) : [])
    .filter((one) => isPlaces(one?.points))
    .map(({ points, label }) => ({ points: points!, label: typeof label === "string" && labels.includes(label) ? label : null }));
  const { done } = read;
  const isValid = done && isPlaces(done.path) && isPlaces(done.way) && typeof done.why === "string" && Array.isArray(done.styles)
    && [done.length, done.mean_distance, done.largest_distance, done.end_distance].every((each) => Number.isFinite(each));
  return { stretches, done: isValid ? (done as Way) : null };
}

// --- Lines on the ground, drawn as ribbons that are visible from any distance

type Place = [number, number];

const COLORS = ["#4c86c6", "#cf7b43", "#5f9e6d", "#9a77b8", "#b59a3a", "#4f9aa3", "#c0627d", "#c04fc0", "#8fb339", "#d64540"];
const ABOVE = 0.008;

/** The color of a label, by its index; gray for none. */
function labelColor(labels: readonly string[], label: string | null): string {
  const at = label === null ? -1 : labels.indexOf(label);
  return at < 0 ? "#8d949d" : COLORS[at % COLORS.length]!;
}

class Ribbons {
  private meshes: THREE.Mesh[] = [];
  private readonly group = new THREE.Group();

  /** `level`: lines of a higher level are drawn over those of a lower one. */
  constructor(private readonly stage: Stage, private readonly level = 0) {
    stage.scene.add(this.group);
  }

  appear(on: boolean): void {
    this.group.visible = on;
    this.stage.invalidate();
  }

  /** Add a line through points x, z in meters. */
  add(points: Place[], color: string, width: number, opacity = 1): void {
    if (points.length < 2) return;
    const look = new THREE.MeshBasicMaterial({ color, side: THREE.DoubleSide, transparent: opacity < 1, opacity });
    const mesh = new THREE.Mesh(strip(points, width), look);
    // Later lines cover earlier ones.
    mesh.position.y = this.stage.floor + ABOVE + 0.02 * this.level + 0.002 * this.meshes.length;
    this.group.add(mesh);
    this.meshes.push(mesh);
    this.stage.invalidate();
  }

  clear(): void {
    for (const mesh of this.meshes.splice(0)) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
    }
    this.stage.invalidate();
  }
}

/** Geometry of a flat band along a line. */
function strip(points: Place[], width: number): THREE.BufferGeometry {
  const flat = new Float32Array(points.length * 6);
  const faces: number[] = [];
  points.forEach(([x, z], i) => {
    const [before, after] = [points[Math.max(0, i - 1)]!, points[Math.min(points.length - 1, i + 1)]!];
    const [dx, dz] = [after[0] - before[0], after[1] - before[1]];
    const scale = width / 2 / Math.max(1e-6, Math.hypot(dx, dz));
    flat.set([x - dz * scale, 0, z + dx * scale, x + dz * scale, 0, z - dx * scale], 6 * i);
    if (i) faces.push(2 * i - 2, 2 * i - 1, 2 * i, 2 * i - 1, 2 * i + 1, 2 * i);
  });
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(flat, 3));
  geometry.setIndex(faces);
  return geometry;
}

// --- Camera positions for a path: obliquely from above to see all of it, or straight down to draw

/** View direction halfway from above, from the same side as while drawing. */
const OBLIQUE = new THREE.Vector3(0, Math.sin(0.8), Math.cos(0.8));
const FROM_ABOVE = new THREE.Vector3(0, 1, 0.0001).normalize();
/** Fraction of the half view that may be filled: buttons and notices are at the edges. */
const FILL = 0.78;
/** Meters: from farther away, a character is too small; from nearer, there is too little floor to draw on. */
const FARTHEST = 24;
const MIN_FLOOR = 9;
/** Camera distance in meters when following a character along a path that is too long to fit in the view. */
const ALONG = 9;
const TALL = 1.8;

/** The distance in meters from which all points are in view, looking from direction `from`. */
function distanceTo(stage: Stage, points: THREE.Vector3[], center: THREE.Vector3, from: THREE.Vector3): number {
  const right = new THREE.Vector3(0, 1, 0).cross(from).normalize();
  const up = from.clone().cross(right);
  const high = Math.tan(THREE.MathUtils.degToRad(stage.camera.fov / 2)) * FILL;
  const wide = high * stage.camera.aspect;
  return Math.max(...points.map((point) => {
    const relative = point.clone().sub(center);
    return relative.dot(from) + Math.max(Math.abs(relative.dot(right)) / wide, Math.abs(relative.dot(up)) / high);
  }));
}

function stand(stage: Stage, center: THREE.Vector3, from: THREE.Vector3, away: number): void {
  stage.controls.target.copy(center);
  stage.camera.position.copy(center).addScaledVector(from, away);
  stage.controls.update();
  stage.invalidate();
}

/** The points on the floor, and the same points at a character's height. */
function room(stage: Stage, places: Place[], height: number): THREE.Vector3[] {
  return places.flatMap(([x, z]) => [new THREE.Vector3(x, stage.floor, z), new THREE.Vector3(x, stage.floor + height, z)]);
}

/** Look straight down at the drawn path, if there is one, with floor to draw on around it. */
function lookFromAbove(stage: Stage, path: Place[]): void {
  const points = room(stage, path, 0);
  const center = path.length ? new THREE.Box3().setFromPoints(points).getCenter(new THREE.Vector3()) : stage.controls.target.clone();
  center.y = stage.floor;
  const needed = path.length ? 1.3 * distanceTo(stage, points, center, FROM_ABOVE) : 0;
  stand(stage, center, FROM_ABOVE, Math.max(MIN_FLOOR, needed));
}

/**
 * Look at an entire path and the character on it. The camera then stays in place while this motion is selected, or until
 * the user turns on following. If the path is too long to fit in the view, the camera follows the character.
 */
function lookAtPath(app: App, shot: Shot, places: Place[]): void {
  const { stage } = app;
  const points = room(stage, places, TALL);
  if (!points.length) return;
  const center = new THREE.Box3().setFromPoints(points).getCenter(new THREE.Vector3());
  const away = distanceTo(stage, points, center, OBLIQUE);
  if (away > FARTHEST) {
    stand(stage, shot.character.center(), OBLIQUE, ALONG);
    return;
  }
  stand(stage, center, OBLIQUE, Math.max(away, 3 * TALL));
  if (!app.following) return;
  app.following = false;
  const stops = [
    app.followingChanged.on(() => stops.forEach((stop) => stop())),
    app.selectionChanged.on(() => {
      if (app.selected !== shot) app.following = true;
    }),
  ];
}
