/** Blend: two or more motions, by our method or simpler ones; weights, curves or a transition; the grid of distances. */
import type { App, Panel, Shot } from "../app";
import { button, check, choice, el } from "../dom";
import type { Blended, BlendMotions, BlendStudy, BlendTable } from "../messages";
import { curveEditor, type Point } from "../widgets/curve_editor";
import { gridView, type Cell } from "../widgets/grid_view";
import { latest } from "../widgets/latest";
import { figureText, measureTable } from "../widgets/measures";
import { slider } from "../widgets/slider";
import { Overlay } from "./blend_overlay";
import { download } from "./look";

type Method = NonNullable<BlendMotions["method"]>;
type Mode = "weights" | "curves" | "transition";

const METHODS: [Method, string][] = [
  ["ours", "ours, in step"], ["linear", "linear"], ["discrete", "discrete path"], ["cubic", "cubic spline"],
];
const MODES: [Mode, string][] = [["weights", "constant weights"], ["curves", "weights over time"], ["transition", "a transition"]];
const LETTERS = "ABCDEFGHIJKLMNOP";

export function mount(app: App): Panel {
  const panel = new BlendPanel(app);
  return { element: panel.element, shown: () => panel.draw(), hidden: () => panel.overlay.clear() };
}

class BlendPanel {
  readonly overlay: Overlay;
  readonly element: HTMLElement;
  /** Ids of the motions to be blended, in the order of choosing. */
  private chosen: string[] = [];
  private method: Method = "ours";
  private mode: Mode = "weights";
  private weights = new Map<string, number>();
  private curves = new Map<string, Point[]>();
  private at: [number, number] | null = null;
  private study: BlendStudy | null = null;
  private other = 1;
  private readonly options = { clean: true, whole: false, force: false };
  /** The motion that the last blend made; it changes with every setting until other motions are chosen. */
  private result: string | null = null;
  private readonly list = el("ul", { class: "blend-list", aria: { label: "Motions to blend" } });
  private readonly modeBox = el("div", { class: "stack" });
  private readonly said = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly cellText = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly results = el("div", { class: "stack", aria: { live: "polite" } });
  private readonly gridBox = el("section", {});
  private readonly grid = gridView((cell) => void this.pick(cell));
  private readonly length = slider({ label: "Length", unit: "s", min: 0.1, max: 3, step: 0.05, value: 1, change: () => this.changed() });
  private readonly pair = choice("B is", [], "1", (value) => {
    this.other = Number(value);
    this.restudy();
  });
  private readonly methodChoice: ReturnType<typeof choice>;
  private readonly go = button("Blend", () => void this.blend(true), "Make the blend; further changes then show at once", "primary");
  private readonly figures = [
    button("Measure", () => void this.measure(), "The figures of the result beside those of A"),
    button("Compare methods", () => void this.compare(), "Cost and accuracy of every path, and figures of every way to blend"),
  ];
  private readonly exports = (["glb", "bvh"] as const).map((format) =>
    button(format.toUpperCase(), () => void this.export(format), `Download the result as ${format.toUpperCase()}`),
  );
  private readonly restudy: () => void;
  private readonly reblend: () => void;

  constructor(private readonly app: App) {
    this.overlay = new Overlay(app);
    this.restudy = latest(() => this.askStudy());
    this.reblend = latest(() => this.blend(false));
    this.methodChoice = choice("Method", METHODS, this.method, (value) => {
      this.method = value as Method;
      this.drawGrid();
      this.changed();
    });
    const modes = choice("Make", MODES, this.mode, (value) => {
      this.mode = value as Mode;
      this.restudy();
      this.draw();
      this.changed();
    });
    const option = (label: string, name: keyof typeof this.options, title: string) => {
      const box = check(label, this.options[name], (on) => {
        this.options[name] = on;
        if (name !== "clean") this.restudy();
        this.changed();
      });
      box.title = title;
      return box;
    };
    this.gridBox.append(el("h3", { text: "Distances of frames" }), this.pair, this.grid.element, this.cellText);
    this.element = el("div", { class: "panel" },
      el("section", {}, el("h3", { text: "Motions" }), this.list),
      el("section", {}, el("h3", { text: "Blend" }), this.methodChoice, modes, this.modeBox,
        el("div", { class: "checks" },
          option("Hold the feet", "clean", "Keep contacts where they are; our method only"),
          option("Whole motions", "whole", "Not only what they have in common"),
          option("Even if unlike", "force", "Blend motions that are too far apart all the same"),
        ),
        el("div", { class: "row" }, this.go, ...this.exports),
        this.said,
      ),
      this.gridBox,
      el("section", {}, el("h3", { text: "Statistics" }), el("div", { class: "row" }, ...this.figures), this.results),
    );
    app.motionsChanged.on(() => this.draw());
    app.infoChanged.on((info) => {
      if (this.chosen.includes(info.motion)) this.restudy();
    });
    app.themes.changed.on(() => this.grid.draw());
    this.draw();
  }

  private shot(index: number): Shot | undefined {
    return this.app.motions.get(this.chosen[index] ?? "");
  }

  private get names(): string[] {
    return this.chosen.map((id) => this.app.motions.get(id)?.info.name ?? id);
  }

  draw(): void {
    const kept = this.chosen.filter((id) => this.app.motions.has(id));
    const fewer = kept.length !== this.chosen.length;
    this.chosen = kept;
    if (this.result && !this.app.motions.has(this.result)) this.result = null;
    if (fewer) this.restudy();
    const usable = [...this.app.motions.values()].filter(({ info }) => info.kind === "motion");
    this.list.replaceChildren(...usable.map((shot) => this.row(shot)));
    if (!usable.length) this.list.append(el("li", { class: "dim", text: "Open two motions or more on the left." }));
    this.drawMode();
    const two = this.chosen.length === 2;
    for (const option of this.methodChoice.select.options) {
      const needs = option.value === "discrete" || option.value === "cubic";
      option.disabled = needs && (!two || this.mode === "transition");
    }
    this.go.disabled = this.mode === "transition" ? !two : this.chosen.length < 2;
    this.figures[0]!.disabled = !this.result;
    this.figures[1]!.disabled = !two;
    for (const each of this.exports) each.disabled = !this.result;
    this.drawGrid();
  }

  private row({ info, figure }: Shot): HTMLElement {
    const at = this.chosen.indexOf(info.motion);
    const box = check(info.name, at >= 0, (on) => this.choose(info.motion, on));
    box.title = info.name;
    const letter = el("span", { class: "letter", text: at < 0 ? "" : LETTERS[at]! });
    letter.style.setProperty("--dot", figure.color);
    return el("li", {}, letter, box);
  }

  private choose(id: string, on: boolean): void {
    this.chosen = on ? [...this.chosen, id] : this.chosen.filter((each) => each !== id);
    if (this.chosen.length > LETTERS.length) this.chosen.shift();
    this.result = null;
    this.at = null;
    this.other = 1;
    this.study = null;
    this.said.textContent = this.cellText.textContent = "";
    this.results.replaceChildren();
    this.draw();
    this.restudy();
  }

  private drawMode(): void {
    const { names } = this;
    if (this.chosen.length < 2) {
      this.modeBox.replaceChildren(el("p", { class: "dim", text: "Choose two motions or more." }));
    } else if (this.mode === "weights") {
      this.modeBox.replaceChildren(...this.chosen.map((id, i) => slider({
        label: `${LETTERS[i]}  ${names[i]}`, min: 0, max: 1, step: 0.01, value: this.weights.get(id) ?? 0.5,
        input: (value) => {
          this.weights.set(id, value);
          this.changed();
        },
      }).element));
    } else if (this.mode === "curves") {
      this.modeBox.replaceChildren(...this.curveEditors());
    } else {
      const best = button("Best place", () => {
        this.at = null;
        this.grid.mark(null);
        this.drawMode();
        this.changed();
      }, "Where the two are most alike");
      const where = this.at ? `A at ${this.at[0].toFixed(2)} s, B at ${this.at[1].toFixed(2)} s` : "where they are most alike";
      this.modeBox.replaceChildren(this.length.element, el("div", { class: "row" }, el("span", { text: where }), best),
        el("p", { class: "dim", text: "A click on the grid below chooses the place; Blend then goes over there." }));
    }
  }

  /** Of two motions one curve says all: how much of B. Of more, each has its own. */
  private curveEditors(): HTMLElement[] {
    const two = this.chosen.length === 2;
    const which = two ? [1] : this.chosen.map((_, i) => i);
    return which.map((i) => {
      const id = this.chosen[i]!;
      const start = this.curves.get(id) ?? (two ? [[0, 0], [1, 1]] : [[0, 0.5], [1, 0.5]]);
      this.curves.set(id, start);
      return curveEditor(two ? "How much of B" : `${LETTERS[i]}  ${this.names[i]}`, start, (points) => {
        this.curves.set(id, points);
        this.changed();
      }).element;
    });
  }

  private drawGrid(): void {
    const { study } = this;
    this.gridBox.hidden = !study || this.chosen.length < 2;
    if (!study) return;
    const rest = this.names.slice(1).map((name, i): [string, string] => [String(i + 1), name]);
    this.pair.hidden = rest.length < 2;
    this.pair.select.replaceChildren(...rest.map(([value, text]) => el("option", { value, text })));
    this.pair.select.value = String(this.other);
    const path = this.mode === "transition" ? null : study.paths.find(({ method }) => method === this.method);
    this.grid.show(study.grid, path ?? null);
  }

  private async askStudy(): Promise<void> {
    if (this.chosen.length < 2) {
      this.study = null;
      this.drawGrid();
      return;
    }
    const { whole, force } = this.options;
    const fields = { motions: this.chosen, other: Math.min(this.other, this.chosen.length - 1), whole, force };
    // Graphs and transitions compare longer stretches than registration does.
    const window = this.mode === "transition" ? 0.5 : 0.1;
    const study = await this.app.run("Comparing", "blend_study", { ...fields, window }).catch(() => null);
    if (fields.motions !== this.chosen) return;
    this.study = study;
    this.cellText.textContent = study ? studyText(study, fields.motions.length) : "";
    this.drawGrid();
  }

  /** Show the two frames of a cell over each other; for a transition that is also where it goes over. */
  private async pick(cell: Cell): Promise<void> {
    const [a, b, study] = [this.shot(0), this.shot(this.other), this.study];
    if (!a || !b || !study) return;
    const seconds = cell.map((frame, k) => Math.min(frame / study.grid.rate, (k ? b : a).info.seconds)) as Cell;
    const fields = { motion: b.info.motion, seconds: seconds[1], to: a.info.motion, to_seconds: seconds[0] };
    const placed = await this.app.ask("blend_place", fields).catch(() => null);
    if (!placed) return;
    const frames = [Math.round(seconds[0] * a.info.fps), Math.round(seconds[1] * b.info.fps)];
    this.cellText.textContent = `Frame ${frames[0]} of A and ${frames[1]} of B are ${figureText(placed.distance)} m apart; shown over each other until time moves on.`;
    await this.overlay.show(a, frames[0]!, b, frames[1]!, placed);
    if (this.mode !== "transition") return;
    this.at = seconds;
    this.drawMode();
  }

  /** A setting is another one: where there is a result, it follows. */
  private changed(): void {
    if (this.result) this.reblend();
  }

  private async blend(first: boolean): Promise<void> {
    if (this.chosen.length < 2 || (!first && !this.result)) return;
    const motions = this.chosen;
    const done = await this.ask(first).catch(() => null);
    if (!done || motions !== this.chosen) return;
    const { app } = this;
    this.overlay.clear();
    const isNew = !app.motions.has(done.motion.motion);
    if (isNew) for (const { figure } of app.motions.values()) figure.visible = false;
    this.result = done.motion.motion;
    if (isNew) app.add(done.motion);
    else app.update(done.motion);
    const shot = app.motions.get(done.motion.motion);
    if (first) void shot?.frames.load(0, 1).then(() => app.selected === shot && app.focus(), () => undefined);
    this.said.textContent = resultText(done, motions.length);
    if (done.at) this.showPlace(done.at);
    if (isNew && !app.playback.playing) app.playback.toggle();
    this.draw();
  }

  private showPlace(at: [number, number]): void {
    const rate = this.study?.grid.rate;
    if (rate) this.grid.mark([Math.round(at[0] * rate), Math.round(at[1] * rate)]);
  }

  private ask(first: boolean): Promise<Blended> {
    const shared = { motions: this.chosen, method: this.method, clean: this.options.clean, force: this.options.force, result: this.result };
    const { app } = this;
    if (this.mode === "transition") {
      const fields = { ...shared, at: this.at, length: this.length.value };
      return first ? app.run("Blending", "blend_transition", fields) : app.ask("blend_transition", fields);
    }
    const weights = this.mode === "weights" ? this.chosen.map((id) => this.weights.get(id) ?? 0.5) : [];
    const fields = { ...shared, weights, curves: this.mode === "curves" ? this.drawn() : [], whole: this.options.whole };
    return first ? app.run("Blending", "blend", fields) : app.ask("blend", fields);
  }

  private drawn(): Point[][] {
    const of = (id: string) => this.curves.get(id) ?? [[0, 0.5], [1, 0.5]];
    if (this.chosen.length !== 2) return this.chosen.map(of);
    const b = of(this.chosen[1]!);
    return [b.map(([t, v]): Point => [t, 1 - v]), b];
  }

  private async measure(): Promise<void> {
    const [motion, against] = [this.result, this.chosen[0]];
    if (!motion || !against) return;
    const done = await this.app.run("Measuring", "measure", { motion, against }).catch(() => null);
    if (done) this.results.replaceChildren(measureTable(done.measures, { value: "result", against: "A" }));
  }

  private async compare(): Promise<void> {
    const motions = this.chosen;
    const weights = motions.map((id) => this.weights.get(id) ?? 0.5);
    const table = await this.app.run("Comparing the methods", "blend_statistics", { motions, weights }).catch(() => null);
    if (table && motions === this.chosen) this.results.replaceChildren(...statistics(table));
  }

  private async export(format: "glb" | "bvh"): Promise<void> {
    const info = this.app.motions.get(this.result ?? "")?.info;
    if (!info) return;
    const fields = { motions: [info.motion], format, name: info.name };
    const made = await this.app.run("Writing the file", "export", fields).catch(() => null);
    if (made) download(made.url, made.name);
  }
}

function studyText(study: BlendStudy, n: number): string {
  const grid = `Strong colour is near, none is ${figureText(study.grid.largest)} m apart.`;
  if (study.refused) return `${grid} Not in step: ${study.refused}.`;
  const apart = n > 2 ? "The motion furthest from the others is" : "Along the path they are";
  return `${grid} ${apart} ${figureText(study.distance)} m apart; ${study.matches} contacts belong together. Click to see two frames.`;
}

function resultText(done: Blended, n: number): string {
  const { info, at } = { info: done.motion, at: done.at };
  const what = at ? `Goes over where A is at ${at[0].toFixed(2)} s and B at ${at[1].toFixed(2)} s.` : `Made of ${n} motions.`;
  return `${info.n_frames} frames, ${info.seconds.toFixed(2)} s. ${what}`;
}

function statistics(table: BlendTable): HTMLElement[] {
  const paths = table.paths.map((row) => cells(row.method, [row.distance, row.accuracy, row.milliseconds], row.note));
  const blends = el("div", {});
  const names = table.names.map((name, i): [string, string] => [String(i), `${name.replaceAll("_", " ")} (${table.units[i]})`]);
  const show = (which: number) => {
    const rows = table.blends.map((row) => cells(row.method, [row.figures[which] ?? null, row.milliseconds], row.note));
    blends.replaceChildren(sheet(["", table.units[which] ?? "", "ms"], rows));
  };
  show(0);
  return [
    el("h4", { text: table.proven ? "Paths (the best is proven)" : "Paths (the best found)" }),
    sheet(["", "m", "% of best", "ms"], paths),
    el("h4", { text: "Blends" }),
    choice("Figure", names, "0", (value) => show(Number(value))),
    blends,
    ...table.notes.map((text) => el("p", { class: "dim", text })),
  ];
}

function cells(name: string, values: (number | null)[], note: string): HTMLElement {
  return el("tr", { title: note || name }, el("th", { text: name }), ...values.map((value) => el("td", { text: figureText(value) })));
}

function sheet(head: string[], rows: HTMLElement[]): HTMLElement {
  const top = el("tr", {}, ...head.map((text) => el("th", { text })));
  return el("div", { class: "table-box" }, el("table", { class: "measures" }, el("thead", {}, top), el("tbody", {}, ...rows)));
}
