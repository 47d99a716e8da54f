/** What a person's hands want of a figure: keys and gamepad as seen from the camera, clicks on the ground. */
import * as THREE from "three";
import type { Stage } from "../scene";
import { Signal } from "../signal";

/** A direction in the world (radians from +Z, to the left), and how far a stick is pushed, 0 to 1. */
export interface Push {
  direction: number;
  share: number;
}

const KEYS: Record<string, [ahead: number, right: number]> = {
  KeyW: [1, 0], ArrowUp: [1, 0], KeyS: [-1, 0], ArrowDown: [-1, 0],
  KeyA: [0, -1], ArrowLeft: [0, -1], KeyD: [0, 1], ArrowRight: [0, 1],
};
/** Of a stick's way: less is none. */
const DEAD = 0.25;
/** A press that moves by more pixels, or lasts longer than this, turns the camera and is no click. */
const CLICK_PIXELS = 5;
const CLICK_MS = 350;

export class DriveInput {
  /** A direction is held; once for every change, also when the camera turns under a held key. */
  readonly pushed = new Signal<Push>();
  readonly clicked = new Signal<[number, number]>();
  /** The keys 1 to 9. */
  readonly numbered = new Signal<number>();
  private readonly held = new Set<string>();
  private readonly stops: (() => void)[] = [];
  private last: Push | null = null;

  constructor(private readonly stage: Stage) {}

  attach(): void {
    this.detach();
    const listen = (node: EventTarget, name: string, listener: (event: never) => void, capture = false) => {
      node.addEventListener(name, listener as EventListener, { capture });
      this.stops.push(() => node.removeEventListener(name, listener as EventListener, { capture }));
    };
    // Before the page's own keys: here the arrows steer.
    listen(document, "keydown", (event: KeyboardEvent) => this.down(event), true);
    listen(document, "keyup", (event: KeyboardEvent) => this.held.delete(event.code), true);
    listen(window, "blur", () => this.held.clear());
    let press: PointerEvent | null = null;
    listen(this.stage.canvas, "pointerdown", (event: PointerEvent) => (press = event.button === 0 ? event : null), true);
    listen(this.stage.canvas, "pointerup", (event: PointerEvent) => {
      if (press && isClick(press, event)) this.click(event);
      press = null;
    });
    this.stops.push(this.stage.ticked.on(() => this.poll()));
  }

  detach(): void {
    for (const stop of this.stops.splice(0)) stop();
    this.held.clear();
    this.last = null;
  }

  private down(event: KeyboardEvent): void {
    const node = event.target;
    const typing = node instanceof HTMLInputElement || node instanceof HTMLSelectElement || node instanceof HTMLTextAreaElement;
    if (typing || event.ctrlKey || event.metaKey || event.altKey || node instanceof HTMLElement && node.role === "tab") return;
    const digit = /^Digit([1-9])$/.exec(event.code);
    if (digit) this.numbered.emit(Number(digit[1]));
    else if (event.code in KEYS) this.held.add(event.code);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private click(event: PointerEvent): void {
    const at = this.stage.onGround(event);
    if (at) this.clicked.emit([at.x, at.z]);
  }

  private poll(): void {
    let [ahead, right] = [0, 0];
    for (const code of this.held) {
      ahead += KEYS[code]![0];
      right += KEYS[code]![1];
    }
    let share = Math.min(1, Math.hypot(ahead, right));
    if (!share) [ahead, right, share] = stick();
    if (!share) {
      this.last = null;
      return;
    }
    const push = { direction: seenFrom(this.stage.camera, ahead, right), share };
    const { last } = this;
    if (last && Math.abs(wrap(push.direction - last.direction)) < 0.02 && Math.abs(push.share - last.share) < 0.05) return;
    this.last = push;
    this.pushed.emit(push);
  }
}

function isClick(press: PointerEvent, release: PointerEvent): boolean {
  const moved = Math.hypot(release.clientX - press.clientX, release.clientY - press.clientY);
  return moved < CLICK_PIXELS && release.timeStamp - press.timeStamp < CLICK_MS;
}

/** Ahead, to the right, and how far: of the first gamepad whose stick is pushed. */
function stick(): [number, number, number] {
  for (const pad of navigator.getGamepads?.() ?? []) {
    const [x, y] = [pad?.axes[0] ?? 0, pad?.axes[1] ?? 0];
    const size = Math.hypot(x, y);
    if (size > DEAD) return [-y, x, Math.min(1, (size - DEAD) / (1 - DEAD))];
  }
  return [0, 0, 0];
}

/** The world's direction of "ahead" and "right" as the camera sees them; from right above, ahead is upwards in the picture. */
export function seenFrom(camera: THREE.Camera, ahead: number, right: number): number {
  const forward = camera.getWorldDirection(new THREE.Vector3());
  const level = Math.hypot(forward.x, forward.z);
  if (level < 0.05) forward.set(0, 1, 0).applyQuaternion(camera.quaternion);
  const size = Math.hypot(forward.x, forward.z) || 1;
  const [x, z] = [forward.x / size, forward.z / size];
  return Math.atan2(ahead * x - right * z, ahead * z + right * x);
}

export function wrap(angle: number): number {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}
