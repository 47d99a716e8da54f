/** A disk on the floor for each foot plant, colored by how far it slides; a ring shows the slide before the edit. */
import * as THREE from "three";
import type { ContactLane } from "./messages";
import { cssVariable } from "./dom";

const RADIUS = 0.035;
const ABOVE_FLOOR = 0.006;
/** Size of the ring for the slide before the last edit, relative to the disk. */
const RING = 1.6;
/** Upper limits of slides in meters, and their colors. Viewers do not notice slides below 5 mm; most notice 21 mm. */
const STEPS: [number, string][] = [[0.005, "--holds"], [0.021, "--contact"], [Infinity, "--slides"]];

/** CSS color of a plant that slides by `slide` meters; undefined if the slide is unknown. */
export function slideColor(slide: number | undefined): string {
  return cssVariable(slide === undefined ? "--contact" : STEPS.find(([limit]) => slide < limit)![1]);
}

const disk = new THREE.CircleGeometry(RADIUS, 20).rotateX(-Math.PI / 2);

export class Footprints {
  readonly mesh: THREE.InstancedMesh;

  constructor(lanes: readonly ContactLane[], floor: number) {
    const plants = lanes.flatMap((lane) => lane.plants).filter(({ at }) => Math.abs(at[1] - floor) < 0.15);
    const material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.75, depthWrite: false });
    const rings = plants.filter(({ slide_before }) => slide_before !== null);
    this.mesh = new THREE.InstancedMesh(disk, material, Math.max(1, rings.length + plants.length));
    this.mesh.count = rings.length + plants.length;
    this.mesh.frustumCulled = false;
    const place = new THREE.Matrix4();
    const color = new THREE.Color();
    const put = (i: number, [x, , z]: readonly number[], slide: number, size: number) => {
      this.mesh.setMatrixAt(i, place.makeScale(size, 1, size).setPosition(x!, floor + ABOVE_FLOOR, z!));
      this.mesh.setColorAt(i, color.set(slideColor(slide)));
    };
    // Disks are drawn after the rings, over them.
    rings.forEach(({ at, slide_before }, i) => put(i, at, slide_before!, RING));
    plants.forEach(({ at, slide }, i) => put(rings.length + i, at, slide, 1));
  }

  dispose(): void {
    this.mesh.removeFromParent();
    (this.mesh.material as THREE.Material).dispose();
    this.mesh.dispose();
  }
}
