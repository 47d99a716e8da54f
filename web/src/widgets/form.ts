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
  /** Set the settings that differ from their defaults, without calling `changed`. */
  set(value: Partial<T>): void;
  /** Mark the control of a setting as wrong and show it; "" for none. Returns the control, if there is one. */
  mark(name: string): HTMLElement | null;
}

export interface FormOptions<T> {
  /** Values that replace the library's defaults at first. */
  initial?: Partial<T>;
  /** Values and texts to choose from for settings that are text, such as the labels of a graph; "" stands for none. */
  choices?: Record<string, [string, string][]>;
  /** Suggestions for settings that are text, read when the field gets the focus. */
  suggest?: Record<string, () => string[]>;
  /** Settings that the panel has controls of its own for. */
  skip?: readonly (keyof T)[];
  /** Called after each change. */
  changed?: () => void;
}

type Value = number | string | boolean | null;

/** Create the controls; those of advanced settings are folded away. */
export function settingsForm<T>(controls: readonly Control[], options: FormOptions<T> = {}): Form<T> {
  const drawn = new Map<string, HTMLElement>();
  const value: Record<string, Value> = { ...(options.initial as Record<string, Value>) };
  const draw = (control: Control) => {
    const { name, factor } = control;
    const given = value[name];
    const first = given === undefined ? control.default : typeof given === "number" ? given * factor : given;
    const node = drawControl({ ...control, default: first }, control.default, options.choices?.[name], (shown) => {
      if (shown === control.default) delete value[name];
      else value[name] = typeof shown === "number" ? shown / factor : shown;
      options.changed?.();
    });
    drawn.set(name, node);
    if (options.suggest?.[name]) suggest(node, options.suggest[name]);
    return node;
  };
  const mark = (wrong: string) => {
    const found = drawn.get(wrong) ?? null;
    for (const [name, node] of drawn) node.classList.toggle("wrong", name === wrong);
    found?.closest("details")?.setAttribute("open", "");
    return found;
  };
  const wanted = controls.filter(({ name }) => !options.skip?.includes(name as keyof T));
  const element = el("div", { class: "stack" });
  const render = () => {
    const [basic, advanced] = [wanted.filter((each) => !each.advanced).map(draw), wanted.filter((each) => each.advanced).map(draw)];
    element.replaceChildren(...basic);
    if (!advanced.length) return;
    element.append(el("details", { class: "folded" }, el("summary", { class: "dim", text: "Advanced" }), el("div", { class: "stack" }, ...advanced)));
  };
  const set = (next: Partial<T>) => {
    if (JSON.stringify(next) === JSON.stringify(value)) return;
    for (const name of Object.keys(value)) delete value[name];
    Object.assign(value, next);
    render();
  };
  render();
  return { element, value: value as Partial<T>, set, mark };
}

/** Suggest texts for the field of a control. */
function suggest(node: HTMLElement, texts: () => string[]): void {
  const list = el("datalist");
  list.id = `suggest-${lists++}`;
  const input = node.querySelector("input");
  input?.setAttribute("list", list.id);
  input?.addEventListener("focus", () => list.replaceChildren(...texts().map((value) => el("option", { value }))));
  node.append(list);
}

let lists = 0;

function drawControl(control: Control, standard: Value, choices: [string, string][] | undefined, change: (shown: Value) => void): HTMLElement {
  const { label, help, min, max } = control;
  if (control.kind === "flag") return check(label, control.default === true, change, help);
  // A single choice is on or off.
  const [only, ...others] = control.choices;
  if (control.optional && only !== undefined && !others.length) {
    return check(label, control.default === only, (on) => change(on ? only : null), help);
  }
  if (control.kind === "choice" || choices) {
    const none: [string, string][] = control.optional && !choices ? [["", standard === null ? "auto" : "none"]] : [];
    const options = [...(choices ?? control.choices.map((each): [string, string] => [each, each.replaceAll("_", " ")])), ...none];
    return choice(label, options, String(control.default ?? ""), (text) => change(text || (control.optional ? null : "")), help);
  }
  const isWhole = control.kind === "integer";
  const step = isWhole || control.factor > 1 ? 1 : 0.01;
  const isShort = min !== null && max !== null && max - min <= 200 * step;
  if (isShort && typeof control.default === "number") {
    return slider({ label, title: help, unit: control.unit, min, max, step, value: control.default, input: change }).element;
  }
  return numberField(control, step, change);
}

/** A labeled field for a number or text. An empty one leaves an optional setting to the library. */
function numberField(control: Control, step: number, change: (shown: Value) => void): HTMLElement {
  const label = control.unit ? `${control.label} (${control.unit})` : control.label;
  const text = control.default === null ? "" : String(control.default);
  const isText = control.kind === "text" || control.kind === "file";
  const limit = (value: number | null) => (value === null ? "" : String(value));
  const input = el("input", {
    type: isText ? "text" : "number", min: limit(control.min), max: limit(control.max),
    step: String(step), value: text, placeholder: control.kind === "file" ? "file in the open folder" : control.optional ? "auto" : "", aria: { label },
  });
  input.addEventListener("change", () => {
    if (isText) change(input.value || (control.optional ? null : ""));
    else if (Number.isFinite(input.valueAsNumber)) {
      const value = Math.max(control.min ?? -Infinity, Math.min(control.max ?? Infinity, input.valueAsNumber));
      input.value = String(value);
      change(value);
    } else if (control.optional) {
      change(null);
    } else {
      input.value = text;
      change(control.default);
    }
  });
  return el("label", { class: "field", title: control.help }, el("span", { text: label }), input);
}
