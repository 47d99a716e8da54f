/** Find and aim: what is like a marked stretch, page by page; then motions between all of it that go where you drag. */
import type { App, Panel } from "../app";
import { button, check, choice, el } from "../dom";
import type { BuildWeb, SearchDone, ThresholdCurve, WebBuilt } from "../messages";
import { gallery, type Gallery } from "../widgets/gallery";
import { AimSection } from "./find_aim";
import { thresholdView } from "./find_curve";

type Where = "folder" | "open" | "both";

const WHERE: [Where, string][] = [["folder", "the folder's files"], ["open", "the open motions"], ["both", "both"]];
const MARKERS: [NonNullable<BuildWeb["markers"]>, string][] = [["body", "whole body"], ["upper", "upper body"], ["lower", "lower body"]];
const RATES: [string, string][] = [["30", "30 Hz"], ["60", "60 Hz"], ["", "all frames"]];
const PER_PAGE = 6;

/** A stretch of a motion that is sought, frames half-open. */
interface Query {
  motion: string;
  start: number;
  stop: number;
}

export function mount(app: App): Panel {
  const panel = new FindPanel(app);
  return { element: panel.element, shown: () => panel.shown(), hidden: () => panel.hidden() };
}

class FindPanel {
  readonly element: HTMLElement;
  private where: Where;
  private readonly options = { markers: "body" as NonNullable<BuildWeb["markers"]>, remove_height: false, coarse: false, rate: 30 as number | null };
  private web: WebBuilt | null = null;
  private query: Query | null = null;
  private curve: ThresholdCurve | null = null;
  private found: SearchDone | null = null;
  private readonly built = el("div", { class: "stack", aria: { live: "polite" } });
  private readonly marked = el("p", { aria: { live: "polite" } });
  private readonly build = button("Compare all", () => void this.buildWeb(), "Compare all frames with each other, so that they can be searched");
  private readonly tryAll = button("Try thresholds", () => void this.suggest(), "How many matches each threshold would find");
  private readonly threshold = el("input", { type: "number", class: "threshold-number", min: "0", step: "0.001", placeholder: "m", aria: { label: "Threshold, metres" } });
  private readonly offer = button("", () => this.curve && this.choose(Number(this.curve.threshold.toPrecision(3))));
  private readonly search = button("Search", () => void this.find(), "Find all that is like the stretch, to within the threshold", "primary");
  private readonly hint = el("span", { class: "dim", text: "Choose a threshold first: on the curve, or type one." });
  private readonly view = thresholdView((threshold) => this.choose(threshold));
  private readonly thresholdBox = el("div", { class: "stack", hidden: true });
  private readonly matchBox = el("section", { hidden: true });
  private readonly counted = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly gallery: Gallery;
  private readonly aim: AimSection;

  constructor(private readonly app: App) {
    this.where = app.welcome?.folder ? "folder" : "open";
    this.gallery = gallery({
      perPage: PER_PAGE,
      fetch: async (first, count) => (await app.ask("find_matches", { search: this.found!.search, first, count })).tiles,
      open: (number) => void this.openMatch(number),
      changed: () => this.draw(),
    });
    this.aim = new AimSection(app, () => ({ search: this.found!.search, drop: [...this.gallery.dropped] }));
    const options = el("details", { class: "folded" }, el("summary", { class: "dim", text: "How it compares" }),
      choice("By", MARKERS, this.options.markers, (value) => (this.options.markers = value as typeof this.options.markers)),
      choice("At", RATES, String(this.options.rate), (value) => (this.options.rate = value ? Number(value) : null)),
      check("Heights do not count", false, (on) => (this.options.remove_height = on)),
      check("Coarse look first (faster)", false, (on) => (this.options.coarse = on)),
    );
    const row = el("div", { class: "row" }, el("label", { class: "field" }, el("span", { text: "Threshold" }), this.threshold), this.search, this.hint);
    this.thresholdBox.append(this.view.element, el("div", { class: "row" }, this.offer), row);
    this.matchBox.append(el("h3", { text: "Matches" }), this.counted, this.gallery.element);
    this.element = el("div", { class: "panel" },
      el("section", {}, el("h3", { text: "Search in" }),
        choice("Clips", WHERE, this.where, (value) => (this.where = value as Where)), options,
        el("div", { class: "row" }, this.build), this.built),
      el("section", {}, el("h3", { text: "Look for" }), this.marked, el("div", { class: "row" }, this.tryAll), this.thresholdBox),
      this.matchBox,
      this.aim.element,
    );
    this.threshold.addEventListener("input", () => {
      this.view.mark(this.chosen);
      this.draw();
    });
    this.threshold.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !this.search.disabled) void this.find();
    });
    app.playback.changed.on(() => this.drawMarked());
    app.selectionChanged.on(() => this.draw());
    app.themes.changed.on(() => this.view.draw());
    this.draw();
  }

  shown(): void {
    this.draw();
    this.aim.shown();
  }

  hidden(): void {
    this.aim.hidden();
  }

  private get chosen(): number | null {
    const value = this.threshold.valueAsNumber;
    return Number.isFinite(value) && value > 0 ? value : null;
  }

  /** What is marked on the timeline now. */
  private get stretch(): Query | null {
    const [region, info] = [this.app.playback.region, this.app.selected?.info];
    return region && info?.kind === "motion" ? { motion: info.motion, start: region[0], stop: region[1] } : null;
  }

  private drawMarked(): void {
    const stretch = this.stretch;
    const info = this.app.selected?.info;
    const text = stretch && info
      ? `${info.name}, ${(stretch.start / info.fps).toFixed(2)} to ${(stretch.stop / info.fps).toFixed(2)} s`
      : "Mark a stretch on the timeline: drag along its ruler with Shift, or set its ends with [ and ].";
    if (this.marked.textContent !== text) this.marked.textContent = text;
    this.marked.classList.toggle("dim", !stretch);
    this.tryAll.disabled = !stretch || !this.web;
    this.tryAll.title = this.web ? "How many matches each threshold would find" : "Compare all clips first";
  }

  private draw(): void {
    this.drawMarked();
    this.build.disabled = this.app.selected?.info.kind !== "motion";
    this.search.disabled = !this.query || this.chosen === null;
    this.hint.hidden = this.chosen !== null;
    this.matchBox.hidden = !this.found;
    this.aim.element.hidden = !this.found;
    if (!this.found) return;
    const [matches, dropped] = [this.found.count - 1, this.gallery.dropped.size];
    const notes = this.found.notes.length ? ` ${this.found.notes.join(" ")}` : "";
    this.counted.textContent = `${matches} ${matches === 1 ? "match" : "matches"} beside what was sought${dropped ? `, ${dropped} thrown out` : ""}.${notes}`;
  }

  private async buildWeb(): Promise<void> {
    const like = this.app.selected?.info.motion;
    if (!like) return;
    const all = [...this.app.motions.values()].filter(({ info }) => info.kind === "motion").map(({ info }) => info.motion);
    const motions = this.where === "folder" ? [] : all;
    try {
      const fields = { like, motions, folder: this.where !== "open", ...this.options };
      this.web = await this.app.run("Comparing all clips", "find_build", fields);
    } catch {
      return;
    }
    const { clips, seconds, fps, left_out } = this.web;
    const text = `${clips.length} ${clips.length === 1 ? "clip" : "clips"}, ${seconds.toFixed(0)} s at ${Number(fps.toFixed(2))} Hz, can be searched.`;
    this.built.replaceChildren(el("p", { text }));
    if (left_out.length) {
      const lines = left_out.map((line) => el("li", { text: line }));
      this.built.append(el("details", { class: "dim" }, el("summary", { text: `${left_out.length} left out` }), el("ul", {}, ...lines)));
    }
    this.forget();
  }

  /** What was found belongs to a web, or to a query, that is no more. */
  private forget(): void {
    this.query = null;
    this.curve = null;
    this.found = null;
    this.thresholdBox.hidden = true;
    this.aim.clear();
    this.draw();
  }

  private async suggest(): Promise<void> {
    const query = this.stretch;
    if (!query) return;
    try {
      this.curve = await this.app.run("Trying thresholds", "find_suggest", { ...query });
    } catch {
      return;
    }
    this.query = query;
    this.threshold.value = "";
    const { threshold, n_matches, stands_out } = this.curve;
    const finds = `${n_matches} ${n_matches === 1 ? "match" : "matches"}`;
    this.offer.textContent = `Take ${threshold.toPrecision(3)} m: ${finds}`;
    this.offer.title = stands_out ? "This one stands out: thresholds around it find the same" : "None stands out; this is a guess";
    this.thresholdBox.hidden = false;
    this.view.show(this.curve);
    this.draw();
  }

  private choose(threshold: number): void {
    this.threshold.value = String(threshold);
    this.view.mark(threshold);
    this.draw();
  }

  private async find(): Promise<void> {
    const threshold = this.chosen;
    if (!this.query || threshold === null) return;
    try {
      this.found = await this.app.run("Searching", "find_search", { ...this.query, threshold });
    } catch {
      return;
    }
    this.aim.clear();
    this.aim.suggest(this.found);
    await this.gallery.show(this.found.count, this.found.body);
    this.draw();
  }

  private async openMatch(number: number): Promise<void> {
    const { search } = this.found!;
    await this.app.ask("find_open", { search, number }).then((info) => {
      this.app.add(info);
      this.app.focus();
    }, () => undefined);
  }
}
