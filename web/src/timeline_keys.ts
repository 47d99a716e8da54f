/** Contacts and labels by keyboard. */
import type { Lane, Part, Place } from "./lanes";

/** What keys do with the lanes; the timeline does it. */
export interface LaneHands {
  readonly lanes: Lane[];
  readonly selected: Place | null;
  /** The lane that keys work in. */
  readonly lane: number;
  choose(lane: number, span: number | null): void;
  addSpan(): void;
  shift(part: Part, by: number): void;
  renameSelected(): void;
  removeSelected(): void;
}

/** Answer to a key; `among` where the focus is in the lanes, so that plain arrows choose rather than step in time. */
export function laneKeys(hands: LaneHands, event: KeyboardEvent, among: boolean): void {
  if (!handled(hands, event, among)) return;
  event.preventDefault();
  event.stopPropagation();
}

function handled(hands: LaneHands, event: KeyboardEvent, among: boolean): boolean {
  if (event.ctrlKey || event.metaKey) return false;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 10, ArrowDown: -10 }[event.key];
  if (event.altKey) {
    if (!by || !hands.selected) return false;
    hands.shift(event.shiftKey ? "stop" : "body", by);
    return true;
  }
  if (hands.selected && (event.key === "Delete" || event.key === "Backspace")) hands.removeSelected();
  else if (hands.selected && event.key === "F2") hands.renameSelected();
  else if (!among || event.shiftKey) return false;
  else if (event.key === "ArrowUp" || event.key === "ArrowDown") otherLane(hands, event.key === "ArrowUp" ? -1 : 1);
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") nextSpan(hands, event.key === "ArrowLeft" ? -1 : 1);
  else if (event.key === "Enter") hands.addSpan();
  else if (event.key === "Escape" && hands.selected) hands.choose(hands.lane, null);
  else return false;
  return true;
}

/** The lane above or below, with what lies there nearest to what was selected. */
function otherLane(hands: LaneHands, by: number): void {
  const to = hands.lane + by;
  const lane = hands.lanes[to];
  if (!lane) return;
  const from = hands.selected && hands.lanes[hands.selected.lane]?.spans[hands.selected.span];
  const away = lane.spans.map((span) => Math.abs(span.start - (from?.start ?? 0)));
  hands.choose(to, away.length ? away.indexOf(Math.min(...away)) : null);
}

/** The next contact or label of the lane in time. */
function nextSpan(hands: LaneHands, by: number): void {
  const { spans } = hands.lanes[hands.lane] ?? { spans: [] };
  const order = [...spans.keys()].sort((a, b) => spans[a]!.start - spans[b]!.start);
  if (!order.length) return;
  const now = hands.selected?.lane === hands.lane ? order.indexOf(hands.selected.span) : -1;
  const next = now < 0 ? (by > 0 ? 0 : order.length - 1) : now + by;
  hands.choose(hands.lane, order[Math.max(0, Math.min(order.length - 1, next))]!);
}
