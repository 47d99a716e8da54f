/** A stick on the screen for touch: appears where a finger can reach it, only if the device has no mouse. */
import { el } from "./dom";
import { Signal } from "./signal";

export interface Deflection {
  ahead: number;
  right: number;
  fraction: number;
}

const RADIUS = 52;

export class Joystick {
  /** Emitted while the stick is held; null when it is released. */
  readonly moved = new Signal<Deflection | null>();

  constructor(host: HTMLElement) {
    const knob = el("div", { class: "knob" });
    const pad = el("div", { class: "stick", aria: { label: "Joystick: move the character" } }, knob);
    const move = (event: PointerEvent) => {
      const box = pad.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
      const fraction = Math.min(1, Math.hypot(x, y) / RADIUS);
      const size = Math.hypot(x, y) || 1;
      knob.style.transform = `translate(${(x / size) * fraction * RADIUS}px, ${(y / size) * fraction * RADIUS}px)`;
      if (fraction > 0.2) this.moved.emit({ ahead: -y / size, right: x / size, fraction });
    };
    pad.addEventListener("pointerdown", (event) => {
      pad.setPointerCapture(event.pointerId);
      move(event);
    });
    pad.addEventListener("pointermove", (event) => pad.hasPointerCapture(event.pointerId) && move(event));
    pad.addEventListener("lostpointercapture", () => {
      knob.style.transform = "";
      this.moved.emit(null);
    });
    host.append(pad);
  }
}
