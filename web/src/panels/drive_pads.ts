/** Gamepads: the left stick or the D-pad sets the direction, the four right buttons choose actions. */
import { Signal } from "../signal";

/** Dead zone, as a fraction of a stick's range. */
const DEAD = 0.25;
/** Buttons of the standard layout: number of buttons that choose an action, buttons that stop, and the D-pad. */
const NUMBERS = 4;
const STOPS = [8, 9];
const CROSS: [button: number, ahead: number, right: number][] = [[12, 1, 0], [13, -1, 0], [14, 0, -1], [15, 0, 1]];

/**
 * The current input: ahead, right, deflection of the stick (null for the D-pad), and buttons pressed since the last
 * poll.
 */
export interface PadRequest {
  ahead: number;
  right: number;
  fraction: number | null;
  numbers: number[];
  stop: boolean;
}

export class DrivePads {
  /** Emitted with the name of the connected gamepad; "" if there is none. */
  readonly changed = new Signal<string>();
  name = "";
  /** Buttons that were down at the last poll, keyed by gamepad index; null before the first poll. */
  private down: Map<number, Set<number>> | null = null;

  constructor() {
    for (const name of ["gamepadconnected", "gamepaddisconnected"]) window.addEventListener(name, () => this.report(pads()));
  }

  /** Forget the pressed buttons: those that are already down at the next poll do not count as new presses. */
  forget(): void {
    this.down = null;
  }

  poll(): PadRequest {
    const found = pads();
    this.report(found);
    const request: PadRequest = { ahead: 0, right: 0, fraction: null, numbers: [], stop: false };
    const before = this.down;
    this.down = new Map(found.map((pad) => [pad.index, new Set(pad.buttons.flatMap(({ pressed }, k) => (pressed ? [k] : [])))]));
    for (const pad of found) {
      if (!request.ahead && !request.right) push(pad, request);
      const was = before?.get(pad.index);
      // A gamepad that was not there at the last poll may have been connected with a button down.
      if (!was) continue;
      for (const k of this.down.get(pad.index)!) {
        if (was.has(k)) continue;
        if (k < NUMBERS) request.numbers.push(k + 1);
        else if (STOPS.includes(k) && pad.mapping === "standard") request.stop = true;
      }
    }
    return request;
  }

  private report(found: Gamepad[]): void {
    const name = found[0] ? found[0].id.replace(/\s*\(.*$/, "") || "gamepad" : "";
    if (name === this.name) return;
    this.name = name;
    this.changed.emit(name);
  }
}

function pads(): Gamepad[] {
  return [...(navigator.getGamepads?.() ?? [])].filter((pad): pad is Gamepad => !!pad?.connected);
}

function push(pad: Gamepad, request: PadRequest): void {
  const [x, y] = [pad.axes[0] ?? 0, pad.axes[1] ?? 0];
  const size = Math.hypot(x, y);
  if (size > DEAD) {
    [request.ahead, request.right, request.fraction] = [-y, x, Math.min(1, (size - DEAD) / (1 - DEAD))];
    return;
  }
  if (pad.mapping !== "standard") return;
  for (const [k, ahead, right] of CROSS) {
    if (!pad.buttons[k]?.pressed) continue;
    request.ahead += ahead;
    request.right += right;
  }
}
