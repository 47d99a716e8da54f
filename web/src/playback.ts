/** The current time of the page: play, step, scrub, loop. One clock for all motions in the scene. */
import { Signal } from "./signal";

/** Tolerance in frames for rounding errors. */
const TINY = 1e-6;

export class Playback {
  /** Emitted when the frame or the state has changed. */
  readonly changed = new Signal();
  playing = false;
  /** Playback speed; 1 is the recorded speed. */
  speed = 1;
  loop = true;
  /** Whether a loop plays forward and backward in turn. */
  pingPong = false;
  /** The range that is looped, half-open frames; null for the entire motion. */
  region: [number, number] | null = null;
  nFrames = 1;
  fps = 30;
  private position = 0;
  private direction = 1;

  /** The current frame as an integer. It is shown until the next one begins. */
  get frame(): number {
    return Math.floor(this.position + TINY);
  }

  get seconds(): number {
    return this.position / this.fps;
  }

  /** Set the length and frame rate of the selected motion. The time in seconds is kept if possible. */
  lead(nFrames: number, fps: number): void {
    const seconds = this.seconds;
    const same = nFrames === this.nFrames && fps === this.fps;
    this.nFrames = Math.max(1, nFrames);
    this.fps = fps;
    if (!same) this.region = null;
    this.position = Math.min(seconds * fps, this.nFrames - 1);
    this.changed.emit();
  }

  seek(frame: number): void {
    this.position = Math.max(0, Math.min(this.nFrames - 1, frame));
    this.changed.emit();
  }

  /** Step by a number of frames and stop playing. */
  step(frames: number): void {
    this.playing = false;
    this.seek(this.frame + frames);
  }

  toggle(): void {
    this.playing = !this.playing;
    const [start, stop] = this.range;
    const outside = this.position < start || this.position >= stop - 1;
    if (this.playing && (this.region || !this.loop) && outside) this.position = start;
    this.changed.emit();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed.emit();
  }

  setLoop(on: boolean): void {
    this.loop = on;
    if (!on) this.setPingPong(false);
    this.changed.emit();
  }

  /** Play forward and backward in turn, or only forward. */
  setPingPong(on: boolean): void {
    this.pingPong = on;
    this.direction = 1;
    if (on) this.loop = true;
    this.changed.emit();
  }

  setRegion(region: [number, number] | null): void {
    if (region) {
      const start = Math.max(0, Math.min(...region));
      const stop = Math.min(this.nFrames, Math.max(...region));
      region = stop - start >= 2 ? [start, stop] : null;
    }
    this.region = region;
    this.changed.emit();
  }

  /**
   * Start the marked range at the current frame. If its end would come before that, it extends to the end of the
   * motion.
   */
  markStart(): void {
    const stop = this.region?.[1] ?? this.nFrames;
    this.setRegion([this.frame, stop > this.frame + 1 ? stop : this.nFrames]);
  }

  /** End the marked range with the current frame. If its start would come after that, it begins at frame 0. */
  markStop(): void {
    const start = this.region?.[0] ?? 0;
    this.setRegion([start < this.frame ? start : 0, this.frame + 1]);
  }

  /** The frames that are played, half-open. */
  get range(): [number, number] {
    return this.region ?? [0, this.nFrames];
  }

  /** Advance time by `seconds`; called before each redraw. */
  tick(seconds: number): void {
    if (!this.playing || !seconds) return;
    const [start, stop] = this.range;
    let next = this.position + this.direction * seconds * this.fps * this.speed;
    if (this.loop && this.pingPong) {
      if (next > stop - 1 || next < start) {
        this.direction = next < start ? 1 : -1;
        next = 2 * (next < start ? start : stop - 1) - next;
      }
      next = Math.max(start, Math.min(stop - 1, next));
    } else if (this.loop) {
      if (next >= stop - TINY) next = start + ((next - start + TINY) % (stop - start));
      next = Math.max(start, next);
    } else if (next >= stop - 1) {
      next = stop - 1;
      this.playing = false;
    }
    this.position = next;
    this.changed.emit();
  }

  /** Handle a key. Returns whether it was a playback key. */
  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    switch (event.key) {
      case " ": this.toggle(); return true;
      case "ArrowLeft": this.step(-1); return true;
      case "ArrowRight": this.step(1); return true;
      case "ArrowUp": this.step(10); return true;
      case "ArrowDown": this.step(-10); return true;
      case "Home": this.step(-this.frame); return true;
      case "End": this.step(this.nFrames); return true;
      case "l": case "L": this.setLoop(!this.loop); return true;
      case "p": case "P": this.setPingPong(!this.pingPong); return true;
      case "[": case "i": case "I": this.markStart(); return true;
      case "]": case "o": case "O": this.markStop(); return true;
      case "\\": this.setRegion(null); return true;
      default: return false;
    }
  }
}
