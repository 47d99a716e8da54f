/** Pelvis, belly, chest, head, face and feet of the drawn body: ellipsoids, placed by the joints. */
import * as THREE from "three";
import type { Pose } from "./limbs";

const NEEDED = ["hips", "head", "left_upper_leg", "right_upper_leg", "left_upper_arm", "right_upper_arm"];
/** Ellipsoids in the color of the body, and dark ones. */
export const PARTS = 7;
export const EYES = 2;

const UPWARD = new THREE.Vector3(0, 1, 0);
const NOTHING = new THREE.Matrix4().makeScale(0, 0, 0);

type Roles = Readonly<Record<string, number>>;

/** Unit vectors to the left, up and ahead of a part of the body. */
class Axes {
  readonly left = new THREE.Vector3();
  readonly up = new THREE.Vector3();
  readonly ahead = new THREE.Vector3();

  /** Keep the direction of `left`, and make `up` perpendicular to it. */
  square(left: THREE.Vector3, up: THREE.Vector3): this {
    this.left.copy(left).normalize();
    this.ahead.crossVectors(this.left, up).normalize();
    this.up.crossVectors(this.ahead, this.left);
    return this;
  }

  rotate(from: Axes, by: THREE.Quaternion): this {
    this.left.copy(from.left).applyQuaternion(by);
    this.up.copy(from.up).applyQuaternion(by);
    this.ahead.copy(from.ahead).applyQuaternion(by);
    return this;
  }
}

/** Whether a skeleton has the joints that the trunk is placed by. */
export function hasTrunk(roles: Roles): boolean {
  return NEEDED.every((role) => roles[role] !== undefined);
}

export class Trunk {
  private readonly axes = new Axes();
  private readonly rest = new Axes();
  private readonly matrix = new THREE.Matrix4();
  private readonly size = new THREE.Matrix4();
  private readonly turn = new THREE.Quaternion();

  constructor(private readonly roles: Roles, private readonly stature: number) {}

  /** Place all parts for a pose; `put` gets the number of a part and its matrix, `putEye` the same for the eyes. */
  place(pose: Pose, put: (part: number, at: THREE.Matrix4) => void, putEye: (eye: number, at: THREE.Matrix4) => void): void {
    const s = this.stature;
    const [thighs, wide] = this.middle(pose, "upper_leg");
    const [shoulders, broad] = this.middle(pose, "upper_arm");
    const up = shoulders.clone().sub(thighs);
    const length = up.length();
    const at = (fraction: number): THREE.Vector3 => thighs.clone().addScaledVector(up, fraction);
    const waist = wide.clone().normalize().add(broad.clone().normalize());
    put(0, this.ellipsoid(this.axes.square(wide, up), at(0.1), 0.5 * wide.length() + 0.047 * s, 0.075 * s, 0.062 * s));
    put(1, this.ellipsoid(this.axes.square(waist, up), at(0.36), 0.08 * s, 0.36 * length, 0.058 * s));
    put(2, this.ellipsoid(this.axes.square(broad, up), at(0.75), 0.42 * broad.length() + 0.015 * s, 0.36 * length, 0.066 * s));
    this.findRest(pose);
    ["left", "right"].forEach((side, k) => put(5 + k, this.foot(pose, side)));
    const head = this.headAxes(pose, broad);
    const center = this.read(pose, "head").addScaledVector(head.up, 0.043 * s).addScaledVector(head.ahead, 0.01 * s);
    put(3, this.ellipsoid(head, center, 0.044 * s, 0.066 * s, 0.054 * s));
    const on = (left: number, over: number, ahead: number): THREE.Vector3 =>
      center.clone().addScaledVector(head.left, left * s).addScaledVector(head.up, over * s).addScaledVector(head.ahead, ahead * s);
    put(4, this.ellipsoid(head, on(0, -0.006, 0.054), 0.0075 * s, 0.012 * s, 0.011 * s));
    putEye(0, this.ellipsoid(head, on(0.017, 0.01, 0.0465), 0.0075 * s, 0.0075 * s, 0.0055 * s));
    putEye(1, this.ellipsoid(head, on(-0.017, 0.01, 0.0465), 0.0075 * s, 0.0075 * s, 0.0055 * s));
  }

  /**
   * Find the axes of the body in the rest pose, to which rotations are relative, in the coordinates of the hips. Left is
   * the direction from the right to the left thigh, and up is +Y. If left is close to vertical, up is the direction from
   * the thighs to the hips instead, unless the hips are between the thighs.
   */
  private findRest(pose: Pose): void {
    if (!pose.rotations) return;
    const hips = this.rotation(pose, "hips").invert();
    const [thighs, wide] = this.middle(pose, "upper_leg");
    const spine = this.read(pose, "hips").sub(thighs).applyQuaternion(hips);
    wide.applyQuaternion(hips);
    const flat = Math.abs(wide.y) > 0.5 * wide.length();
    this.rest.square(wide, flat && spine.length() > 0.01 * this.stature ? spine : UPWARD);
  }

  /** Axes of the head. In the rest pose, head and hips face the same way. */
  private headAxes(pose: Pose, broad: THREE.Vector3): Axes {
    if (pose.rotations) return this.axes.rotate(this.rest, this.rotation(pose, "head"));
    const neck = this.roles["neck"] === undefined ? "hips" : "neck";
    return this.axes.square(broad, this.read(pose, "head").sub(this.read(pose, neck)));
  }

  /** A foot from the heel, which is below the ankle, to the ball; nothing if the skeleton has no ball or no rotations. */
  private foot(pose: Pose, side: string): THREE.Matrix4 {
    const ball = this.roles[`${side}_ball`] === undefined ? `${side}_toe_tip` : `${side}_ball`;
    if (!pose.rotations || this.roles[`${side}_foot`] === undefined || this.roles[ball] === undefined) return NOTHING;
    const axes = this.axes.rotate(this.rest, this.rotation(pose, `${side}_foot`));
    const ankle = this.read(pose, `${side}_foot`);
    const along = this.read(pose, ball).sub(ankle);
    const height = Math.max(-along.dot(axes.up), 0);
    const ahead = along.addScaledVector(axes.up, height);
    const length = ahead.length();
    if (!(length > 0.01 * this.stature)) return NOTHING;
    axes.square(axes.left.crossVectors(axes.up, ahead), axes.up);
    const center = ankle.addScaledVector(axes.up, -0.72 * height).addScaledVector(axes.ahead, 0.36 * length);
    return this.ellipsoid(axes, center, 0.025 * this.stature, Math.max(0.019 * this.stature, 0.45 * height), 0.76 * length);
  }

  private ellipsoid(axes: Axes, center: THREE.Vector3, x: number, y: number, z: number): THREE.Matrix4 {
    this.matrix.makeBasis(axes.left, axes.up, axes.ahead).setPosition(center);
    return this.matrix.multiply(this.size.makeScale(x, y, z));
  }

  /** Return the midpoint of the left and the right joint of a part, and the vector from right to left. */
  private middle(pose: Pose, part: string): [THREE.Vector3, THREE.Vector3] {
    const [left, right] = [this.read(pose, `left_${part}`), this.read(pose, `right_${part}`)];
    return [left.clone().add(right).multiplyScalar(0.5), left.sub(right)];
  }

  private read(pose: Pose, role: string): THREE.Vector3 {
    return new THREE.Vector3().fromArray(pose.positions, pose.offset + 3 * this.roles[role]!);
  }

  private rotation(pose: Pose, role: string): THREE.Quaternion {
    return this.turn.fromArray(pose.rotations!, (pose.rotationOffset ?? 0) + 4 * this.roles[role]!).clone();
  }
}
