/** The inputs of a blend: weights, weight curves over time, or the times of a transition. */
import { button, el } from "../dom";
import { curveEditor, type Point } from "../widgets/curve_editor";
import { countMoves } from "../widgets/moves";
import { slider } from "../widgets/slider";
import { LETTERS } from "./blend_list";

export type Mode = "weights" | "curves" | "transition";

export const MODES: [Mode, string][] = [["weights", "constant weights"], ["curves", "weights over time"], ["transition", "transition"]];

export class BlendModes {
  readonly element = el("div", { class: "stack" });
  mode: Mode = "weights";
  weights = new Map<string, number>();
  curves = new Map<string, Point[]>();
  /** Times of a transition in A and B, in seconds; null to use the most similar poses. */
  at: [number, number] | null = null;
  /** All changes of one user action, such as a drag, are undone together. */
  readonly moves = countMoves(this.element);
  private shownFor = "";
  private readonly where = el("span", {});

  constructor(private readonly changed: () => void, private readonly best: () => void) {}

  /** Rebuild the controls only for other motions, because the user may be dragging one of them. */
  draw(ids: string[], names: string[]): void {
    const wanted = JSON.stringify([this.mode, ids, names]);
    if (wanted !== this.shownFor) this.element.replaceChildren(...this.controls(ids, names));
    this.shownFor = wanted;
    this.where.textContent = this.at ? `A at ${this.at[0].toFixed(2)} s, B at ${this.at[1].toFixed(2)} s` : "at the best match";
  }

  /** Build the controls again with the next `draw`. */
  forget(): void {
    this.shownFor = "";
  }

  weight(id: string): number {
    return this.weights.get(id) ?? 0.5;
  }

  /** Return the weight curve of each motion. */
  getPoints(ids: string[]): Point[][] {
    const of = (id: string) => this.curves.get(id) ?? [[0, 0.5], [1, 0.5]];
    if (ids.length !== 2) return ids.map(of);
    const b = of(ids[1]!);
    return [b.map(([t, v]): Point => [t, 1 - v]), b];
  }

  /** Return constant weights that are as close as possible to the current settings, and how they were chosen. */
  constant(ids: string[]): { weights: number[]; how: string } {
    const even = this.mode === "transition";
    const weights = ids.map((id, i) => (even ? 0.5 : this.mode === "weights" ? this.weight(id) : mean(this.getPoints(ids)[i]!)));
    const sum = weights.reduce((all, each) => all + each, 0) || 1;
    const text = weights.map((weight, i) => `${(weight / sum).toFixed(2)} of ${LETTERS[i]}`).join(" and ");
    const why = { weights: "", curves: " (the averages of the curves)", transition: " (a transition has no constant weights)" }[this.mode];
    return { weights, how: `Constant weights: ${text}${why}.` };
  }

  private controls(ids: string[], names: string[]): HTMLElement[] {
    if (ids.length < 2) return [el("p", { class: "dim", text: "Choose two or more clips." })];
    if (this.mode === "weights") return ids.map((id, i) => this.weightSlider(id, `${LETTERS[i]}  ${names[i]}`));
    if (this.mode === "curves") return this.curveEditors(ids, names);
    const best = button("Use best match", this.best, "Place the transition where the two clips are most similar");
    return [el("div", { class: "row" }, this.where, best),
      el("p", { class: "dim", text: "Click the grid below to place the transition." })];
  }

  private weightSlider(id: string, label: string): HTMLElement {
    return slider({
      label, min: 0, max: 1, step: 0.01, value: this.weight(id),
      input: (value) => {
        this.weights.set(id, value);
        this.changed();
      },
    }).element;
  }

  /** For two motions, a single curve with the weight of B is enough. For more, each has its own. */
  private curveEditors(ids: string[], names: string[]): HTMLElement[] {
    const two = ids.length === 2;
    return (two ? [1] : ids.map((_, i) => i)).map((i) => {
      const id = ids[i]!;
      const start = this.curves.get(id) ?? (two ? [[0, 0], [1, 1]] : [[0, 0.5], [1, 0.5]]);
      this.curves.set(id, start);
      return curveEditor(two ? "Weight of B" : `${LETTERS[i]}  ${names[i]}`, start, (points) => {
        this.curves.set(id, points);
        this.changed();
      }).element;
    });
  }
}

/** Return the mean of a curve over time. */
function mean(points: Point[]): number {
  return points.slice(1).reduce((sum, [t, v], k) => sum + (t - points[k]![0]) * 0.5 * (v + points[k]![1]), 0);
}
