/** Draws a body as capsules or thin bones, with two instanced meshes for any number of poses. */
import * as THREE from "three";
import type { MotionInfo } from "./messages";
import { EYES, hasTrunk, PARTS, Trunk } from "./trunk";

/** "skin" is the mesh in the motion's file. Files without one, and all ghosts, are drawn as limbs. */
export type Style = "limbs" | "bones" | "skin";

/** World positions (J, 3) of one frame, starting at index `offset` of `positions`, and rotations (J, 4) if they are known. */
export interface Pose {
  positions: Float32Array;
  offset: number;
  rotations?: Float32Array;
  rotationOffset?: number;
}

export interface Bone {
  from: number;
  to: number;
  /** Radius in meters. */
  radius: number;
  /** Whether it is thinner at its end, as thighs and arms are. */
  tapers: boolean;
}

/** What is drawn of a skeleton; without a trunk, bones alone. */
export interface Body {
  bones: Bone[];
  trunk: Trunk | null;
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
  [/upper_leg/, 0.046, 0.3],
  [/lower_leg/, 0.033, 0.3],
  [/neck|shoulder/, 0.028, 0.5],
  [/upper_arm/, 0.03, 0.3],
  [/forearm/, 0.022, 0.28],
  [/foot|ball/, 0.019, 0.4],
  [/hand/, 0.017, 0.4],
];
/** Parts that get thinner, and how thin they are at the end. */
const TAPERS = /upper_leg|lower_leg|upper_arm|forearm/;
const TAPER = 0.72;
/** With a trunk, the bones inside it are thin. */
const INSIDE: [number, number] = [0.022, 0.5];
const THIN: [number, number] = [0.012, 0.28];
/** Radius of the spheres at the ends of arms and neck, as a fraction of stature. */
const ENDS: [string, number][] = [["head", 0.058], ["left_hand", 0.022], ["right_hand", 0.022]];
/** For skeletons without roles: longer bones are thicker. */
const UNKNOWN: [number, number] = [0.026, 0.14];

/** Return what to draw of a skeleton. */
export function bodyOf(info: BodyInfo): Body {
  const whole = info.kind !== "markers" && hasTrunk(info.roles);
  const bones = bonesOf(info);
  if (!whole) return { bones, trunk: null };
  const head = info.roles["head"]!;
  const hidden = new Set([head]);
  info.parents.forEach((parent, joint) => {
    if (hidden.has(parent)) hidden.add(joint);
  });
  const trunk = new Set<number>();
  const hips = info.roles["hips"]!;
  for (let j = info.roles["neck"] ?? info.parents[head]!; j >= 0; j = info.parents[j]!) trunk.add(j);
  trunk.delete(info.roles["neck"] ?? -1);
  trunk.add(hips);
  const stature = info.stature > 0 ? info.stature : 1.7;
  const outside = bones.filter((bone) => !hidden.has(bone.from));
  const thin = outside.map((bone) => (trunk.has(bone.from) ? { ...bone, radius: Math.min(bone.radius, INSIDE[0] * stature) } : bone));
  return { bones: thin, trunk: new Trunk(info.roles, stature) };
}

/** Return the bones to draw. Bones between the file's root and the hips are not part of the body. */
export function bonesOf(info: BodyInfo): Bone[] {
  if (info.kind === "markers") return [];
  const above = new Set<number>();
  for (let j = info.roles["hips"] ?? 0; j >= 0; j = info.parents[j] ?? -1) above.add(j);
  const thickness = new Map<number, [number, number]>();
  const tapering = new Set<number>();
  for (const [role, joint] of Object.entries(info.roles)) {
    const found = THICK.find(([pattern]) => pattern.test(role));
    if (found) thickness.set(joint, [found[1], found[2]]);
    if (TAPERS.test(role)) tapering.add(joint);
  }
  // The joints of the spine between hips and chest.
  const hips = info.roles["hips"] ?? 0;
  for (let j = info.roles["chest"] ?? hips; j > hips; j = info.parents[j] ?? -1) {
    if (!thickness.has(j)) thickness.set(j, [0.06, 0.9]);
  }
  const stature = info.stature > 0 ? info.stature : 1.7;
  const bones: Bone[] = [];
  if (info.parents.length > 3 && info.parents.every((parent) => parent <= 0)) {
    // Markers around a center have no bones.
    info.parents.forEach((parent, joint) => {
      if (parent === 0) bones.push({ from: joint, to: joint, radius: 0.01 * stature, tapers: false });
    });
    return bones;
  }
  info.parents.forEach((parent, joint) => {
    const length = info.bone_lengths[joint] ?? 0;
    if (parent < 0 || above.has(joint) || length < 1e-4 * stature) return;
    const [fraction, most] = thickness.get(parent) ?? (thickness.size ? THIN : UNKNOWN);
    const radius = Math.min(fraction * stature, Math.max(most * length, 0.004 * stature));
    bones.push({ from: parent, to: joint, radius, tapers: tapering.has(parent) });
  });
  // If the skeleton ends at the head or a hand, draw a sphere there.
  const parents = new Set(bones.map((bone) => bone.from));
  for (const [role, fraction] of ENDS) {
    const joint = info.roles[role];
    if (joint !== undefined && !parents.has(joint)) bones.push({ from: joint, to: joint, radius: fraction * stature, tapers: false });
  }
  return bones;
}

const capsuleSide = new THREE.CylinderGeometry(1, 1, 1, 12, 1, true).translate(0, 0.5, 0);
const taperedSide = new THREE.CylinderGeometry(TAPER, 1, 1, 14, 1, true).translate(0, 0.5, 0);
const capsuleEnd = new THREE.SphereGeometry(1, 16, 12);
const volume = new THREE.SphereGeometry(1, 24, 16);
/** Where a transparent body and a solid one are less than about 1 cm apart, the solid one is seen. */
const BEHIND = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 400 };
const dark = new THREE.MeshLambertMaterial({ color: "#20242b" });
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
  private readonly tapers: THREE.InstancedMesh;
  private readonly ends: THREE.InstancedMesh;
  private readonly volumes: THREE.InstancedMesh;
  private readonly eyes: THREE.InstancedMesh;
  private readonly bones: Bone[];
  private readonly trunk: Trunk | null;
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
    body: Body,
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
      ...(opacity < 1 ? BEHIND : {}),
      side: THREE.DoubleSide,
      flatShading: style === "bones",
    });
    this.material = material;
    this.bones = body.bones;
    this.trunk = style === "bones" ? null : body.trunk;
    const nBones = Math.max(1, body.bones.length * capacity);
    this.sides = new THREE.InstancedMesh(style !== "bones" ? capsuleSide : boneSide, material, nBones);
    this.tapers = new THREE.InstancedMesh(taperedSide, material, nBones);
    const perPose = body.bones.length ? 2 * body.bones.length : nJoints;
    this.ends = new THREE.InstancedMesh(capsuleEnd, material, Math.max(1, perPose * capacity));
    this.volumes = new THREE.InstancedMesh(volume, material, PARTS * capacity);
    this.eyes = new THREE.InstancedMesh(volume, opacity === 1 ? dark : material, EYES * capacity);
    for (const mesh of this.meshes) {
      mesh.frustumCulled = false;
      mesh.castShadow = opacity === 1;
      mesh.count = 0;
      mesh.renderOrder = opacity < 1 ? 2 : 0;
      this.group.add(mesh);
    }
    if (opacity < 1) this.hideInside();
  }

  private get meshes(): THREE.InstancedMesh[] {
    return [this.sides, this.tapers, this.ends, this.volumes, this.eyes];
  }

  /**
   * Draw the depth of transparent bodies first. Only the outer surface of each ghost is then visible, not all capsules
   * inside.
   */
  private hideInside(): void {
    const depthOnly = new THREE.MeshBasicMaterial({ colorWrite: false, transparent: true, side: THREE.DoubleSide, ...BEHIND });
    for (const mesh of this.meshes) {
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
    const [rods, tapers, ends] = [this.counter(this.sides), this.counter(this.tapers), this.counter(this.ends)];
    const shown = poses.slice(0, this.capacity);
    const thick = this.style !== "bones";
    shown.forEach((pose, k) => {
      if (!this.bones.length) {
        for (let j = 0; j < this.nJoints; j++) ends(this.ball(this.read(pose, j, this.from), 0.015));
        return;
      }
      for (const bone of this.bones) {
        this.read(pose, bone.from, this.from);
        this.read(pose, bone.to, this.to);
        const radius = thick ? bone.radius : Math.min(0.02, 0.7 * bone.radius);
        const thins = thick && bone.tapers;
        (thins ? tapers : rods)(this.rod(radius));
        ends(this.ball(this.from, thick ? radius : 0.6 * radius));
        ends(this.ball(this.to, thick ? (thins ? TAPER : 1) * radius : 0.6 * radius));
      }
      this.trunk?.place(
        pose,
        (part, at) => this.volumes.setMatrixAt(PARTS * k + part, at),
        (eye, at) => this.eyes.setMatrixAt(EYES * k + eye, at),
      );
    });
    this.volumes.count = this.trunk ? PARTS * shown.length : 0;
    this.eyes.count = this.trunk ? EYES * shown.length : 0;
    this.meshes.forEach((mesh, i) => {
      mesh.instanceMatrix.needsUpdate = true;
      if (this.veils[i]) this.veils[i].count = mesh.count;
    });
  }

  /** Return a function that adds an instance to a mesh, which is emptied first. */
  private counter(mesh: THREE.InstancedMesh): (at: THREE.Matrix4) => void {
    mesh.count = 0;
    return (at) => mesh.setMatrixAt(mesh.count++, at);
  }

  /** Return where a ray first meets what was drawn last; null if it misses. */
  hit(caster: THREE.Raycaster): THREE.Vector3 | null {
    this.group.updateWorldMatrix(true, true);
    // Their spheres are those of the first pose.
    for (const mesh of this.meshes) mesh.boundingSphere = null;
    return caster.intersectObjects(this.meshes, false)[0]?.point ?? null;
  }

  dispose(): void {
    for (const mesh of this.meshes) mesh.dispose();
    this.material.dispose();
    (this.veils[0]?.material as THREE.Material | undefined)?.dispose();
    this.group.removeFromParent();
  }

  private read(pose: Pose, joint: number, into: THREE.Vector3): THREE.Vector3 {
    return into.fromArray(pose.positions, pose.offset + 3 * joint);
  }

  private rod(radius: number): THREE.Matrix4 {
    this.along.subVectors(this.to, this.from);
    const length = this.along.length();
    if (!(length > 1e-6)) return HIDDEN;
    this.turn.setFromUnitVectors(UP, this.along.divideScalar(length));
    this.scale.set(radius, length, radius);
    return this.matrix.compose(this.from, this.turn, this.scale);
  }

  /** Return the matrix of a sphere; occluded points (NaN) are not drawn. */
  private ball(at: THREE.Vector3, radius: number): THREE.Matrix4 {
    return Number.isFinite(at.x) ? this.matrix.makeScale(radius, radius, radius).setPosition(at) : HIDDEN;
  }
}
