/** The path of a motion's hips. */

import type { Connection } from "./connection";
import type { Block } from "./frames";
import type { MotionInfo } from "./messages";

/**
 * Positions of the hips in all frames, three numbers each: from a block that has all frames, or from the server. Null if
 * there are none, for example because the motion was closed in the meantime.
 */
export async function readTrail(connection: Connection, info: MotionInfo, block?: Block): Promise<Float32Array | null> {
  if (info.kind !== "motion") return null;
  const hips = info.roles.hips;
  if (block?.nFrames === info.n_frames && hips !== undefined) {
    const points = new Float32Array(3 * block.nFrames);
    for (let f = 0; f < block.nFrames; f++) {
      const at = 3 * (f * block.nJoints + hips);
      points.set(block.positions.subarray(at, at + 3), 3 * f);
    }
    return points;
  }
  try {
    const { curves } = await connection.ask("curves", { motion: info.motion, curve: "travel" });
    const [x, y, z] = ["x", "y", "z"].map((axis) => curves.find((curve) => curve.name === axis)?.values);
    if (!x || !y || !z) return null;
    const points = new Float32Array(3 * x.length);
    x.forEach((value, i) => points.set([value, y[i]!, z[i]!], 3 * i));
    return points;
  } catch {
    return null; // the trail is optional
  }
}
