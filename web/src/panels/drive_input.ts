/** User input for a character: keys and gamepad relative to the camera, clicks and drags on the ground. */
import * as THREE from "three";
import type { Stage } from "../scene";
import { Signal } from "../signal";
import { DrivePads } from "./drive_pads";

/**
 * A direction in the world (radians from +Z, positive to the left), and the deflection of a stick, 0 to 1; null without
 * a stick.
 */
export interface Push {
  direction: number;
  fraction: number | null;
}

const KEYS: Record<string, [ahead: number, right: number]> = {
  KeyW: [1, 0], ArrowUp: [1, 0], KeyS: [-1, 0], ArrowDown: [-1, 0],
  KeyA: [0, -1], ArrowLeft: [0, -1], KeyD: [0, 1], ArrowRight: [0, 1],
};
/** A press that moves by more pixels or lasts longer (ms) than this is not a click; it rotates the camera or steers. */
const CLICK_PIXELS = 5;
const CLICK_MS = 350;
/** Distance in meters from the character's axis within which it can be grabbed; larger for touch. */
const GRAB = 0.3;
const GRAB_FINGER = 0.5;
const STATURE = 1.7;

interface Drag {
  pointer: number;
  begun: PointerEvent;
  now: PointerEvent;
  moved: boolean;
}

export class DriveInput {
  /** Emitted for each change of the held direction, including when the camera rotates while a key is held. */
  readonly pushed = new Signal<Push>();
  /** Emitted when no direction is held anymore. */
  readonly released = new Signal();
  readonly clicked = new Signal<[number, number]>();
  /** Emitted for the keys 1 to 9 and the first buttons of a gamepad. */
  readonly numbered = new Signal<number>();
  /** Emitted for Escape, or the Start or Back button of a gamepad. */
  readonly stopped = new Signal();
  readonly pads = new DrivePads();
  /** Position of the character, x and z; null if there is none. */
  character: [number, number] | null = null;
  /** Whether a press is meant for something else in front of the character. */
  taken: (event: PointerEvent) => boolean = () => false;
  private readonly held = new Set<string>();
  private readonly stops: (() => void)[] = [];
  private last: Push | null = null;
  private drag: Drag | null = null;

  constructor(private readonly stage: Stage) {}

  attach(): void {
    this.detach();
    const listen = (node: EventTarget, name: string, listener: (event: never) => void, capture = false) => {
      node.addEventListener(name, listener as EventListener, { capture });
      this.stops.push(() => node.removeEventListener(name, listener as EventListener, { capture }));
    };
    // Listen before the page's own keys, because the arrow keys steer here.
    listen(document, "keydown", (event: KeyboardEvent) => this.down(event), true);
    listen(document, "keyup", (event: KeyboardEvent) => this.held.delete(event.code), true);
    // Keys that are released in another window send no event.
    listen(window, "blur", () => this.held.clear());
    listen(document, "visibilitychange", () => this.held.clear());
    listen(document, "focusin", (event: FocusEvent) => typesInto(event.target) && this.held.clear());
    const { canvas } = this.stage;
    let press: PointerEvent | null = null;
    listen(canvas, "pointerdown", (event: PointerEvent) => {
      press = event.button === 0 ? event : null;
      this.grab(event);
    }, true);
    listen(canvas, "pointermove", (event: PointerEvent) => this.move(event));
    listen(canvas, "pointerup", (event: PointerEvent) => {
      this.release(event);
      if (press && isClick(press, event)) this.click(event);
      press = null;
    });
    for (const name of ["pointercancel", "lostpointercapture"]) listen(canvas, name, (event: PointerEvent) => this.release(event));
    this.pads.forget();
    this.stops.push(this.stage.ticked.on(() => this.poll()));
  }

  detach(): void {
    for (const stop of this.stops.splice(0)) stop();
    this.held.clear();
    this.last = null;
    if (this.drag) this.release(this.drag.now);
    this.stage.canvas.style.cursor = "";
  }

  private down(event: KeyboardEvent): void {
    // While the Command key is down, released keys send no event.
    if (event.metaKey) this.held.clear();
    if (!meant(event)) return;
    const digit = /^Digit([1-9])$/.exec(event.code);
    if (digit) {
      if (!event.repeat) this.numbered.emit(Number(digit[1]));
    } else if (event.code in KEYS) this.held.add(event.code);
    else if (event.code === "Escape") this.stopped.emit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private click(event: PointerEvent): void {
    const at = this.stage.onGround(event);
    if (at) this.clicked.emit([at.x, at.z]);
  }

  // --- Dragging the character: it goes to the pointer

  private grab(event: PointerEvent): void {
    if (event.button !== 0 || this.drag || !this.stage.controls.enabled || !this.near(event)) return;
    // The camera must not rotate during the drag.
    this.stage.controls.enabled = false;
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.drag = { pointer: event.pointerId, begun: event, now: event, moved: false };
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (drag && drag.pointer === event.pointerId) {
      drag.now = event;
      drag.moved ||= distance(drag.begun, event) >= CLICK_PIXELS;
    }
    this.stage.canvas.style.cursor = drag ? "grabbing" : event.buttons === 0 && this.near(event) ? "grab" : "";
  }

  private release(event: PointerEvent): void {
    if (this.drag?.pointer !== event.pointerId) return;
    this.drag = null;
    this.stage.controls.enabled = true;
    this.stage.canvas.style.cursor = "";
  }

  private near(event: PointerEvent): boolean {
    if (!this.character || this.taken(event)) return false;
    const [x, z] = this.character;
    const { floor } = this.stage;
    const apart = this.stage.ray(event).ray.distanceSqToSegment(new THREE.Vector3(x, floor, z), new THREE.Vector3(x, floor + STATURE, z));
    return apart < (event.pointerType === "touch" ? GRAB_FINGER : GRAB) ** 2;
  }

  /**
   * Direction from the character to the floor point under the pointer; above the horizon, the direction in the view.
   */
  private dragged(): number | null {
    if (!this.drag?.moved || !this.character) return null;
    const { now } = this.drag;
    const [x, z] = this.character;
    const at = this.stage.onGround(now);
    if (at) return Math.atan2(at.x - x, at.z - z);
    const from = this.stage.project(new THREE.Vector3(x, this.stage.floor, z));
    const box = this.stage.canvas.getBoundingClientRect();
    return from && seenFrom(this.stage.camera, from.y - (now.clientY - box.top), now.clientX - box.left - from.x);
  }

  private poll(): void {
    const pads = this.pads.poll();
    for (const number of pads.numbers) this.numbered.emit(number);
    if (pads.stop) {
      this.stopped.emit();
      return;
    }
    const push = this.wanted(pads.ahead, pads.right, pads.fraction);
    const { last } = this;
    const same = push && last && Math.abs(wrap(push.direction - last.direction)) < 0.02 && Math.abs((push.fraction ?? 2) - (last.fraction ?? 2)) < 0.05;
    if (same) return;
    this.last = push;
    if (push) this.pushed.emit(push);
    else if (last) this.released.emit();
  }

  /** Return the wanted direction. The mouse has priority over keys, and keys over a gamepad. */
  private wanted(padAhead: number, padRight: number, fraction: number | null): Push | null {
    const direction = this.dragged();
    if (direction !== null) return { direction, fraction: null };
    let [ahead, right] = [0, 0];
    for (const code of this.held) {
      ahead += KEYS[code]![0];
      right += KEYS[code]![1];
    }
    const { camera } = this.stage;
    if (ahead || right) return { direction: seenFrom(camera, ahead, right), fraction: null };
    return padAhead || padRight ? { direction: seenFrom(camera, padAhead, padRight), fraction } : null;
  }
}

function distance(a: PointerEvent, b: PointerEvent): number {
  return Math.hypot(b.clientX - a.clientX, b.clientY - a.clientY);
}

function isClick(press: PointerEvent, release: PointerEvent): boolean {
  return distance(press, release) < CLICK_PIXELS && release.timeStamp - press.timeStamp < CLICK_MS;
}

/**
 * World direction of "ahead" and "right" as seen by the camera. When looking straight down, ahead is the top of the
 * view.
 */
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

/**
 * Return whether an element takes all keys itself: text and number fields, and select elements, which search by
 * letters.
 */
function typesInto(node: EventTarget | null): boolean {
  if (node instanceof HTMLTextAreaElement || node instanceof HTMLSelectElement) return true;
  if (node instanceof HTMLInputElement) return !["range", "checkbox", "radio", "button"].includes(node.type);
  return node instanceof HTMLElement && node.isContentEditable;
}

/** Return whether a key press may steer: text fields take all keys, sliders and tabs the arrow keys. */
function meant(event: KeyboardEvent): boolean {
  const node = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || typesInto(node)) return false;
  const moves = (node instanceof HTMLInputElement && node.type === "range") || (node instanceof HTMLElement && node.role === "tab");
  return !(moves && event.code.startsWith("Arrow"));
}

/**
 * Remove the focus from select elements and sliders after use with the pointer, because keys should steer. Elements
 * used by keyboard keep the focus.
 */
export function handsFree(box: HTMLElement): void {
  let pointed = false;
  box.addEventListener("pointerdown", () => (pointed = true), true);
  box.addEventListener("keydown", () => (pointed = false), true);
  box.addEventListener("change", ({ target }) => {
    const slides = target instanceof HTMLInputElement && target.type === "range";
    if (pointed && (slides || target instanceof HTMLSelectElement)) target.blur();
  });
}
