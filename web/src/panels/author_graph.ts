/** Draws a character as a graph: nodes in a ring, edges as arrows, thicker if more motions can follow. */
import type { Character } from "../messages";
import { ink, sketch, type Pen, type Sketch } from "./author_canvas";

export type Chosen = { node: string } | { source: string; target: string } | null;

const HEIGHT = 176;
const BOX = { width: 74, height: 24 };
const REACH = 9;

interface Arc {
  source: string;
  target: string;
  /** The two end points and the control point of the curve. */
  points: [[number, number], [number, number], [number, number]];
}

export interface GraphView extends Sketch {
  show(character: Character, chosen: Chosen): void;
}

export function graphView(choose: (chosen: Chosen) => void): GraphView {
  let character: Character = { name: "", nodes: [], edges: [], version: 0, note: "" };
  let chosen: Chosen = null;
  let places = new Map<string, [number, number]>();
  let arcs: Arc[] = [];

  const view = sketch("Nodes and transitions of the character", HEIGHT, (pen, width, height) => {
    places = ring(character, width, height);
    arcs = character.edges.map(({ source, target }) => arc(source, target, places));
    if (!character.nodes.length) {
      pen.fillStyle = ink.dim;
      pen.textAlign = "center";
      pen.fillText("No nodes yet. Add one below.", width / 2, height / 2);
    }
    arcs.forEach((each, k) => {
      const isChosen = chosen !== null && "source" in chosen && chosen.source === each.source && chosen.target === each.target;
      drawArc(pen, each, isChosen ? ink.accent : ink.dim, 0.8 + 2.2 * character.edges[k]!.reachable + (isChosen ? 1 : 0));
    });
    for (const { name, stuck } of character.nodes) {
      drawBox(pen, name, places.get(name)!, chosen !== null && "node" in chosen && chosen.node === name, stuck);
    }
  });
  view.canvas.addEventListener("click", (event) => {
    const at: [number, number] = [event.offsetX, event.offsetY];
    const node = [...places].find(([, [x, y]]) => Math.abs(at[0] - x) <= BOX.width / 2 && Math.abs(at[1] - y) <= BOX.height / 2);
    if (node) return choose({ node: node[0] });
    const near = arcs.map((each) => ({ each, far: distance(each, at) })).sort((a, b) => a.far - b.far)[0];
    choose(near && near.far < REACH ? { source: near.each.source, target: near.each.target } : null);
  });
  return {
    ...view,
    show(next, which) {
      character = next;
      chosen = which;
      view.draw();
    },
  };
}

/** Place a single node at the center, several in a ring. */
function ring({ nodes }: Character, width: number, height: number): Map<string, [number, number]> {
  const n = nodes.length;
  const [rx, ry] = n > 1 ? [width / 2 - BOX.width / 2 - 14, height / 2 - BOX.height / 2 - 22] : [0, 0];
  return new Map(nodes.map(({ name }, k) => {
    const angle = (2 * Math.PI * k) / n - Math.PI / 2;
    return [name, [width / 2 + rx * Math.cos(angle), height / 2 + 6 + ry * Math.sin(angle)]];
  }));
}

function arc(source: string, target: string, places: Map<string, [number, number]>): Arc {
  const [a, b] = [places.get(source)!, places.get(target)!];
  if (source === target) {
    const [x, y] = a;
    return { source, target, points: [[x - 14, y - BOX.height / 2], [x, y - BOX.height / 2 - 42], [x + 14, y - BOX.height / 2]] };
  }
  // Bend the arrow to one side, to separate it from the arrow in the other direction.
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const size = Math.hypot(dx, dy) || 1;
  const bend: [number, number] = [(a[0] + b[0]) / 2 - (24 * dy) / size, (a[1] + b[1]) / 2 + (24 * dx) / size];
  return { source, target, points: [rim(a, bend), bend, rim(b, bend)] };
}

/** The point where the line from a box's center to another point leaves the box. */
function rim([x, y]: [number, number], to: [number, number]): [number, number] {
  const [dx, dy] = [to[0] - x, to[1] - y];
  const fraction = Math.min(BOX.width / 2 / Math.max(Math.abs(dx), 1e-6), BOX.height / 2 / Math.max(Math.abs(dy), 1e-6), 1);
  return [x + fraction * dx, y + fraction * dy];
}

function drawArc(pen: Pen, { points: [a, b, c] }: Arc, color: string, thick: number): void {
  pen.strokeStyle = pen.fillStyle = color;
  pen.lineWidth = thick;
  pen.beginPath();
  pen.moveTo(...a);
  pen.quadraticCurveTo(...b, ...c);
  pen.stroke();
  const angle = Math.atan2(c[1] - b[1], c[0] - b[0]);
  pen.beginPath();
  pen.moveTo(...c);
  for (const side of [-0.42, 0.42]) pen.lineTo(c[0] - 9 * Math.cos(angle + side), c[1] - 9 * Math.sin(angle + side));
  pen.fill();
}

function drawBox(pen: Pen, name: string, [x, y]: [number, number], isChosen: boolean, stuck: boolean): void {
  pen.beginPath();
  pen.roundRect(x - BOX.width / 2, y - BOX.height / 2, BOX.width, BOX.height, 6);
  pen.fillStyle = ink.panel;
  pen.fill();
  pen.lineWidth = isChosen ? 2 : 1;
  pen.strokeStyle = isChosen ? ink.accent : stuck ? ink.bad : ink.dim;
  pen.stroke();
  pen.fillStyle = stuck ? ink.bad : ink.text;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  let text = name;
  while (text.length > 1 && pen.measureText(text).width > BOX.width - 10) text = `${text.slice(0, -2)}…`;
  pen.fillText(text, x, y);
}

/** Distance in pixels between a point and an arrow. */
function distance({ points: [a, b, c] }: Arc, [x, y]: [number, number]): number {
  let least = Infinity;
  for (let t = 0; t <= 1; t += 0.05) {
    const [u, v] = [1 - t, t];
    const px = u * u * a[0] + 2 * u * v * b[0] + v * v * c[0];
    const py = u * u * a[1] + 2 * u * v * b[1] + v * v * c[1];
    least = Math.min(least, Math.hypot(px - x, py - y));
  }
  return least;
}
