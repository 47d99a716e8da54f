/** Drawings around a driven character: the request as an arrow, the point to go to, and the area it can reach next. */
import * as THREE from "three";
import { cssVariable } from "../dom";
import type { DriveNode } from "../messages";
import type { Stage } from "../scene";

const ABOVE_FLOOR = 0.012;
const HIP_HEIGHT = 0.9;

export class DriveScene {
  private readonly group = new THREE.Group();
  private readonly arrow: THREE.Mesh;
  private readonly ring: THREE.Mesh;
  private readonly region = new THREE.Group();
  private readonly box: THREE.LineSegments;
  /**
   * All materials, created once: three.js deletes a shader with its last material, and would compile it again for every
   * update.
   */
  private readonly looks: (THREE.MeshBasicMaterial | THREE.LineBasicMaterial)[] = [];
  private readonly fill: THREE.MeshBasicMaterial;
  private readonly rim: THREE.LineBasicMaterial;

  constructor(private readonly stage: Stage) {
    const solid = this.flat(0.95);
    this.fill = this.flat(0.16);
    this.rim = this.line(0.8);
    this.arrow = new THREE.Mesh(arrowShape(), solid);
    this.ring = new THREE.Mesh(new THREE.RingGeometry(0.22, 0.3, 40).rotateX(-Math.PI / 2), solid);
    this.box = new THREE.LineSegments(new THREE.EdgesGeometry(new THREE.BoxGeometry(1, 1, 1)), this.line(1));
    for (const thing of [this.arrow, this.ring, this.box]) thing.visible = false;
    this.group.add(this.arrow, this.ring, this.region, this.box);
    this.group.position.y = stage.floor + ABOVE_FLOOR;
    stage.scene.add(this.group);
  }

  /** Make the camera's views relative to the character at this place (yaw, x, z). */
  stand([yaw, x, z]: [number, number, number]): void {
    this.stage.driven = { posed: true, facing: () => yaw, center: () => new THREE.Vector3(x, this.stage.floor + HIP_HEIGHT, z) };
  }

  /** Show the requested direction at the character's `place` (yaw, x, z); null hides the arrow. */
  showRequest(place: [number, number, number], direction: number | null): void {
    this.arrow.visible = direction !== null;
    this.arrow.position.set(place[1], 0, place[2]);
    if (direction !== null) this.arrow.rotation.y = direction;
  }

  showGoal(point: [number, number] | null): void {
    this.ring.visible = point !== null;
    if (point) this.ring.position.set(point[0], 0, point[1]);
    this.stage.invalidate();
  }

  /** Show the area that the character can reach next, as outlines [[x, z], ...]. */
  showReach(lines: [number, number][][]): void {
    this.clearReach();
    for (const line of lines) {
      if (line.length < 3) continue;
      const flat = line.map(([x, z]) => new THREE.Vector3(x, 0, z));
      const rim = new THREE.LineLoop(new THREE.BufferGeometry().setFromPoints(flat), this.rim);
      // A shape lies in the x-y plane; after it is rotated to the floor, its y axis points along -z.
      const shape = new THREE.Shape(line.map(([x, z]) => new THREE.Vector2(x, -z)));
      this.region.add(rim, new THREE.Mesh(new THREE.ShapeGeometry(shape).rotateX(-Math.PI / 2), this.fill));
    }
  }

  /** For an action that aims at a point: show the box of reachable targets in front of the character. */
  showBox(node: DriveNode | null, place: [number, number, number]): void {
    const ends = node?.at_point ? ["x", "y", "z"].map((axis) => node.ranges.find(({ name }) => name.endsWith(axis))) : [];
    this.box.visible = ends.length === 3 && ends.every(Boolean);
    if (!this.box.visible) return;
    const [x, y, z] = ends.map((each) => [(each!.low + each!.high) / 2, Math.max(0.01, each!.high - each!.low)] as const);
    this.box.scale.set(x![1], y![1], z![1]);
    const middle = new THREE.Vector3(x![0], y![0] - ABOVE_FLOOR, z![0]).applyAxisAngle(new THREE.Vector3(0, 1, 0), place[0]);
    this.box.position.copy(middle).add(new THREE.Vector3(place[1], 0, place[2]));
    this.box.rotation.y = place[0];
  }

  /** Apply the colors of the current theme. */
  repaint(): void {
    const color = accent();
    for (const look of this.looks) look.color.set(color);
    this.stage.invalidate();
  }

  dispose(): void {
    this.clearReach();
    this.stage.driven = null;
    for (const thing of [this.arrow, this.ring, this.box]) thing.geometry.dispose();
    for (const look of this.looks) look.dispose();
    this.group.removeFromParent();
    this.stage.invalidate();
  }

  clearReach(): void {
    for (const thing of [...this.region.children] as (THREE.Mesh | THREE.LineLoop)[]) {
      thing.removeFromParent();
      thing.geometry.dispose();
    }
  }

  private flat(opacity: number): THREE.MeshBasicMaterial {
    const look = new THREE.MeshBasicMaterial({ color: accent(), transparent: true, opacity, side: THREE.DoubleSide, depthWrite: false });
    this.looks.push(look);
    return look;
  }

  private line(opacity: number): THREE.LineBasicMaterial {
    const look = new THREE.LineBasicMaterial({ color: accent(), transparent: opacity < 1, opacity });
    this.looks.push(look);
    return look;
  }
}

function accent(): string {
  return cssVariable("--accent") || "#3b6fd4";
}

/** Geometry of a flat arrow along +Z that starts a little in front of the character. */
function arrowShape(): THREE.BufferGeometry {
  const outline: [number, number][] = [[-0.055, 0.3], [0.055, 0.3], [0.055, 0.85], [0.17, 0.85], [0, 1.2], [-0.17, 0.85], [-0.055, 0.85]];
  const shape = new THREE.Shape(outline.map(([x, z]) => new THREE.Vector2(x, -z)));
  return new THREE.ShapeGeometry(shape).rotateX(-Math.PI / 2);
}
