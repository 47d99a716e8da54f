/**
 * Find panel: search for motions similar to a marked range, show the matches page by page, and blend them toward a
 * dragged target.
 */
import type { App, Panel } from "../app";
import { button, check, choice, el } from "../dom";
import { saveChoice, tabState } from "../tab_state";
import { FORMS, type BuildWeb, type SavedFiles, type SearchDone, type SearchSettings, type ThresholdCurve, type WebBuilt, type WebSettings } from "../messages";
import { settingsForm, type Form } from "../widgets/form";
import { gallery, type Gallery } from "../widgets/gallery";
import { skippedList } from "../widgets/skipped";
import { AimSection } from "./find_aim";
import { thresholdView } from "./find_curve";
import { savedFiles } from "./find_saved";
import { About, cannotCompare, cannotSearch, interruptedJob, marked, outcome, remembered, same, describeRange, type Stretch } from "./find_example";

type Where = "folder" | "open" | "both";

const WHERE: [Where, string][] = [["folder", "files in open folder"], ["open", "open clips"], ["both", "both"]];
const MARKERS: [NonNullable<BuildWeb["markers"]>, string][] = [["body", "whole body"], ["upper", "upper body"], ["lower", "lower body"]];
const RATES: [string, string][] = [["30", "30 Hz"], ["60", "60 Hz"], ["", "every frame"]];
const PER_PAGE = 6;
/** Maximum number of files of a folder that is searched unless the user chooses otherwise. */
const SMALL_FOLDER = 20;

export function mount(app: App): Panel {
  const panel = new FindPanel(app);
  return { element: panel.element, shown: () => panel.shown(), hidden: () => panel.hidden() };
}

class FindPanel {
  readonly element: HTMLElement;
  /** Which clips to index. Until the user chooses, all files of a small folder, or the open clips. */
  private where: Where = "open";
  private whereIsChosen = false;
  private readonly options = { markers: "body" as NonNullable<BuildWeb["markers"]>, rate: 30 as number | null };
  private readonly index = settingsForm<WebSettings>(FORMS.WebSettings);
  private repeats = false;
  private how!: Form<SearchSettings>;
  private web: WebBuilt | null = null;
  /** The choices with which the clips were indexed. */
  private indexed = "";
  /** Whether the steps of "Find similar" are running. */
  private finding = false;
  /** Number of match webs so far. */
  private webs = 0;
  /** The range that the curve, or the last search, is for. */
  private query: Stretch | null = null;
  private curve: ThresholdCurve | null = null;
  private found: SearchDone | null = null;
  private listed: Promise<void> = Promise.resolve();
  private files: SavedFiles = { files: [], is_open: false, clips: 0 };
  private restored = false;
  private said = "";
  private readonly built = el("div", { class: "stack", aria: { live: "polite" } });
  private readonly example = el("p", { aria: { live: "polite" } });
  private readonly trouble = el("p", { class: "hint", aria: { live: "polite" } });
  private readonly aside = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly all = button("Find similar", () => void this.findSimilar(), "Index the clips if necessary, and find all passages that are similar to the marked range, with a suggested threshold", "primary");
  private readonly build = button("Index clips", () => void this.buildWeb(), "Prepare the clips for searching: compare all frames with each other, which may take a while");
  private readonly tryAll = button("Suggest a threshold", () => void this.suggest(), "Plot how many matches each threshold finds, and suggest one");
  private readonly threshold = el("input", { type: "number", class: "threshold-number", min: "0", step: "0.001", aria: { label: "Threshold (m)" } });
  private readonly offer = button("", () => void this.useSuggested());
  private readonly search = button("Search", () => void this.find(), "Find all passages that differ from the example by less than the threshold");
  private readonly hint = el("p", { class: "hint", aria: { live: "polite" } });
  private readonly view = thresholdView((threshold) => this.choose(threshold));
  private readonly curveBox = el("div", { class: "stack", hidden: true });
  private readonly thresholdBox = el("div", { class: "stack" });
  private readonly matchBox = el("section", { hidden: true });
  private readonly counted = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly gallery: Gallery;
  private readonly aim: AimSection;
  private readonly about: About;
  private readonly saved;
  private readonly clips = choice("Clips", WHERE, this.where, (value) => {
    this.whereIsChosen = true;
    this.setWhere(value as Where);
  }, "Which clips to index");
  private readonly unsearched = el("p", { class: "dim", hidden: true });
  private readonly searchBox = el("details", { class: "folded" });

  constructor(private readonly app: App) {
    this.gallery = gallery({
      perPage: PER_PAGE,
      fetch: async (first, count) => (await app.ask("find_matches", { search: this.found!.search, first, count })).tiles,
      open: (number) => void this.openMatch(number),
      changed: () => {
        this.keepDropped();
        app.history.recordChange("Exclude or include a match");
        this.draw();
      },
    });
    app.history.registerState("find", { read: () => [this.threshold.value, this.found?.search ?? 0, [...this.gallery.dropped]], write: (state) => this.put(...(state as [string, number, number[]])) });
    this.about = new About(app, () => this.drawExample());
    this.saved = savedFiles(app, { kind: "web", name: "index", open: (path) => void this.loadWeb(path), saved: () => void this.list() });
    this.aim = new AimSection(app, () => ({ search: this.found!.search, drop: [...this.gallery.dropped] }), () => void this.list());
    const options = el("details", { class: "folded" }, el("summary", { class: "dim", text: "Index options" }),
      choice("Body part", MARKERS, this.options.markers, (value) => (this.options.markers = value as typeof this.options.markers), "The part of the body that is compared"),
      choice("Frame rate", RATES, String(this.options.rate), (value) => (this.options.rate = value ? Number(value) : null), "Maximum frames per second to compare; fewer is faster"),
      this.index.element,
    );
    this.drawHow({});
    const row = el("div", { class: "row" }, el("label", { class: "field", title: "Largest difference from the example that counts as a match; lower = stricter" }, el("span", { text: "Threshold (m)" }), this.threshold), this.search);
    this.curveBox.append(this.view.element, el("div", { class: "row" }, this.offer));
    this.thresholdBox.append(el("div", { class: "row" }, this.tryAll), this.curveBox, row);
    this.matchBox.append(el("h3", { text: "Matches" }), this.counted, this.gallery.element);
    this.element = el("div", { class: "panel" },
      el("section", {}, el("h3", { text: "Example" }), this.example, this.trouble, this.aside, el("div", { class: "row" }, this.all)),
      el("section", {}, el("h3", { text: "Search in" }),
        this.clips, this.unsearched, options,
        el("div", { class: "row" }, this.build), this.saved.opening, this.built, this.saved.saving),
      el("section", {}, el("h3", { text: "Threshold" }), this.searchBox, this.thresholdBox, this.hint),
      this.matchBox,
      this.aim.element,
    );
    this.threshold.addEventListener("input", () => {
      this.view.mark(this.chosen);
      app.history.recordChange("Change threshold", "find threshold");
      this.say("");
    });
    this.threshold.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !this.search.disabled) void this.find();
    });
    app.playback.changed.on(() => this.drawExample());
    app.selectionChanged.on(() => this.draw());
    app.motionsChanged.on(() => this.draw());
    app.infoChanged.on(() => this.drawExample());
    app.themes.changed.on(() => this.view.draw());
    app.workEnded.on(() => void this.restore(true));
    this.draw();
  }

  shown(): void {
    this.draw();
    this.aim.shown();
    this.listed = this.list();
    if (!this.restored) void this.restore();
    this.restored = true;
  }

  hidden(): void {
    this.aim.hidden();
  }

  /** After a page reload, continue with the server's current state. */
  private async restore(again = false): Promise<void> {
    const goesOn = this.app.connection.resumedWork.some(({ work }) => work.command.startsWith("find_"));
    const { what, before } = interruptedJob();
    const now = await this.app.ask("find_now", {}).catch(() => null);
    if (!now || (this.web && !again)) return;
    const stopped = goesOn || before !== standing(now.web, now.found) ? "" : what;
    if (now.web) this.takeWeb(now.web);
    if (now.found && now.search) {
      const { motion, start, stop, threshold, repeats, settings } = now.search;
      this.repeats = repeats ?? false;
      this.drawHow(settings ?? {});
      this.query = { motion, start, stop };
      this.threshold.value = String(threshold);
      await this.takeFound(now.found, droppedOf(now.found));
    }
    if (now.space) this.aim.restore(now.space);
    if (stopped) this.say(`${stopped} stopped when the page was reloaded. Start it again.`);
  }

  /** Draw the options of a search. A change of what counts as a match makes the curve obsolete. */
  private drawHow(initial: Partial<SearchSettings>): void {
    this.how = settingsForm(FORMS.SearchSettings, { initial, changed: () => this.forgetCurve() });
    this.searchBox.replaceChildren(el("summary", { class: "dim", text: "Search options" }), check("Cyclic action", this.repeats, (on) => {
      this.repeats = on;
      this.forgetCurve();
    }, "For repeating motions, such as steps: matches may overlap by up to half"), this.how.element);
  }

  /** List the files that can be loaded from the folder. */
  private async list(): Promise<void> {
    this.files = await this.app.ask("find_files", {}).catch(() => this.files);
    this.setWhere(this.whereIsChosen || this.web ? this.where : this.files.is_open && this.files.clips <= SMALL_FOLDER ? "folder" : "open");
    this.drawFiles();
  }

  private setWhere(where: Where): void {
    this.where = this.clips.select.value = where;
    const { clips } = this.files;
    put(this.unsearched, where === "open" && clips > 1 ? `Only the open clips are searched, not all ${clips} files of the folder.` : "");
  }

  private drawFiles(): void {
    this.saved.show(this.files.files, this.files.is_open && !!this.web);
    this.aim.files(this.files);
  }

  private get standing(): string {
    return standing(this.web, this.found);
  }

  private get chosen(): number | null {
    const value = this.threshold.valueAsNumber;
    return Number.isFinite(value) && value > 0 ? value : null;
  }

  /** The range that a search would use: the marked range, or else that of the previous search. */
  private get stretch(): Stretch | null {
    return marked(this.app) ?? (this.query && this.app.motions.has(this.query.motion) ? this.query : null);
  }

  private drawExample(): void {
    const { stretch } = this;
    this.about.look(this.web, stretch, this.webs);
    const trouble = cannotSearch(this.app, this.web, stretch, this.query) || this.about.refuses;
    put(this.example, stretch ? `${describeRange(this.app, stretch)}${marked(this.app) ? "" : " (previous example)"}` : "");
    put(this.trouble, trouble);
    put(this.aside, trouble ? "" : this.about.text);
    // Clips with the example's skeleton can still be indexed.
    this.all.disabled = this.finding || !stretch || (trouble !== "" && trouble !== this.about.refuses);
    this.tryAll.disabled = !this.web || trouble !== "";
    this.search.disabled = this.tryAll.disabled || this.chosen === null;
    const stale = this.curve !== null && stretch !== null && !same(stretch, this.query);
    this.curveBox.classList.toggle("stale", stale);
    put(this.hint, this.said || (trouble ? "" : this.next(stale)));
  }

  /** One sentence about what to do next. */
  private next(stale: boolean): string {
    if (!this.web) return "Find similar suggests a threshold. To choose it yourself, press Index clips first.";
    if (stale) return "The curve is for the previous example. Press Suggest a threshold again, or search with the current threshold.";
    if (this.chosen !== null) return "";
    return this.curve ? "Use the suggested threshold, click another one on the curve, or type one." : "Type a threshold, or press Suggest a threshold.";
  }

  /** Show the outcome of the last action until the next one. */
  private say(text: string): void {
    this.said = text;
    this.draw();
  }

  private draw(): void {
    this.drawExample();
    this.build.disabled = cannotCompare(this.app) !== "";
    this.matchBox.hidden = !this.found;
    this.aim.canMake = !!this.found;
    if (!this.found) return;
    const [matches, dropped] = [this.found.count - 1, this.gallery.dropped.size];
    const notes = this.found.notes.length ? ` ${this.found.notes.join(" ")}` : "";
    this.counted.textContent = `${matches} ${matches === 1 ? "match" : "matches"} found${dropped ? `, ${dropped} excluded` : ""}.${notes}`;
  }

  private get choices(): string {
    return JSON.stringify([this.where, this.options, this.index.value]);
  }

  /** Index the clips unless that was done with the same choices, and search with the suggested threshold. */
  private async findSimilar(): Promise<void> {
    const query = this.stretch;
    if (!query || this.finding) return;
    this.finding = true;
    try {
      if (!this.web || this.about.refuses || this.indexed !== this.choices) {
        if (!(await this.buildWeb(query.motion)) || cannotSearch(this.app, this.web, query, null)) return;
        this.query = query;
      }
      if (await this.suggest()) await this.useSuggested();
    } finally {
      this.finding = false;
      this.draw();
    }
  }

  /** Index the clips that have the skeleton of `like`. Returns whether it was possible. */
  private async buildWeb(like = this.app.selected?.info.motion): Promise<boolean> {
    if (!like) return false;
    await this.listed;
    const all = [...this.app.motions.values()].filter(({ info }) => info.kind === "motion").map(({ info }) => info.motion);
    const motions = this.where === "folder" ? [] : all;
    this.say("");
    const fields = { like, motions, folder: this.where !== "open", ...this.options, settings: this.index.value };
    const web = await remembered("Indexing", this.standing, outcome(this.app, "Indexing clips", "find_build", fields, (text) => this.say(text)));
    if (web) this.takeWeb(web);
    return web !== null;
  }

  private async loadWeb(path: string): Promise<void> {
    const web = await this.app.run("Opening the index", "find_load", { path }).catch(() => null);
    if (web) this.takeWeb(web);
  }

  private takeWeb(web: WebBuilt): void {
    this.web = web;
    this.indexed = this.choices;
    this.webs++;
    const { clips, seconds, fps, skipped, notes } = web;
    const text = `${clips.length} ${clips.length === 1 ? "clip" : "clips"}, ${seconds.toFixed(0)} s at ${Number(fps.toFixed(2))} Hz, ready to search.`;
    this.built.replaceChildren(el("p", { text }), ...notes.map((note) => el("p", { class: "hint", text: note })));
    this.built.append(skippedList(skipped) ?? "");
    this.query = null;
    this.found = null;
    this.threshold.value = "";
    this.forgetCurve();
    this.drawFiles();
    this.app.history.resetBaseline();
    this.draw();
  }

  private forgetCurve(): void {
    this.curve = null;
    this.curveBox.hidden = true;
    this.drawExample();
  }

  private async suggest(): Promise<boolean> {
    const query = this.stretch;
    if (!query) return false;
    this.say("");
    const curve = await remembered("Threshold test", this.standing, outcome(this.app, "Testing thresholds", "find_suggest", { ...query, repeats: this.repeats, settings: this.how.value }, (text) => this.say(text)));
    if (!curve) return false;
    this.curve = curve;
    this.query = query;
    this.threshold.value = "";
    const { threshold, n_matches, stands_out } = curve;
    const finds = `${n_matches} ${n_matches === 1 ? "match" : "matches"}`;
    this.offer.textContent = `Use ${threshold.toPrecision(3)} m (${finds})`;
    this.offer.title = `Search with this threshold. ${stands_out ? "It is stable: nearby thresholds find the same matches." : "No threshold stands out; this is a guess."}`;
    this.curveBox.hidden = false;
    this.view.show(curve);
    this.draw();
    this.offer.scrollIntoView({ block: "nearest" });
    return true;
  }

  private async useSuggested(): Promise<void> {
    if (!this.curve) return;
    this.choose(Number(this.curve.threshold.toPrecision(3)));
    await this.find();
  }

  private choose(threshold: number): void {
    this.threshold.value = String(threshold);
    this.view.mark(threshold);
    this.app.history.recordChange("Change threshold", "find threshold");
    this.say("");
  }

  private keepDropped(): void {
    saveChoice("find", { search: this.found?.search, dropped: [...this.gallery.dropped] });
  }

  /** Restore the threshold and the excluded matches of an undone or redone change. */
  private put(threshold: string, search: number, dropped: number[]): void {
    this.threshold.value = threshold;
    this.view.mark(this.chosen);
    // The matches of another search are not those that were excluded.
    if (this.found && this.found.search === search) this.gallery.exclude(dropped);
    this.keepDropped();
    this.say("");
  }

  private async find(): Promise<void> {
    const [threshold, query] = [this.chosen, this.stretch];
    if (!query || threshold === null) return;
    this.say("");
    const found = await remembered("Search", this.standing, outcome(this.app, "Searching", "find_search", { ...query, threshold, repeats: this.repeats, settings: this.how.value }, (text, ended) => {
      // Matches of an earlier search would be mistaken for results of this one.
      if (!ended) this.found = null;
      this.say(text);
    }));
    if (!found) return;
    if (!same(query, this.query)) this.forgetCurve();
    this.query = query;
    await this.takeFound(found);
    this.matchBox.scrollIntoView({ block: "start" });
  }

  private async takeFound(found: SearchDone, dropped: number[] = []): Promise<void> {
    this.found = found;
    this.aim.suggest(found);
    await this.gallery.show(found.count, found.body, dropped);
    this.app.history.resetBaseline();
    this.draw();
  }

  private async openMatch(number: number): Promise<void> {
    const { search } = this.found!;
    await this.app.ask("find_open", { search, number }).then(({ motion, note }) => {
      this.app.present(motion);
      if (note) this.app.notices.info(note);
    }, () => undefined);
  }
}

/** A text that identifies the match web and the last search; used to detect changes. */
function standing(web: WebBuilt | null, found: SearchDone | null): string {
  return web ? `${web.frames} ${web.fps} ${found?.search ?? ""}` : "nothing";
}

/** The matches of a search that were excluded before the page was reloaded. */
function droppedOf(found: SearchDone): number[] {
  const read = (tabState().choices["find"] ?? {}) as { search?: unknown; dropped?: unknown };
  if (read.search !== found.search || !Array.isArray(read.dropped)) return [];
  return (read.dropped as unknown[]).filter((each): each is number => Number.isInteger(each) && Number(each) > 0 && Number(each) < found.count);
}

/** Set the text of a line, and hide the line if the text is empty. */
function put(line: HTMLElement, text: string): void {
  if (line.textContent !== text) line.textContent = text;
  line.hidden = !text;
}
