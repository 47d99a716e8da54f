/** Which frames the timeline shows, and at which pixels; shared by the timeline and the curves below it. */
import { clamp } from "./lanes";
import { Signal } from "./signal";

export const GUTTER = 112;
const PAD = 8;
const FEWEST_FRAMES = 10;

export class TimeScale {
  readonly changed = new Signal();
  nFrames = 1;
  from = 0;
  to = 1;
  width = 600;
  /** Whether the ruler counts frames instead of seconds. */
  frames = false;

  /** Show an entire motion of `nFrames` frames. */
  fit(nFrames: number): void {
    this.nFrames = Math.max(1, nFrames);
    this.from = 0;
    this.to = this.nFrames;
    this.changed.emit();
  }

  setFrames(on: boolean): void {
    this.frames = on;
    this.changed.emit();
  }

  /** The x coordinate in pixels at which a frame begins. */
  x(frame: number): number {
    return GUTTER + ((frame - this.from) / (this.to - this.from)) * this.pixels;
  }

  /** The frame, with a fraction, at an x coordinate in pixels. */
  frame(x: number): number {
    return this.from + ((x - GUTTER) / this.pixels) * (this.to - this.from);
  }

  /** Number of frames per pixel. */
  get perPixel(): number {
    return (this.to - this.from) / this.pixels;
  }

  zoom(factor: number, about: number): void {
    const least = Math.min(FEWEST_FRAMES, this.nFrames);
    const span = clamp((this.to - this.from) * factor, least, this.nFrames);
    const fraction = (about - this.from) / (this.to - this.from);
    this.place(about - fraction * span, span);
  }

  pan(frames: number): void {
    this.place(this.from + frames, this.to - this.from);
  }

  /** Scroll to keep `frame` visible while it moves. */
  reveal(frame: number): void {
    const span = this.to - this.from;
    if (frame < this.from || frame >= this.to) this.place(frame - 0.1 * span, span);
  }

  private get pixels(): number {
    return Math.max(50, this.width - GUTTER - PAD);
  }

  private place(from: number, span: number): void {
    this.from = clamp(from, 0, this.nFrames - span);
    this.to = this.from + span;
    this.changed.emit();
  }
}

/** Return the distance between ticks in frames: a round number of seconds, or of frames, at least `least` frames. */
export function tickStep(least: number, fps: number, inFrames = false): { frames: number; text: (frame: number) => string } {
  if (inFrames) {
    const tens = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return { frames: tens * ([1, 2, 5].find((k) => k * tens >= least) ?? 10), text: (frame) => String(Math.round(frame)) };
  }
  const seconds = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600].find((s) => s * fps >= least);
  const step = seconds ?? 7200;
  const digits = step < 1 ? 1 : 0;
  return { frames: step * fps, text: (frame) => `${(frame / fps).toFixed(digits)} s` };
}
