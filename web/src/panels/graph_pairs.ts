/** Transitions between labels, and thresholds for pairs of labels: a table for few labels, a list for many. */
import { button, choice, el, setOptions } from "../dom";
import type { GraphLinks, PairCount, PairLimit } from "../messages";
import { slider } from "../widgets/slider";

/**
 * Maximum number of labels for a table, which must fit the panel's width, and number of pairs that the list shows at
 * first.
 */
const TABLE = 4;
const LISTED = 8;

export class PairSection {
  readonly element: HTMLDetailsElement;
  private limits: PairLimit[] = [];
  private labels: string[] = [];
  private readonly first = el("div", { class: "table-box" });
  private readonly rest = el("div", { class: "pair-list" });
  private readonly restTitle = el("summary", {});
  private readonly more = el("details", { hidden: true }, this.restTitle, this.rest);
  private readonly before = choice("From label", [], "", () => undefined);
  private readonly after = choice("To label", [], "", () => undefined);
  private readonly other: HTMLElement;
  private readonly sliders = el("div", { class: "stack" });

  /**
   * `usual` returns the common threshold, the initial value for a pair; `changed` is called after each change of a
   * pair's threshold.
   */
  constructor(private readonly usual: () => number, private readonly changed: () => void) {
    const add = button("Set threshold", () => this.choose(this.before.select.value, this.after.select.value), "Use a different threshold for this pair of labels");
    this.other = el("details", {}, el("summary", { text: "Other pairs of labels" }),
      el("div", { class: "stack" }, this.before, this.after, el("div", { class: "row" }, add)));
    this.element = el("details", {}, el("summary", { text: "Thresholds per pair of labels" }),
      el("div", { class: "stack pairs" }, this.first, this.more, this.other, this.sliders));
  }

  get pairs(): PairLimit[] {
    return this.limits;
  }

  /** Show the labels and pair thresholds of another graph. */
  take(labels: string[], pairs: PairLimit[]): void {
    this.labels = labels;
    this.limits = pairs;
    this.element.hidden = labels.length < 2;
    this.element.open = pairs.length > 0;
    this.other.hidden = labels.length <= TABLE;
    for (const { select } of [this.before, this.after]) setOptions(select, labels.map((label): [string, string] => [label, label]), labels[0] ?? "");
    this.drawSliders();
  }

  /** Show the transitions that remain with the thresholds. */
  show(links: GraphLinks): void {
    const focused = document.activeElement?.getAttribute("aria-label");
    const most = Math.max(1, ...links.pairs.map(({ transitions }) => transitions));
    if (this.labels.length <= TABLE) this.showTable(links.pairs, most);
    else this.showList(links.pairs, most);
    // The focused button has been replaced; focus its replacement.
    if (focused && !this.element.contains(document.activeElement)) {
      [...this.element.querySelectorAll<HTMLElement>(".cell")].find((cell) => cell.dataset["pair"] === focused.split(":")[0])?.focus();
    }
  }

  private showTable(counts: PairCount[], most: number): void {
    const { labels } = this;
    const head = el("tr", {}, el("th", { text: "from, to" }), ...labels.map((text) => el("th", { class: "short", text, title: text })));
    const rows = labels.map((before) => el("tr", {}, el("th", { class: "short", text: before, title: before }), ...labels.map((after) => {
      const count = counts.find((each) => each.before === before && each.after === after);
      return el("td", {}, this.cell(count ?? { before, after, transitions: 0 }, most, false));
    })));
    this.more.hidden = true;
    this.first.className = "table-box";
    this.first.replaceChildren(el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, ...rows)));
  }

  /** List the pairs with transitions, those with the most first. */
  private showList(counts: PairCount[], most: number): void {
    const some = counts.filter(({ transitions }) => transitions > 0).sort((a, b) => b.transitions - a.transitions);
    const cells = some.map((count) => this.cell(count, most, true));
    this.first.className = "pair-list";
    this.first.replaceChildren(...(cells.length ? cells.slice(0, LISTED) : [el("p", { class: "dim", text: "No pair has transitions. Raise the threshold." })]));
    this.rest.replaceChildren(...cells.slice(LISTED));
    this.more.hidden = cells.length <= LISTED;
    this.restTitle.textContent = `${cells.length - LISTED} more with transitions`;
  }

  private cell({ before, after, transitions }: PairCount, most: number, named: boolean): HTMLButtonElement {
    const own = this.limits.some((pair) => pair.before === before && pair.after === after);
    const node = button(named ? "" : String(transitions), () => this.choose(before, after), `${before} to ${after}: set a different threshold`, "cell");
    if (named) node.append(el("span", { text: `${before} to ${after}` }), el("span", { text: String(transitions) }));
    node.dataset["pair"] = `${before} to ${after}`;
    node.setAttribute("aria-label", `${before} to ${after}: ${transitions} transitions`);
    node.setAttribute("aria-pressed", String(own));
    node.style.setProperty("--amount", String(Math.sqrt(transitions / most)));
    return node;
  }

  private choose(before: string, after: string): void {
    if (!this.limits.some((pair) => pair.before === before && pair.after === after)) {
      this.limits = [...this.limits, { before, after, meters: this.usual() }];
    }
    this.drawSliders();
    this.changed();
  }

  private drawSliders(): void {
    this.sliders.replaceChildren(...this.limits.map(({ before, after, meters }) => {
      const same = (pair: PairLimit) => pair.before === before && pair.after === after;
      const own = slider({
        label: `${before} to ${after}`, unit: "m", min: 0, max: 0.25, step: 0.001, value: meters,
        input: (value) => {
          this.limits = this.limits.map((pair) => (same(pair) ? { ...pair, meters: value } : pair));
          this.changed();
        },
      });
      const drop = button("×", () => {
        this.limits = this.limits.filter((pair) => !same(pair));
        this.drawSliders();
        this.changed();
      }, "Reset to the shared threshold", "quiet");
      drop.setAttribute("aria-label", `Clear the threshold for transitions from ${before} to ${after}`);
      return el("div", { class: "pair" }, own.element, drop);
    }));
  }
}
