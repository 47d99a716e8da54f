/** Thumbnails of the library: fetched when their rows come into view; under the pointer, they move. */
import { bonesOf, type Bone } from "./limbs";
import type { Thumbnail } from "./messages";
import { paintPose, project, scaleOf, type PictureSize } from "./widgets/pose_drawing";

/** Size of a thumbnail in a row. */
export const THUMB: PictureSize = { width: 40, height: 42, margin: 2 };
/** Milliseconds between the poses of a moving thumbnail, and to wait for further rows before asking for thumbnails. */
const POSE_MS = 110;
const GATHER_MS = 60;
/** Maximum number of thumbnails requested at a time, and cached. */
const MAX_REQUESTED = 60;
const MAX_CACHED = 1500;

interface Clip {
  seen: Float32Array;
  nJoints: number;
  bones: Bone[];
  hips: number;
  nPoses: number;
}

interface Shown {
  path: string;
  size: PictureSize;
}

export class Thumbnails {
  private readonly clips = new Map<string, Clip>();
  private readonly canvases = new WeakMap<HTMLCanvasElement, Shown>();
  /** Canvases that wait for their clip. */
  private readonly waiting = new Map<string, HTMLCanvasElement[]>();
  private timer = 0;

  constructor(private readonly fetch: (paths: string[]) => Promise<readonly Thumbnail[]>) {}

  /** Draw the thumbnail of a file; `known` says whether the server has it. */
  show(canvas: HTMLCanvasElement, path: string, known: boolean, size: PictureSize): void {
    const ratio = Math.min(2, devicePixelRatio);
    canvas.width = size.width * ratio;
    canvas.height = size.height * ratio;
    this.canvases.set(canvas, { path, size });
    const clip = this.clips.get(path);
    if (clip) this.paint(canvas, clip, size, restPose(clip));
    else if (known) {
      this.waiting.set(path, [...(this.waiting.get(path) ?? []), canvas]);
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.ask(), GATHER_MS);
    }
  }

  /** Move a thumbnail once through its poses. */
  play(canvas: HTMLCanvasElement): void {
    const shown = this.canvases.get(canvas);
    const clip = shown && this.clips.get(shown.path);
    if (!clip || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const first = performance.now();
    const step = (now: number) => {
      const pose = Math.floor((now - first) / POSE_MS);
      const over = !canvas.isConnected || !canvas.closest(":hover");
      this.paint(canvas, clip, shown.size, over ? restPose(clip) : Math.max(0, pose) % clip.nPoses);
      if (!over) window.setTimeout(() => requestAnimationFrame(step), POSE_MS / 2);
    };
    requestAnimationFrame(step);
  }

  /** The file has changed. */
  forget(path: string): void {
    this.clips.delete(path);
  }

  private async ask(): Promise<void> {
    // Rows that were scrolled out of view meanwhile are skipped.
    for (const [path, canvases] of this.waiting) if (!canvases.some((each) => each.isConnected)) this.waiting.delete(path);
    const paths = [...this.waiting.keys()].slice(0, MAX_REQUESTED);
    if (!paths.length) return;
    const asked = paths.map((path): [string, HTMLCanvasElement[]] => [path, this.waiting.get(path)!]);
    paths.forEach((path) => this.waiting.delete(path));
    const found = await this.fetch(paths).catch(() => []);
    for (const each of found) this.keep(each);
    for (const [path, canvases] of asked) {
      const clip = this.clips.get(path);
      if (clip) for (const canvas of canvases) this.paint(canvas, clip, this.canvases.get(canvas)!.size, restPose(clip));
    }
    if (this.waiting.size) void this.ask();
  }

  private keep(thumbnail: Thumbnail): void {
    const nJoints = thumbnail.parents.length;
    const bones = bonesOf({ ...thumbnail, end_sites: [], kind: "motion" });
    const seen = project(thumbnail.points);
    this.clips.set(thumbnail.path, { seen, nJoints, bones, hips: thumbnail.roles["hips"] ?? 0, nPoses: seen.length / (3 * nJoints) });
    if (this.clips.size > MAX_CACHED) this.clips.delete(this.clips.keys().next().value!);
  }

  private paint(canvas: HTMLCanvasElement, clip: Clip, size: PictureSize, pose: number): void {
    paintPose(canvas, clip.seen, pose, clip.nJoints, clip.bones, scaleOf([clip.seen], clip.nJoints, size, clip.hips), size, clip.hips);
  }
}

/** The pose shown while nothing moves: not the first, which is often a rest pose. */
function restPose(clip: Clip): number {
  return Math.floor(clip.nPoses / 3);
}
