/**
 * An editable curve below the timeline, on its time axis: weights, speed, or gaze targets. A panel shows it while it is
 * open. Click to add a key, drag to move it, double-click or press Delete to remove it. Keyboard: left and right choose
 * a key, up and down change its value, Alt with left and right moves it in time.
 */
import { cssVariable, el } from "./dom";
import { clamp } from "./lanes";
import type { Playback } from "./playback";
import { oncePerPicture } from "./signal";
import { fitText } from "./timeline";
import { GUTTER, type TimeScale } from "./timescale";

/** A key: its frame, and its value from 0 to 1; null for a key without a value, of which only the time can be changed. */
export interface Key {
  frame: number;
  value: number | null;
  color?: string;
}

export interface KeyedCurve {
  title: string;
  keys: Key[];
  /** A value as text. */
  text(value: number): string;
  /** Whether the first and the last key stay at the ends of the clip, and the keys are joined by a line. */
  joined: boolean;
  /** A key was moved; `done` once it is released. */
  moved(index: number, key: Key, done: boolean): void;
  added?(key: Key): void;
  removed(index: number): void;
}

const HEIGHT = 62;
const MARGIN = 9;
const REACH = 9;

export class KeyLane {
  private readonly canvas = el("canvas", { tabIndex: 0, role: "application", aria: { label: "Editable curve" }, title: "Click to add, drag to move, double-click to remove" });
  private curve: KeyedCurve | null = null;
  private readonly offers = new Map<string, { of: HTMLElement; curve: () => KeyedCurve | null }>();
  private held = -1;
  private chosen = 0;

  constructor(private readonly host: HTMLElement, private readonly playback: Playback, private readonly scale: TimeScale) {
    host.append(this.canvas);
    host.hidden = true;
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.held >= 0 && this.move(this.held, this.read(event), false));
    for (const name of ["pointerup", "pointercancel"]) this.canvas.addEventListener(name, () => this.release());
    this.canvas.addEventListener("dblclick", (event) => this.remove(this.near(event)));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    playback.changed.on(() => this.draw());
    scale.changed.on(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(host);
  }

  /** Offer a curve to show while the element `of` is on the page. Replaces an earlier offer of the same name. */
  offer(name: string, of: HTMLElement, curve: () => KeyedCurve | null): void {
    this.offers.set(name, { of, curve });
    this.refresh();
  }

  /** Show the curve that is offered now. */
  refresh(): void {
    const found = [...this.offers.values()].filter(({ of }) => of.isConnected).map(({ curve }) => curve());
    this.show(found.find((each) => each !== null) ?? null);
  }

  /** Show a curve, or none. A key that is being dragged stays held. */
  private show(curve: KeyedCurve | null): void {
    this.curve = curve;
    this.host.hidden = !curve;
    if (curve) this.canvas.setAttribute("aria-label", `${curve.title}: editable curve`);
    this.chosen = clamp(this.chosen, 0, Math.max(0, (curve?.keys.length ?? 0) - 1));
    if (this.held >= (curve?.keys.length ?? 0)) this.held = -1;
    this.draw();
  }

  readonly draw = oncePerPicture(() => this.paint());

  private paint(): void {
    const { curve, host, canvas } = this;
    if (!curve || host.hidden) return;
    const ratio = Math.min(2, devicePixelRatio);
    const width = host.clientWidth;
    canvas.width = Math.round(width * ratio);
    canvas.height = HEIGHT * ratio;
    canvas.style.height = `${HEIGHT}px`;
    const pen = canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.fillStyle = cssVariable("--dim");
    pen.fillText(fitText(pen, curve.title, GUTTER - 16), GUTTER - 8, HEIGHT / 2);
    pen.strokeStyle = cssVariable("--line");
    for (const value of [0, 0.5, 1]) {
      const y = Math.round(this.y(value)) + 0.5;
      pen.strokeRect(GUTTER, y, width - GUTTER, 0);
      if (value !== 0.5) pen.fillText(curve.text(value), GUTTER - 8, value ? MARGIN : HEIGHT - MARGIN);
    }
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER - REACH, 0, width, HEIGHT);
    pen.clip();
    pen.fillStyle = cssVariable("--accent");
    pen.fillRect(this.scale.x(this.playback.frame + 0.5) - 0.75, 0, 1.5, HEIGHT);
    pen.strokeStyle = cssVariable("--accent");
    pen.lineWidth = 1.5;
    pen.beginPath();
    if (curve.joined) curve.keys.forEach((key, k) => (k ? pen.lineTo(...this.place(key)) : pen.moveTo(...this.place(key))));
    pen.stroke();
    curve.keys.forEach((key, k) => {
      pen.fillStyle = key.color ?? cssVariable("--accent");
      pen.beginPath();
      pen.arc(...this.place(key), k === this.chosen ? 5.5 : 4, 0, 2 * Math.PI);
      pen.fill();
    });
    pen.restore();
  }

  private y(value: number): number {
    return MARGIN + (1 - value) * (HEIGHT - 2 * MARGIN);
  }

  private place({ frame, value }: Key): [number, number] {
    return [this.scale.x(frame + 0.5), this.y(value ?? 0.5)];
  }

  private read(event: MouseEvent): { frame: number; value: number } {
    const value = 1 - (event.offsetY - MARGIN) / (HEIGHT - 2 * MARGIN);
    return { frame: clamp(this.scale.frame(event.offsetX) - 0.5, 0, this.playback.nFrames - 1), value: clamp(value, 0, 1) };
  }

  private near(event: MouseEvent): number {
    return this.curve?.keys.findIndex((key) => {
      const [x, y] = this.place(key);
      return Math.hypot(x - event.offsetX, y - event.offsetY) < REACH;
    }) ?? -1;
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.held = this.near(event);
    if (this.held < 0 && this.curve?.added) {
      this.curve.added(this.read(event));
      this.held = this.near(event);
    }
    this.chosen = Math.max(0, this.held);
    this.draw();
  }

  private release(): void {
    const key = this.curve?.keys[this.held];
    if (key) this.curve!.moved(this.held, key, true);
    this.held = -1;
  }

  /** Move a key between its neighbors. */
  private move(index: number, to: { frame: number; value: number }, done: boolean): void {
    const { keys, joined } = this.curve!;
    const key = keys[index]!;
    const end = joined && (index === 0 || index === keys.length - 1);
    const [low, high] = [(keys[index - 1]?.frame ?? -1) + 1, (keys[index + 1]?.frame ?? this.playback.nFrames) - 1];
    const now = { ...key, frame: end ? key.frame : clamp(to.frame, low, Math.max(low, high)), value: key.value === null ? null : to.value };
    keys[index] = now;
    this.curve!.moved(index, now, done);
    this.draw();
  }

  private remove(index: number): void {
    if (index < 0 || (this.curve!.joined && (index === 0 || index === this.curve!.keys.length - 1))) return;
    this.held = -1;
    this.curve!.removed(index);
  }

  private key(event: KeyboardEvent): void {
    const keys = this.curve?.keys ?? [];
    const key = keys[this.chosen];
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const up = { ArrowUp: 0.05, ArrowDown: -0.05 }[event.key];
    if (!key) return;
    if (along && event.altKey) this.move(this.chosen, { frame: key.frame + along, value: key.value ?? 0 }, true);
    else if (along) this.chosen = clamp(this.chosen + along, 0, keys.length - 1);
    else if (up) this.move(this.chosen, { frame: key.frame, value: clamp((key.value ?? 0) + up, 0, 1) }, true);
    else if (event.key === "Delete" || event.key === "Backspace") this.remove(this.chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }
}

/** The points of a curve editor, from 0 to 1, as a curve over a whole clip. */
export function keyedPoints(title: string, points: [number, number][], nFrames: number, text: (value: number) => string, changed: (points: [number, number][]) => void): KeyedCurve {
  const last = Math.max(1, nFrames - 1);
  return {
    title, text, joined: true,
    keys: points.map(([t, value]) => ({ frame: t * last, value })),
    moved: (index, key) => {
      points = points.map((point, k) => (k === index ? [key.frame / last, key.value!] : point));
      changed(points);
    },
    added: (key) => changed([...points, [key.frame / last, key.value!] as [number, number]].sort((a, b) => a[0] - b[0])),
    removed: (index) => changed(points.filter((_, k) => k !== index)),
  };
}
