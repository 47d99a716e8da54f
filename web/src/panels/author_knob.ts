/** A slider for a parameter of a node: angles in degrees, limits and steps rounded. */
import type { CharacterRange } from "../messages";
import { slider, type Slider } from "../widgets/slider";

const DEGREES = 180 / Math.PI;

/** Factor from the parameter's unit to the displayed unit. */
export function factorOf({ unit }: { unit: string }): number {
  return unit.startsWith("rad") ? DEGREES : 1;
}

/** @param input called with values in the parameter's own unit, which `value` of the slider uses as well */
export function knob(range: CharacterRange, value: number, input: (value: number) => void): Slider {
  const factor = factorOf(range);
  const step = factor > 1 ? 1 : 0.01;
  const control = slider({
    label: range.name,
    unit: factor > 1 ? "°" : range.unit,
    min: round(Math.floor((range.low * factor) / step) * step),
    max: round(Math.ceil((range.high * factor) / step) * step),
    step,
    value: round(Math.round((value * factor) / step) * step),
    input: (shown) => input(shown / factor),
  });
  return {
    element: control.element,
    get value() {
      return control.value / factor;
    },
    set value(next: number) {
      control.value = round(next * factor);
    },
  };
}

function round(value: number): number {
  return Number(value.toFixed(4));
}
