/** Edit contacts and labels with the keyboard. */
import type { Lane, Part, Place } from "./lanes";

/** The operations of the timeline that keys trigger. */
export interface LaneHands {
  readonly lanes: Lane[];
  readonly selected: Place | null;
  /** Index of the lane that keys act on. */
  readonly lane: number;
  choose(lane: number, span: number | null): void;
  addSpan(): void;
  shift(part: Part, by: number): void;
  renameSelected(): void;
  removeSelected(): void;
}

/** Handle a key. `among`: the focus is in the lanes, so plain arrow keys select spans instead of stepping in time. */
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

/** Go to the lane above or below, and select the span nearest to the selected one. */
function otherLane(hands: LaneHands, by: number): void {
  const to = hands.lane + by;
  const lane = hands.lanes[to];
  if (!lane) return;
  const from = hands.selected && hands.lanes[hands.selected.lane]?.spans[hands.selected.span];
  const away = lane.spans.map((span) => Math.abs(span.start - (from?.start ?? 0)));
  hands.choose(to, away.length ? away.indexOf(Math.min(...away)) : null);
}

/** Select the next or previous contact or label of the lane in time. */
function nextSpan(hands: LaneHands, by: number): void {
  const { spans } = hands.lanes[hands.lane] ?? { spans: [] };
  const order = [...spans.keys()].sort((a, b) => spans[a]!.start - spans[b]!.start);
  if (!order.length) return;
  const now = hands.selected?.lane === hands.lane ? order.indexOf(hands.selected.span) : -1;
  const next = now < 0 ? (by > 0 ? 0 : order.length - 1) : now + by;
  hands.choose(hands.lane, order[Math.max(0, Math.min(order.length - 1, next))]!);
}
