/** Small helpers to build the page. Text only ever goes in as text: nothing here parses HTML. */

type Props = {
  class?: string;
  title?: string;
  text?: string;
  type?: string;
  value?: string;
  role?: string;
  disabled?: boolean;
  checked?: boolean;
  hidden?: boolean;
  tabIndex?: number;
  min?: string;
  max?: string;
  step?: string;
  placeholder?: string;
  aria?: Record<string, string>;
  data?: Record<string, string>;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
};

export type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  const { class: cls, text, role, aria, data, on, ...rest } = props;
  if (cls) node.className = cls;
  if (text !== undefined) node.textContent = visible(text);
  if (role) node.setAttribute("role", role);
  for (const [name, value] of Object.entries(aria ?? {})) node.setAttribute(`aria-${name}`, value);
  for (const [name, value] of Object.entries(data ?? {})) node.dataset[name] = value;
  for (const [name, listener] of Object.entries(on ?? {})) {
    node.addEventListener(name, listener as EventListener);
  }
  Object.assign(node, rest);
  for (const child of children) if (child !== null && child !== undefined) node.append(typeof child === "string" ? visible(child) : child);
  return node;
}

/** Characters that draw nothing but change what is around them: controls, line ends, and those that turn the direction of writing. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A name as it is shown: what could make it look like another one stands there by its number. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (letter) => `[U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

/** An element of index.html; throws if it is missing, which is a bug. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no element #${id}`);
  return node as T;
}

export function button(label: string, press: () => void, title = "", cls = ""): HTMLButtonElement {
  return el("button", { type: "button", class: cls, text: label, title, on: { click: press } });
}

/** A button that stays down while `on`; `set` changes it from outside. */
export function toggle(
  label: string,
  on: boolean,
  change: (on: boolean) => void,
  title = "",
): HTMLButtonElement & { set(on: boolean): void } {
  const node = button(label, () => {
    set(node.getAttribute("aria-pressed") !== "true");
    change(node.getAttribute("aria-pressed") === "true");
  }, title, "toggle");
  const set = (value: boolean) => node.setAttribute("aria-pressed", String(value));
  set(on);
  return Object.assign(node, { set });
}

/** A labeled check box; `title` explains it. */
export function check(label: string, on: boolean, change: (on: boolean) => void, title = ""): HTMLLabelElement {
  const box = el("input", { type: "checkbox", checked: on, on: { change: () => change(box.checked) } });
  return el("label", { class: "check", title }, box, el("span", { text: label }));
}

/** A labeled choice; `options` are [value, text] pairs. */
export function choice(
  label: string,
  options: [string, string][],
  value: string,
  change: (value: string) => void,
  title = "",
): HTMLLabelElement & { select: HTMLSelectElement } {
  const select = el("select", { on: { change: () => change(select.value) } });
  setOptions(select, options, value);
  return Object.assign(el("label", { class: "field", title }, el("span", { text: label }), select), { select });
}

export function setOptions(select: HTMLSelectElement, options: [string, string][], value: string): void {
  select.replaceChildren(...options.map(([key, text]) => el("option", { value: key, text })));
  select.value = value;
}

/**
 * Whether a key press is meant for the page rather than for the element in focus: a text field takes all keys, a slider
 * the arrows, a button Space and Enter.
 */
export function isOurs(event: KeyboardEvent): boolean {
  const node = event.target;
  if (event.defaultPrevented || node instanceof HTMLTextAreaElement || node instanceof HTMLSelectElement) return false;
  const presses = event.key === " " || event.key === "Enter";
  if (node instanceof HTMLInputElement) return (node.type === "checkbox" && !presses) || (node.type === "range" && presses);
  return !(presses && node instanceof HTMLButtonElement);
}

/** A button that was clicked gives the focus back, so that Space and the arrows play and step; the keyboard keeps it. */
export function releaseClicked(): void {
  document.addEventListener("click", (event) => {
    const node = document.activeElement;
    const clicked = event.detail > 0 && event.target instanceof Node && node?.contains(event.target);
    const box = node instanceof HTMLInputElement && node.type === "checkbox";
    if (clicked && (node instanceof HTMLButtonElement || box)) node.blur();
  });
}

/** A CSS variable of the current theme, such as "--accent". */
export function cssVariable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
