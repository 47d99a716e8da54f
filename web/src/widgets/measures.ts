/** A table of metrics: name and unit, before, after. The definition is a tooltip. */
import { el } from "../dom";
import type { Measure } from "../messages";

export function measureTable(measures: Measure[], headings: { value: string; against: string | null }): HTMLElement {
  const columns = ["", ...(headings.against === null ? [] : [headings.against]), headings.value];
  const head = el("tr", {}, ...columns.map((text) => el("th", { text })));
  const rows = measures.map((measure) => {
    const cells = [
      el("th", { title: measure.definition }, `${measure.name.replaceAll("_", " ")} `, el("span", { class: "unit", text: measure.unit })),
      ...(headings.against === null ? [] : [el("td", { text: metricText(measure.against) })]),
      el("td", { text: metricText(measure.value), title: measure.note }),
    ];
    return el("tr", {}, ...cells);
  });
  return el("div", { class: "table-box" }, el("table", { class: "measures" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

/** Format a value with three significant digits, without rounding noise; a dash if there is no value. */
export function metricText(value: number | null): string {
  if (value === null) return "–";
  if (Math.abs(value) < 1e-6) return "0";
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) < 1e-3) return value.toExponential(1);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
