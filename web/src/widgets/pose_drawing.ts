/** Draws poses as small pictures on a canvas. */
import { cssVariable } from "../dom";
import type { Bone } from "../limbs";

/** View direction in radians: half from the left, a little from above. */
const AZIMUTH = 0.9;
const ELEVATION = 0.15;

/** Scale in pixels per meter, and the height in meters at the lower edge. */
export interface Scale {
  perMeter: number;
  low: number;
}

/** Size of a picture in CSS pixels, and its margin. */
export interface PictureSize {
  width: number;
  height: number;
  margin: number;
}

/** Convert left, up and ahead in millimeters to across, up and toward the viewer in meters. */
export function project(points: readonly number[]): Float32Array {
  const out = new Float32Array(points.length);
  const [c, s, ce, se] = [Math.cos(AZIMUTH), Math.sin(AZIMUTH), Math.cos(ELEVATION), Math.sin(ELEVATION)];
  for (let i = 0; i < points.length; i += 3) {
    const [x, y, z] = [points[i]! / 1000, points[i + 1]! / 1000, points[i + 2]! / 1000];
    const toward = s * x + c * z;
    out[i] = c * x - s * z;
    out[i + 1] = ce * y - se * toward;
    out[i + 2] = ce * toward + se * y;
  }
  return out;
}

/** The scale at which all frames of several clips fit; each frame is centered on its joint `hips`. */
export function scaleOf(clips: readonly Float32Array[], nJoints: number, { width, height, margin }: PictureSize, hips = 0): Scale {
  let [low, high, wide] = [Infinity, -Infinity, 0.5];
  for (const seen of clips) {
    for (let i = 0; i < seen.length; i += 3) {
      low = Math.min(low, seen[i + 1]!);
      high = Math.max(high, seen[i + 1]!);
      wide = Math.max(wide, Math.abs(seen[i]! - seen[i - (i % (3 * nJoints)) + 3 * hips]!));
    }
  }
  return { perMeter: Math.min((height - 2 * margin) / Math.max(0.5, high - low), (width / 2 - margin) / wide), low };
}

/** Draw one frame. `seen` has the projected points of all frames. */
export function paintPose(canvas: HTMLCanvasElement, seen: Float32Array, frame: number, nJoints: number, bones: readonly Bone[], scale: Scale, size: PictureSize, hips = 0): void {
  const pen = canvas.getContext("2d")!;
  const { width, height, margin } = size;
  const { perMeter, low } = scale;
  const ratio = canvas.width / width;
  const base = 3 * nJoints * frame;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const middle = seen[base + 3 * hips]!;
  const x = (joint: number) => width / 2 + perMeter * (seen[base + 3 * joint]! - middle);
  const y = (joint: number) => height - margin - perMeter * (seen[base + 3 * joint + 1]! - low);
  const depth = (bone: Bone) => seen[base + 3 * bone.from + 2]! + seen[base + 3 * bone.to + 2]!;
  pen.lineCap = "round";
  const [near, far] = [cssVariable("--accent"), cssVariable("--dim")];
  // Draw bones in the back first, and paler.
  const ordered = bones.map((bone) => ({ bone, depth: depth(bone) })).sort((a, b) => a.depth - b.depth);
  ordered.forEach(({ bone }, rank) => {
    pen.strokeStyle = rank < ordered.length / 2 ? far : near;
    pen.lineWidth = Math.max(1.5, 2 * perMeter * bone.radius);
    pen.beginPath();
    pen.moveTo(x(bone.from), y(bone.from));
    pen.lineTo(x(bone.to), y(bone.to));
    pen.stroke();
  });
}
