/** Click a character to select its clip and a joint, whose values are shown. Tools can mark the joint before the click. */
import * as THREE from "three";
import type { App, Shot } from "./app";
import { button, cssVariable, el, visible } from "./dom";
import type { MotionInfo } from "./messages";
import { Signal } from "./signal";

/** Pixels within which a bone is hit, and by which a click may move. */
const [REACH, STILL] = [12, 4];

export class Picker {
  /** Emitted when another joint is picked, or none. */
  readonly changed = new Signal();
  /** Index of the picked joint of the selected clip; -1 for none. */
  joint = -1;
  private motion = "";
  private readonly text = el("span");
  private readonly box = el("div", { class: "joint-values", hidden: true, role: "status" }, this.text);
  private readonly dot = new THREE.Mesh(new THREE.SphereGeometry(0.022, 16, 12), new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }));
  private readonly at = new THREE.Vector3();
  /** Set by a tool whose handles are put on joints: returns the joint that it takes if one is clicked. */
  hover: ((info: MotionInfo, joint: number) => number) | null = null;
  private pointer: PointerEvent | null = null;
  private readonly ring = new THREE.Mesh(new THREE.SphereGeometry(0.06, 20, 14), new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.6 }));
  private down: { x: number; y: number } | null = null;

  constructor(private readonly app: App) {
    const { stage } = app;
    const close = button("×", () => this.pick(-1), "Close", "quiet");
    close.setAttribute("aria-label", "Close joint values");
    this.box.append(close);
    // Below the notices, where no buttons are; they move up while it is shown.
    document.getElementById("notices")!.append(this.box);
    this.dot.renderOrder = this.ring.renderOrder = 2;
    stage.canvas.addEventListener("pointerdown", (event) => {
      const free = stage.controls.enabled && stage.controls.enableRotate;
      this.down = event.button === 0 && free ? { x: event.clientX, y: event.clientY } : null;
    });
    stage.canvas.addEventListener("pointerup", (event) => {
      const from = this.down;
      this.down = null;
      if (from && Math.hypot(event.clientX - from.x, event.clientY - from.y) <= STILL) this.click(event);
    });
    app.selectionChanged.on(() => {
      if (app.selected?.info.motion !== this.motion) this.pick(-1);
    });
    stage.canvas.addEventListener("pointermove", (event) => (this.pointer = event));
    stage.ticked.on(() => {
      if (this.hover ? this.pointer : this.ring.parent) this.mark();
      this.draw();
    });
  }

  pick(joint: number): void {
    this.joint = joint;
    this.motion = this.app.selected?.info.motion ?? "";
    this.box.hidden = joint < 0;
    if (joint >= 0) this.app.stage.scene.add(this.dot);
    else this.dot.removeFromParent();
    (this.dot.material as THREE.MeshBasicMaterial).color.set(cssVariable("--accent"));
    this.app.stage.invalidate();
    this.draw();
    this.changed.emit();
  }

  private click(event: PointerEvent): void {
    const hit = this.find(event);
    if (hit && hit.shot !== this.app.selected) this.app.select(hit.shot.info.motion);
    this.pick(hit?.joint ?? -1);
  }

  /** Mark the joint that a click at the pointer would choose. */
  private mark(): void {
    const { hover, pointer } = this;
    this.pointer = null;
    const free = hover && pointer && !pointer.buttons && this.app.stage.controls.enabled;
    const hit = free ? this.find(pointer) : null;
    if (!hit && (!hover || pointer)) this.ring.removeFromParent();
    else if (hit) {
      this.ring.position.copy(hit.shot.character.jointPosition(hover!(hit.shot.info, hit.joint), this.at));
      (this.ring.material as THREE.MeshBasicMaterial).color.set(cssVariable("--accent"));
      this.app.stage.scene.add(this.ring);
    } else return;
    this.app.stage.invalidate();
  }

  /** Find the joint of the front-most limb under the pointer, or of the bone that is nearest to it in the view. */
  private find(event: PointerEvent): Hit | null {
    const caster = this.app.stage.ray(event);
    const met = [...this.app.motions.values()].flatMap((shot) => {
      const point = shot.character.visible ? shot.character.hit(caster) : null;
      return point ? [{ shot, point }] : [];
    });
    const away = (point: THREE.Vector3) => point.distanceTo(caster.ray.origin);
    const first = met.reduce<(typeof met)[number] | null>((a, b) => (a && away(a.point) <= away(b.point) ? a : b), null);
    return first ? { shot: first.shot, joint: jointAt(first.shot, first.point) } : this.findNear(event);
  }

  private findNear(event: PointerEvent): Hit | null {
    const { stage, motions } = this.app;
    const rect = stage.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - rect.left, event.clientY - rect.top];
    let best: (Hit & { away: number }) | null = null;
    for (const shot of motions.values()) {
      if (!shot.character.visible || !shot.character.posed) continue;
      const places = shot.info.joints.map((_, joint) => stage.project(shot.character.jointPosition(joint, this.at)));
      shot.info.parents.forEach((parent, joint) => {
        const [a, b] = [places[joint], places[Math.max(0, parent)]];
        if (!a || !b || !Number.isFinite(a.x) || (parent < 0 && shot.info.kind === "motion")) return;
        const [away, along] = toSegment(x, y, a, b);
        // The nearer end of the bone is the joint that was meant.
        if (away < (best?.away ?? REACH)) best = { shot, joint: along < 0.5 || parent < 0 ? joint : parent, away };
      });
    }
    return best;
  }

  /** Show the values of the joint at the current frame. */
  private draw(): void {
    const shot = this.app.selected;
    if (this.joint < 0 || !shot?.character.posed) return;
    if (this.joint >= shot.info.joints.length) {
      this.pick(-1);
      return;
    }
    const place = shot.character.jointPosition(this.joint, this.at);
    if (!place.equals(this.dot.position)) {
      this.dot.position.copy(place);
      this.app.stage.invalidate();
    }
    const number = (value: number, digits: number) => value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
    const turn = shot.character.jointRotation(this.joint);
    const angles = new THREE.Euler().setFromQuaternion(turn, "XYZ");
    const degrees = [angles.x, angles.y, angles.z].map((each) => `${number(THREE.MathUtils.radToDeg(each), 0)}°`).join(" ");
    const rotation = shot.info.kind === "motion" ? `, rotation ${degrees}` : "";
    const text = `${visible(shot.info.joints[this.joint]!)}: ${[place.x, place.y, place.z].map((each) => number(each, 2)).join(", ")} m${rotation}`;
    if (text !== this.text.textContent) this.text.textContent = text;
  }
}

interface Hit {
  shot: Shot;
  joint: number;
}

/** Return the joint at the nearer end of the bone that is nearest to a point on the body. */
function jointAt({ info, character }: Shot, point: THREE.Vector3): number {
  const bone = new THREE.Line3();
  let [best, least] = [0, Infinity];
  info.parents.forEach((parent, joint) => {
    character.jointPosition(joint, bone.start);
    character.jointPosition(info.kind === "motion" && parent >= 0 ? parent : joint, bone.end);
    if (info.kind === "motion" && parent < 0) return;
    const along = bone.start.equals(bone.end) ? 0 : bone.closestPointToPointParameter(point, true);
    const away = bone.at(along, new THREE.Vector3()).distanceTo(point);
    if (away < least) [best, least] = [along < 0.5 || parent < 0 ? joint : parent, away];
  });
  return best;
}

interface Place {
  x: number;
  y: number;
}

/** Distance in pixels from a point to a segment, and the fraction of the segment at the nearest place. */
function toSegment(x: number, y: number, a: Place, b: Place): [number, number] {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const along = Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / Math.max(1e-9, dx * dx + dy * dy)));
  return [Math.hypot(a.x + along * dx - x, a.y + along * dy - y), along];
}
