/** Graph: compare clips, choose thresholds while seeing what hangs together, then walk: by chance, along a path, by keys. */
import type { App, Panel } from "../app";
import { button, check, choice, el, setOptions } from "../dom";
import type { GraphBuilt, GraphLinks, PairLimit } from "../messages";
import { latest } from "../widgets/latest";
import { limitCurve } from "../widgets/limit_curve";
import { slider, type Slider } from "../widgets/slider";
import { PathSection } from "./graph_path";
import { SteerSection } from "./graph_steer";
import { download } from "./look";

type From = "open" | "folder";

export function mount(app: App): Panel {
  const panel = new GraphPanel(app);
  return { element: panel.element, hidden: () => panel.leave() };
}

class GraphPanel {
  readonly element: HTMLElement;
  private from: From = "open";
  /** Open motions that were ticked or not, where the person has decided. */
  private readonly wanted = new Map<string, boolean>();
  private built: GraphBuilt | null = null;
  private links: GraphLinks | null = null;
  private pairs: PairLimit[] = [];
  private rate: number | null = 30;
  private label: string | null = null;
  private clean = true;
  private readonly list = el("ul", { class: "blend-list", aria: { label: "Clips" } });
  private readonly about = el("div", { class: "stack", aria: { live: "polite" } });
  private readonly limitBox = el("section", { hidden: true });
  private readonly walkBox = el("section", { hidden: true });
  private readonly text = el("p", { aria: { live: "polite" } });
  private readonly labelTable = el("div", { class: "table-box" });
  private readonly pairTable = el("div", { class: "table-box" });
  private readonly pairBox = el("div", { class: "stack" });
  private readonly pairDetails = el("details", {}, el("summary", { text: "For pairs of labels" }), this.pairTable, this.pairBox);
  private readonly findings = el("ul", { class: "findings" });
  private readonly curve = limitCurve();
  private readonly window = slider({ label: "Transitions take", unit: "s", min: 0.2, max: 2, step: 0.1, value: 0.5 });
  private readonly seconds = slider({ label: "Length", unit: "s", min: 5, max: 120, step: 5, value: 20 });
  private readonly seed = slider({ label: "Seed", min: 0, max: 99, step: 1, value: 0 });
  private readonly does = choice("Do", [], "", (value) => (this.label = value || null));
  private readonly go = button("Compare clips", () => void this.build(), "Find where clips look alike", "primary");
  private readonly path: PathSection;
  private readonly steer: SteerSection;
  private readonly limit: Slider;
  private readonly relink: () => void;

  constructor(private readonly app: App) {
    this.relink = latest(() => this.askLinks());
    this.limit = slider({ label: "Alike up to", unit: "m", min: 0, max: 0.25, step: 0.001, value: 0.06, input: () => this.moved() });
    this.path = new PathSection(app, (stretches) => this.follow(stretches));
    this.steer = new SteerSection(app, (direction, label, clean, stop) =>
      app.run("Making the tables", "graph_steer", { ...this.limits(), direction, label, clean }, stop).catch(() => null));
    const froms: [From, string][] = [["open", "open motions"], ["folder", "all files of the folder"]];
    const rates: [string, string][] = [["30", "30 Hz"], ["", "the lowest of the clips"]];
    this.limitBox.append(el("h3", { text: "Threshold" }), this.curve.element, this.limit.element, this.text, this.labelTable,
      this.pairDetails);
    this.walkBox.append(el("h3", { text: "By chance" }), this.does, this.seconds.element, this.seed.element,
      check("Plant the feet", this.clean, (on) => (this.clean = on)),
      el("div", { class: "row" },
        button("Random walk", () => void this.walk(), "A walk that plays all of the graph about as often", "primary"),
        button("Save graph", () => void this.save(), "Download the graph with its clips, as `marey graph` takes it")),
      this.findings);
    this.element = el("div", { class: "panel" },
      el("section", {}, el("h3", { text: "Clips" }), choice("From", froms, this.from, (value) => {
        this.from = value as From;
        this.draw();
      }), this.list, this.window.element, choice("Rate", rates, "30", (value) => (this.rate = value ? Number(value) : null)),
      el("div", { class: "row" }, this.go), this.about),
      this.limitBox, this.walkBox, this.path.element, this.steer.element,
    );
    app.motionsChanged.on(() => this.draw());
    app.themes.changed.on(() => this.curve.draw());
    this.draw();
    this.drawBuilt();
  }

  leave(): void {
    this.path.leave();
    void this.steer.stop();
  }

  private draw(): void {
    const motions = [...this.app.motions.values()].filter(({ info }) => info.kind === "motion");
    this.list.hidden = this.from !== "open";
    this.list.replaceChildren(...motions.map(({ info }) => {
      const box = check(info.name, this.ticked(info.motion), (on) => {
        this.wanted.set(info.motion, on);
        this.draw();
      });
      box.title = info.name;
      return el("li", {}, box);
    }));
    this.go.disabled = this.from === "open" && !this.chosen().length;
  }

  /** What came from a file is a clip, as long as nobody says otherwise; what was made here is not. */
  private ticked(id: string): boolean {
    return this.wanted.get(id) ?? Boolean(this.app.motions.get(id)?.info.file);
  }

  private chosen(): string[] {
    return [...this.app.motions.values()].filter(({ info }) => info.kind === "motion" && this.ticked(info.motion)).map(({ info }) => info.motion);
  }

  private limits(): { threshold: number; pairs: PairLimit[] } {
    return { threshold: this.limit.value, pairs: this.pairs };
  }

  private async build(): Promise<void> {
    let files: string[] = [];
    if (this.from === "folder") files = (await this.app.ask("list", {}).catch(() => null))?.files.map(({ path }) => path) ?? [];
    const motions = this.from === "open" ? this.chosen() : [];
    const fields = { motions, files, window: this.window.value, rate: this.rate };
    const built = await this.app.run("Comparing clips", "graph_build", fields).catch(() => null);
    if (!built) return;
    await this.steer.stop();
    this.built = built;
    this.links = built.links;
    this.pairs = [];
    this.limit.value = built.suggested;
    this.path.choices = this.steer.choices = built.labels;
    this.label = null;
    this.does.hidden = this.pairDetails.hidden = built.labels.length < 2;
    setOptions(this.does.select, [["", "anything"], ...built.labels.map((label): [string, string] => [label, label])], "");
    this.findings.replaceChildren();
    this.drawBuilt();
  }

  private drawBuilt(): void {
    const { built } = this;
    for (const box of [this.limitBox, this.walkBox, this.path.element, this.steer.element]) box.hidden = !built;
    if (!built) return;
    const text = `${built.clips.length} clips, ${built.seconds.toFixed(1)} s at ${built.rate.toFixed(0)} Hz.`;
    const left = built.left_out.map((line) => el("li", { text: line }));
    const more = left.length ? el("details", {}, el("summary", { text: `${left.length} files were left out` }), el("ul", { class: "findings" }, ...left)) : null;
    this.about.replaceChildren(el("p", { text }), ...(more ? [more] : []));
    this.drawPairs();
    this.drawLinks();
  }

  private moved(): void {
    if (this.built) this.curve.show(this.built.curve, this.limit.value);
    this.relink();
  }

  private async askLinks(): Promise<void> {
    if (!this.built) return;
    this.links = await this.app.ask("graph_links", this.limits());
    this.drawLinks();
  }

  private drawLinks(): void {
    const { built, links } = this;
    if (!built || !links) return;
    this.curve.show(built.curve, this.limit.value);
    this.text.textContent = `${links.transitions} transitions; ${(100 * links.share).toFixed(0)} % of all frames in one part where everything leads to everything.`;
    const rows = links.labels.map((part) => {
      const others = built.labels.length - 1;
      const to = part.reaches.length === others ? "all" : part.reaches.join(", ") || "none";
      return el("tr", {}, el("th", { text: part.label }), el("td", { text: `${part.seconds.toFixed(1)} of ${part.of_seconds.toFixed(1)} s` }), el("td", { text: others ? to : "" }));
    });
    const head = el("tr", {}, ...["", "endless", built.labels.length > 1 ? "leads to" : ""].map((text) => el("th", { text })));
    this.labelTable.replaceChildren(el("table", { class: "measures" }, el("thead", {}, head), el("tbody", {}, ...rows)));
    this.drawMatrix(built.labels, links);
  }

  /** Transitions from each label (rows) to each (columns); a click gives the pair a threshold of its own. */
  private drawMatrix(labels: string[], links: GraphLinks): void {
    const counts = new Map(links.pairs.map(({ before, after, transitions }) => [`${before}\n${after}`, transitions]));
    const most = Math.max(1, ...counts.values());
    const head = el("tr", {}, el("th", { text: "from, to" }), ...labels.map((text) => el("th", { class: "short", text, title: text })));
    const rows = labels.map((before) => el("tr", {}, el("th", { class: "short", text: before, title: before }), ...labels.map((after) => {
      const n = counts.get(`${before}\n${after}`) ?? 0;
      const own = this.pairs.some((pair) => pair.before === before && pair.after === after);
      const cell = button(String(n), () => this.choosePair(before, after), `From ${before} to ${after}: a threshold of their own`, "cell");
      cell.setAttribute("aria-label", `${before} to ${after}: ${n} transitions`);
      cell.setAttribute("aria-pressed", String(own));
      cell.style.setProperty("--share", String(Math.sqrt(n / most)));
      return el("td", {}, cell);
    })));
    this.pairTable.replaceChildren(el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, ...rows)));
  }

  private choosePair(before: string, after: string): void {
    if (!this.pairs.some((pair) => pair.before === before && pair.after === after)) {
      this.pairs = [...this.pairs, { before, after, metres: this.limit.value }];
    }
    this.drawPairs();
    this.relink();
  }

  private drawPairs(): void {
    this.pairBox.replaceChildren(...this.pairs.map(({ before, after, metres }) => {
      const same = (pair: PairLimit) => pair.before === before && pair.after === after;
      const own = slider({
        label: `${before} to ${after}`, unit: "m", min: 0, max: 0.25, step: 0.001, value: metres,
        input: (value) => {
          this.pairs = this.pairs.map((pair) => (same(pair) ? { ...pair, metres: value } : pair));
          this.relink();
        },
      });
      const drop = button("×", () => {
        this.pairs = this.pairs.filter((pair) => !same(pair));
        this.drawPairs();
        this.relink();
      }, "Back to the threshold for all", "quiet");
      drop.setAttribute("aria-label", `Forget the threshold from ${before} to ${after}`);
      return el("div", { class: "pair" }, own.element, drop);
    }));
  }

  private async walk(): Promise<void> {
    await this.steer.stop();
    const fields = { ...this.limits(), seconds: this.seconds.value, seed: this.seed.value, label: this.label, clean: this.clean };
    const done = await this.app.run("Walking", "graph_walk", fields).catch(() => null);
    if (!done) return;
    this.findings.replaceChildren(...done.findings.map((text) => el("li", { text })));
    this.play(done.motion);
  }

  private async follow(stretches: Parameters<ConstructorParameters<typeof PathSection>[1]>[0]): ReturnType<ConstructorParameters<typeof PathSection>[1]> {
    await this.steer.stop();
    const done = await this.app.run("Following the path", "graph_follow", { ...this.limits(), stretches, clean: this.clean }).catch(() => null);
    if (done) this.play(done.motion);
    return done;
  }

  /** Show what was made, alone, from its beginning. */
  private play(info: Parameters<App["add"]>[0]): void {
    const { app } = this;
    for (const { figure } of app.motions.values()) figure.visible = false;
    const shot = app.add(info);
    app.playback.seek(0);
    void shot.frames.load(0, 1).then(() => app.selected === shot && app.focus(), () => undefined);
    if (!app.playback.playing) app.playback.toggle();
  }

  private async save(): Promise<void> {
    const made = await this.app.run("Writing the graph", "graph_save", this.limits()).catch(() => null);
    if (made) download(made.url, made.name);
  }
}
