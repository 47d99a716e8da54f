/**
 * Graph panel: compare clips, choose thresholds and see what is connected; then generate random walks, or follow a path.
 */
import type { App, Panel } from "../app";
import { button, check, choice, download, el } from "../dom";
import { FORMS, type GraphBuilt, type GraphLinks, type GraphPathSettings, type GraphSettings, type GraphShown, type GraphWalkSettings, type MotionInfo, type PairLimit, type PathFollowed, type PathStretch } from "../messages";
import { CheckedClips } from "../skeleton";
import { settingsForm, type Form } from "../widgets/form";
import { latest } from "../widgets/latest";
import { limitCurve } from "../widgets/limit_curve";
import { countMoves } from "../widgets/moves";
import { operationMenu, type Menu } from "../widgets/operations";
import { skippedList } from "../widgets/skipped";
import { slider, type Slider } from "../widgets/slider";
import { PairSection } from "./graph_pairs";
import { PathSection } from "./graph_path";

type From = "open" | "folder";
type GraphPanelState = { number: number; threshold: number; pairs: PairLimit[] };

/** Number of findings that are shown directly; more are collapsed. */
const FEW = 3;

export function mount(app: App): Panel {
  const panel = new GraphPanel(app);
  return { element: panel.element, shown: () => panel.show(), hidden: () => panel.leave(), use: (what) => panel.use(what), take: (clips) => panel.takeClips(clips) };
}

class GraphPanel {
  readonly element: HTMLElement;
  private from: From = "open";
  private readonly checked: CheckedClips;
  private built: GraphBuilt | null = null;
  private links: GraphLinks | null = null;
  private clean = true;
  private readonly list = el("ul", { class: "blend-list", aria: { label: "Clips to use" } });
  private readonly about = el("div", { class: "stack", aria: { live: "polite" } });
  private readonly limitBox = el("section", { hidden: true });
  private readonly walkBox = el("section", { hidden: true });
  private readonly text = el("p", { aria: { live: "polite" } });
  private readonly labelTable = el("div", { class: "table-box" });
  private readonly pairs = new PairSection(() => this.limit.value, () => this.moved("Change threshold of a pair"));
  private readonly findings = el("div", { class: "stack" });
  private readonly curve = limitCurve();
  private readonly buildBox = el("div");
  private readonly walkForm = el("div");
  private buildSettings: Form<GraphSettings>;
  private walkSettings: Form<GraphWalkSettings> | null = null;
  private readonly source: ReturnType<typeof choice>;
  /** Whether the server was asked for its current graph. */
  private asked = false;
  private readonly go = button("Build graph", () => void this.build(), "Find frames where the clips are similar enough to switch from one to another", "primary");
  private readonly retargetAll = button("Retarget and build again", () => this.buildRetargeted(), "Bring all clips onto the skeleton that most of them have. This turns on Retarget under Advanced.");
  private readonly path: PathSection;
  private readonly more: Menu;
  private readonly limit: Slider;
  private readonly moves = countMoves(this.limitBox);
  private readonly relink: () => void;

  constructor(private readonly app: App) {
    this.checked = new CheckedClips(app, "graph clips");
    this.relink = latest(() => this.askLinks());
    this.limit = slider({ label: "Threshold", unit: "m", title: "Largest difference at which clips may switch; lower = stricter", min: 0, max: 0.25, step: 0.001, value: 0.06, input: () => this.moved("Change threshold") });
    this.buildSettings = this.makeBuildSettings({ fps: 30 });
    this.more = operationMenu(app, "graph");
    this.path = new PathSection(app, (stretches, settings) => this.follow(stretches, settings));
    const froms: [From, string][] = [["open", "open clips"], ["folder", "files in open folder"]];
    this.source = choice("Clips", froms, this.from, (value) => {
      this.from = value as From;
      this.draw();
    });
    this.limitBox.append(el("h3", { text: "Connections" }), this.curve.element, this.limit.element, this.text, this.labelTable,
      this.pairs.element);
    this.walkBox.append(el("h3", { text: "Random walk" }), this.walkForm,
      check("Foot cleanup", this.clean, (on) => (this.clean = on), "Keep feet from sliding, including on paths"),
      el("div", { class: "row" },
        button("Random walk", () => void this.walk(), "Generate a motion that visits all parts of the graph about equally", "primary"),
        button("Steer", () => app.openPanel.emit("drive:graph"), "Steer the graph with keys, mouse or gamepad in the Drive panel"),
        button("Save graph", () => void this.save(), "Download the graph and its clips as one file, for the command line and Python")),
      this.findings);
    this.element = el("div", { class: "panel" },
      el("section", {}, el("h3", { text: "Clips" }), this.source, this.list, this.buildBox,
        el("div", { class: "row" }, this.go), this.about),
      this.limitBox, this.walkBox, this.path.element,
      el("section", {}, el("h3", { text: "More" }), this.more.element),
    );
    app.history.registerState("graph", { read: () => this.state(), write: (state) => this.put(state as GraphPanelState) });
    app.motionsChanged.on(() => this.draw());
    app.selectionChanged.on(() => this.draw());
    app.themes.changed.on(() => this.curve.draw());
    app.workEnded.on(() => void this.restore(true));
    this.draw();
    this.drawBuilt();
  }

  show(): void {
    this.path.appear(true);
    void this.restore();
    this.more.shown();
  }

  leave(): void {
    this.path.leave();
  }

  /** Use these open clips and no others. */
  takeClips(motions: readonly string[]): void {
    this.from = this.source.select.value = "open";
    this.checked.choose(motions);
    this.draw();
  }

  /** Draw an example of a path, for the start page's demo. */
  use(what: string): void {
    if (what === "path") this.path.drawExample();
  }

  /** Draw the settings of the build, with other values than the library's at first. */
  private makeBuildSettings(initial: Partial<GraphSettings>): Form<GraphSettings> {
    const form = settingsForm<GraphSettings>(FORMS.GraphSettings, { initial });
    this.buildBox.replaceChildren(form.element);
    return form;
  }

  private draw(): void {
    const motions = [...this.app.motions.values()].filter(({ info }) => info.kind === "motion");
    this.list.hidden = this.from !== "open";
    this.list.replaceChildren(...motions.map(({ info }) => {
      const box = check(info.name, this.checked.has(info), (on) => {
        this.checked.set(info.motion, on);
        this.draw();
      });
      box.title = info.name;
      return el("li", { data: { motion: info.motion } }, box);
    }));
    this.go.disabled = this.from === "open" && !this.chosen().length;
  }

  private chosen(): string[] {
    return [...this.app.motions.values()].filter(({ info }) => info.kind === "motion" && this.checked.has(info)).map(({ info }) => info.motion);
  }

  /** What the undo history restores: the graph by its number, 0 for none, and its thresholds. */
  private state(): GraphPanelState {
    return { number: this.built?.number ?? 0, ...this.limits() };
  }

  private limits(): { threshold: number; pairs: PairLimit[] } {
    return { threshold: this.limit.value, pairs: this.pairs.pairs };
  }

  /** Restore the graph and the thresholds of an undone or redone change. */
  private async put({ number, threshold, pairs }: GraphPanelState): Promise<void> {
    if (number !== (this.built?.number ?? 0)) this.showGraph(await this.app.ask("graph_use", { number }));
    this.limit.value = threshold;
    this.pairs.take(this.built?.labels ?? [], pairs);
    if (this.built) this.curve.show(this.built.curve, threshold);
    this.relink();
  }

  private async build(): Promise<void> {
    let files: string[] = [];
    if (this.from === "folder") files = (await this.app.ask("list", {}).catch(() => null))?.files.map(({ path }) => path) ?? [];
    const motions = this.from === "open" ? this.chosen() : [];
    const fields = { motions, files, settings: this.buildSettings.value };
    const report = this.app.offerRetarget(() => this.buildRetargeted());
    const built = await this.app.run("Building the graph", "graph_build", fields, undefined, report).catch(() => null);
    if (!built) return;
    this.take(built, built.suggested, []);
    this.app.history.recordChange("Build graph");
  }

  private buildRetargeted(): void {
    this.buildSettings.set({ ...this.buildSettings.value, retarget: true });
    void this.build();
  }

  /** Load the session's graph from the server, once after a page reload. */
  async restore(again = false): Promise<void> {
    if ((this.asked && !again) || !this.app.welcome?.resumed) return;
    this.asked = true;
    const shown = await this.app.ask("graph_show", {}).catch(() => null);
    if (!shown?.built || (this.built && !again)) return;
    this.showGraph(shown);
    // Thresholds of another graph are no change by the user.
    this.app.history.resetBaseline();
    this.path.restore();
  }

  /** Show a graph of the session, with the clips and settings from which it was built. */
  private showGraph(shown: GraphShown): void {
    if (!shown.built) {
      this.built = this.links = null;
      this.drawBuilt();
      return;
    }
    this.from = shown.files.length ? "folder" : "open";
    this.source.select.value = this.from;
    // The clips of a graph from before a project was opened are closed.
    if (this.from === "open" && shown.motions.some((id) => this.app.motions.has(id))) this.checked.choose(shown.motions);
    this.buildSettings = this.makeBuildSettings(shown.settings);
    this.draw();
    this.take(shown.built, shown.threshold, shown.pairs);
  }

  /** Show a graph and its thresholds. */
  private take(built: GraphBuilt, threshold: number, pairs: PairLimit[]): void {
    this.built = built;
    this.links = built.links;
    this.pairs.take(built.labels, pairs);
    this.limit.value = threshold;
    this.path.choices = built.labels;
    // The operations below list the graph.
    this.more.shown();
    this.walkSettings = settingsForm<GraphWalkSettings>(FORMS.GraphWalkSettings, {
      initial: { seconds: 20 },
      choices: { label: [["", "anything"], ...built.labels.map((label): [string, string] => [label, label])] },
      skip: built.labels.length < 2 ? ["label"] : [],
    });
    this.walkForm.replaceChildren(this.walkSettings.element);
    this.findings.replaceChildren();
    this.drawBuilt();
  }

  private drawBuilt(): void {
    const { built } = this;
    for (const box of [this.limitBox, this.walkBox, this.path.element]) box.hidden = !built;
    if (!built) {
      this.about.replaceChildren();
      return;
    }
    const text = `${built.clips.length} clip${built.clips.length === 1 ? "" : "s"}, ${built.seconds.toFixed(1)} s at ${built.rate.toFixed(0)} Hz.`;
    const others = built.skipped.some(({ has_other_skeleton }) => has_other_skeleton);
    this.about.replaceChildren(el("p", { text }), skippedList(built.skipped, others ? this.retargetAll : undefined) ?? "");
    this.drawLinks();
  }

  private moved(title: string): void {
    this.app.history.recordChange(title, `graph threshold ${this.moves.count}`);
    if (this.built) this.curve.show(this.built.curve, this.limit.value);
    this.relink();
  }

  private async askLinks(): Promise<void> {
    if (!this.built) return;
    // The findings were for other thresholds.
    this.findings.replaceChildren();
    this.links = await this.app.ask("graph_links", this.limits());
    this.drawLinks();
  }

  private drawLinks(): void {
    const { built, links } = this;
    if (!built || !links) return;
    this.curve.show(built.curve, this.limit.value);
    this.text.textContent = `${links.transitions} transitions; ${(100 * links.connected).toFixed(0)} % of the footage is connected and can loop forever.`;
    const rows = links.labels.map((part) => {
      const others = built.labels.length - 1;
      const to = part.reaches.length === others ? "all" : part.reaches.join(", ") || "none";
      return el("tr", {}, el("th", { text: part.label }), el("td", { text: `${part.seconds.toFixed(1)} of ${part.of_seconds.toFixed(1)} s` }), el("td", { text: others ? to : "" }));
    });
    const head = el("tr", {}, ...["", "connected", built.labels.length > 1 ? "leads to" : ""].map((text) => el(text ? "th" : "td", { text })));
    this.labelTable.replaceChildren(el("table", { class: "measures" }, el("thead", {}, head), el("tbody", {}, ...rows)));
    this.pairs.show(links);
  }

  private async walk(): Promise<void> {
    const fields = { ...this.limits(), settings: this.walkSettings?.value ?? {}, clean: this.clean };
    const done = await this.app.run("Creating the random walk", "graph_walk", fields).catch(() => null);
    if (!done) return;
    this.showFindings(done.findings);
    this.play(done.motion);
  }

  private showFindings(findings: string[]): void {
    const lines = findings.map((text) => el("li", { text }));
    const list = el("ul", { class: "findings" }, ...lines);
    const content = lines.length > FEW ? el("details", {}, el("summary", { text: `${lines.length} notes about this graph` }), list) : list;
    this.findings.replaceChildren(...(lines.length ? [content] : []));
  }

  private async follow(stretches: PathStretch[], settings: Partial<GraphPathSettings>): Promise<PathFollowed | null> {
    return this.app.run("Following the path", "graph_follow", { ...this.limits(), stretches, settings, clean: this.clean }).catch(() => null);
  }

  /** Show the result, unless the user is drawing a path. */
  private play(info: MotionInfo): void {
    if (!this.path.isDrawing) {
      this.app.present(info);
      return;
    }
    this.app.add(info, false);
    this.app.notices.info(`Added ${info.name} to the clips.`);
  }

  private async save(): Promise<void> {
    const file = await this.app.run("Saving the graph", "graph_save", this.limits()).catch(() => null);
    if (file) download(file.url, file.name);
  }
}
