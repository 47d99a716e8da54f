/** Which keys steer, and which are meant for the focused element. */

/**
 * Return whether an element takes all keys itself: text and number fields, and select elements, which search by
 * letters.
 */
export function typesInto(node: EventTarget | null): boolean {
  if (node instanceof HTMLTextAreaElement || node instanceof HTMLSelectElement) return true;
  if (node instanceof HTMLInputElement) return !["range", "checkbox", "radio", "button"].includes(node.type);
  return node instanceof HTMLElement && node.isContentEditable;
}

/** Return whether a key press may steer: text fields take all keys, sliders and tabs the arrow keys. */
export function meant(event: KeyboardEvent): boolean {
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
