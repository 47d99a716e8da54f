/** Chooses the next clip with the value tables of the character, as `marey.control.sampled_stream` does. */
import type { Character, Clip, Transition, Values } from "./character";
import { compose, inverse, moveOnFloor, movePoint, type Rigid, type Vec } from "./maths";

/** What the character does from now on; without direction, point and wander, it comes to rest. */
export interface Steering {
  /** Radians from +Z, positive toward +X, with the index of a speed. */
  direction?: number;
  speed?: number;
  point?: [x: number, z: number];
  wander?: boolean;
}

/** An action to do once: the index of a node, or a point to hit. */
export type Action = { node: number } | { target: Vec };

/** The state in which a choice is made; `steering` and `action` are changed when they are done. */
export interface Chooser {
  clip: number;
  /** Takes the clip's coordinates to the world. */
  place: Rigid;
  steering: Steering;
  action: Action | null;
  random: () => number;
}

/** Meters: where a point counts as reached; how exactly a target must be hit; progress that is worth another clip. */
const [ARRIVED, WITHIN, PROGRESS] = [0.3, 0.1, 0.02];
/** Costs that differ by less, in seconds, are equal. */
const EQUAL = 1e-9;
/** Seconds that stand for a goal that cannot be reached. */
const NEVER = 100;

export function choose(character: Character, state: Chooser): Transition {
  const clip = character.clips[state.clip]!;
  return (state.action && chooseAction(character, clip, state, state.action)) ?? chooseSteering(character, clip, state);
}

function chooseSteering(character: Character, clip: Clip, state: Chooser): Transition {
  const transitions = clip.useful;
  const { values } = character.file;
  const here = compose(state.place, clip.place);
  const { direction, speed = 0, point, wander } = state.steering;
  if (wander) return transitions[Math.floor(state.random() * transitions.length)]!;
  if (point) {
    const goal = moveOnFloor(inverse(here), ...point);
    if (Math.hypot(...goal) > ARRIVED) return chooseToPoint(transitions, values, goal, state);
    state.steering = {};
  }
  const fade = ({ seconds }: Transition) => Math.exp(-seconds / values.horizon);
  if (direction !== undefined && !point) {
    const wanted = direction - here[0];
    const pace = values.speeds[speed]!;
    return lowest(transitions, (each) => {
      const x = each.step[1] - pace * each.seconds * Math.sin(wanted);
      const z = each.step[2] - pace * each.seconds * Math.cos(wanted);
      return Math.sqrt(x * x + z * z) / pace + fade(each) * readCircle(values.direction[speed]![each.target]!, wanted - each.step[0]);
    });
  }
  return lowest(transitions, (each) => each.effort + (fade(each) * values.rest[each.target]!) / 1000);
}

/** The transition that leads to a point soonest. */
function chooseToPoint(transitions: Transition[], values: Values, goal: [number, number], state: Chooser): Transition {
  const passing = (each: Transition) => passPoint(each, values, goal);
  const onward = (each: Transition) => each.seconds + readPoint(values, each.target, moveOnFloor(inverse(each.step), ...goal));
  const best = lowest(transitions, (each) => Math.min(passing(each), onward(each)));
  if (passing(best) <= onward(best)) state.steering = {}; // this clip passes the point
  return best;
}

/** The lowest cost at which a clip passes a point, else infinity. */
function passPoint({ path, seconds }: Transition, values: Values, [gx, gz]: [number, number]): number {
  let best = Infinity;
  for (let k = 0; k + 1 < path.length; k++) {
    const [x, z] = path[k]!;
    const [dx, dz] = [path[k + 1]![0] - x, path[k + 1]![1] - z];
    const t = Math.min(Math.max(((gx - x) * dx + (gz - z) * dz) / Math.max(dx * dx + dz * dz, 1e-12), 0), 1);
    const apart = Math.sqrt((x + t * dx - gx) ** 2 + (z + t * dz - gz) ** 2);
    if (apart < values.near) best = Math.min(best, ((k + t) / (path.length - 1)) * seconds + values.per_meter * apart);
  }
  return best;
}

function chooseAction(character: Character, clip: Clip, state: Chooser, action: Action): Transition | null {
  return "node" in action ? chooseNode(character, clip, state, action.node) : chooseHit(character, clip, state, action.target);
}

/** A clip of the node, with medium parameters, or the next one on the way to the node. */
function chooseNode(character: Character, { transitions }: Clip, state: Chooser, node: number): Transition | null {
  const { clips, middles, file } = character;
  const able = transitions.filter(({ target }) => clips[target]!.node === node);
  if (able.length) {
    state.action = null;
    const { mean, range } = middles[node]!;
    return lowest(able, ({ target }) => clips[target]!.parameters.reduce((sum, p, k) => sum + Math.abs((p - mean[k]!) / range[k]!), 0));
  }
  const cost = (each: Transition) => each.seconds + file.values.node[each.target]![node]! / 1000;
  const best = lowest(transitions, cost);
  if (cost(best) < NEVER) return best;
  state.action = null;
  return null;
}

/** A clip that hits the target, or one that brings it into reach. */
function chooseHit(character: Character, { transitions }: Clip, state: Chooser, target: Vec): Transition | null {
  const { clips } = character;
  const miss = (place: Rigid, { target: to, move }: Transition): number => {
    const { hit } = clips[to]!;
    if (!hit) return Infinity;
    const [x, y, z] = movePoint(compose(place, move), hit);
    return Math.sqrt((x - target[0]) ** 2 + (y - target[1]) ** 2 + (z - target[2]) ** 2);
  };
  const best = lowest(transitions, (each) => miss(state.place, each));
  const gap = miss(state.place, best);
  if (gap > WITHIN) {
    const later = (each: Transition): number => {
      if (clips[each.target]!.hit) return Infinity;
      const after = compose(state.place, each.move);
      return Math.min(...clips[each.target]!.transitions.map((next) => miss(after, next)));
    };
    const closer = lowest(transitions, later);
    if (later(closer) < gap - PROGRESS) return closer;
  }
  state.action = null;
  return Number.isFinite(gap) ? best : null;
}

/** The first of the elements whose costs are lowest, but for rounding. */
function lowest<T>(elements: T[], cost: (element: T) => number): T {
  const costs = elements.map(cost);
  const least = Math.min(...costs);
  return elements[costs.findIndex((each) => each <= least + EQUAL)]!;
}

// Value tables --------------------------------------------------------------------------------------------------------

/** Interpolate values around a circle, in milliseconds; returns seconds. */
function readCircle(row: number[], angle: number): number {
  const [index, t] = split(angle / ((2 * Math.PI) / row.length));
  return (at(row, index) * (1 - t) + at(row, index + 1) * t) / 1000;
}

/** Seconds to a point, seen from the character at the end of a clip: left and ahead in meters. */
function readPoint(values: Values, clip: number, [left, ahead]: [number, number]): number {
  const { distances, bearings, slowness } = values;
  const row = values.point[clip]!;
  const distance = Math.sqrt(left * left + ahead * ahead);
  const near = Math.min(distance, distances[distances.length - 1]!);
  let r = distances.length - 2;
  while (r > 0 && distances[r]! > near) r--;
  const u = (near - distances[r]!) / (distances[r + 1]! - distances[r]!);
  const [index, v] = split(Math.atan2(left, ahead) / ((2 * Math.PI) / bearings));
  const ring = (i: number) => {
    const own = row.slice(i * bearings, (i + 1) * bearings);
    return at(own, index) * (1 - v) + at(own, index + 1) * v;
  };
  return ((1 - u) * ring(r) + u * ring(r + 1)) / 1000 + (distance - near) * slowness;
}

const split = (position: number): [index: number, fraction: number] => [Math.floor(position), position - Math.floor(position)];
const at = (circle: number[], index: number): number => circle[((index % circle.length) + circle.length) % circle.length]!;
