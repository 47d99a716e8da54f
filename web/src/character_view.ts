/** One motion in the scene: its body, trail, contact points, ghosts, joint names and point cloud. */
import * as THREE from "three";
import { el } from "./dom";
import { Footprints } from "./footprints";
import type { Frame, Frames } from "./frames";
import { bodyOf, Limbs, type Pose, type Style } from "./limbs";
import type { MotionInfo } from "./messages";
import type { Stage } from "./scene";
import type { Skin } from "./skin";

/** What is drawn in addition to the body. */
export interface Shown {
  style: Style;
  trail: boolean;
  contacts: boolean;
  names: boolean;
  cloud: boolean;
  /** The pose before the last edit. */
  before: boolean;
  /** Ghosts on each side of the current frame; 0 for none. */
  ghosts: number;
  /** Seconds between ghosts. */
  ghostStep: number;
}

export const SHOWN: Shown = {
  style: "limbs", trail: true, contacts: true, names: false, cloud: false, before: true, ghosts: 0, ghostStep: 0.2,
};

export type CharacterInfo = Pick<
  MotionInfo,
  "joints" | "parents" | "bone_lengths" | "end_sites" | "roles" | "stature" | "kind" | "n_frames" | "fps" | "contacts" | "floor"
>;

export const TOUCHING = "#e8833a";
// Shared by the contacts of all characters and never disposed: three.js would compile the shader again each time.
const DOWN = new THREE.MeshBasicMaterial({ color: TOUCHING });
const FREE = new THREE.MeshBasicMaterial({ color: "#8d949d" });
const TRAIL_ABOVE_FLOOR = 0.004;
/** Pixels that a letter of a joint's name takes in a row, and the height of a row. */
const NAME_ROOM = [6, 13] as const;
/** Color and opacity of the body before the last edit, visible on light and dark ground. */
const [BEFORE_COLOR, BEFORE_OPACITY] = ["#9aa1ab", 0.45];

export class CharacterView {
  /** Everything that belongs to the motion. Move and rotate it to place the motion elsewhere on the floor. */
  readonly group = new THREE.Group();
  private body: Limbs;
  private skin: Skin | null = null;
  private ghosts: Limbs | null = null;
  private before: { frames: Frames; body: Limbs | null } | null = null;
  private footprints: Footprints | null = null;
  private readonly markers: THREE.Mesh[] = [];
  private readonly labels: HTMLElement[] = [];
  private trail: THREE.Line | null = null;
  private cloud: THREE.Points | null = null;
  private ends: [number, number] = [0, 0];
  private first: [number, number] = [0, 0];
  private pose: Frame | undefined;
  /** The frame as last drawn. */
  private frame = -1;
  private readonly point = new THREE.Vector3();
  private readonly turn = new THREE.Quaternion();

  constructor(
    private readonly stage: Stage,
    public info: CharacterInfo,
    readonly frames: Frames,
    private _color: string,
    public shown: Shown,
  ) {
    this.body = this.makeBody(1, 1);
    this.showFootprints();
    stage.scene.add(this.group);
  }

  /** Whether a frame has been shown, so that the character has a position. */
  get posed(): boolean {
    return this.pose !== undefined;
  }

  get color(): string {
    return this._color;
  }

  set visible(on: boolean) {
    this.group.visible = on;
    if (!on) for (const label of this.labels) label.hidden = true;
    this.stage.invalidate();
  }

  get visible(): boolean {
    return this.group.visible;
  }

  /** Apply changed contacts or settings. */
  refresh(info: CharacterInfo, shown: Shown): void {
    const restyled = shown.style !== this.shown.style;
    this.info = info;
    this.shown = { ...shown };
    if (restyled) {
      this.body.dispose();
      this.body = this.makeBody(1, 1);
    }
    this.wear();
    this.showFootprints();
    this.ghosts?.dispose();
    this.ghosts = null;
    this.clearBefore();
    for (const marker of this.markers.splice(0)) this.remove(marker, false);
    if (this.trail) this.trail.visible = shown.trail;
    if (!shown.names) for (const label of this.labels.splice(0)) label.remove();
    if (!shown.cloud) this.setCloud(null);
  }

  /** Draw frame `frame`; false while it is loading. */
  show(frame: number): boolean {
    this.frames.prefetch(frame);
    const pose = this.frames.at(frame);
    if (!pose) return false;
    this.pose = pose;
    this.frame = frame;
    if (this.dressed) this.skin!.pose(pose);
    else this.body.draw([pose]);
    this.showContacts(pose, Math.round(frame));
    this.showGhosts(frame);
    this.showBefore(frame);
    this.stage.invalidate();
    return true;
  }

  /** Set the frames before the last edit; null for none. */
  setBefore(frames: Frames | null): void {
    this.clearBefore();
    this.before = frames && { frames, body: null };
    frames?.arrived.on(() => this.before?.frames === frames && this.frame >= 0 && this.show(this.frame));
  }

  /** Set the skin from the motion's file. It is drawn if the style asks for it. */
  setSkin(skin: Skin): void {
    this.skin?.dispose();
    this.skin = skin;
    this.group.add(skin.group);
    this.wear();
    if (this.pose) skin.pose(this.pose);
    this.stage.invalidate();
  }

  /** World position of the hips as last drawn, or the center of the markers. Includes the placement of `group`. */
  center(into = new THREE.Vector3()): THREE.Vector3 {
    const hips = this.info.roles["hips"] ?? 0;
    if (!this.pose) into.set(0, 0.9, 0);
    else if (this.info.kind === "markers") this.middle(this.pose, into);
    else into.fromArray(this.pose.positions, this.pose.offset + 3 * hips);
    if (!Number.isFinite(into.x)) into.set(0, 0.9, 0);
    this.group.updateMatrixWorld();
    return into.applyMatrix4(this.group.matrixWorld);
  }

  /** Angle by which the body, as last drawn, has turned to the left of +Z in the world; 0 if it is not known. */
  facing(): number {
    this.group.updateMatrixWorld();
    for (const part of ["upper_leg", "upper_arm"]) {
      const [left, right] = ["left", "right"].map((side) => this.info.roles[`${side}_${part}`]);
      if (!this.pose || left === undefined || right === undefined) continue;
      const across = this.world(this.pose, left).clone().sub(this.world(this.pose, right));
      if (Math.hypot(across.x, across.z) > 1e-6) return Math.atan2(-across.z, across.x);
    }
    return 0;
  }

  /** Position of a joint in the world as last drawn. */
  jointPosition(joint: number, into = new THREE.Vector3()): THREE.Vector3 {
    if (!this.pose) return into.set(0, 0, 0);
    return into.fromArray(this.pose.positions, this.pose.offset + 3 * joint).applyMatrix4(this.group.matrixWorld);
  }

  /** Where a ray first meets the body as last drawn; null if it misses. */
  hit(caster: THREE.Raycaster): THREE.Vector3 | null {
    if (this.pose && this.dressed) this.body.draw([this.pose]);
    return this.pose ? this.body.hit(caster) : null;
  }

  /** Rotation of a joint as last drawn, relative to its parent, or in the world. */
  jointRotation(joint: number, inWorld = false): THREE.Quaternion {
    const { pose } = this;
    const of = (each: number) => new THREE.Quaternion().fromArray(pose!.rotations, pose!.rotationOffset + 4 * each);
    const parent = this.info.parents[joint] ?? -1;
    if (!pose) return new THREE.Quaternion();
    return parent < 0 || inWorld ? of(joint) : of(parent).invert().multiply(of(joint));
  }

  /** Where the hips start on the floor, x and z, in the motion's own coordinates. */
  start(): [number, number] {
    return this.first;
  }

  /** The path of the hips in the motion's own coordinates, as a flat x, y, z list on the floor; empty if unknown. */
  path(): ArrayLike<number> {
    return this.trail?.geometry.getAttribute("position").array ?? [];
  }

  /** Bounding box of the path of the hips in the world; empty if it is not known. */
  pathBox(): THREE.Box3 {
    const box = new THREE.Box3();
    if (!this.trail) return box;
    return box.setFromBufferAttribute(this.trail.geometry.getAttribute("position") as THREE.BufferAttribute).applyMatrix4(this.group.matrixWorld);
  }

  /** Bounding box of the body in the world as last drawn, without joints above the hips; empty if nothing was drawn. */
  box(into = new THREE.Box3()): THREE.Box3 {
    into.makeEmpty();
    this.group.updateMatrixWorld();
    // The root joint of some rigs stays at the origin while the hips move.
    const above = new Set<number>();
    for (let joint = this.info.parents[this.info.roles["hips"] ?? 0] ?? -1; joint >= 0; joint = this.info.parents[joint]!) above.add(joint);
    for (let joint = 0; this.pose && joint < this.info.joints.length; joint++) {
      if (above.has(joint)) continue;
      const at = this.world(this.pose, joint);
      if (Number.isFinite(at.x)) into.expandByPoint(at);
    }
    return into;
  }

  /** Set the path of the hips over the floor, as a flat x, y, z list. */
  setTrail(points: Float32Array, floor: number): void {
    if (this.trail) this.remove(this.trail);
    const n = points.length;
    this.ends = n < 6 ? [0, 0] : [points[n - 3]! - points[0]!, points[n - 1]! - points[2]!];
    this.first = [points[0] ?? 0, points[2] ?? 0];
    const flat = points.slice();
    for (let i = 1; i < flat.length; i += 3) flat[i] = floor + TRAIL_ABOVE_FLOOR;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(flat, 3));
    this.trail = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: this._color }));
    this.trail.frustumCulled = false;
    this.trail.visible = this.shown.trail;
    this.group.add(this.trail);
    this.stage.invalidate();
  }

  /** Displacement x, z in meters from the start to the end of the trail; 0, 0 if it is not known. */
  travel(): [number, number] {
    return this.ends;
  }

  /** Set the point cloud, as a flat x, y, z list in the motion's own coordinates; null removes it. */
  setCloud(points: Float32Array | null): void {
    if (this.cloud) this.remove(this.cloud);
    this.cloud = null;
    if (!points) return;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
    const look = new THREE.PointsMaterial({ color: this._color, size: 0.02, transparent: true, opacity: 0.7 });
    this.cloud = new THREE.Points(geometry, look);
    this.cloud.frustumCulled = false;
    this.group.add(this.cloud);
    this.stage.invalidate();
  }

  /** Position the joint names over the view. The camera may have moved since the pose was drawn. */
  placeNames(): void {
    if (!this.shown.names || !this.pose || !this.visible) return;
    if (!this.labels.length) {
      for (const name of this.info.joints) this.labels.push(el("span", { class: "joint-name", text: name }));
      this.stage.overlay.append(...this.labels);
    }
    // A name that would lie on another is left out; joints nearer to the root come first.
    const taken: { x: number; y: number; width: number }[] = [];
    this.labels.forEach((label, joint) => {
      const at = this.info.end_sites[joint] ? null : this.stage.project(this.world(this.pose!, joint));
      const width = NAME_ROOM[0] * label.textContent!.length;
      const free = at && !taken.some((each) => Math.abs(each.y - at.y) < NAME_ROOM[1] && at.x < each.x + each.width && each.x < at.x + width);
      label.hidden = !free;
      if (!free) return;
      taken.push({ ...at, width });
      label.style.transform = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
    });
  }

  dispose(): void {
    this.footprints?.dispose();
    this.body.dispose();
    this.skin?.dispose();
    this.ghosts?.dispose();
    this.clearBefore();
    for (const marker of this.markers) this.remove(marker, false);
    for (const label of this.labels) label.remove();
    if (this.trail) this.remove(this.trail);
    this.setCloud(null);
    this.group.removeFromParent();
    this.stage.invalidate();
  }

  private get dressed(): boolean {
    return this.skin !== null && this.shown.style === "skin";
  }

  /** Show the skin or the limbs, never both. */
  private wear(): void {
    if (this.skin) this.skin.group.visible = this.dressed;
    this.body.group.visible = !this.dressed;
  }

  private makeBody(capacity: number, opacity: number, color = this._color): Limbs {
    const { joints } = this.info;
    const limbs = new Limbs(bodyOf(this.info), joints.length, capacity, color, opacity, this.shown.style);
    this.group.add(limbs.group);
    return limbs;
  }

  /** Mark on the floor where feet are planted, in red where they slide. */
  private showFootprints(): void {
    this.footprints?.dispose();
    const lanes = this.shown.contacts ? this.info.contacts : null;
    this.footprints = lanes && new Footprints(lanes, this.info.floor ?? 0);
    if (this.footprints) this.group.add(this.footprints.mesh);
  }

  private showContacts(pose: Frame, frame: number): void {
    const lanes = this.shown.contacts ? (this.info.contacts ?? []) : [];
    lanes.forEach((lane, i) => {
      let marker = this.markers[i];
      if (!marker) {
        marker = new THREE.Mesh(new THREE.SphereGeometry(1, 12, 8), FREE);
        this.markers.push(marker);
        this.group.add(marker);
      }
      this.turn.fromArray(pose.rotations, pose.rotationOffset + 4 * lane.joint);
      this.point.fromArray(lane.offset as [number, number, number]).applyQuaternion(this.turn);
      const at = pose.offset + 3 * lane.joint;
      marker.position.fromArray(pose.positions, at).add(this.point);
      const touching = lane.intervals.some(([start, stop]) => start <= frame && frame < stop);
      marker.scale.setScalar(touching ? 0.03 : 0.012);
      marker.material = touching ? DOWN : FREE;
    });
  }

  private showGhosts(frame: number): void {
    const { ghosts, ghostStep } = this.shown;
    if (!ghosts) return;
    this.ghosts ??= this.makeBody(2 * ghosts, 0.22);
    const poses: Pose[] = [];
    for (let k = -ghosts; k <= ghosts; k++) {
      const at = Math.round(frame + k * ghostStep * this.info.fps);
      const pose = k && at >= 0 && at < this.info.n_frames ? this.frames.at(at) : undefined;
      if (pose) poses.push(pose);
    }
    this.ghosts.draw(poses);
  }

  private showBefore(frame: number): void {
    const { before } = this;
    if (!before || !this.shown.before) return;
    const pose = before.frames.at(frame);
    if (!pose) return;
    before.body ??= this.makeBody(1, BEFORE_OPACITY, BEFORE_COLOR);
    before.body.draw([pose]);
  }

  private clearBefore(): void {
    this.before?.body?.dispose();
    if (this.before) this.before.body = null;
  }

  /** Compute the center of all visible markers. */
  private middle(pose: Frame, into: THREE.Vector3): void {
    into.set(0, 0, 0);
    let seen = 0;
    for (let joint = 0; joint < this.info.joints.length; joint++) {
      this.point.fromArray(pose.positions, pose.offset + 3 * joint);
      if (!Number.isFinite(this.point.x)) continue;
      into.add(this.point);
      seen++;
    }
    into.divideScalar(seen);
  }

  private world(pose: Frame, joint: number): THREE.Vector3 {
    return new THREE.Vector3().fromArray(pose.positions, pose.offset + 3 * joint).applyMatrix4(this.group.matrixWorld);
  }

  private remove(thing: THREE.Mesh | THREE.Line | THREE.Points, withMaterial = true): void {
    thing.removeFromParent();
    thing.geometry.dispose();
    if (withMaterial) (thing.material as THREE.Material).dispose();
  }
}
