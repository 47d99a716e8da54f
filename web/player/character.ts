/** A sampled character: what char.json and char.glb hold, decoded. docs/exporting.md describes both files. */
import { compose, inverse, moveOnFloor, multiply, rotate, add, unit, wrap, type Quat, type Rigid, type Vec } from "./maths";

/** The content of char.json. */
export interface CharacterFile {
  format: string;
  version: number;
  name: string;
  fps: number;
  /** Frames of a transition on each side of its middle frame. */
  half: number;
  joints: string[];
  roles: Record<string, string>;
  points: { name: string; joint: number; offset: Vec }[];
  legs: Leg[];
  nodes: { name: string; parameters: string[]; units: string[]; steers: boolean }[];
  start: { clip: number; place: Rigid };
  clips: ClipFile[];
  values: Values;
}

export interface Leg {
  /** Hip, knee and ankle. */
  joints: [number, number, number];
  /** Contact points of heel and ball; -1 for none. */
  points: [number, number];
  hinge: Vec;
}

export interface ClipFile {
  name: string;
  node: number;
  parameters: number[];
  frames: number;
  decide: number;
  place: Rigid;
  path: [number, number][];
  hit: Vec | null;
  contacts: [number, number][][];
  next: [clip: number, leave: number, enter: number, theta: number, x: number, z: number, cost: number][];
}

/** Value tables, in milliseconds. */
export interface Values {
  horizon: number;
  speeds: number[];
  direction: number[][][];
  node: number[][];
  rest: number[];
  point: number[][];
  distances: number[];
  bearings: number;
  slowness: number;
  near: number;
  per_meter: number;
}

/** A pose: local translations (3 J) and rotations (4 J, xyzw) of all joints, and the contact points that are planted. */
export interface Pose {
  translations: Float64Array;
  rotations: Float64Array;
  contacts: boolean[];
}

/** A way from one clip to the next. */
export interface Transition {
  target: number;
  leave: number;
  enter: number;
  /** Takes the next clip's coordinates to those of this one. */
  move: Rigid;
  /** Where the character is at the next choice, relative to this one; the seconds and the way until then. */
  step: Rigid;
  seconds: number;
  path: [number, number][];
  /** How much the character moves: meters, and a part for turning. */
  effort: number;
}

export interface Clip extends Omit<ClipFile, "contacts" | "next"> {
  poses: Pose[];
  transitions: Transition[];
  /** The transitions that are used to go somewhere: to nodes that steer, or all if no such node can follow. */
  useful: Transition[];
}

export interface Character {
  file: CharacterFile;
  name: string;
  fps: number;
  parents: number[];
  clips: Clip[];
  /** For each node, mean and range of its clips' parameters. */
  middles: { mean: number[]; range: number[] }[];
}

/** Meters that turning by one radian counts at rest. */
const TURNING = 0.3;

/** Decode a character from the content of char.json and the bytes of char.glb. */
export function readCharacter(file: CharacterFile, glb: ArrayBuffer): Character {
  if (file.format !== "marey.sampled_character" || file.version !== 1) throw new Error("not a sampled character of version 1");
  const { parents, animations } = readAnimations(glb, file.clips.map((clip) => clip.frames));
  const clips = file.clips.map(({ contacts, next, ...clip }, i): Clip => {
    const poses = animations[i]!;
    contacts.forEach((runs, k) => {
      poses.forEach((pose, f) => (pose.contacts[k] = runs.some(([begin, stop]) => f >= begin && f < stop)));
    });
    const transitions = next.map((row) => readTransition(file, clip, row));
    const steering = transitions.filter(({ target }) => file.nodes[file.clips[target]!.node]!.steers);
    return { ...clip, poses, transitions, useful: steering.length ? steering : transitions };
  });
  const middles = file.nodes.map(({ parameters }, node) => {
    const own = file.clips.filter((clip) => clip.node === node);
    const columns = parameters.map((_, k) => own.map((clip) => clip.parameters[k]!));
    return {
      mean: columns.map((values) => values.reduce((a, b) => a + b, 0) / values.length),
      range: columns.map((values) => Math.max(...values) - Math.min(...values) || 1),
    };
  });
  return { file, name: file.name, fps: file.fps, parents, clips, middles };
}

function readTransition(file: CharacterFile, from: Omit<ClipFile, "contacts" | "next">, row: ClipFile["next"][number]): Transition {
  const [target, leave, enter, ...rest] = row;
  const move: Rigid = [rest[0], rest[1], rest[2]];
  const to = file.clips[target]!;
  const local = compose(inverse(from.place), move);
  const step = compose(local, to.place);
  const path: [number, number][] = [[0, 0], ...to.path.map(([x, z]) => moveOnFloor(local, x, z))];
  const length = path.slice(1).reduce((sum, [x, z], k) => sum + Math.sqrt((x - path[k]![0]) ** 2 + (z - path[k]![1]) ** 2), 0);
  const seconds = (leave - from.decide + to.decide - enter) / file.fps;
  return { target, leave, enter, move, step, seconds, path, effort: length + TURNING * Math.abs(wrap(step[0])) };
}

/** World positions (3 J) and rotations (4 J) of a pose. */
export function poseWorld(parents: number[], pose: Pose): { positions: Float64Array; rotations: Float64Array } {
  const positions = new Float64Array(pose.translations.length);
  const rotations = new Float64Array(pose.rotations.length);
  parents.forEach((parent, j) => {
    let [at, turn] = [vecAt(pose.translations, j), quatAt(pose.rotations, j)];
    if (parent >= 0) {
      const above = quatAt(rotations, parent);
      at = add(vecAt(positions, parent), rotate(above, at));
      turn = multiply(above, turn);
    }
    positions.set(at, 3 * j);
    rotations.set(turn, 4 * j);
  });
  return { positions, rotations };
}

export const vecAt = (values: Float64Array, j: number): Vec => [values[3 * j]!, values[3 * j + 1]!, values[3 * j + 2]!];
export const quatAt = (values: Float64Array, j: number): Quat => [values[4 * j]!, values[4 * j + 1]!, values[4 * j + 2]!, values[4 * j + 3]!];

// glTF ----------------------------------------------------------------------------------------------------------------

interface Gltf {
  nodes: { children?: number[]; translation?: Vec }[];
  skins: { joints: number[] }[];
  animations: {
    channels: { sampler: number; target: { node: number; path: string } }[];
    samplers: { input: number; output: number }[];
  }[];
  accessors: { bufferView: number; byteOffset?: number; componentType: number; count: number; type: string }[];
  bufferViews: { byteOffset?: number }[];
}

/**
 * Read the animations of a GLB file that marey wrote: the joints of the skin, in order, with one key per frame, or two
 * where nothing changes. Any glTF library can read them as well.
 */
function readAnimations(glb: ArrayBuffer, lengths: number[]): { parents: number[]; animations: Pose[][] } {
  const view = new DataView(glb);
  const length = view.getUint32(12, true);
  const gltf = JSON.parse(new TextDecoder().decode(new Uint8Array(glb, 20, length))) as Gltf;
  const binary = 20 + length + 8;
  const read = (index: number): { values: Float64Array; width: number } => {
    const { bufferView, byteOffset = 0, componentType, count, type } = gltf.accessors[index]!;
    const width = { SCALAR: 1, VEC3: 3, VEC4: 4 }[type]!;
    const start = binary + (gltf.bufferViews[bufferView]!.byteOffset ?? 0) + byteOffset;
    const isFloat = componentType === 5126; // otherwise normalized 16-bit integers
    const values = Float64Array.from({ length: count * width }, (_, i) =>
      isFloat ? view.getFloat32(start + 4 * i, true) : view.getInt16(start + 2 * i, true) / 32767,
    );
    return { values, width };
  };
  const joints = gltf.skins[0]!.joints;
  const parents = joints.map((node) => joints.findIndex((above) => gltf.nodes[above]!.children?.includes(node)));
  const offsets = new Float64Array(joints.flatMap((node) => gltf.nodes[node]!.translation ?? [0, 0, 0]));
  const still = new Float64Array(joints.flatMap(() => [0, 0, 0, 1]));
  const animations = gltf.animations.map(({ channels, samplers }, i) => {
    const tracks = channels.map(({ sampler, target }) => ({
      joint: joints.indexOf(target.node), path: target.path, ...read(samplers[sampler]!.output),
    }));
    return Array.from({ length: lengths[i]! }, (_, f): Pose => {
      const pose = { translations: offsets.slice(), rotations: still.slice(), contacts: [] };
      for (const { joint, path, values, width } of tracks) {
        const row = Math.min(f, values.length / width - 1);
        const key = values.subarray(row * width, (row + 1) * width);
        if (path === "translation") pose.translations.set(key, 3 * joint);
        else pose.rotations.set(unit(quatAt(key, 0)), 4 * joint);
      }
      return pose;
    });
  });
  return { parents, animations };
}
