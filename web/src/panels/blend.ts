/** Blend panel: motions blended by weights, by curves or as a transition, and the distance grid. */
import type { App, Panel, Shot } from "../app";
import { button, choice, download, el, setOptions } from "../dom";
import { keyedPoints, type KeyedCurve } from "../key_lane";
import { saveChoice, tabState } from "../tab_state";
import { FORMS, type Blended, type BlendSettings, type BlendStudy, type ComparisonSettings, type RegisterSettings, type TransitionSettings } from "../messages";
import { settingsForm, type Form } from "../widgets/form";
import { gridView, type Cell } from "../widgets/grid_view";
import { latest } from "../widgets/latest";
import { metricText } from "../widgets/measures";
import { resultParts } from "../widgets/operations";
import { LETTERS, MotionList } from "./blend_list";
import { BlendModes, MODES, type Mode } from "./blend_modes";
import { Overlay } from "./blend_overlay";
import { alongPath, isOfPath, METHODS, PATH, pathSettings, pick, type Choices, type Method } from "./blend_state";
import { resultText, statistics, studyText } from "./blend_tables";

export function mount(app: App): Panel {
  const panel = new BlendPanel(app);
  return { element: panel.element, shown: () => panel.show(), hidden: () => panel.overlay.clear() };
}

class BlendPanel {
  readonly overlay: Overlay;
  readonly element: HTMLElement;
  /** Ids of the motions to blend, in the order in which they were chosen. */
  private chosen: string[] = [];
  /** Number of times that motions were chosen. Replies about an earlier choice are ignored. */
  private generation = 0;
  private method: Method = "registered";
  private study: BlendStudy | null = null;
  private other = 1;
  private readonly settings: Form<BlendSettings & RegisterSettings>;
  private readonly transition: Form<TransitionSettings>;
  /** Settings of the methods along a path, for blends and transitions. */
  private readonly path: Form<BlendSettings>;
  private readonly comparison: Form<ComparisonSettings>;
  /** Id of the last blend. It is updated with every setting until other motions are chosen. */
  private result: string | null = null;
  /** Whether the result does not match the settings, because they cannot be blended. */
  private failed = false;
  /** Numbers of the user actions that produced the last blend and that picked a grid cell. */
  private readonly last = { blended: -1, picked: -1 };
  private cell: Cell | null = null;
  private metricsOf: "nothing" | "result" | "methods" = "nothing";
  private readonly list: MotionList;
  private readonly modes = new BlendModes(() => this.changed(true), () => this.goOver(null));
  private readonly said = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly cellText = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly hints = el("div", { class: "stack", aria: { live: "polite" } });
  private readonly results = el("div", { class: "stack", aria: { live: "polite" } });
  private readonly outdated = el("p", { class: "dim", hidden: true, text: "Out of date: settings have changed." });
  private readonly gridBox = el("section", {});
  private readonly grid = gridView((cell) => this.pick(cell));
  private readonly pair = choice("Compare A with", [], "1", (value) => {
    this.other = Number(value);
    this.restudy();
  }, "The clip whose frames the grid below compares with those of A");
  private readonly methodChoice: ReturnType<typeof choice>;
  private readonly modeChoice: ReturnType<typeof choice>;
  private readonly go = button("Blend", () => void this.blend(true), "Create the blend; later changes update it immediately", "primary");
  private readonly metricButtons = [
    button("Measure quality", () => void this.measure(), "Compare the quality metrics of the result and A"),
    button("Compare methods", () => void this.compare(), "Test every alignment method (speed, accuracy) and every blend method (quality)"),
  ];
  private readonly exports = (["glb", "bvh"] as const).map((format) =>
    button(format.toUpperCase(), () => void this.export(format), `Download the result as ${format.toUpperCase()}`),
  );
  private readonly restudy: () => void;
  private readonly reblend: () => void;
  private readonly showCell: () => void;

  constructor(private readonly app: App) {
    const before = app.welcome?.resumed ? (tabState().choices["blend"] as Choices | undefined) : undefined;
    if (before) this.takeUp(before);
    this.overlay = new Overlay(app);
    this.list = new MotionList(app, (id, on) => this.choose(id, on));
    this.restudy = latest(() => this.askStudy());
    this.reblend = latest(() => this.blend(false));
    this.showCell = latest(() => this.layOver());
    let studied = "";
    this.settings = settingsForm([...FORMS.BlendSettings, ...FORMS.RegisterSettings], {
      initial: before?.settings, skip: ["method", ...PATH],
      changed: () => {
        const now = JSON.stringify(this.registration);
        if (now !== studied) this.restudy();
        studied = now;
        this.changed();
      },
    });
    studied = JSON.stringify(this.registration);
    this.transition = settingsForm(FORMS.TransitionSettings, { initial: before?.transition, skip: ["method", ...PATH], changed: () => this.changed() });
    this.path = settingsForm(FORMS.BlendSettings.filter(({ name }) => isOfPath(name)), { initial: before?.path, changed: () => this.changed() });
    this.comparison = settingsForm(FORMS.ComparisonSettings, { initial: before?.comparison ?? { time_limit: 1 }, changed: () => this.outdate(this.metricsOf === "methods") });
    this.methodChoice = choice("Method", METHODS, this.method, (value) => {
      this.method = value as Method;
      this.drawButtons();
      this.drawGrid();
      this.changed();
    }, "Synchronized aligns the clips in time and space by their contacts. Linear does not align them in time; discrete path and cubic spline do, in two simpler ways.");
    this.modeChoice = choice("Mode", MODES, this.modes.mode, (value) => {
      this.modes.mode = value as Mode;
      // A transition point that was picked in another mode is not kept.
      this.modes.at = null;
      this.modes.moves.count++;
      this.grid.mark(null);
      this.restudy();
      this.draw();
      this.changed(true);
    }, "Blend with constant weights, with weights that change over time, or make a transition from A to B");
    this.gridBox.append(el("h3", { text: "Frame similarity" }), this.pair, this.grid.element, this.cellText);
    this.element = el("div", { class: "panel" },
      el("section", {}, el("h3", { text: "Clips" }), this.list.element, this.hints),
      el("section", {}, el("h3", { text: "Blend" }), this.methodChoice, this.modeChoice, this.modes.element,
        this.settings.element, this.transition.element, this.path.element,
        el("div", { class: "row" }, this.go, ...this.exports),
        this.said,
      ),
      this.gridBox,
      el("section", {}, el("h3", { text: "Quality" }), el("div", { class: "row" }, ...this.metricButtons),
        el("details", {}, el("summary", { text: "Comparison options" }), this.comparison.element), this.outdated, this.results),
    );
    app.keys.offer("weights", this.element, () => this.keyedWeight());
    app.motionsChanged.on(() => this.draw());
    app.infoChanged.on((info) => {
      this.list.draw(this.chosen);
      if (!this.chosen.includes(info.motion)) return;
      this.drawMode();
      this.restudy();
    });
    app.themes.changed.on(() => this.grid.draw());
    window.addEventListener("pagehide", () => saveChoice("blend", this.choices));
    this.draw();
    app.history.registerState("blend", { read: () => this.choices, write: (state) => this.putBack(state as Choices) });
    // After a reload, the motions are added right after the panels are built.
    if (before) queueMicrotask(() => this.chooseAgain(before));
  }

  /** The settings of the registration that differ from their defaults. */
  private get registration(): Partial<RegisterSettings> {
    return pick(this.settings.value, FORMS.RegisterSettings);
  }

  /** Show the panel. If only two clips are open, both are chosen, unless others were before a reload. */
  show(): void {
    this.draw();
    queueMicrotask(() => this.list.pair && this.chooseAgain({ ...this.choices, chosen: this.list.pair }));
  }

  private get choices(): Choices {
    const { chosen, method, result } = this;
    const { mode, at, weights, curves } = this.modes;
    const [settings, transition, path, comparison] = [this.settings.value, this.transition.value, this.path.value, this.comparison.value];
    return { chosen, method, mode, at, settings, transition, path, comparison, result, weights: [...weights], curves: [...curves] };
  }

  /** Restore the settings of an undone or redone change. */
  private putBack(choices: Choices): void {
    this.takeUp(choices);
    this.methodChoice.select.value = choices.method;
    this.modeChoice.select.value = choices.mode;
    this.settings.set(choices.settings);
    this.transition.set(choices.transition);
    this.path.set(choices.path);
    const { motions } = this.app;
    if (choices.chosen.join() !== this.chosen.join()) this.take(choices.chosen.filter((id) => motions.has(id)));
    this.modes.at = choices.at;
    this.result = choices.result && motions.has(choices.result) ? choices.result : null;
    this.failed = false;
    this.modes.forget();
    this.draw();
  }

  private takeUp({ method, mode, weights, curves }: Choices): void {
    this.method = method;
    this.modes.mode = mode;
    [this.modes.weights, this.modes.curves] = [new Map(weights), new Map(curves)];
  }

  private chooseAgain({ chosen, at, result }: Choices): void {
    if (this.chosen.length || !chosen.every((id) => this.app.motions.has(id))) return;
    this.take(chosen);
    [this.modes.at, this.result] = [at, result];
    this.draw();
    this.app.history.resetBaseline();
  }

  /** The weight of B over time, to edit below the timeline of the result. */
  private keyedWeight(): KeyedCurve | null {
    const { modes, chosen } = this;
    const info = this.app.selected?.info;
    const points = modes.curves.get(chosen[1] ?? "");
    if (modes.mode !== "curves" || chosen.length !== 2 || info?.motion !== this.result || !points) return null;
    const keyed = keyedPoints("Weight of B", points, info!.n_frames, (value) => `${Math.round(100 * value)} %`, (drawn) => {
      modes.curves.set(chosen[1]!, drawn);
      modes.forget();
      this.draw();
      this.app.keys.refresh();
      this.changed(true);
    });
    return { ...keyed, moved: (index, key, done) => {
      keyed.moved(index, key, done);
      if (done) modes.moves.count++;
    } };
  }

  private shot(index: number): Shot | undefined {
    return this.app.motions.get(this.chosen[index] ?? "");
  }

  private get names(): string[] {
    return this.chosen.map((id) => this.app.motions.get(id)?.info.name ?? id);
  }

  draw(): void {
    const left = this.chosen.filter((id) => this.app.motions.has(id));
    if (left.length !== this.chosen.length) {
      this.take(left);
      return;
    }
    if (this.result && !this.app.motions.has(this.result)) this.result = null;
    this.list.draw(this.chosen);
    this.drawMode();
    this.drawButtons();
    this.drawHints();
    this.drawGrid();
  }

  private drawMode(): void {
    this.modes.draw(this.chosen, this.names);
  }

  private drawButtons(): void {
    const two = this.chosen.length === 2;
    const transition = this.modes.mode === "transition";
    this.settings.element.hidden = transition;
    this.transition.element.hidden = !transition;
    this.path.element.hidden = !alongPath(this.method);
    for (const option of this.methodChoice.select.options) option.disabled = alongPath(option.value) && !two;
    const misfit = Boolean(this.study?.misfits.length);
    this.go.disabled = misfit || (transition ? !two : this.chosen.length < 2);
    this.metricButtons[0]!.disabled = !this.result || this.failed;
    this.metricButtons[1]!.disabled = misfit || !two;
    for (const each of this.exports) each.disabled = !this.result || this.failed;
    this.said.classList.toggle("missed", this.failed);
  }

  /** Show problems of the chosen motions that the user can fix. */
  private drawHints(): void {
    const { misfits = [], rests = [], refused = "" } = this.study ?? {};
    const letters = (places: number[]) => places.map((k) => LETTERS[k]).join(", ");
    const lines: HTMLElement[] = [];
    if (misfits.length) {
      const has = misfits.length > 1 ? "have different skeletons" : "has a different skeleton";
      lines.push(el("p", { class: "missed", title: refused, text: `${letters(misfits)} ${has} than A.` }),
        el("div", { class: "row" }, button("Retarget to A's skeleton", () => void this.fit(misfits), "Retarget to A's skeleton and blend the new clip instead")));
    }
    if (rests.length) {
      const begins = rests.length > 1 ? "start with a T-pose or other rest pose" : "starts with a T-pose or other rest pose";
      lines.push(el("p", { class: "dim", text: `${letters(rests)} ${begins}, which is not part of the motion and distorts the metrics.` }),
        el("div", { class: "row" }, button("Skip rest pose", () => void this.leaveRests(rests), "Remove the rest pose, which is the first frame (Undo restores it)")));
    }
    this.hints.replaceChildren(...lines);
    this.hints.hidden = !lines.length;
  }

  private choose(id: string, on: boolean): void {
    const next = on ? [...this.chosen, id] : this.chosen.filter((each) => each !== id);
    this.take(next.slice(-LETTERS.length));
    this.app.history.recordChange("Choose clips to blend", "blend clips");
  }

  /** Blend these motions from now on, into a new result. */
  private take(chosen: string[]): void {
    this.generation++;
    this.chosen = chosen;
    this.result = this.study = this.modes.at = this.cell = null;
    this.other = 1;
    this.failed = false;
    this.said.textContent = this.cellText.textContent = "";
    this.grid.element.removeAttribute("aria-busy");
    this.showMetrics("nothing", []);
    this.draw();
    this.restudy();
  }

  private async fit(misfits: number[]): Promise<void> {
    const { app, generation } = this;
    const to = this.chosen[0]!;
    const next = [...this.chosen];
    for (const k of misfits) {
      const motion = this.chosen[k]!;
      const frameOf = (id: string) => app.frameOf(app.motions.get(id)!);
      const done = await app.run("Retargeting", "blend_fit", { motion, to, frame: frameOf(motion), to_frame: frameOf(to) }).catch(() => null);
      if (!done) return;
      app.add(done.motion, false);
      for (const note of done.notes.slice(0, 2)) app.notices.info(note);
      const old = app.motions.get(motion);
      if (old) old.character.visible = false;
      this.modes.weights.set(done.motion.motion, this.modes.getWeights(next)[k]!);
      next[k] = done.motion.motion;
      if (generation !== this.generation) return;
    }
    this.take(next);
  }

  private async leaveRests(rests: number[]): Promise<void> {
    for (const motion of rests.map((k) => this.chosen[k]!)) {
      const info = await this.app.ask("blend_trim_rest", { motion }).catch(() => null);
      if (info) this.app.update(info);
    }
    this.changed();
  }

  private drawGrid(): void {
    const { study } = this;
    this.gridBox.hidden = !study?.grid || this.chosen.length < 2;
    if (!study?.grid) return;
    const rest = this.names.slice(1).map((name, i): [string, string] => [String(i + 1), name]);
    this.pair.hidden = rest.length < 2;
    setOptions(this.pair.select, rest, String(this.other));
    const path = this.modes.mode === "transition" ? null : study.paths.find(({ method }) => method === this.method);
    this.grid.show(study.grid, path ?? null);
  }

  private async askStudy(): Promise<void> {
    const { generation, chosen } = this;
    let study: BlendStudy | null = null;
    if (chosen.length > 1) {
      const fields = { motions: chosen, other: Math.min(this.other, chosen.length - 1), registration: this.registration };
      // Transitions compare longer windows than registration does.
      const window = this.modes.mode === "transition" ? 0.5 : 0.1;
      study = await this.app.run("Comparing clips", "blend_study", { ...fields, window }).catch(() => null);
      if (generation !== this.generation) return;
    }
    this.study = study;
    this.cellText.textContent = study ? studyText(study, chosen.length, this.modes.mode === "transition") : "";
    this.drawHints();
    this.drawButtons();
    this.drawGrid();
  }

  /** Handle a click on a grid cell: show its two frames and, in transition mode, place the transition there. */
  private pick(cell: Cell): void {
    const seconds = this.secondsOf(cell);
    if (!seconds) return;
    this.cell = cell;
    this.cellText.textContent = "Aligning the two frames…";
    this.grid.element.setAttribute("aria-busy", "true");
    this.showCell();
    if (this.modes.mode === "transition") this.goOver(seconds);
  }

  /** Convert a cell of the grid to seconds in A and in B. */
  private secondsOf(cell: Cell): Cell | null {
    const [a, b, grid] = [this.shot(0), this.shot(this.other), this.study?.grid];
    if (!a || !b || !grid) return null;
    return [Math.min(cell[0] / grid.rate, a.info.seconds), Math.min(cell[1] / grid.rate, b.info.seconds)];
  }

  /** Place the transition at these times; null for the best match. */
  private goOver(at: Cell | null): void {
    this.modes.at = at;
    if (!at) this.grid.mark(null);
    this.drawMode();
    this.changed();
    if (at) this.last.picked = this.modes.moves.count;
  }

  private async layOver(): Promise<void> {
    const { generation, cell } = this;
    const [a, b, seconds] = [this.shot(0), this.shot(this.other), cell && this.secondsOf(cell)];
    if (!a || !b || !seconds) return;
    const fields = { motion: b.info.motion, seconds: seconds[1], to: a.info.motion, to_seconds: seconds[0] };
    const placed = await this.app.ask("blend_place", fields).catch(() => null);
    if (generation !== this.generation || cell !== this.cell) return;
    this.grid.element.removeAttribute("aria-busy");
    const frames = [Math.round(seconds[0] * a.info.fps), Math.round(seconds[1] * b.info.fps)];
    this.cellText.textContent = placed ? `Frame ${frames[0]} of A and frame ${frames[1]} of B differ by ${metricText(placed.distance)} m when aligned. They stay overlaid until the playhead moves.` : "";
    if (placed) await this.overlay.show(a, frames[0]!, b, frames[1]!, placed);
  }

  /**
   * Handle a changed setting: if there is a result, blend again. `weights`: the weights changed, with which methods are
   * compared.
   */
  private changed(weights = false): void {
    // A change of any other control is a separate undo step.
    if (!weights) this.modes.moves.count++;
    if (this.metricsOf === "result" || (this.metricsOf === "methods" && weights)) this.outdate(true);
    // The change of a blend is noted with the new motion.
    if (this.result) this.reblend();
    else this.app.history.recordChange("Change blend", `blend ${this.modes.moves.count}`);
  }

  private async blend(first: boolean): Promise<void> {
    if (this.chosen.length < 2 || (!first && !this.result)) return;
    const { app, chosen, generation, result } = this;
    const move = this.modes.moves.count;
    const done = await this.ask(first).catch(() => null);
    const old = generation !== this.generation || result !== this.result;
    if (!done) {
      if (!old && result) this.fail();
      return;
    }
    const { motion } = done.motion;
    if (old) {
      // The result is outdated.
      if (app.motions.has(motion)) app.update(done.motion);
      else void app.connection.ask("close", { motion }).catch(() => undefined);
      return;
    }
    this.last.blended = move;
    this.failed = false;
    this.result = motion;
    this.put(done, first, move === this.last.picked);
    this.said.textContent = resultText(done, chosen.map((id) => this.app.motions.get(id)?.info.seconds ?? 0), this.settings.value.crop !== null);
    if (done.at) this.showPlace(done.at);
    if (this.metricsOf === "result") this.outdate(true);
    this.drawButtons();
  }

  /** Show the result. `beneath`: keep the overlay of the two frames that were just picked. */
  private put({ motion: info }: Blended, first: boolean, beneath: boolean): void {
    const { app } = this;
    const known = app.motions.has(info.motion);
    if (beneath && known && !first) {
      this.overlay.keptOver(() => app.update(info));
      return;
    }
    this.overlay.clear();
    if (first || !known) app.present(info);
    else app.update(info);
  }

  /** Report that the settings cannot be blended; the previous blend keeps playing. */
  private fail(): void {
    this.failed = true;
    this.app.history.recordChange("Change blend");
    this.said.textContent = "Cannot blend with these settings. Still showing the previous blend.";
    this.drawButtons();
  }

  private showPlace(at: [number, number]): void {
    const rate = this.study?.grid?.rate;
    if (rate) this.grid.mark([Math.round(at[0] * rate), Math.round(at[1] * rate)]);
  }

  private ask(first: boolean): Promise<Blended> {
    const { app, chosen, method, result, modes } = this;
    const shared = { motions: chosen, result, merge_undo: modes.moves.count === this.last.blended };
    if (modes.mode === "transition") {
      const settings = { ...this.transition.value, ...pathSettings(this.method, this.path.value), method };
      const fields = { ...shared, at: modes.at, settings };
      return first ? app.run("Blending", "blend_transition", fields) : app.ask("blend_transition", fields);
    }
    const weights = modes.mode === "weights" ? modes.getWeights(chosen) : [];
    const curves = modes.mode === "curves" ? modes.getPoints(chosen) : [];
    const settings = { ...pick<BlendSettings>(this.settings.value, FORMS.BlendSettings), ...pathSettings(this.method, this.path.value), method };
    const fields = { ...shared, weights, curves, settings, registration: this.registration };
    return first ? app.run("Blending", "blend", fields) : app.ask("blend", fields);
  }

  private async measure(): Promise<void> {
    const { result: motion, generation } = this;
    const against = this.chosen[0];
    if (!motion || !against) return;
    const done = await this.app.run("Measuring quality", "operate", { operation: "measure", motion, other: against, settings: {} }).catch(() => null);
    if (!done || generation !== this.generation) return;
    const jumps = this.study?.rests.includes(0) ? [el("p", { class: "dim", text: "Clip A starts with a rest pose; its metrics include the jump from that pose to the motion." })] : [];
    this.showMetrics("result", [...resultParts(this.app, done), ...jumps]);
  }

  private async compare(): Promise<void> {
    const { chosen: motions, generation } = this;
    const { weights, how } = this.modes.constant(motions);
    const table = await this.app.run("Comparing methods", "blend_statistics", { motions, weights, settings: this.comparison.value }).catch(() => null);
    if (table && generation === this.generation) this.showMetrics("methods", statistics(table, how));
  }

  private showMetrics(of: typeof this.metricsOf, elements: HTMLElement[]): void {
    this.metricsOf = of;
    this.results.replaceChildren(...elements);
    if (of !== "nothing") this.results.scrollIntoView({ block: of === "methods" ? "start" : "nearest" });
    this.outdate(false);
  }

  private outdate(on: boolean): void {
    this.outdated.hidden = !on;
    this.results.classList.toggle("outdated", on);
  }

  private async export(format: "glb" | "bvh"): Promise<void> {
    const info = this.app.motions.get(this.result ?? "")?.info;
    if (!info) return;
    const { files = [] } = (await this.app.run("Writing the file", "operate", { operation: "save", motion: info.motion, settings: { format, target: "download" } }).catch(() => null)) ?? {};
    for (const { url, name } of files.slice(0, 1)) download(url, name);
  }
}
