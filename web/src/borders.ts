/** Borders between the parts of the page: drag them, or move them with the arrow keys. The sizes are remembered. */
import { byId, el } from "./dom";
import { clamp } from "./lanes";

interface Border {
  /** The part that changes its size, and the edge at which it is dragged. */
  part: string;
  edge: "left" | "right" | "top";
  label: string;
  /** Style property with its size. */
  property: string;
  /** Element whose size is set. */
  sized: string;
  /** Limits in pixels; the largest is a fraction of the page. */
  least: number;
  most: number;
}

const BORDERS: Border[] = [
  { part: "left", edge: "right", label: "Width of the list of clips", property: "--left", sized: "left", least: 150, most: 0.4 },
  { part: "right", edge: "left", label: "Width of the panels", property: "--right", sized: "right", least: 230, most: 0.5 },
  { part: "bottom", edge: "top", label: "Height of the bottom area", property: "--timeline", sized: "timeline", least: 48, most: 0.5 },
];
const KEY = "marey.layout";
const STEP = 16;

function stored(): Record<string, unknown> {
  try {
    return (JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function store(property: string, size: number | null): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...stored(), [property]: size }));
  } catch {
    // If the browser stores nothing, the sizes are those of the style sheet again after a reload.
  }
}

export function borders(): void {
  for (const border of BORDERS) addBorder(border);
}

function addBorder({ part, edge, label, property, sized, least, most }: Border): void {
  const vertical = edge !== "top";
  const sizeOf = () => (vertical ? byId(sized).clientWidth : byId(sized).clientHeight);
  const line = el("div", { class: `border ${edge}`, role: "separator", tabIndex: 0, title: `${label}: drag or use the arrow keys; double-click to reset`, aria: { label, orientation: vertical ? "vertical" : "horizontal" } });
  const set = (size: number | null) => {
    const limit = most * (vertical ? innerWidth : innerHeight);
    const fitting = size === null ? null : Math.round(clamp(size, least, Math.max(least, limit)));
    if (fitting === null) document.body.style.removeProperty(property);
    else document.body.style.setProperty(property, `${fitting}px`);
    return fitting;
  };
  const grow = edge === "right" ? 1 : -1;
  let from: { at: number; size: number } | null = null;
  line.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    line.setPointerCapture(event.pointerId);
    from = { at: vertical ? event.clientX : event.clientY, size: sizeOf() };
    event.preventDefault();
  });
  line.addEventListener("pointermove", (event) => {
    if (from) store(property, set(from.size + grow * ((vertical ? event.clientX : event.clientY) - from.at)));
  });
  for (const name of ["pointerup", "pointercancel"] as const) line.addEventListener(name, () => (from = null));
  line.addEventListener("dblclick", () => store(property, set(null)));
  line.addEventListener("keydown", (event) => {
    const by = vertical ? { ArrowLeft: -1, ArrowRight: 1 }[event.key] : { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    store(property, set(sizeOf() + grow * by * STEP));
  });
  byId(part).append(line);
  new ResizeObserver(() => line.setAttribute("aria-valuenow", String(sizeOf()))).observe(byId(sized));
  const before = stored()[property];
  if (typeof before === "number" && Number.isFinite(before)) set(before);
}
