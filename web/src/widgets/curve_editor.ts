/**
 * Editor for values from 0 to 1 over time: click to add a point, drag to move it, double-click or press Delete to remove
 * it. Keyboard: Tab to the editor, left and right choose a point, up and down move it.
 */
import { cssVariable, el } from "../dom";
import { clamp } from "../lanes";

/** Time from 0 to 1, value from 0 to 1. */
export type Point = [number, number];

export interface CurveEditor {
  element: HTMLElement;
  points: Point[];
}

const REACH = 9;
const HEIGHT = 96;
/** Margins in pixels around the drawing, to keep the points at its ends fully visible. */
const [SIDE, ABOVE] = [8, 7];

export function curveEditor(label: string, start: Point[], changed: (points: Point[]) => void): CurveEditor {
  const canvas = el("canvas", { class: "curve-editor", tabIndex: 0, role: "application", aria: { label: `${label}: curve` } });
  let points = tidy(start);
  let held = -1;
  let chosen = 0;

  const place = ([t, v]: Point): [number, number] => [
    SIDE + t * Math.max(1, canvas.clientWidth - 2 * SIDE), ABOVE + (1 - v) * (HEIGHT - 2 * ABOVE),
  ];
  const read = (event: MouseEvent): Point => [
    clamp((event.offsetX - SIDE) / Math.max(1, canvas.clientWidth - 2 * SIDE), 0, 1),
    clamp(1 - (event.offsetY - ABOVE) / (HEIGHT - 2 * ABOVE), 0, 1),
  ];
  const near = (event: MouseEvent) =>
    points.findIndex((point) => {
      const [x, y] = place(point);
      return Math.hypot(x - event.offsetX, y - event.offsetY) < REACH;
    });
  const report = () => {
    draw();
    changed(points.map(([t, v]) => [t, v]));
  };
  const remove = (index: number) => {
    if (points.length <= 2 || index <= 0 || index >= points.length - 1) return;
    points.splice(index, 1);
    chosen = Math.max(0, index - 1);
    report();
  };
  /** Move a point: the end points stay at the ends, the others between their neighbors. */
  const moveTo = (index: number, [t, v]: Point) => {
    const low = index === 0 ? 0 : points[index - 1]![0] + 1e-3;
    const high = index === points.length - 1 ? 1 : points[index + 1]![0] - 1e-3;
    const time = index === 0 ? 0 : index === points.length - 1 ? 1 : clamp(t, low, high);
    points[index] = [time, clamp(v, 0, 1)];
  };

  function draw(): void {
    const ratio = Math.min(2, devicePixelRatio);
    const width = canvas.clientWidth || 240;
    canvas.width = width * ratio;
    canvas.height = HEIGHT * ratio;
    const pen = canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    pen.strokeStyle = cssVariable("--line");
    for (const v of [0, 0.5, 1]) {
      const y = Math.round(place([0, v])[1]) + 0.5;
      pen.beginPath();
      pen.moveTo(0, y);
      pen.lineTo(width, y);
      pen.stroke();
    }
    pen.strokeStyle = pen.fillStyle = cssVariable("--accent");
    pen.lineWidth = 1.5;
    pen.beginPath();
    points.forEach((point, i) => (i ? pen.lineTo(...place(point)) : pen.moveTo(...place(point))));
    pen.stroke();
    points.forEach((point, i) => {
      pen.beginPath();
      pen.arc(...place(point), i === chosen ? 5 : 3.5, 0, 2 * Math.PI);
      pen.fill();
    });
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held = near(event);
    if (held < 0) {
      points = tidy([...points, read(event)]);
      held = near(event);
      // A click outside the ends moves the end point.
      if (held < 0) held = event.offsetX < SIDE ? 0 : points.length - 1;
    }
    chosen = Math.max(0, held);
    report();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held < 0) return;
    moveTo(held, read(event));
    report();
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(name, () => (held = -1));
  canvas.addEventListener("dblclick", (event) => remove(near(event)));
  canvas.addEventListener("keydown", (event) => {
    const point = points[chosen]!;
    const step = { ArrowUp: 0.05, ArrowDown: -0.05 }[event.key];
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) moveTo(chosen, [point[0], point[1] + step]);
    else if (along) chosen = clamp(chosen + along, 0, points.length - 1);
    else if (event.key === "Delete" || event.key === "Backspace") remove(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
    report();
  });
  new ResizeObserver(draw).observe(canvas);
  return {
    element: el("div", { class: "field" }, el("span", { text: label }), canvas),
    get points() {
      return points.map(([t, v]): Point => [t, v]);
    },
    set points(next: Point[]) {
      points = tidy(next);
      draw();
    },
  };
}

/** Sort points by time and add points at both ends. */
function tidy(points: Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0]);
  const first = sorted[0] ?? [0, 0];
  const last = sorted[sorted.length - 1] ?? [1, 1];
  if (first[0] > 0) sorted.unshift([0, first[1]]);
  if (last[0] < 1) sorted.push([1, last[1]]);
  return sorted;
}
