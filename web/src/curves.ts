/** Curves over time below the timeline: travel, speed, a joint's position or rotation, contact heights and speeds. */
import { choice, cssVariable, el, setOptions, visible } from "./dom";
import type { App } from "./app";
import type { Curve, GetCurves } from "./messages";
import type { Playback } from "./playback";
import { oncePerPicture } from "./signal";
import { GUTTER, type TimeScale } from "./timescale";

type Kind = GetCurves["curve"] | "none";

const KINDS: [Kind, string][] = [
  ["none", "none"], ["travel", "travel"], ["speed", "speed"], ["position", "joint position"],
  ["rotation", "joint rotation"], ["contact_heights", "contact point heights"], ["contact_speeds", "contact point speeds"],
];
const HEIGHT = 84;
const HUES = ["#d9644a", "#5a9e5f", "#4a86d0", "#b58a2c", "#9a6bc0", "#3f9ea3", "#c25f8e", "#7d8590"];

export class Curves {
  /** Controls to choose the curves; the View panel shows them. */
  readonly chooser: HTMLElement;
  private readonly canvas = el("canvas", { role: "img", aria: { label: "Curves" } });
  private readonly joint: HTMLLabelElement & { select: HTMLSelectElement };
  private kind: Kind = "none";
  private curves: Curve[] = [];
  /** Why there are no curves. */
  private missing = "";
  private asked = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly playback: Playback,
    private readonly scale: TimeScale,
    private readonly app: App,
  ) {
    const kinds = choice("Curves", KINDS, this.kind, (value) => {
      this.kind = value as Kind;
      void this.load();
    });
    this.joint = choice("Joint", [], "", () => void this.load());
    this.joint.hidden = true;
    this.chooser = el("div", { class: "stack" }, kinds, this.joint);
    host.append(this.canvas);
    host.hidden = true;
    app.selectionChanged.on(() => this.takeMotion());
    app.infoChanged.on((info) => {
      if (info.motion === app.selected?.info.motion) void this.load();
    });
    playback.changed.on(() => this.draw());
    scale.changed.on(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(host);
  }

  readonly draw = oncePerPicture(() => this.paint());

  private paint(): void {
    if (this.host.hidden) return;
    const ratio = Math.min(2, devicePixelRatio);
    const width = this.host.clientWidth;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = HEIGHT * ratio;
    this.canvas.style.height = `${HEIGHT}px`;
    const pen = this.canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    if (this.missing) {
      pen.fillStyle = cssVariable("--dim");
      pen.fillText(this.missing, GUTTER + 8, HEIGHT / 2);
      return;
    }
    const [low, high] = limits(this.curves, this.scale);
    const y = (value: number) => HEIGHT - 10 - ((value - low) / (high - low)) * (HEIGHT - 28);
    this.drawAxis(pen, width, y, low, high);
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER, 0, width - GUTTER, HEIGHT);
    pen.clip();
    this.curves.forEach((curve, i) => this.drawCurve(pen, curve, HUES[i % HUES.length]!, y));
    pen.fillStyle = cssVariable("--accent");
    pen.fillRect(this.scale.x(this.playback.frame + 0.5) - 0.75, 0, 1.5, HEIGHT);
    this.drawNames(pen);
    pen.restore();
  }

  private drawAxis(pen: CanvasRenderingContext2D, width: number, y: (v: number) => number, low: number, high: number): void {
    const unit = this.curves[0]?.unit ?? "";
    pen.strokeStyle = cssVariable("--line");
    pen.fillStyle = cssVariable("--dim");
    pen.textAlign = "right";
    for (const value of [low, (low + high) / 2, high]) {
      const at = Math.round(y(value)) + 0.5;
      pen.beginPath();
      pen.moveTo(GUTTER, at);
      pen.lineTo(width, at);
      pen.stroke();
      pen.fillText(`${Number(value.toPrecision(3))} ${unit}`, GUTTER - 8, at);
    }
    pen.textAlign = "left";
  }

  /** Draw the names of the curves in their colors, in a row above the curves. */
  private drawNames(pen: CanvasRenderingContext2D): void {
    let x = GUTTER + 8;
    this.curves.forEach((curve, i) => {
      const name = visible(curve.name.replaceAll("_", " ").slice(0, 40));
      pen.fillStyle = HUES[i % HUES.length]!;
      pen.fillText(name, x, 8);
      x += pen.measureText(name).width + 14;
    });
  }

  private drawCurve(pen: CanvasRenderingContext2D, curve: Curve, hue: string, y: (v: number) => number): void {
    const { from, to, perPixel } = this.scale;
    // More than a few points per pixel would not be visible.
    const step = Math.max(1, Math.floor(perPixel / 3));
    pen.strokeStyle = hue;
    pen.lineWidth = 1.25;
    pen.beginPath();
    let down = false;
    for (let f = Math.max(0, Math.floor(from)); f < Math.min(to + step, curve.values.length); f += step) {
      const value = curve.values[f]!;
      if (value === null || !Number.isFinite(value)) {
        down = false;
        continue;
      }
      if (down) pen.lineTo(this.scale.x(f + 0.5), y(value));
      else pen.moveTo(this.scale.x(f + 0.5), y(value));
      down = true;
    }
    pen.stroke();
    pen.lineWidth = 1;
  }

  private takeMotion(): void {
    const joints = this.app.selected?.info.joints ?? [];
    const before = this.joint.select.value;
    const known = Number(before) < joints.length ? before || "0" : "0";
    setOptions(this.joint.select, joints.map((name, i) => [String(i), name]), known);
    // Clear the curves of another motion, which would be drawn on this motion's time axis until its own have loaded.
    this.curves = [];
    this.missing = "";
    this.draw();
    void this.load();
  }

  private async load(): Promise<void> {
    const motion = this.app.selected?.info.motion;
    this.joint.hidden = this.kind !== "position" && this.kind !== "rotation";
    this.host.hidden = this.kind === "none" || !motion;
    const turn = ++this.asked;
    if (this.kind === "none" || !motion) return;
    let missing = "";
    const joint = Number(this.joint.select.value) || 0;
    const reply = await this.app.ask("curves", { motion, curve: this.kind, joint }, {}, (text) => (missing = text)).catch(() => null);
    // A later request may have been answered first.
    if (turn !== this.asked) return;
    this.curves = reply?.curves ?? [];
    this.missing = missing;
    this.draw();
  }
}

/** Minimum and maximum of the visible values, with a margin. */
function limits(curves: Curve[], scale: TimeScale): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const { values } of curves) {
    for (let f = Math.max(0, Math.floor(scale.from)); f < Math.min(scale.to, values.length); f++) {
      const value = values[f]!;
      if (value === null || !Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) return [0, 1];
  // The axis of speeds starts at 0. If no value is negative, the margin does not extend below 0.
  if (low >= 0 && curves[0]?.unit === "m/s") low = 0;
  const margin = Math.max(1e-6, 0.05 * (high - low));
  return [low >= 0 ? Math.max(0, low - margin) : low - margin, high + margin];
}
