/** Sliders and buttons for the commands of a driven character, apart from directions. */
import { choice, el } from "../dom";
import type { DriveNode, DriveRequest, DriveStarted } from "../messages";
import type { Slider } from "../widgets/slider";
import { knob } from "./author_knob";

/** A press within this distance (m) of the target ball is meant for the ball, not for the character behind it. */
export const BALL = 0.15;
export const CANNOT_STOP = "This character has no standing motion, so it keeps moving. The built-in character “stopping” can stop.";
/** Reason for aborting a start: another choice has replaced it. */
export const NEWER = "newer";
export const NOTHING: Required<DriveRequest> = { direction: null, point: null, target: null, node: null, speed: null, values: null, stop: false, stream: null };

/** The range of speeds that can be requested: that of the chosen action if it has one, otherwise of the character. */
export function speedRange(started: DriveStarted | null, node: DriveNode | null): [number, number] | null {
  const own = node?.ranges.find(({ name }) => name === "speed");
  return own ? [own.low, own.high] : started?.speed ?? null;
}

/** Build the controls of a character and of the node that it plays. */
export function commandControls(
  started: DriveStarted | null,
  node: DriveNode | null,
  request: Required<DriveRequest>,
  ask: (change: Partial<DriveRequest>) => void,
  choose: (node: string | null) => void,
): { rows: HTMLElement[]; speed: Slider | null } {
  const { nodes, usual, way } = started ?? { nodes: [], usual: null, way: "character" };
  const pace = speedRange(started, node);
  const rows: HTMLElement[] = [];
  let speed: Slider | null = null;
  if (nodes.length > 1) {
    const options = nodes.map(({ name }, k): [string, string] => [name, k < 9 ? `${name} (${k + 1})` : name]);
    rows.push(choice("Action", [["", "keep going"], ...options], request.node ?? "", (value) => choose(value || null), 'What the character does. "keep going" allows any action that can follow.'));
  }
  if (pace) {
    const range = { name: "Speed", unit: "m/s", low: pace[0], high: pace[1] };
    const value = Math.min(pace[1], Math.max(pace[0], request.speed ?? usual ?? pace[0]));
    speed = knob(range, value, (next) => ask({ speed: next }));
    rows.push(speed.element);
  } else if (way !== "character") {
    rows.push(el("p", { class: "dim", text: "Speed is fixed: this character moves as fast as its clips." }));
  }
  return { rows: [...rows, ...rangeRows(node, request, ask)], speed };
}

function rangeRows(node: DriveNode | null, request: Required<DriveRequest>, ask: (change: Partial<DriveRequest>) => void): HTMLElement[] {
  return (node?.ranges ?? []).flatMap((range) => {
    const { name, low, high } = range;
    if (["turn", "speed"].includes(name) || (node!.at_point && /(^| )[xyz]$/.test(name)) || high <= low) return [];
    return [knob(range, request.values?.[name] ?? (low + high) / 2, (value) => ask({ values: { [name]: value } })).element];
  });
}
