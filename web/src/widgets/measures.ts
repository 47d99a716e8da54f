/** A table of figures: name, before, after, unit; the definition shows where the mouse rests. */
import { el } from "../dom";
import type { Measure } from "../messages";

export function measureTable(measures: Measure[], headings: { value: string; against: string | null }): HTMLElement {
  const columns = ["", ...(headings.against === null ? [] : [headings.against]), headings.value, "unit"];
  const head = el("tr", {}, ...columns.map((text) => el("th", { text })));
  const rows = measures.map((measure) => {
    const cells = [
      el("th", { text: measure.name.replaceAll("_", " "), title: measure.definition }),
      ...(headings.against === null ? [] : [el("td", { text: figureText(measure.against) })]),
      el("td", { text: figureText(measure.value), title: measure.note }),
      el("td", { class: "unit", text: measure.unit }),
    ];
    return el("tr", {}, ...cells);
  });
  return el("div", { class: "table-box" }, el("table", { class: "measures" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

/** Three digits that matter; a dash where there is no figure. */
export function figureText(value: number | null): string {
  if (value === null) return "–";
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
