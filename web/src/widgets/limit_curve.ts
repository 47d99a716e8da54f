/** Plot of how much is connected at each threshold: a filled curve, with a line at the chosen threshold. */
import { cssVariable, el } from "../dom";
import type { LimitPoint } from "../messages";

export interface LimitCurve {
  element: HTMLElement;
  show(points: LimitPoint[], chosen: number): void;
  draw(): void;
}

const HEIGHT = 56;

export function limitCurve(): LimitCurve {
  const label = "Percentage of the footage that is connected, by threshold";
  const canvas = el("canvas", { class: "limit-curve", role: "img", aria: { label } });
  let points: LimitPoint[] = [];
  let chosen = 0;

  function draw(): void {
    const ratio = Math.min(2, devicePixelRatio);
    const width = canvas.clientWidth || 264;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const pen = canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    const last = points[points.length - 1]?.meters ?? 0;
    if (!last) return;
    const x = (meters: number) => (meters / last) * width;
    const y = (fraction: number) => HEIGHT - 2 - fraction * (HEIGHT - 6);
    pen.beginPath();
    pen.moveTo(0, HEIGHT);
    for (const point of points) pen.lineTo(x(point.meters), y(point.connected));
    pen.lineTo(width, HEIGHT);
    pen.fillStyle = cssVariable("--accent-soft");
    pen.fill();
    pen.beginPath();
    points.forEach((point, i) => (i ? pen.lineTo(x(point.meters), y(point.connected)) : pen.moveTo(x(point.meters), y(point.connected))));
    pen.strokeStyle = cssVariable("--accent");
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.fillStyle = cssVariable("--text");
    pen.fillRect(Math.round(x(chosen)) - 0.5, 0, 1, HEIGHT);
  }
  new ResizeObserver(draw).observe(canvas);
  return {
    element: canvas,
    show(next, at) {
      points = next;
      chosen = at;
      draw();
    },
    draw,
  };
}
