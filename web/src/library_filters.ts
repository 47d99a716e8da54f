/** Filters of the library: label, finding, length, speed, and the order. */
import { choice, el, setOptions } from "./dom";
import type { FileEntry, LibraryRow } from "./messages";

type Order = "name" | "seconds" | "speed" | "modified";

const ORDERS: [Order, string][] = [["name", "name"], ["seconds", "length"], ["speed", "speed"], ["modified", "newest first"]];

/** A pair of number fields; empty ones do not limit. */
interface Range {
  element: HTMLElement;
  accepts(value: number): boolean;
  clear(): void;
  readonly active: boolean;
}

export class LibraryFilters {
  readonly element: HTMLElement;
  private readonly label: ReturnType<typeof choice>;
  private readonly finding: ReturnType<typeof choice>;
  private readonly order: ReturnType<typeof choice>;
  private readonly ranges: { seconds: Range; speed: Range };

  constructor(changed: () => void) {
    this.label = choice("", [["", "any label"]], "", changed, "Only clips with this label");
    this.finding = choice("", [["", "any quality"]], "", changed, "Only clips with, or without, issues found by the quality check");
    this.order = choice("Sort by", ORDERS, "name", changed);
    this.label.select.setAttribute("aria-label", "Label");
    this.finding.select.setAttribute("aria-label", "Quality");
    this.ranges = { seconds: range("Length", "s", changed), speed: range("Speed", "m/s", changed) };
    this.element = el("div", { class: "stack filters", hidden: true },
      el("div", { class: "row" }, this.label.select, this.finding.select), this.ranges.seconds.element, this.ranges.speed.element, this.order);
  }

  /** Show or hide the filters. Hidden filters do not apply. */
  toggle(opener: HTMLElement): void {
    this.element.hidden = !this.element.hidden;
    opener.setAttribute("aria-expanded", String(!this.element.hidden));
    if (!this.element.hidden) return;
    for (const { select } of [this.label, this.finding]) select.value = "";
    this.ranges.seconds.clear();
    this.ranges.speed.clear();
    this.label.select.dispatchEvent(new Event("change"));
  }

  /** Offer the labels and findings that occur. */
  offer(rows: readonly LibraryRow[]): void {
    const labels = countBy(rows.flatMap((row) => row.labels));
    const kinds = countBy(rows.flatMap((row) => [...new Set(row.findings.map(({ kind }) => kind))]));
    offerOptions(this.label.select, [["", "any label"], ...labels.map(([name, n]): [string, string] => [name, `${name} (${n})`])]);
    offerOptions(this.finding.select, [
      ["", "any quality"], ["none", "no issues"], ["some", "with issues"], ...kinds.map(([name, n]): [string, string] => [`=${name}`, `${name.replaceAll("_", " ")} (${n})`]),
    ]);
  }

  accepts(row: LibraryRow | undefined): boolean {
    const [label, finding] = [this.label.select.value, this.finding.select.value];
    const { seconds, speed } = this.ranges;
    if (!label && !finding && !seconds.active && !speed.active) return true;
    if (!row || row.reason) return false;
    const n = row.findings.length;
    const found = !finding || (finding === "none" ? !n : finding === "some" ? n > 0 : row.findings.some(({ kind }) => `=${kind}` === finding));
    return found && (!label || row.labels.includes(label)) && seconds.accepts(row.seconds) && speed.accepts(row.speed);
  }

  sort(files: FileEntry[], rows: ReadonlyMap<string, LibraryRow>): FileEntry[] {
    const order = this.order.select.value as Order;
    if (order === "name") return files;
    const value = (file: FileEntry) => (order === "modified" ? file.modified : (rows.get(file.path)?.[order] ?? -1));
    return [...files].sort((a, b) => value(b) - value(a));
  }
}

function range(label: string, unit: string, changed: () => void): Range {
  const field = (text: string, end: string) => el("input", { type: "number", min: "0", step: "any", placeholder: text, aria: { label: `${label} ${end} (${unit})` }, on: { input: changed } });
  const [low, high] = [field("min", "at least"), field("max", "at most")];
  return {
    element: el("div", { class: "field range" }, el("span", { text: label }), low, el("span", { class: "dim", text: "–" }), high, el("span", { class: "dim", text: unit })),
    accepts: (value) => (low.value === "" || value >= low.valueAsNumber) && (high.value === "" || value <= high.valueAsNumber),
    clear: () => [low, high].forEach((input) => (input.value = "")),
    get active() {
      return low.value !== "" || high.value !== "";
    },
  };
}

function offerOptions(select: HTMLSelectElement, options: [string, string][]): void {
  const { value } = select;
  if (options.length === select.options.length && options.every(([, text], i) => select.options[i]!.text === text)) return;
  setOptions(select, options, options.some(([key]) => key === value) ? value : "");
}

/** The different names and how often they occur, most frequent first. */
function countBy(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}
