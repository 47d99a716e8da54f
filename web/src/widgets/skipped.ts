/** The clips that an operation did not use: one line for each reason. */
import { el } from "../dom";
import type { SkippedClips } from "../messages";

/** Return a folded list with the number of clips and their reasons; null if there are none. `remedy` stands below it. */
export function skippedList(groups: readonly SkippedClips[], remedy?: HTMLElement): HTMLElement | null {
  const count = groups.reduce((sum, { names }) => sum + names.length, 0);
  if (!count) return null;
  const named = (names: readonly string[]) => el("p", { text: names.join(", ") });
  const lines = groups.map(({ names, reason }) => el("li", {}, names.length > 1
    ? el("details", {}, el("summary", { text: `${names.length} clips: ${reason}` }), named(names))
    : `${names[0]}: ${reason}`));
  const single = groups.length === 1 && count > 1 ? groups[0] : undefined;
  const total = `${count} ${count === 1 ? "clip" : "clips"} skipped${single ? `: ${single.reason}` : ""}`;
  const list = single ? named(single.names) : el("ul", { class: "findings" }, ...lines);
  return el("div", { class: "stack" }, el("details", { class: "dim skipped" }, el("summary", { text: total }), list), ...(remedy ? [el("div", { class: "row" }, remedy)] : []));
}
