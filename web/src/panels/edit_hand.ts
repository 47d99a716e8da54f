/**
 * Edit a clip by hand in the scene: move hips, hands and feet, rotate joints at the playhead, or drag the path on the
 * floor. Each drag is one change of the clip by an operation of the library with the settings of its form, and follows
 * the mouse.
 */
import * as THREE from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
import { messageOf, type App, type Shot } from "../app";
import { cssVariable, el, toggle } from "../dom";
import type { MotionInfo, RunOperation } from "../messages";
import type { Target } from "../pointer";
import { latest } from "../widgets/latest";
import type { Form } from "../widgets/form";
import type { Operation, SceneTool } from "../widgets/operations";
import { sentence } from "./find_example";

type Tool = "move" | "rotate" | "path";
type Place = [number, number];

/** The first joint of each limb, and the part at its end. */
const LIMBS = ["left", "right"].flatMap((side): [string, string][] => [[`${side}_upper_arm`, `${side}_hand`], [`${side}_upper_leg`, `${side}_foot`]]);
/** Joints that are rotated first, if none is picked. */
const FIRST = ["spine", "chest", "head", "hips"];
const HINTS: Record<Tool, string> = {
  move: "Click the hips, a hand or a foot of the character, then drag the arrows. Or enter an offset and press Apply.",
  rotate: "Click a joint of the character, then drag the rings. Or enter angles and press Apply.",
  path: "Drag the points on the floor. Or draw a new path and press Apply.",
};
/** Largest displacement in meters, as in the form of the operation. */
const MAX_OFFSET = 1;
/** Meters between the points of a path, and their minimum and maximum number. */
const [SPACING, MIN_POINTS, MAX_POINTS] = [0.8, 3, 9];

interface Part {
  form: Form<Record<string, unknown>>;
  element: HTMLElement;
  said: HTMLElement;
  button: ReturnType<typeof toggle>;
}

export class HandEdit {
  private readonly parts = new Map<Tool, Part>();
  /** The tool whose form is open, whether it is on, and the tool that is in use. */
  private form: Tool | null = null;
  private on = true;
  private tool: Tool | null = null;
  private readonly gizmo: TransformControls;
  private readonly object = new THREE.Object3D();
  /** The body part or joint that the gizmo moves, and where it was when the drag began. */
  private part = "hips";
  private joint = -1;
  private readonly from = { position: new THREE.Vector3(), rotation: new THREE.Quaternion(), frame: 0 };
  private points: Place[] = [];
  private targets: Target[] = [];
  /** Whether the running drag has changed the clip, so that further changes replace that one. */
  private merges = false;
  private dragging = false;
  private open = false;
  private fields: RunOperation | null = null;
  private readonly send: () => void;

  constructor(private readonly app: App) {
    const { stage } = app;
    this.send = latest(() => this.run());
    this.gizmo = new TransformControls(stage.camera, stage.canvas);
    this.gizmo.setSize(0.7);
    this.gizmo.addEventListener("change", () => stage.invalidate());
    this.gizmo.addEventListener("dragging-changed", ({ value }) => this.drag(Boolean(value)));
    this.gizmo.addEventListener("objectChange", () => this.moved());
    app.picker.changed.on(() => this.pick());
    app.selectionChanged.on(() => this.tool && this.start());
    app.trailLoaded.on(() => this.tool === "path" && !this.dragging && !this.fields && this.placePath());
    stage.ticked.on(() => this.follow());
  }

  /** The controls of an operation that can be done by hand; null for others. */
  toolOf({ name }: Operation, form: Form<Record<string, unknown>>): SceneTool | null {
    if (!isTool(name)) return null;
    const said = el("p", { class: "dim", aria: { live: "polite" } });
    const button = toggle("Drag in the scene", true, (on) => {
      this.on = on;
      this.start();
    }, "Show handles in the scene that you can drag");
    const element = el("div", { class: "stack by-hand" }, el("div", { class: "row" }, button), said);
    this.parts.set(name, { form, element, said, button });
    return { element, changed: () => this.tool === name && this.takeForm() };
  }

  /** Use the tool of the operation whose form is open. */
  choose({ name }: Operation): void {
    this.form = isTool(name) ? name : null;
    this.on = true;
    this.start();
  }

  shown(): void {
    this.open = true;
    this.start();
  }

  hidden(): void {
    this.open = false;
    this.start();
  }

  private get shot(): Shot | null {
    const shot = this.app.selected;
    return shot?.info.kind === "motion" ? shot : null;
  }

  private get settings(): Record<string, unknown> {
    return (this.tool && this.parts.get(this.tool)?.form.value) ?? {};
  }

  private say(text = this.tool ? HINTS[this.tool] : "", isProblem = false): void {
    for (const [tool, { said, button }] of this.parts) {
      button.set(tool === this.tool);
      said.textContent = tool === this.tool ? text : "";
      said.classList.toggle("missed", isProblem);
    }
  }

  private start(): void {
    const { stage } = this.app;
    this.tool = this.open && this.on ? this.form : null;
    for (const target of this.targets.splice(0)) target.remove();
    this.gizmo.detach();
    this.gizmo.getHelper().removeFromParent();
    this.object.removeFromParent();
    this.joint = -1;
    const hovers = { move: (info: MotionInfo, joint: number) => info.roles[partOf(info, joint)] ?? joint, rotate: (_: MotionInfo, joint: number) => joint, path: null };
    this.app.picker.hover = this.tool && hovers[this.tool];
    this.say();
    if ((this.tool === "move" || this.tool === "rotate") && this.shot) {
      stage.scene.add(this.object, this.gizmo.getHelper());
      this.gizmo.setMode(this.tool === "move" ? "translate" : "rotate");
      this.gizmo.setSpace(this.tool === "move" ? "world" : "local");
      this.app.playback.step(0);
      if (this.app.picker.joint >= 0) this.pick();
      else this.takeForm();
    }
    if (this.tool === "path") this.placePath();
    stage.invalidate();
  }

  /** Put the gizmo on the picked joint, or on the body part that it belongs to. */
  private pick(): void {
    const { shot } = this;
    const picked = this.app.picker.joint;
    if (!shot || picked < 0 || (this.tool !== "move" && this.tool !== "rotate")) return;
    const { info } = shot;
    const { form } = this.parts.get(this.tool)!;
    if (this.tool === "rotate") form.set({ ...form.value, joint: info.joints[picked]! });
    else form.set({ ...form.value, part: partOf(info, picked) });
    this.takeForm();
  }

  /** Put the gizmo on the body part or joint that the form names. */
  private takeForm(): void {
    const { shot } = this;
    if (!shot || (this.tool !== "move" && this.tool !== "rotate")) return;
    const { roles, joints } = shot.info;
    const { part, joint } = this.settings as { part?: string; joint?: string };
    this.part = part ?? "hips";
    if (this.tool === "move") this.joint = roles[this.part] ?? -1;
    else this.joint = joint ? (roles[joint] ?? joints.indexOf(joint)) : (FIRST.map((role) => roles[role]).find((each) => each !== undefined) ?? 0);
    if (this.joint >= 0) this.gizmo.attach(this.object);
    else this.gizmo.detach();
    this.app.stage.invalidate();
  }

  /** Keep the gizmo on its joint while time goes on. */
  private follow(): void {
    const { shot } = this;
    if (this.dragging || this.fields || this.joint < 0 || !shot?.character.posed) return;
    const at = shot.character.jointPosition(this.joint);
    if (at.distanceTo(this.object.position) < 1e-6) return;
    this.object.position.copy(at);
    this.object.quaternion.copy(shot.character.jointRotation(this.joint, true));
    this.app.stage.invalidate();
  }

  private drag(on: boolean): void {
    this.dragging = on;
    this.app.stage.controls.enabled = !on;
    if (!on) return;
    this.merges = false;
    this.from.position.copy(this.object.position);
    this.from.rotation.copy(this.object.quaternion);
    this.from.frame = this.app.playback.frame;
    this.app.playback.step(0);
  }

  private moved(): void {
    const { shot, tool } = this;
    if (!shot || !this.dragging) return;
    const settings = { ...this.settings, axes: "world" };
    if (tool === "move") {
      const by = this.object.position.clone().sub(this.from.position).clampScalar(-MAX_OFFSET, MAX_OFFSET);
      this.request("move", { ...settings, part: this.part, left: by.x, up: by.y, forward: by.z });
    } else {
      const by = this.object.quaternion.clone().multiply(this.from.rotation.clone().invert());
      const angle = 2 * Math.atan2(Math.hypot(by.x, by.y, by.z), Math.abs(by.w)) * Math.sign(by.w || 1);
      const axis = new THREE.Vector3(by.x, by.y, by.z).normalize().multiplyScalar(angle);
      this.request("rotate", { ...settings, joint: shot.info.joints[this.joint]!, bend: axis.x, twist: axis.y, lean: axis.z });
    }
  }

  private request(operation: Tool, settings: Record<string, unknown>, points: Place[] = []): void {
    const { shot } = this;
    if (!shot) return;
    this.fields = { operation, motion: shot.info.motion, frame: this.from.frame, settings, points };
    this.busy(true);
    this.send();
  }

  private async run(): Promise<void> {
    const { fields } = this;
    if (!fields) return;
    try {
      const done = await this.app.connection.ask("operate", { ...fields, merge_undo: this.merges });
      this.merges = true;
      for (const info of done.motions) this.app.update(info);
      this.say(done.notes.map(sentence).join(" ") || undefined, done.notes.length > 0);
    } catch (error) {
      this.say(sentence(messageOf(error)), true);
    }
    if (this.fields !== fields) return;
    this.fields = null;
    this.busy(false);
  }

  private busy(on: boolean): void {
    for (const { element } of this.parts.values()) element.setAttribute("aria-busy", String(on));
  }

  /** Put points on the path of the clip, which can be dragged. */
  private placePath(): void {
    for (const target of this.targets.splice(0)) target.remove();
    const { shot } = this;
    if (!shot) return;
    this.points = spread(shot.character.path());
    const { group } = shot.character;
    const { stage } = this.app;
    group.updateMatrixWorld();
    this.targets = this.points.map(([x, z], k) => {
      const at = group.localToWorld(new THREE.Vector3(x, stage.floor, z));
      const drag = (place: [number, number, number]) => {
        const local = group.worldToLocal(new THREE.Vector3(...place));
        if (!this.dragging) this.merges = false;
        this.dragging = true;
        this.points[k] = [local.x, local.z];
        this.request("path", this.settings, this.points);
      };
      return this.app.dragTarget({
        at: [at.x, at.y, at.z], plane: "ground", radius: 0.08, color: cssVariable("--accent"), moved: drag,
        dropped: (place) => {
          drag(place);
          this.dragging = false;
        },
      });
    });
    if (!this.points.length) this.say("The path of this clip is too short.", true);
  }
}

/** Return the part that moves if a joint is clicked: the hand or foot of its limb, otherwise the hips. */
function partOf({ roles, parents }: MotionInfo, joint: number): string {
  for (let at = joint; at >= 0; at = parents[at] ?? -1) {
    const found = LIMBS.find(([root, part]) => roles[root] === at && roles[part] !== undefined);
    if (found) return found[1];
  }
  return "hips";
}

function isTool(name: string): name is Tool {
  return name in HINTS;
}

/** Return points at equal distances along a flat x, y, z list; none if it is shorter than a step. */
function spread(path: ArrayLike<number>): Place[] {
  const along = [0];
  for (let i = 3; i < path.length; i += 3) along.push(along.at(-1)! + Math.hypot(path[i]! - path[i - 3]!, path[i + 2]! - path[i - 1]!));
  const length = along.at(-1)!;
  if (length < SPACING / 2) return [];
  const count = Math.max(MIN_POINTS, Math.min(MAX_POINTS, Math.round(length / SPACING) + 1));
  return Array.from({ length: count }, (_, k) => {
    const i = 3 * Math.max(0, along.findIndex((each) => each >= (k / (count - 1)) * length - 1e-6));
    return [path[i]!, path[i + 2]!];
  });
}
