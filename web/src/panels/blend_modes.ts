/** The inputs of a blend: weights, weight curves over time, or the times of a transition. */
import { button, el, sentenceList } from "../dom";
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

  /** Return the weights of motions, which add up to 1: equal ones until the user changes them. */
  getWeights(ids: string[]): number[] {
    const known = ids.map((id) => this.weights.get(id) ?? NaN);
    return Math.abs(total(known) - 1) < 1e-6 ? known : share(1, ids.map(() => 1));
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
    const weights = { weights: () => this.getWeights(ids), curves: () => this.getPoints(ids).map(mean), transition: () => ids.map(() => 0.5) }[this.mode]();
    const sum = total(weights) || 1;
    const text = sentenceList(weights.map((weight, i) => `${(weight / sum).toFixed(2)} of ${LETTERS[i]}`));
    const why = { weights: "", curves: " (the averages of the curves)", transition: ", because a transition has no constant weights" }[this.mode];
    return { weights, how: `Methods compared on a constant blend of ${text}${why}.` };
  }

  private controls(ids: string[], names: string[]): HTMLElement[] {
    if (ids.length < 2) return [el("p", { class: "dim", text: "Choose two or more clips." })];
    if (this.mode === "weights") return this.weightSliders(ids, names);
    if (this.mode === "curves") return this.curveEditors(ids, names);
    const best = button("Use best match", this.best, "Place the transition where the two clips are most similar");
    return [el("div", { class: "row" }, this.where, best),
      el("p", { class: "dim", text: "Click the grid below to place the transition." })];
  }

  private weightSliders(ids: string[], names: string[]): HTMLElement[] {
    const weights = this.getWeights(ids);
    const sliders = ids.map((_, i) => slider({
      label: `${LETTERS[i]}  ${names[i]}`, title: "The weights of all clips add up to 1", min: 0, max: 1, step: 0.01, value: weights[i]!,
      input: (value) => {
        const others = this.getWeights(ids);
        others.splice(i, 1);
        const next = share(1 - value, others);
        next.splice(i, 0, value);
        next.forEach((weight, k) => {
          this.weights.set(ids[k]!, weight);
          if (k !== i) sliders[k]!.value = weight;
        });
        this.changed();
      },
    }));
    return sliders.map(({ element }) => element);
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

function total(weights: number[]): number {
  return weights.reduce((sum, each) => sum + each, 0);
}

/** Divide an amount in the proportion of weights, in hundredths; evenly if all weights are 0. */
function share(amount: number, weights: number[]): number[] {
  const sum = total(weights);
  let [before, given] = [0, 0];
  return weights.map((weight) => {
    before += sum > 0 ? weight / sum : 1 / weights.length;
    const next = Math.round(100 * amount * before) - given;
    given += next;
    return next / 100;
  });
}
