/** A labeled slider with a number field. Both can be dragged, typed into, or moved with the keys. */
import { el } from "../dom";

export interface SliderOptions {
  label: string;
  min: number;
  max: number;
  step: number;
  value: number;
  unit?: string;
  /** Tooltip. */
  title?: string;
  /** Called while the value changes. */
  input?: (value: number) => void;
  /** Called when the control is released. */
  change?: (value: number) => void;
}

export interface Slider {
  element: HTMLElement;
  value: number;
}

export function slider(options: SliderOptions): Slider {
  const limits = { min: String(options.min), max: String(options.max), step: String(options.step) };
  const range = el("input", { type: "range", ...limits, aria: { label: options.label } });
  const number = el("input", { type: "number", ...limits, aria: { label: `${options.label}, number` } });
  const set = (value: number) => {
    range.value = String(value);
    // Degrees of a round number of radians have many digits.
    number.value = String(Number(value.toFixed(options.step >= 1 ? 1 : 6)));
  };
  const take = (value: number, report: ((value: number) => void) | undefined) => {
    if (!Number.isFinite(value)) return;
    set(Math.max(options.min, Math.min(options.max, value)));
    report?.(Number(range.value));
  };
  range.addEventListener("input", () => take(range.valueAsNumber, options.input));
  range.addEventListener("change", () => take(range.valueAsNumber, options.change));
  number.addEventListener("change", () => {
    take(number.valueAsNumber, options.input);
    options.change?.(Number(range.value));
  });
  set(options.value);
  const name = el("span", { text: options.unit ? `${options.label} (${options.unit})` : options.label });
  return {
    element: el("div", { class: "slider", title: options.title ?? "" }, name, el("div", { class: "slider-row" }, range, number)),
    get value() {
      return Number(range.value);
    },
    set value(value: number) {
      set(value);
    },
  };
}
