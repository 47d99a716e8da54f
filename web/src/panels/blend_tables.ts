/** Texts and tables of the Blend panel: how well motions match, the result, and the comparison of methods. */
import { choice, el, sentenceList } from "../dom";
import type { Blended, BlendStudy, BlendTable } from "../messages";
import { metricText } from "../widgets/measures";

export function studyText(study: BlendStudy, n: number, transition: boolean): string {
  const grid = study.grid ? `Darker is more similar; blank is ${metricText(study.grid.largest)} m or more apart.` : "";
  if (transition) return `${grid} Click to place the transition there and see the two frames.`;
  if (study.refused) return `${grid} Cannot synchronize: ${study.refused}.`;
  const apart = n > 2 ? "Average difference of the least similar pair" : "Average difference";
  return `${grid} ${apart} ${metricText(study.distance)} m; ${study.matches} matching foot contacts. Click to see two frames.`;
}

/** Describe a result that was made from clips of these durations in seconds; `trimmed` if only their common part was used. */
export function resultText(done: Blended, durations: number[], trimmed: boolean): string {
  const { info, at } = { info: done.motion, at: done.at };
  const what = at ? `Transition from A at ${at[0].toFixed(2)} s to B at ${at[1].toFixed(2)} s.` : `Blend of ${durations.length} clips.`;
  const short = !at && trimmed && info.seconds < 0.9 * Math.min(...durations);
  const why = short ? ` The clips (${sentenceList(durations.map((each) => each.toFixed(2)))} s) were trimmed to the steps that they have in common.` : "";
  return `${info.n_frames} frames, ${info.seconds.toFixed(2)} s. ${what}${why}`;
}

/** Build the tables that compare the methods. `how` describes the weights. */
export function statistics(table: BlendTable, how: string): HTMLElement[] {
  const paths = table.paths.flatMap((row) => cells(row.method, [row.distance, row.accuracy, row.milliseconds], row.note));
  const blends = el("div", {});
  const names = table.names.map((name, i): [string, string] => [String(i), table.units[i] ? `${name} (${table.units[i]})` : name]);
  const show = (which: number) => {
    const rows = table.blends.flatMap((row) => cells(row.method, [row.metrics[which] ?? null, row.milliseconds], row.note));
    blends.replaceChildren(sheet(["", table.units[which] ?? "", "time (ms)"], rows));
  };
  show(0);
  return [
    el("h4", { text: table.proven ? "Alignment (proven optimal)" : "Alignment (best found)" }),
    sheet(["", "difference (m)", "% of best", "time (ms)"], paths),
    el("h4", { text: "Blends" }),
    el("p", { class: "dim", text: how }),
    el("div", { class: "metric" }, choice("Metric", names, "0", (value) => show(Number(value)))),
    blends,
    ...table.notes.map((text) => el("p", { class: "dim", text })),
  ];
}

/** Make a row, and below it one with the reason why a method was refused or stopped, if it was. */
function cells(name: string, values: (number | null)[], note: string): HTMLElement[] {
  const row = el("tr", { title: name }, el("th", { text: name }), ...values.map((value) => el("td", { text: metricText(value) })));
  if (!note) return [row];
  const reason = el("td", { class: "dim reason", text: note });
  reason.setAttribute("colspan", String(values.length + 1));
  return [row, el("tr", {}, reason)];
}

function sheet(head: string[], rows: HTMLElement[]): HTMLElement {
  const top = el("tr", {}, ...head.map((text) => el("th", { text })));
  return el("div", { class: "table-box" }, el("table", { class: "measures" }, el("thead", {}, top), el("tbody", {}, ...rows)));
}
