/** Helpers for small drawings in the panel: a canvas that stays sharp, and the colors of the theme. */
import { cssVariable, el } from "../dom";

export interface Sketch {
  canvas: HTMLCanvasElement;
  /** Draw again. Does nothing while the canvas is not on the page. */
  draw(): void;
}

export type Pen = CanvasRenderingContext2D;

/** Create a canvas as wide as its container and `height` pixels high. `paint` is called with a cleared canvas. */
export function sketch(label: string, height: number, paint: (pen: Pen, width: number, height: number) => void): Sketch {
  const canvas = el("canvas", { role: "img", aria: { label } });
  Object.assign(canvas.style, { display: "block", width: "100%", height: `${height}px`, background: "var(--sunken)", borderRadius: "5px" });
  const draw = () => {
    const width = canvas.clientWidth;
    if (!width) return;
    const ratio = Math.min(2, devicePixelRatio);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    paint(pen, width, height);
  };
  new ResizeObserver(draw).observe(canvas);
  return { canvas, draw };
}

export const ink = {
  get text() { return cssVariable("--text"); },
  get dim() { return cssVariable("--dim"); },
  get line() { return cssVariable("--line"); },
  get panel() { return cssVariable("--panel"); },
  get accent() { return cssVariable("--accent"); },
  get bad() { return cssVariable("--bad"); },
};

/** Format a value for display: angles in degrees. */
export function shown(value: number, unit: string): string {
  if (unit.startsWith("rad")) return `${Math.round((value * 180) / Math.PI)}°`;
  return `${Number(value.toPrecision(3))}${unit ? ` ${unit}` : ""}`;
}

export function centimeters(meters: number): string {
  return `${(100 * meters).toFixed(1)} cm`;
}
