/**
 * Drawings for target control: the dragged target, the path of the joint, how far it misses, and all reachable points.
 */
import * as THREE from "three";
import type { App } from "../app";
import { cssVariable } from "../dom";
import type { Aimed } from "../messages";
import type { Target } from "../pointer";

type Place = [number, number, number];

const RADIUS = 0.05;
/** Distance in meters from the line of sight within which reachable points count. */
const SPREAD = 0.03;

export class AimMarks {
  private readonly group = new THREE.Group();
  private target: Target | null = null;
  private at: Place | null = null;
  // Created once: three.js deletes a shader with its last material, and would compile it again for every reply.
  private readonly points = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({ size: 3, sizeAttenuation: false, transparent: true, opacity: 0.75 }));
  private readonly path = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial());
  private readonly miss = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial());
  private visible = false;

  /** @param moved called while the target is dragged, and when it is released (`done`) */
  constructor(private readonly app: App, private readonly moved: (point: Place, done: boolean) => void) {
    for (const thing of [this.points, this.path, this.miss]) {
      thing.frustumCulled = false;
      put(thing, []);
      this.group.add(thing);
    }
    this.paint();
    app.themes.changed.on(() => this.paint());
  }

  private paint(): void {
    this.points.material.color.set(cssVariable("--dim"));
    this.path.material.color.set(cssVariable("--accent"));
    this.miss.material.color.set(cssVariable("--bad"));
  }

  /** Show the reachable points, as a flat x y z list. */
  reach(points: number[]): void {
    put(this.points, points);
  }

  /** @param move whether to move the target to the position in the reply; false while the user drags it */
  place(reply: Aimed, move: boolean): void {
    put(this.path, reply.path);
    put(this.miss, reply.point && reply.hit ? [...reply.point, ...reply.hit] : []);
    if (move || !this.at) this.at = reply.point;
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
   * Set the depth of the dragged target. The pointer moves only in the image plane, so the depth is that of the reachable
   * points under the pointer. If there are none, the depth stays unchanged.
   */
  private withinReach(at: Place): Place {
    const { camera } = this.app.stage;
    const ray = new THREE.Ray(camera.position.clone(), new THREE.Vector3(...at).sub(camera.position).normalize());
    const places = this.points.geometry.getAttribute("position");
    const [point, along] = [new THREE.Vector3(), new THREE.Vector3()];
    let [weights, away] = [0, 0];
    for (let i = 0; i < places.count; i++) {
      point.fromBufferAttribute(places, i);
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
    for (const thing of [this.points, this.path, this.miss]) put(thing, []);
  }
}

/** Replace the points of an object; without points, it is not drawn. */
function put(thing: THREE.Points | THREE.Line, points: number[]): void {
  thing.geometry.dispose();
  thing.geometry = new THREE.BufferGeometry();
  thing.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(points), 3));
  thing.visible = points.length > 0;
}
