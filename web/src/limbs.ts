/** Draws a body as capsules or thin bones, with two instanced meshes for any number of poses. */
import * as THREE from "three";
import type { MotionInfo } from "./messages";

/** "skin" is the mesh in the motion's file. Files without one, and all ghosts, are drawn as limbs. */
export type Style = "limbs" | "bones" | "skin";

/** World positions (J, 3) of one frame, starting at index `offset` of `positions`. */
export interface Pose {
  positions: Float32Array;
  offset: number;
}

export interface Bone {
  from: number;
  to: number;
  /** Radius in meters. */
  radius: number;
}

type BodyInfo = Pick<MotionInfo, "parents" | "bone_lengths" | "end_sites" | "roles" | "stature" | "kind">;

/**
 * For the bones that start at a joint with a role: radius as a fraction of stature, and maximum radius as a fraction of
 * bone length.
 */
const THICK: [RegExp, number, number][] = [
  [/head/, 0.05, 0.62],
  [/chest/, 0.042, 0.5],
  [/spine/, 0.06, 0.9],
  [/hips/, 0.052, 0.9],
  [/upper_leg/, 0.038, 0.28],
  [/lower_leg|neck|shoulder/, 0.028, 0.5],
  [/upper_arm/, 0.025, 0.28],
  [/forearm/, 0.02, 0.28],
  [/foot|hand|ball/, 0.017, 0.4],
];
const THIN: [number, number] = [0.012, 0.28];
/** Radius of the spheres at the ends of arms and neck, as a fraction of stature. */
const ENDS: [string, number][] = [["head", 0.058], ["left_hand", 0.022], ["right_hand", 0.022]];
/** For skeletons without roles: longer bones are thicker. */
const UNKNOWN: [number, number] = [0.026, 0.14];

/** Return the bones to draw. Bones between the file's root and the hips are not part of the body. */
export function bonesOf(info: BodyInfo): Bone[] {
  if (info.kind === "markers") return [];
  const above = new Set<number>();
  for (let j = info.roles["hips"] ?? 0; j >= 0; j = info.parents[j] ?? -1) above.add(j);
  const thickness = new Map<number, [number, number]>();
  for (const [role, joint] of Object.entries(info.roles)) {
    const found = THICK.find(([pattern]) => pattern.test(role));
    if (found) thickness.set(joint, [found[1], found[2]]);
  }
  // The joints of the spine between hips and chest.
  const hips = info.roles["hips"] ?? 0;
  for (let j = info.roles["chest"] ?? hips; j > hips; j = info.parents[j] ?? -1) {
    if (!thickness.has(j)) thickness.set(j, [0.06, 0.9]);
  }
  const stature = info.stature > 0 ? info.stature : 1.7;
  const bones: Bone[] = [];
  info.parents.forEach((parent, joint) => {
    const length = info.bone_lengths[joint] ?? 0;
    if (parent < 0 || above.has(joint) || length < 1e-4 * stature) return;
    const [fraction, most] = thickness.get(parent) ?? (thickness.size ? THIN : UNKNOWN);
    bones.push({ from: parent, to: joint, radius: Math.min(fraction * stature, Math.max(most * length, 0.004 * stature)) });
  });
  // If the skeleton ends at the head or a hand, draw a sphere there.
  const parents = new Set(bones.map((bone) => bone.from));
  for (const [role, fraction] of ENDS) {
    const joint = info.roles[role];
    if (joint !== undefined && !parents.has(joint)) bones.push({ from: joint, to: joint, radius: fraction * stature });
  }
  return bones;
}

const capsuleSide = new THREE.CylinderGeometry(1, 1, 1, 12, 1, true).translate(0, 0.5, 0);
const capsuleEnd = new THREE.SphereGeometry(1, 12, 8);
const boneSide = pointedBone();

/** Geometry of a four-sided bone that is thickest near its start, with length 1 and radius 1. */
function pointedBone(): THREE.BufferGeometry {
  const top = new THREE.ConeGeometry(1, 0.88, 4, 1, true).translate(0, 0.56, 0);
  const low = new THREE.ConeGeometry(1, 0.12, 4, 1, true).rotateX(Math.PI).translate(0, 0.06, 0);
  const positions = [top, low].map((g) => g.toNonIndexed().getAttribute("position").array as Float32Array);
  const merged = new THREE.BufferGeometry();
  const all = new Float32Array(positions.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of positions) {
    all.set(p, at);
    at += p.length;
  }
  merged.setAttribute("position", new THREE.BufferAttribute(all, 3));
  merged.computeVertexNormals();
  return merged;
}

const UP = new THREE.Vector3(0, 1, 0);
const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0);

export class Limbs {
  readonly group = new THREE.Group();
  private readonly sides: THREE.InstancedMesh;
  private readonly ends: THREE.InstancedMesh;
  private readonly material: THREE.MeshLambertMaterial;
  private readonly veils: THREE.InstancedMesh[] = [];
  private readonly from = new THREE.Vector3();
  private readonly to = new THREE.Vector3();
  private readonly along = new THREE.Vector3();
  private readonly turn = new THREE.Quaternion();
  private readonly scale = new THREE.Vector3();
  private readonly matrix = new THREE.Matrix4();

  /**
   * @param capacity maximum number of poses drawn at once
   * @param nJoints if there are no bones (markers), spheres are drawn at all joints
   */
  constructor(
    private readonly bones: Bone[],
    private readonly nJoints: number,
    readonly capacity: number,
    color: string,
    opacity: number,
    private readonly style: Style,
  ) {
    const material = new THREE.MeshLambertMaterial({
      color,
      transparent: opacity < 1,
      opacity,
      depthWrite: opacity === 1,
      side: THREE.DoubleSide,
      flatShading: style === "bones",
    });
    this.material = material;
    const nBones = Math.max(1, bones.length * capacity);
    this.sides = new THREE.InstancedMesh(style !== "bones" ? capsuleSide : boneSide, material, nBones);
    const perPose = bones.length ? 2 * bones.length : nJoints;
    this.ends = new THREE.InstancedMesh(capsuleEnd, material, Math.max(1, perPose * capacity));
    for (const mesh of [this.sides, this.ends]) {
      mesh.frustumCulled = false;
      mesh.castShadow = opacity === 1;
      mesh.count = 0;
      mesh.renderOrder = opacity < 1 ? 2 : 0;
      this.group.add(mesh);
    }
    if (opacity < 1) this.hideInside();
  }

  /**
   * Draw the depth of transparent bodies first. Only the outer surface of each ghost is then visible, not all capsules
   * inside.
   */
  private hideInside(): void {
    const depthOnly = new THREE.MeshBasicMaterial({ colorWrite: false, transparent: true, side: THREE.DoubleSide });
    for (const mesh of [this.sides, this.ends]) {
      const hidden = new THREE.InstancedMesh(mesh.geometry, depthOnly, 0);
      hidden.instanceMatrix = mesh.instanceMatrix;
      hidden.frustumCulled = false;
      hidden.renderOrder = 1;
      this.veils.push(hidden);
      this.group.add(hidden);
    }
  }

  set color(color: string) {
    this.material.color.set(color);
  }

  draw(poses: Pose[]): void {
    let side = 0;
    let end = 0;
    for (const pose of poses.slice(0, this.capacity)) {
      if (!this.bones.length) {
        for (let j = 0; j < this.nJoints; j++) this.ball(end++, this.read(pose, j, this.from), 0.015);
        continue;
      }
      for (const bone of this.bones) {
        this.read(pose, bone.from, this.from);
        this.read(pose, bone.to, this.to);
        const radius = this.style !== "bones" ? bone.radius : Math.min(0.02, 0.7 * bone.radius);
        this.rod(side++, radius);
        this.ball(end++, this.from, this.style !== "bones" ? radius : 0.6 * radius);
        this.ball(end++, this.to, this.style !== "bones" ? radius : 0.6 * radius);
      }
    }
    this.sides.count = side;
    this.ends.count = end;
    [side, end].forEach((count, i) => {
      if (this.veils[i]) this.veils[i].count = count;
    });
    this.sides.instanceMatrix.needsUpdate = true;
    this.ends.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    this.sides.dispose();
    this.ends.dispose();
    this.material.dispose();
    (this.veils[0]?.material as THREE.Material | undefined)?.dispose();
    this.group.removeFromParent();
  }

  private read(pose: Pose, joint: number, into: THREE.Vector3): THREE.Vector3 {
    return into.fromArray(pose.positions, pose.offset + 3 * joint);
  }

  private rod(index: number, radius: number): void {
    this.along.subVectors(this.to, this.from);
    const length = this.along.length();
    if (!(length > 1e-6)) {
      this.sides.setMatrixAt(index, HIDDEN);
      return;
    }
    this.turn.setFromUnitVectors(UP, this.along.divideScalar(length));
    this.scale.set(radius, length, radius);
    this.sides.setMatrixAt(index, this.matrix.compose(this.from, this.turn, this.scale));
  }

  /** Draw a sphere; occluded points (NaN) are not drawn. */
  private ball(index: number, at: THREE.Vector3, radius: number): void {
    if (!Number.isFinite(at.x)) {
      this.ends.setMatrixAt(index, HIDDEN);
      return;
    }
    this.matrix.makeScale(radius, radius, radius).setPosition(at);
    this.ends.setMatrixAt(index, this.matrix);
  }
}
