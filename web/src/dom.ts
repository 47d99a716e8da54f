/** Small helpers to build the page. Text is always inserted as text: nothing here parses HTML. */

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
  dir?: string;
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

/**
 * Invisible characters that affect the text around them: control characters, line breaks, and marks that change the
 * writing direction.
 */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Make invisible characters visible as their code numbers, because they could disguise a name as another one. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (letter) => `[U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

/** Join texts as in a sentence: "A, B, and C". */
export function sentenceList(texts: readonly string[]): string {
  return new Intl.ListFormat("en").format(texts);
}

/** Number of characters at the end of a name that stay visible: the numbers of takes are there. */
const NAME_END = 4;

/** Return an element with a name. If there is no room for it, its extension is cut off first, then its middle. */
export function nameOf(name: string, extension = ""): HTMLElement {
  const letters = [...visible(name)];
  const end = letters.length > 3 * NAME_END ? letters.length - NAME_END : letters.length;
  const parts = [letters.slice(0, end), letters.slice(end)].map((part) => el("span", { text: part.join("") }));
  return el("span", { class: "name", dir: "auto" }, ...parts, extension ? el("span", { class: "rest", text: extension }) : null);
}

/** Return an element of index.html. Throws an error if it is missing, which is a bug. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no element #${id}`);
  return node as T;
}

export function button(label: string, press: () => void, title = "", cls = ""): HTMLButtonElement {
  return el("button", { type: "button", class: cls, text: label, title, on: { click: press } });
}

/** Create a toggle button; `set` changes its state from outside. */
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

/** Create a labeled check box; `title` is its tooltip. */
export function check(label: string, on: boolean, change: (on: boolean) => void, title = ""): HTMLLabelElement {
  const box = el("input", { type: "checkbox", checked: on, on: { change: () => change(box.checked) } });
  return el("label", { class: "check", title }, box, el("span", { text: label }));
}

/** Create a labeled select element; `options` are [value, text] pairs. */
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
 * Return whether a key press is meant for the page rather than for the focused element: a text field takes all keys, a
 * slider the arrow keys, a button Space and Enter.
 */
export function isOurs(event: KeyboardEvent): boolean {
  const node = event.target;
  if (event.defaultPrevented || node instanceof HTMLTextAreaElement || node instanceof HTMLSelectElement) return false;
  const presses = event.key === " " || event.key === "Enter";
  if (node instanceof HTMLInputElement) return (node.type === "checkbox" && !presses) || (node.type === "range" && presses);
  return !(presses && node instanceof HTMLButtonElement);
}

/**
 * Remove the focus from clicked buttons and check boxes, because Space and the arrow keys should control playback.
 * Elements activated by keyboard keep the focus.
 */
export function releaseClicked(): void {
  document.addEventListener("click", (event) => {
    const node = document.activeElement;
    const clicked = event.detail > 0 && event.target instanceof Node && node?.contains(event.target);
    const box = node instanceof HTMLInputElement && node.type === "checkbox";
    if (clicked && (node instanceof HTMLButtonElement || box)) node.blur();
  });
}

/** Download a file that the server offers. */
export function download(url: string, name: string): void {
  Object.assign(el("a"), { href: url, download: name }).click();
}

/** Return the value of a CSS variable of the current theme, such as "--accent". */
export function cssVariable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
