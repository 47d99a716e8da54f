/**
 * Edit a clip by hand in the scene: move hips, hands and feet, rotate joints at the playhead, or drag the path on the
 * floor. Each drag is one change of the clip by an operation of the library, and follows the mouse.
 */
import * as THREE from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
import { messageOf, type App, type Shot } from "../app";
import { check, cssVariable, el, toggle } from "../dom";
import type { RunOperation } from "../messages";
import type { Target } from "../pointer";
import { latest } from "../widgets/latest";
import { slider } from "../widgets/slider";
import { sentence } from "./find_example";

type Tool = "move" | "rotate" | "path";
type Place = [number, number];

const PARTS = ["hips", "left_hand", "right_hand", "left_foot", "right_foot"];
/** Joints that are rotated first, if none is picked. */
const FIRST = ["chest", "spine", "head", "hips"];
const TOOLS: [Tool, string, string][] = [
  ["move", "Move", "Move the hips, a hand or a foot at the playhead: click one, then drag the arrows"],
  ["rotate", "Rotate", "Rotate a joint at the playhead: click one, then drag the rings"],
  ["path", "Path", "Drag the path of the clip on the floor"],
];
const HINTS: Record<Tool, string> = {
  move: "Click the hips, a hand or a foot of the character, then drag the arrows.",
  rotate: "Click a joint of the character, then drag the rings.",
  path: "Drag the points on the floor.",
};
/** Largest displacement in meters, as in the form of the operation. */
const MAX_OFFSET = 1;
/** Meters between the points of a path, and their minimum and maximum number. */
const [SPACING, MIN_POINTS, MAX_POINTS] = [0.8, 3, 9];

export class HandEdit {
  readonly element: HTMLElement;
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
  private readonly ease = slider({ label: "Ease in and out", unit: "s", title: "How long before and after the playhead the change fades in and out", min: 0.05, max: 2, step: 0.05, value: 0.5 });
  private readonly said = el("p", { class: "dim", aria: { live: "polite" } });
  private stretch = true;
  private readonly stretchBox = check("Stretch steps to fit the path", this.stretch, (on) => (this.stretch = on), "Scale the steps to cover the whole path. Otherwise they keep their length, and the path must be long enough.");
  private readonly buttons = TOOLS.map(([tool, label, title]) => toggle(label, false, (on) => this.choose(on ? tool : null), title));

  constructor(private readonly app: App) {
    const { stage } = app;
    this.send = latest(() => this.run());
    this.gizmo = new TransformControls(stage.camera, stage.canvas);
    this.gizmo.setSize(0.7);
    this.gizmo.addEventListener("change", () => stage.invalidate());
    this.gizmo.addEventListener("dragging-changed", ({ value }) => this.drag(Boolean(value)));
    this.gizmo.addEventListener("objectChange", () => this.moved());
    this.element = el("section", { class: "by-hand" }, el("h3", { text: "By hand" }), el("div", { class: "row" }, ...this.buttons),
      this.ease.element, this.stretchBox, this.said);
    app.picker.changed.on(() => this.pick());
    app.selectionChanged.on(() => this.tool && this.choose(this.tool));
    app.trailLoaded.on(() => this.tool === "path" && !this.dragging && !this.fields && this.placePath());
    stage.ticked.on(() => this.follow());
    this.draw();
  }

  shown(): void {
    this.open = true;
  }

  hidden(): void {
    this.open = false;
    this.choose(null);
  }

  private get shot(): Shot | null {
    const shot = this.app.selected;
    return shot?.info.kind === "motion" ? shot : null;
  }

  private draw(): void {
    this.buttons.forEach((each, k) => each.set(TOOLS[k]![0] === this.tool));
    this.ease.element.hidden = this.tool !== "move" && this.tool !== "rotate";
    this.stretchBox.hidden = this.tool !== "path";
    this.said.textContent = this.tool ? HINTS[this.tool] : "";
    this.said.classList.remove("missed");
  }

  private choose(tool: Tool | null): void {
    const { stage } = this.app;
    this.tool = this.open ? tool : null;
    for (const target of this.targets.splice(0)) target.remove();
    this.gizmo.detach();
    this.gizmo.getHelper().removeFromParent();
    this.object.removeFromParent();
    this.joint = -1;
    if ((this.tool === "move" || this.tool === "rotate") && this.shot) {
      stage.scene.add(this.object, this.gizmo.getHelper());
      this.gizmo.setMode(this.tool === "move" ? "translate" : "rotate");
      this.gizmo.setSpace(this.tool === "move" ? "world" : "local");
      this.app.playback.step(0);
      this.pick();
    }
    if (this.tool === "path") this.placePath();
    this.draw();
    stage.invalidate();
  }

  /** Put the gizmo on the picked joint, or on the body part that is nearest to it. */
  private pick(): void {
    const { shot } = this;
    if (!shot || (this.tool !== "move" && this.tool !== "rotate")) return;
    const { info, character } = shot;
    const picked = this.app.picker.joint;
    if (this.tool === "rotate") this.joint = picked >= 0 ? picked : (FIRST.map((role) => info.roles[role]).find((each) => each !== undefined) ?? 0);
    else {
      const parts = PARTS.filter((part) => info.roles[part] !== undefined);
      const away = (part: string) => character.jointPosition(info.roles[part]!).distanceTo(character.jointPosition(picked));
      if (picked >= 0 && parts.length) this.part = parts.reduce((a, b) => (away(b) < away(a) ? b : a));
      this.joint = info.roles[this.part] ?? -1;
    }
    if (this.joint >= 0) this.gizmo.attach(this.object);
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
    const settings: Record<string, unknown> = { axes: "world", ease: this.ease.value };
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
    this.element.setAttribute("aria-busy", "true");
    this.send();
  }

  private async run(): Promise<void> {
    const { fields } = this;
    if (!fields) return;
    try {
      const done = await this.app.connection.ask("operate", { ...fields, merge_undo: this.merges });
      this.merges = true;
      for (const info of done.motions) this.app.update(info);
      this.said.textContent = done.notes.map(sentence).join(" ") || (this.tool ? HINTS[this.tool] : "");
      this.said.classList.toggle("missed", done.notes.length > 0);
    } catch (error) {
      this.said.textContent = sentence(messageOf(error));
      this.said.classList.add("missed");
    }
    if (this.fields !== fields) return;
    this.fields = null;
    this.element.setAttribute("aria-busy", "false");
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
        this.request("path", { stretch: this.stretch }, this.points);
      };
      return this.app.dragTarget({
        at: [at.x, at.y, at.z], plane: "ground", radius: 0.08, color: cssVariable("--accent"), moved: drag,
        dropped: (place) => {
          drag(place);
          this.dragging = false;
        },
      });
    });
    if (!this.points.length) this.said.textContent = "The path of this clip is too short.";
  }
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
