/** Vectors [x, y, z], quaternions [x, y, z, w] and rigid transforms of the floor [theta, x, z], as plain arrays. */

export type Vec = [number, number, number];
export type Quat = [number, number, number, number];
/** Rotation by theta about +Y (positive from +Z toward +X), then a shift on the floor. */
export type Rigid = [theta: number, x: number, z: number];

export const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const add = (a: Vec, b: Vec): Vec => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (s: number, a: Vec): Vec => [s * a[0], s * a[1], s * a[2]];
export const norm = (a: Vec): number => Math.sqrt(dot(a, a));
export const cross = (a: Vec, b: Vec): Vec => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** Return a / |a|, or `fallback` if a is 0. */
export function normalize(a: Vec, fallback: Vec): Vec {
  const length = norm(a);
  return length < 1e-12 ? fallback : [a[0] / length, a[1] / length, a[2] / length];
}

// Quaternions ---------------------------------------------------------------------------------------------------------

export function multiply(a: Quat, b: Quat): Quat {
  const [ax, ay, az, aw] = a;
  const [bx, by, bz, bw] = b;
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

export const invert = (q: Quat): Quat => [-q[0], -q[1], -q[2], q[3]];

export function unit(q: Quat): Quat {
  const length = Math.hypot(q[0], q[1], q[2], q[3]);
  return [q[0] / length, q[1] / length, q[2] / length, q[3] / length];
}

/** Rotate a vector. */
export function rotate(q: Quat, v: Vec): Vec {
  const axis: Vec = [q[0], q[1], q[2]];
  const t = scale(2, cross(axis, v));
  return add(add(v, scale(q[3], t)), cross(axis, t));
}

export function fromAxisAngle(axis: Vec, angle: number): Quat {
  const s = Math.sin(0.5 * angle);
  return [s * axis[0], s * axis[1], s * axis[2], Math.cos(0.5 * angle)];
}

/** Interpolate along the shorter arc, at constant speed. */
export function slerp(a: Quat, b: Quat, t: number): Quat {
  const sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
  const c: Quat = [sign * b[0], sign * b[1], sign * b[2], sign * b[3]];
  const apart = Math.hypot(a[0] - c[0], a[1] - c[1], a[2] - c[2], a[3] - c[3]);
  const together = Math.hypot(a[0] + c[0], a[1] + c[1], a[2] + c[2], a[3] + c[3]);
  const arc = 2 * Math.atan2(apart, together);
  const [u, v] = arc < 1e-12 ? [1 - t, t] : [Math.sin((1 - t) * arc) / Math.sin(arc), Math.sin(t * arc) / Math.sin(arc)];
  return [u * a[0] + v * c[0], u * a[1] + v * c[1], u * a[2] + v * c[2], u * a[3] + v * c[3]];
}

/** The smallest rotation that gives a the direction of b. */
export function rotationBetween(a: Vec, b: Vec): Quat {
  const [la, lb] = [norm(a), norm(b)];
  if (la < 1e-12 || lb < 1e-12) return [0, 0, 0, 1];
  const [ua, ub] = [scale(1 / la, a), scale(1 / lb, b)];
  const [total, gap] = [add(ua, ub), sub(ub, ua)];
  const axis = cross(ua, dot(ua, ub) < 0 ? total : gap);
  const length = norm(axis);
  if (length < 1e-14) return dot(ua, ub) < 0 ? [1, 0, 0, 0] : [0, 0, 0, 1];
  const s = (0.5 * norm(gap)) / length;
  return unit([s * axis[0], s * axis[1], s * axis[2], 0.5 * norm(total)]);
}

// Rigid transforms of the floor ---------------------------------------------------------------------------------------

export function compose(a: Rigid, b: Rigid): Rigid {
  const [x, z] = moveOnFloor(a, b[1], b[2]);
  return [a[0] + b[0], x, z];
}

export function inverse(a: Rigid): Rigid {
  const [cosine, sine] = [Math.cos(a[0]), Math.sin(a[0])];
  return [-a[0], -(a[1] * cosine - a[2] * sine), -(a[1] * sine + a[2] * cosine)];
}

export function moveOnFloor(a: Rigid, x: number, z: number): [x: number, z: number] {
  const [cosine, sine] = [Math.cos(a[0]), Math.sin(a[0])];
  return [x * cosine + z * sine + a[1], z * cosine - x * sine + a[2]];
}

export function movePoint(a: Rigid, p: Vec): Vec {
  const [x, z] = moveOnFloor(a, p[0], p[2]);
  return [x, p[1], z];
}

export const wrap = (angle: number): number => angle - 2 * Math.PI * Math.ceil(angle / (2 * Math.PI) - 0.5);
