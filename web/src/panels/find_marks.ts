/** What aiming draws in the scene: the target that is dragged, where the joint gets and how, and all it can reach. */
import * as THREE from "three";
import type { App } from "../app";
import { cssVariable } from "../dom";
import type { Aimed } from "../messages";
import type { Target } from "../pointer";

type Place = [number, number, number];

const RADIUS = 0.05;
/** Metres from the line of sight within which places count. */
const SPREAD = 0.03;

export class AimMarks {
  private readonly group = new THREE.Group();
  private target: Target | null = null;
  private at: Place | null = null;
  private points: THREE.Points | null = null;
  private path: THREE.Line | null = null;
  private miss: THREE.Line | null = null;
  private visible = false;

  /** @param moved while the target is dragged, and when it is let go. */
  constructor(private readonly app: App, private readonly moved: (point: Place, done: boolean) => void) {
    app.themes.changed.on(() => {
      if (this.points) (this.points.material as THREE.PointsMaterial).color.set(cssVariable("--dim"));
    });
  }

  /** Places that can be reached, x y z after each other. */
  reach(points: number[]): void {
    this.points = swap(this.group, this.points, points, (shape) => {
      const look = new THREE.PointsMaterial({ color: cssVariable("--dim"), size: 3, sizeAttenuation: false, transparent: true, opacity: 0.75 });
      return new THREE.Points(shape, look);
    });
  }

  /** @param move whether the target goes where the answer has it: not while the hand holds it. */
  place(aimed: Aimed, move: boolean): void {
    const line = (color: string) => (shape: THREE.BufferGeometry) => new THREE.Line(shape, new THREE.LineBasicMaterial({ color }));
    this.path = swap(this.group, this.path, aimed.path, line(cssVariable("--accent")));
    const between = aimed.point && aimed.hit ? [...aimed.point, ...aimed.hit] : [];
    this.miss = swap(this.group, this.miss, between, line(cssVariable("--bad")));
    if (move || !this.at) this.at = aimed.point;
    if (move && this.at) this.target?.set(this.at);
    this.show();
  }

  show(): void {
    this.visible = true;
    this.app.stage.scene.add(this.group);
    if (this.at && !this.target) {
      this.target = this.app.dragTarget({
        at: this.at, plane: "view", radius: RADIUS,
        moved: (at) => {
          this.at = this.withinReach(at);
          this.target?.set(this.at);
          this.moved(this.at, false);
        },
        dropped: (at) => this.moved((this.at = at), true),
      });
    }
    this.app.stage.invalidate();
  }

  /**
   * A hand moves in the picture only: how far away the target is follows from what can be reached under the pointer.
   * Beside all of it, it stays as far away as it was.
   */
  private withinReach(at: Place): Place {
    const { camera } = this.app.stage;
    const ray = new THREE.Ray(camera.position.clone(), new THREE.Vector3(...at).sub(camera.position).normalize());
    const places = this.points?.geometry.getAttribute("position");
    const [point, along] = [new THREE.Vector3(), new THREE.Vector3()];
    let [weights, away] = [0, 0];
    for (let i = 0; i < (places?.count ?? 0); i++) {
      point.fromBufferAttribute(places!, i);
      const weight = Math.exp(-ray.distanceSqToPoint(point) / (2 * SPREAD ** 2));
      weights += weight;
      away += weight * along.subVectors(point, ray.origin).dot(ray.direction);
    }
    if (weights < 1e-3) return at;
    ray.at(away / weights, point);
    return [point.x, point.y, point.z];
  }

  hide(): void {
    if (!this.visible) return;
    this.visible = false;
    this.group.removeFromParent();
    this.target?.remove();
    this.target = null;
    this.app.stage.invalidate();
  }

  clear(): void {
    this.hide();
    this.at = null;
    for (const thing of [this.points, this.path, this.miss]) dispose(thing);
    this.points = this.path = this.miss = null;
  }
}

type Drawable = THREE.Points | THREE.Line;

/** Take one thing away, and put another there; none for no points. */
function swap<T extends Drawable>(group: THREE.Group, old: T | null, points: number[], make: (shape: THREE.BufferGeometry) => T): T | null {
  dispose(old);
  if (!points.length) return null;
  const shape = new THREE.BufferGeometry();
  shape.setAttribute("position", new THREE.BufferAttribute(new Float32Array(points), 3));
  const made = make(shape);
  made.frustumCulled = false;
  group.add(made);
  return made;
}

export function dispose(thing: Drawable | null): void {
  thing?.removeFromParent();
  thing?.geometry.dispose();
  (thing?.material as THREE.Material | undefined)?.dispose();
}
