/** Controls for the settings of an operation, from their declaration in the library (`FORMS` in messages.ts). */
import { check, choice, el } from "../dom";
import { slider } from "./slider";

export interface Control {
  readonly name: string;
  readonly label: string;
  /** Tooltip. */
  readonly help: string;
  readonly kind: string;
  readonly unit: string;
  /** Shown value = factor * value. Limits and default are shown values. */
  readonly factor: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly default: number | string | boolean | null;
  readonly choices: readonly string[];
  /** Whether an empty field means that the library decides. */
  readonly optional: boolean;
  readonly advanced: boolean;
}

export interface Form<T> {
  element: HTMLElement;
  /** The settings that differ from their defaults. */
  readonly value: Partial<T>;
}

type Value = number | string | boolean | null;

/** Create the controls; those of advanced settings are folded away. */
export function settingsForm<T>(controls: readonly Control[]): Form<T> {
  const value: Record<string, Value> = {};
  const draw = (control: Control) => drawControl(control, (shown) => {
    if (shown === control.default) delete value[control.name];
    else value[control.name] = typeof shown === "number" ? shown / control.factor : shown;
  });
  const basic = controls.filter(({ advanced }) => !advanced).map(draw);
  const advanced = controls.filter((control) => control.advanced).map(draw);
  const element = el("div", { class: "stack" }, ...basic);
  if (advanced.length) {
    element.append(el("details", { class: "folded" }, el("summary", { class: "dim", text: "Advanced" }), el("div", { class: "stack" }, ...advanced)));
  }
  return { element, value: value as Partial<T> };
}

function drawControl(control: Control, change: (shown: Value) => void): HTMLElement {
  const { label, help, min, max } = control;
  if (control.kind === "flag") return check(label, control.default === true, change, help);
  if (control.kind === "choice") {
    const options = control.choices.map((each): [string, string] => [each, each]);
    return choice(label, options, String(control.default), change, help);
  }
  const isWhole = control.kind === "integer";
  const step = isWhole || control.factor > 1 ? 1 : 0.01;
  const isShort = min !== null && max !== null && max - min <= 200 * step;
  if (isShort && typeof control.default === "number") {
    return slider({ label, title: help, unit: control.unit, min, max, step, value: control.default, input: change }).element;
  }
  return numberField(control, step, change);
}

/** A labeled number field. An empty one stands for the default if the setting is optional. */
function numberField(control: Control, step: number, change: (shown: Value) => void): HTMLElement {
  const label = control.unit ? `${control.label} (${control.unit})` : control.label;
  const text = control.default === null ? "" : String(control.default);
  const limit = (value: number | null) => (value === null ? "" : String(value));
  const input = el("input", {
    type: control.kind === "text" ? "text" : "number", min: limit(control.min), max: limit(control.max),
    step: String(step), value: text, placeholder: control.optional ? "auto" : "", aria: { label },
  });
  input.addEventListener("change", () => {
    if (control.kind === "text") change(input.value);
    else if (Number.isFinite(input.valueAsNumber)) {
      const value = Math.max(control.min ?? -Infinity, Math.min(control.max ?? Infinity, input.valueAsNumber));
      input.value = String(value);
      change(value);
    } else {
      input.value = text;
      change(control.default);
    }
  });
  return el("label", { class: "field", title: control.help }, el("span", { text: label }), input);
}
