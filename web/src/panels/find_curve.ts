/**
 * Plot of the number of matches for each threshold. A click chooses a threshold. Keyboard: Tab to the plot, then the left
 * and right arrow keys.
 */
import { cssVariable, el } from "../dom";
import { clamp } from "../lanes";
import type { ThresholdCurve } from "../messages";

export interface ThresholdView {
  element: HTMLElement;
  show(curve: ThresholdCurve | null): void;
  /** Mark the chosen threshold, in meters; null for none. */
  mark(threshold: number | null): void;
  draw(): void;
}

const HEIGHT = 104;
const BOTTOM = 16;
const LEFT = 26;

export function thresholdView(picked: (threshold: number) => void): ThresholdView {
  const label = "Matches found by each threshold; choose one with the left and right arrow keys";
  const canvas = el("canvas", { class: "threshold-view", tabIndex: 0, role: "application", aria: { label } });
  const summary = el("p", { class: "dim", aria: { live: "polite" } });
  let curve: ThresholdCurve | null = null;
  let chosen: number | null = null;

  /** The logarithmic range of the axis: the thresholds grow by a constant factor. */
  const ends = (): [number, number] => {
    const { thresholds } = curve!;
    const [low, high] = [thresholds[0]!, thresholds[thresholds.length - 1]!];
    return [Math.log(low), Math.log(Math.max(high, 1.01 * low))];
  };
  const across = (threshold: number) => {
    const [low, high] = ends();
    return LEFT + (clamp((Math.log(threshold) - low) / (high - low), 0, 1)) * (canvas.clientWidth - LEFT - 4);
  };
  const nearest = (threshold: number) => {
    const { thresholds } = curve!;
    return thresholds.reduce((best, each, i) => (Math.abs(each - threshold) < Math.abs(thresholds[best]! - threshold) ? i : best), 0);
  };
  const at = (x: number) => {
    const [low, high] = ends();
    return Math.exp(low + clamp((x - LEFT) / (canvas.clientWidth - LEFT - 4), 0, 1) * (high - low));
  };
  const choose = (index: number) => {
    const threshold = curve!.thresholds[index];
    if (threshold !== undefined) picked(Number(threshold.toPrecision(3)));
  };

  function draw(): void {
    const ratio = Math.min(2, devicePixelRatio);
    const width = canvas.clientWidth;
    if (!width) return;
    canvas.width = width * ratio;
    canvas.height = HEIGHT * ratio;
    const pen = canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    if (!curve?.thresholds.length) return;
    const most = Math.max(1, ...curve.counts);
    const up = (count: number) => HEIGHT - BOTTOM - (count / most) * (HEIGHT - BOTTOM - 10);
    pen.font = "10px system-ui";
    if (curve.stands_out) {
      pen.fillStyle = cssVariable("--accent-soft");
      const [from, to] = curve.level.map(across) as [number, number];
      pen.fillRect(from, 4, to - from, HEIGHT - BOTTOM - 4);
    }
    pen.fillStyle = cssVariable("--dim");
    pen.textAlign = "right";
    pen.fillText(String(most), LEFT - 4, up(most) + 4);
    pen.fillText("0", LEFT - 4, up(0) + 3);
    const [first, last] = [curve.thresholds[0]!, curve.thresholds[curve.thresholds.length - 1]!];
    pen.fillText(`${last.toPrecision(2)} m`, width - 2, HEIGHT - 3);
    pen.textAlign = "left";
    pen.fillText(`${first.toPrecision(2)} m`, LEFT, HEIGHT - 3);
    pen.strokeStyle = cssVariable("--text");
    pen.lineWidth = 1.5;
    pen.beginPath();
    curve.thresholds.forEach((threshold, i) => {
      const [x, y] = [across(threshold), up(curve!.counts[i]!)];
      if (i) pen.lineTo(x, up(curve!.counts[i - 1]!));
      else pen.moveTo(x, y);
      pen.lineTo(x, y);
    });
    pen.stroke();
    line(pen, across(curve.threshold), [3, 3], cssVariable("--dim"));
    if (chosen !== null) line(pen, across(chosen), [], cssVariable("--accent"));
  }

  canvas.addEventListener("pointerdown", (event) => curve && choose(nearest(at(event.offsetX))));
  canvas.addEventListener("pointermove", (event) => {
    if (!curve) return;
    const i = nearest(at(event.offsetX));
    canvas.title = `${curve.thresholds[i]!.toPrecision(3)} m finds ${curve.counts[i]}`;
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !curve) return;
    event.preventDefault();
    event.stopPropagation();
    choose(clamp(nearest(chosen ?? curve.threshold) + (chosen === null ? 0 : by), 0, curve.thresholds.length - 1));
  });
  new ResizeObserver(draw).observe(canvas);
  return {
    element: el("div", { class: "stack" }, canvas, summary),
    show(next) {
      curve = next;
      chosen = null;
      summary.textContent = next ? `${next.text}.` : "";
      draw();
    },
    mark(threshold) {
      chosen = threshold;
      if (curve && threshold !== null) {
        const i = nearest(threshold);
        summary.textContent = threshold < curve.thresholds[0]! / 1.05 ? `Nothing is closer than ${threshold} m.` : `${threshold} m finds about ${curve.counts[i]} ${curve.counts[i] === 1 ? "match" : "matches"}.`;
      }
      draw();
    },
    draw,
  };
}

function line(pen: CanvasRenderingContext2D, x: number, dash: number[], color: string): void {
  pen.strokeStyle = color;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(Math.round(x) + 0.5, 2);
  pen.lineTo(Math.round(x) + 0.5, HEIGHT - BOTTOM);
  pen.stroke();
  pen.setLineDash([]);
}
