/**
 * Keeps planted feet where they are, without look-ahead. While a point of a foot is planted, the leg is rotated to keep
 * that point still; after liftoff, the offset of the ankle decays. The same as `marey.clean.foot_lock.FootLock`.
 */
import { poseWorld, quatAt, vecAt, type Character, type Leg, type Pose } from "./character";
import {
  add, cross, dot, fromAxisAngle, invert, multiply, norm, normalize, rotate, rotationBetween, scale, sub, unit, type Quat, type Vec,
} from "./maths";

const HALF_LIFE = 0.1;
const MAX_OFFSET = 0.2;
/** Knee angle above which rotations are damped, so a nearly straight leg does not pop. */
const DAMPING = (170 * Math.PI) / 180;
/** Weight of the usual hinge axis against the current plane of the leg, for a knee that bends forward and backward. */
const [TRUSTED, TRUSTED_BACK] = [0.12, 0.5];

interface Foot {
  held: number;
  anchor: [number, number];
  x: [number, number];
  v: [number, number];
}

export class FootLock {
  private readonly feet: Foot[];

  constructor(private readonly character: Character) {
    this.feet = character.file.legs.map(() => ({ held: -1, anchor: [0, 0], x: [0, 0], v: [0, 0] }));
  }

  /** Return the pose with its planted feet locked. Call it once for each frame, in order. */
  apply(pose: Pose): Pose {
    const world = poseWorld(this.character.parents, pose);
    const out: Pose = { ...pose, rotations: pose.rotations.slice() };
    this.character.file.legs.forEach((leg, e) => {
      const foot = this.feet[e]!;
      this.hold(leg, foot, pose.contacts, world);
      if (Math.abs(foot.x[0]) + Math.abs(foot.x[1]) >= 1e-7) moveAnkle(this.character.parents, leg, foot.x, world, out);
    });
    return out;
  }

  /** Find the offset of the ankle in this frame. If both points are planted, the ball is held: it lifts off last. */
  private hold(leg: Leg, foot: Foot, contacts: boolean[], world: World): void {
    const { fps, file } = this.character;
    const [y, dt] = [(2 * Math.log(2)) / HALF_LIFE, 1 / fps];
    const held = leg.points.reduce((found, point, k) => (point >= 0 && contacts[point] ? k : found), -1);
    const left = Math.exp(-y * dt);
    const [free, speed]: [number[], number[]] = [[], []];
    for (const k of [0, 1]) {
      // Where a critically damped spring would take the foot if it were free.
      const s = foot.v[k]! + y * foot.x[k]!;
      free.push(left * (foot.x[k]! + s * dt));
      speed.push(left * (foot.v[k]! - y * s * dt));
    }
    if (held >= 0) {
      const { joint, offset } = file.points[leg.points[held]!]!;
      const at = add(vecAt(world.positions, joint), rotate(quatAt(world.rotations, joint), offset));
      if (foot.held !== held) foot.anchor = [at[0] + free[0]!, at[2] + free[1]!];
      const to = [foot.anchor[0] - at[0], foot.anchor[1] - at[2]];
      const away = Math.hypot(to[0]!, to[1]!);
      if (away > MAX_OFFSET) {
        // Drag the anchor along, no farther than necessary.
        for (const k of [0, 1]) to[k]! *= MAX_OFFSET / away;
        foot.anchor = [at[0] + to[0]!, at[2] + to[1]!];
      }
      for (const k of [0, 1]) {
        speed[k] = (to[k]! - foot.x[k]!) / dt;
        free[k] = to[k]!;
      }
    }
    foot.held = held;
    foot.x = [free[0]!, free[1]!];
    foot.v = [speed[0]!, speed[1]!];
  }
}

type World = ReturnType<typeof poseWorld>;

/** Rotate hip and knee to move the ankle along the floor; the foot keeps its orientation. */
function moveAnkle(parents: number[], leg: Leg, offset: [number, number], world: World, out: Pose): void {
  const [base, mid, end] = leg.joints;
  const [hip, knee, ankle] = [base, mid, end].map((j) => vecAt(world.positions, j)) as [Vec, Vec, Vec];
  const [up, down] = [sub(hip, knee), sub(ankle, knee)];
  const usual = normalize(rotate(quatAt(world.rotations, base), leg.hinge), [1, 0, 0]);
  const hinge = findHinge(up, down, usual);
  const reach = sub(add(ankle, [offset[0], 0, offset[1]]), hip);
  const distance = norm(reach);
  let bend = fromAxisAngle(hinge, Math.min(kneeRotation(up, down, hinge, distance, DAMPING), Math.PI - kneeAngle(up, down, hinge)));
  let stick = sub(rotate(bend, down), up);
  if (norm(stick) !== distance) {
    bend = fromAxisAngle(hinge, kneeRotation(up, down, hinge, distance, Math.PI));
    stick = sub(rotate(bend, down), up);
  }
  let swing = rotationBetween(stick, reach);
  // The hip takes half of the rotation about the line from hip to ankle; the ankle keeps the other half.
  const foot = quatAt(world.rotations, end);
  const line = normalize(reach, normalize(stick, hinge));
  const remaining = multiply(foot, invert(multiply(multiply(swing, bend), foot)));
  const sign = remaining[3] < 0 ? -1 : 1;
  const twist = Math.atan2(sign * dot(line, [remaining[0], remaining[1], remaining[2]]), sign * remaining[3]);
  swing = multiply(fromAxisAngle(line, twist), swing);
  const shank = multiply(swing, bend);
  const above = (joint: number): Quat => (parents[joint]! < 0 ? [0, 0, 0, 1] : quatAt(world.rotations, parents[joint]!));
  const write = (joint: number, parent: Quat, rotation: Quat) => out.rotations.set(unit(multiply(invert(parent), rotation)), 4 * joint);
  write(base, above(base), multiply(swing, quatAt(world.rotations, base)));
  write(mid, multiply(swing, above(mid)), multiply(shank, quatAt(world.rotations, mid)));
  write(end, multiply(shank, above(end)), foot);
}

/** The knee's axis; a positive rotation about it straightens the leg. up, down: from the knee to hip and ankle. */
function findHinge(up: Vec, down: Vec, usual: Vec): Vec {
  const lengths = norm(up) * norm(down);
  const seen: Vec = lengths > 1e-12 ? scale(1 / lengths, cross(up, down)) : [0, 0, 0];
  const back = Math.min(Math.max(-dot(seen, usual) / TRUSTED, 0), 1);
  return normalize(add(seen, scale(TRUSTED + back * (TRUSTED_BACK - TRUSTED), usual)), usual);
}

/** Radians about the hinge that put hip and ankle `distance` apart, as far as damping allows. */
function kneeRotation(up: Vec, down: Vec, hinge: Vec, distance: number, damping: number): number {
  const [a1, a2] = [dot(up, hinge), dot(down, hinge)];
  const [b1, b2] = [norm(sub(up, scale(a1, hinge))), norm(sub(down, scale(a2, hinge)))];
  const along = (a1 - a2) ** 2;
  const aboveMin = Math.max(distance * distance - along - (b1 - b2) ** 2, 0);
  const belowMax = Math.max((b1 + b2) ** 2 + along - distance * distance, 0);
  const after = 2 * Math.atan2(Math.sqrt(aboveMin), Math.sqrt(belowMax));
  return damp(after, damping) - damp(kneeAngle(up, down, hinge), damping);
}

function kneeAngle(up: Vec, down: Vec, hinge: Vec): number {
  return Math.abs(Math.atan2(dot(hinge, cross(up, down)), dot(up, down) - dot(up, hinge) * dot(down, hinge)));
}

function damp(angle: number, start: number): number {
  if (start >= Math.PI || angle <= start) return angle;
  const u = Math.min((angle - start) / (Math.PI - start), 1);
  return start + (Math.PI - start) * (0.5 * u ** 4 - u ** 3 + u);
}
