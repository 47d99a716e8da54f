/** The data of the timeline's lanes: contacts and labels as intervals, hit tests, and edits. */
import { visible } from "./dom";
import type { ContactLane, LabelSpan } from "./messages";

export interface Span {
  start: number;
  stop: number;
  name: string;
  /** Meters that a planted point slides; unknown until the server has measured an edited contact. */
  slide?: number;
  /** Meters that it slid before the last edit; null if that is not known. */
  slideBefore?: number | null;
}

/** One row of the timeline. */
export interface Lane {
  kind: "contact" | "label";
  title: string;
  spans: Span[];
}

export type Part = "start" | "stop" | "body";

/** Identifies a span by the index of its lane and its index in the lane. */
export interface Place {
  lane: number;
  span: number;
}

export interface Hit extends Place {
  part: Part;
}

/**
 * Create the lanes: contacts first, then as many label lanes as overlaps require. The last lane is always free for new
 * labels.
 */
export function lanesOf(contacts: ContactLane[] | null, labels: LabelSpan[]): Lane[] {
  const lanes: Lane[] = (contacts ?? []).map((lane) => ({
    kind: "contact",
    title: lane.name,
    spans: lane.intervals.map(([start, stop], i) => ({ start, stop, name: "", slide: lane.plants[i]?.slide, slideBefore: lane.plants[i]?.slide_before })),
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

/** Find a span in `lanes`, in which spans may have been merged or moved to other lanes since; null if it is gone. */
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

/** Return the span at frame `frame` of a lane. Positions within `slack` frames of an end hit the end, not the body. */
export function hitTest(lanes: Lane[], lane: number, frame: number, slack: number): Hit | null {
  const spans = lanes[lane]?.spans ?? [];
  let best: Hit | null = null;
  let nearest = slack;
  spans.forEach((span, i) => {
    // A short span keeps a body that can be grabbed.
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

/** Return a span with one end, or the entire span, moved by `by` frames. It never becomes empty or leaves the clip. */
export function moved(from: Span, part: Part, by: number, nFrames: number): Span {
  if (part === "start") return { ...from, start: clamp(from.start + by, 0, from.stop - 1) };
  if (part === "stop") return { ...from, stop: clamp(from.stop + by, from.start + 1, nFrames) };
  const step = clamp(by, -from.start, nFrames - from.stop);
  return { ...from, start: from.start + step, stop: from.stop + step };
}

/** What a bar of the timeline shows; its tooltip. */
export function describe(lane: Lane, { name, slide, slideBefore }: Span): string {
  if (lane.kind === "label") return visible(name);
  const text = `${visible(lane.title).replaceAll("_", " ")} in contact`;
  const slides = (meters: number) => `slides ${(1000 * meters).toFixed(0)} mm`;
  const now = slide === undefined ? "" : `, ${slides(slide)} (bar)`;
  const before = slideBefore == null ? "" : `; before the last edit it ${slides(slideBefore).replace("slides", "slid")} (strip above)`;
  return `${text}${now}${before}`;
}

/** Sort contact intervals and merge those that touch. */
export function joined(spans: Span[]): [number, number][] {
  const out: [number, number][] = [];
  for (const { start, stop } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = out[out.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], stop);
    else out.push([start, stop]);
  }
  return out;
}

/** Return all labels of the lanes, in order. */
export function labelsOf(lanes: Lane[]): LabelSpan[] {
  const all = lanes.filter((lane) => lane.kind === "label").flatMap((lane) => lane.spans);
  return all.map(({ name, start, stop }) => ({ name, start, stop })).sort((a, b) => a.start - b.start);
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
