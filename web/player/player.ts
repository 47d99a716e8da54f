/**
 * Plays a sampled character:
 *
 *     const character = readCharacter(await (await fetch("char.json")).json(), await (await fetch("char.glb")).arrayBuffer());
 *     const player = new Player(character);
 *     player.request({ direction: 1.57 });
 *     const pose = player.advance(1 / 60); // local transforms of all joints, for each picture
 */
import { poseWorld, quatAt, type Character, type Clip, type Pose, type Transition } from "./character";
import { choose, type Action, type Chooser, type Steering } from "./choose";
import { FootLock } from "./foot_lock";
import { compose, inverse, moveOnFloor, multiply, slerp, type Quat, type Rigid, type Vec } from "./maths";

/**
 * A command; it takes effect when the next clip is chosen. Direction (radians from +Z, positive toward +X, at a speed in
 * m/s), point and wander say where to go; a command with none of them and no action lets the character come to rest.
 * Node and target are actions that are done once.
 */
export interface Command {
  direction?: number;
  speed?: number;
  point?: [x: number, z: number];
  wander?: boolean;
  /** Name of a node to play. */
  node?: string;
  /** Point in the world to hit. */
  target?: Vec;
}

export interface PlayerOptions {
  /** Where the character starts. */
  place?: Rigid;
  /** Seed of the command `wander`. */
  seed?: number;
  /** Whether to lock planted feet. */
  lock?: boolean;
}

export class Player {
  /** The clip that is played, where it is in the world, and what was requested. */
  readonly state: Chooser;
  private readonly lock: FootLock | null;
  private frameInClip = 0;
  private next: Transition | null = null;
  /** The two frames around the current time, and the time since the first one, in frames. */
  private around: [Pose, Pose] | null = null;
  private fraction = 0;

  constructor(readonly character: Character, { place = [0, 0, 0], seed = 0, lock = true }: PlayerOptions = {}) {
    const { clip, place: start } = character.file.start;
    this.state = { clip, place: compose(place, inverse(start)), steering: {}, action: null, random: mulberry32(seed) };
    this.lock = lock && character.file.legs.length ? new FootLock(character) : null;
  }

  /** Name of the node that is played. */
  get node(): string {
    return this.character.file.nodes[this.clip.node]!.name;
  }

  /** What the character is doing; empty if it is at rest. */
  get steering(): Steering {
    return this.state.steering;
  }

  /** Whether an action was requested and has not begun. */
  get pending(): boolean {
    return this.state.action !== null;
  }

  request(command: Command): void {
    const { speed, point, wander, node, target } = command;
    const isSpeedOnly = speed !== undefined && Object.values(command).filter((value) => value !== undefined).length === 1;
    const direction = isSpeedOnly ? this.state.steering.direction : command.direction;
    const action = this.readAction(node, target);
    if (action) this.state.action = action;
    const { speeds } = this.character.file.values;
    if (direction !== undefined) {
      const wanted = speed ?? speeds[Math.floor(speeds.length / 2)]!;
      const apart = speeds.map((each) => Math.abs(each - wanted));
      this.state.steering = { direction, speed: apart.findIndex((each) => each <= Math.min(...apart) + 1e-9) };
    } else if (point) this.state.steering = { point };
    else if (wander) this.state.steering = { wander };
    else if (!action && !isSpeedOnly) this.state.steering = {};
  }

  /** Move time forward and return the pose, interpolated between frames: for any picture rate. */
  advance(seconds: number): Pose {
    this.around ??= [this.frame(), this.frame()];
    this.fraction += seconds * this.character.fps;
    for (; this.fraction >= 1; this.fraction--) this.around = [this.around[1], this.frame()];
    return mix(this.around[0], this.around[1], this.fraction, this.around[0].contacts);
  }

  /** Return the next frame, at the character's own frame rate. */
  frame(): Pose {
    const pose = this.nextFrame();
    return this.lock ? this.lock.apply(pose) : pose;
  }

  /** World positions (3 J) and rotations (4 J, xyzw) of a pose. */
  world(pose: Pose): ReturnType<typeof poseWorld> {
    return poseWorld(this.character.parents, pose);
  }

  private get clip(): Clip {
    return this.character.clips[this.state.clip]!;
  }

  private readAction(node: string | undefined, target: Vec | undefined): Action | null {
    if (target) return { target };
    if (node === undefined) return null;
    const index = this.character.file.nodes.findIndex((each) => each.name === node);
    if (index < 0) throw new Error(`${this.character.name} has no node ${node}`);
    return { node: index };
  }

  private nextFrame(): Pose {
    const { state, clip } = this;
    if (!this.next && this.frameInClip >= clip.decide) this.next = choose(this.character, state);
    const { half } = this.character.file;
    const { next, frameInClip: frame } = this;
    this.frameInClip++;
    const pose = placePose(clip.poses[frame]!, state.place);
    if (!next || frame < next.leave - half) return pose;
    // The transition: a crossfade of 2 half + 1 frames from this clip to the next.
    const k = frame - (next.leave - half);
    const place = compose(state.place, next.move);
    const into = placePose(this.character.clips[next.target]!.poses[next.enter - half + k]!, place);
    const t = (k + 1) / (2 * half + 2);
    const mixed = mix(pose, into, t * t * (3 - 2 * t), (k <= half ? pose : into).contacts);
    if (k === 2 * half) {
      Object.assign(state, { clip: next.target, place });
      this.frameInClip = next.enter + half + 1;
      this.next = null;
    }
    return mixed;
  }
}

/** Move a pose on the floor. */
function placePose(pose: Pose, place: Rigid): Pose {
  const turn: Quat = [0, Math.sin(0.5 * place[0]), 0, Math.cos(0.5 * place[0])];
  const [translations, rotations] = [pose.translations.slice(), pose.rotations.slice()];
  const [x, z] = moveOnFloor(place, translations[0]!, translations[2]!);
  translations[0] = x;
  translations[2] = z;
  rotations.set(multiply(turn, quatAt(rotations, 0)), 0);
  return { translations, rotations, contacts: pose.contacts };
}

function mix(a: Pose, b: Pose, t: number, contacts: boolean[]): Pose {
  const translations = a.translations.map((value, i) => value + t * (b.translations[i]! - value));
  const rotations = new Float64Array(a.rotations.length);
  for (let j = 0; 4 * j < rotations.length; j++) rotations.set(slerp(quatAt(a.rotations, j), quatAt(b.rotations, j), t), 4 * j);
  return { translations, rotations, contacts };
}

/** Random numbers from 0 to 1. */
function mulberry32(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export { readCharacter } from "./character";
export type { Character, CharacterFile, Pose } from "./character";
