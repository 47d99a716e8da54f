/** The timeline's lanes as data: contacts and labels as intervals, what is under the mouse, and how edits change them. */
import type { ContactLane, LabelSpan } from "./messages";

export interface Span {
  start: number;
  stop: number;
  name: string;
}

/** One row of the timeline. */
export interface Lane {
  kind: "contact" | "label";
  title: string;
  spans: Span[];
}

export type Part = "start" | "stop" | "body";

/** Which span of which lane. */
export interface Place {
  lane: number;
  span: number;
}

export interface Hit extends Place {
  part: Part;
}

/** Contact lanes first, then as many label lanes as overlaps need; the last one is always free for new labels. */
export function lanesOf(contacts: ContactLane[] | null, labels: LabelSpan[]): Lane[] {
  const lanes: Lane[] = (contacts ?? []).map((lane) => ({
    kind: "contact",
    title: lane.name,
    spans: lane.intervals.map(([start, stop]) => ({ start, stop, name: "" })),
  }));
  const rows: Span[][] = [];
  for (const label of [...labels].sort((a, b) => a.start - b.start || a.stop - b.stop)) {
    const free = rows.find((row) => (row[row.length - 1]?.stop ?? 0) <= label.start);
    if (free) free.push({ ...label });
    else rows.push([{ ...label }]);
  }
  if (!rows.length) rows.push([]);
  rows.forEach((spans, i) => lanes.push({ kind: "label", title: i ? "" : "labels", spans }));
  return lanes;
}

/** Where a span lies in `lanes`, of which some may have been joined or sorted into other rows since; null where it is gone. */
export function findSpan(lanes: Lane[], of: Lane, span: Span): Place | null {
  for (const [lane, { kind, title, spans }] of lanes.entries()) {
    if (kind !== of.kind || (kind === "contact" && title !== of.title)) continue;
    const found = spans.findIndex((each) => kind === "contact"
      ? each.start <= span.start && span.stop <= each.stop
      : each.start === span.start && each.stop === span.stop && each.name === span.name);
    if (found >= 0) return { lane, span: found };
  }
  return null;
}

/** The span under frame `frame` of a lane; ends count within `slack` frames, before bodies. */
export function hitTest(lanes: Lane[], lane: number, frame: number, slack: number): Hit | null {
  const spans = lanes[lane]?.spans ?? [];
  let best: Hit | null = null;
  let nearest = slack;
  spans.forEach((span, i) => {
    // A short span keeps a body to take hold of.
    const reach = Math.min(slack, (span.stop - span.start) / 3);
    for (const part of ["start", "stop"] as const) {
      const away = Math.abs(frame - span[part]);
      const limit = (part === "start") === frame < span[part] ? slack : reach;
      if (away <= limit && away <= nearest) {
        nearest = away;
        best = { lane, span: i, part };
      }
    }
  });
  if (best) return best;
  const inside = spans.findIndex((span) => span.start <= frame && frame < span.stop);
  return inside < 0 ? null : { lane, span: inside, part: "body" };
}

/** A span with one end, or all of it, moved by `by` frames from `from`; never empty, never outside of the clip. */
export function moved(from: Span, part: Part, by: number, nFrames: number): Span {
  if (part === "start") return { ...from, start: clamp(from.start + by, 0, from.stop - 1) };
  if (part === "stop") return { ...from, stop: clamp(from.stop + by, from.start + 1, nFrames) };
  const step = clamp(by, -from.start, nFrames - from.stop);
  return { ...from, start: from.start + step, stop: from.stop + step };
}

/** Contact intervals in order, those that meet joined. */
export function joined(spans: Span[]): [number, number][] {
  const out: [number, number][] = [];
  for (const { start, stop } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = out[out.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], stop);
    else out.push([start, stop]);
  }
  return out;
}

/** All labels of the lanes, in order. */
export function labelsOf(lanes: Lane[]): LabelSpan[] {
  const all = lanes.filter((lane) => lane.kind === "label").flatMap((lane) => lane.spans);
  return all.map(({ name, start, stop }) => ({ name, start, stop })).sort((a, b) => a.start - b.start);
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
