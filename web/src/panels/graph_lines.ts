/** Lines on the ground, drawn as ribbons that are visible from any distance. */
import * as THREE from "three";
import type { Stage } from "../scene";

export type Place = [number, number];

const COLORS = ["#4c86c6", "#cf7b43", "#5f9e6d", "#9a77b8", "#b59a3a", "#4f9aa3", "#c0627d", "#c04fc0", "#8fb339", "#d64540"];
const ABOVE = 0.008;

/** The color of a label, by its index; gray for none. */
export function labelColor(labels: readonly string[], label: string | null): string {
  const at = label === null ? -1 : labels.indexOf(label);
  return at < 0 ? "#8d949d" : COLORS[at % COLORS.length]!;
}

export class Ribbons {
  private meshes: THREE.Mesh[] = [];

  /** `level`: lines of a higher level are drawn over those of a lower one. */
  constructor(private readonly stage: Stage, private readonly level = 0) {}

  /** Add a line through points x, z in meters. */
  add(points: Place[], color: string, width: number, opacity = 1): void {
    if (points.length < 2) return;
    const look = new THREE.MeshBasicMaterial({ color, side: THREE.DoubleSide, transparent: opacity < 1, opacity });
    const mesh = new THREE.Mesh(strip(points, width), look);
    // Later lines cover earlier ones.
    mesh.position.y = this.stage.floor + ABOVE + 0.02 * this.level + 0.002 * this.meshes.length;
    this.stage.scene.add(mesh);
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
