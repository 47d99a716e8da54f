/**
 * The distances between all frames of two motions as an image: A downward, B to the right, stronger colors for smaller
 * distances. Minima are dots; the path of the chosen method is a line. A click chooses a pair of frames and snaps to a
 * nearby minimum. Keyboard: Tab to the image, arrow keys move by one frame, with Shift by ten.
 */
import { cssVariable, el } from "../dom";
import { clamp } from "../lanes";
import type { GridImage, WarpPath } from "../messages";

/** Frame of A and frame of B, at the grid's frame rate. */
export type Cell = [number, number];

export interface GridView {
  element: HTMLElement;
  show(grid: GridImage | null, path: WarpPath | null): void;
  /** Draw a cross at a cell; null removes it. */
  mark(cell: Cell | null): void;
  /** Redraw, for example after a change of theme. */
  draw(): void;
}

const MAX_HEIGHT = 272;
const MIN_HEIGHT = 96;
const REACH = 7;
/** Number of minima drawn as dots, smallest distance first: more would hide the image. */
const DOTS = 80;

export function gridView(picked: (cell: Cell) => void): GridView {
  const label = "Frame similarity: A from top to bottom, B from left to right; choose a pair with the arrow keys";
  const canvas = el("canvas", { class: "grid-view", tabIndex: 0, role: "application", aria: { label } });
  let grid: GridImage | null = null;
  let path: WarpPath | null = null;
  let chosen: Cell | null = null;
  let picture: HTMLCanvasElement | null = null;

  const size = (): [number, number] => {
    const width = canvas.clientWidth || 264;
    if (!grid) return [width, MIN_HEIGHT];
    return [width, clamp((width * grid.frames[0]) / grid.frames[1], MIN_HEIGHT, MAX_HEIGHT)];
  };
  const place = ([i, j]: Cell): [number, number] => {
    const [width, height] = size();
    return [((j + 0.5) / grid!.frames[1]) * width, ((i + 0.5) / grid!.frames[0]) * height];
  };
  const choose = (cell: Cell) => {
    chosen = [clamp(cell[0], 0, grid!.frames[0] - 1), clamp(cell[1], 0, grid!.frames[1] - 1)];
    draw();
    picked(chosen);
  };

  function draw(): void {
    const [width, height] = size();
    const ratio = Math.min(2, devicePixelRatio);
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    if (!grid || !picture) return;
    pen.imageSmoothingEnabled = grid.columns > width * ratio;
    pen.drawImage(picture, 0, 0, width, height);
    pen.fillStyle = cssVariable("--text");
    for (const [i, j] of grid.minima.slice(0, DOTS)) {
      const [x, y] = place([i, j]);
      pen.fillRect(x - 1, y - 1, 2.5, 2.5);
    }
    if (path) {
      pen.strokeStyle = cssVariable("--contact");
      pen.lineWidth = 2;
      pen.beginPath();
      path.points.forEach((point, k) => (k ? pen.lineTo(...place(point)) : pen.moveTo(...place(point))));
      pen.stroke();
    }
    if (chosen) {
      const [x, y] = place(chosen);
      pen.strokeStyle = cssVariable("--text");
      pen.lineWidth = 1;
      pen.strokeRect(x - 4.5, y - 4.5, 9, 9);
      pen.globalAlpha = 0.35;
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x, height);
      pen.moveTo(0, y);
      pen.lineTo(width, y);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  canvas.addEventListener("click", (event) => {
    if (!grid) return;
    const [width, height] = size();
    const at: Cell = [
      Math.floor((event.offsetY / height) * grid.frames[0]),
      Math.floor((event.offsetX / width) * grid.frames[1]),
    ];
    const far = ([i, j]: [number, number, number]) => {
      const [x, y] = place([i, j]);
      return Math.hypot(x - event.offsetX, y - event.offsetY);
    };
    const near = grid.minima.slice(0, DOTS).filter((each) => far(each) < REACH).sort((p, q) => far(p) - far(q))[0];
    choose(near ? [near[0], near[1]] : at);
  });
  canvas.addEventListener("keydown", (event) => {
    const steps: Record<string, Cell> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    if (!step || !grid) return;
    event.preventDefault();
    event.stopPropagation();
    const by = event.shiftKey ? 10 : 1;
    const from = chosen ?? (grid.minima[0]?.slice(0, 2) as Cell | undefined) ?? [0, 0];
    choose([from[0] + by * step[0], from[1] + by * step[1]]);
  });
  new ResizeObserver(draw).observe(canvas);
  return {
    element: canvas,
    show(next, line) {
      if (next !== grid) {
        chosen = null;
        picture = next && paint(next);
      }
      grid = next;
      path = line;
      draw();
    },
    mark(cell) {
      chosen = cell;
      draw();
    },
    draw() {
      picture = grid && paint(grid);
      draw();
    },
  };
}

/** Paint the grid in the accent color: opaque at the smallest distance, transparent at the largest. */
function paint(grid: GridImage): HTMLCanvasElement {
  const picture = el("canvas");
  picture.width = grid.columns;
  picture.height = grid.rows;
  const pen = picture.getContext("2d")!;
  const image = pen.createImageData(grid.columns, grid.rows);
  const [red, green, blue] = channels(cssVariable("--accent"));
  const bytes = atob(grid.pixels);
  let least = 255;
  for (let k = 0; k < bytes.length; k++) least = Math.min(least, bytes.charCodeAt(k));
  for (let k = 0; k < bytes.length; k++) {
    const near = (255 - bytes.charCodeAt(k)) / Math.max(1, 255 - least);
    image.data.set([red, green, blue, Math.round(255 * near ** 1.5)], 4 * k);
  }
  pen.putImageData(image, 0, 0);
  return picture;
}

/** Convert a color such as "#2f6fb5" to three numbers. */
function channels(color: string): [number, number, number] {
  const value = Number.parseInt(color.slice(1, 7), 16) || 0;
  return [value >> 16, (value >> 8) & 255, value & 255];
}
