/** Texts of measured values, and the few metrics that say how good a motion is. */
import { el } from "../dom";
import type { GradedMetric } from "../messages";

/** Format a value with three significant digits, without rounding noise; a dash if there is no value. */
export function metricText(value: number | null): string {
  if (value === null) return "–";
  if (Math.abs(value) < 1e-6) return "0";
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) < 1e-3) return value.toExponential(1);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** Format a length of time in full seconds: "24 s", "1 min 24 s". */
export function durationText(seconds: number): string {
  const minutes = Math.floor(Math.round(seconds) / 60);
  const rest = `${Math.round(seconds) % 60} s`;
  return minutes ? `${minutes} min ${rest}` : rest;
}

/** Foot sliding, penetration and smoothness with their grades, of two motions if they were compared. */
export function gradeTable(grades: readonly GradedMetric[], names: readonly string[] = ["before", "after"]): HTMLElement {
  const value = (text: string, grade: string) => el("td", { class: grade ? `grade ${grade}` : "" }, text, grade ? el("span", { class: "grade-name", text: grade }) : null);
  const compared = grades.some(({ before }) => before);
  const head = compared ? [el("thead", {}, el("tr", {}, el("td"), ...names.map((text) => el("th", { text }))))] : [];
  const rows = grades.map(({ title, about, before, before_grade, after, grade }) => el("tr", { title: about }, el("th", { text: title }), ...(compared ? [value(before, before_grade)] : []), value(after, grade)));
  return el("table", { class: "measures grades", aria: { label: "Quality" } }, ...head, el("tbody", {}, ...rows));
}
