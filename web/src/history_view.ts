/** The buttons Undo, Redo and History, and the list of changes from which one can go back and forth. */
import type { App } from "./app";
import { button, el } from "./dom";

export function historyButtons(app: App): HTMLElement[] {
  const { history } = app;
  const undo = button("Undo", () => void history.undo());
  const redo = button("Redo", () => void history.redo());
  const list = el("ol", { class: "history-list", hidden: true, aria: { label: "History" } });
  const open = button("History", () => show(Boolean(list.hidden)), "List all changes, and go back to any of them");
  open.setAttribute("aria-expanded", "false");
  const box = el("div", { class: "history" }, undo, redo, open, list);

  const show = (on: boolean) => {
    list.hidden = !on;
    open.setAttribute("aria-expanded", String(on));
    draw();
    if (on) list.querySelector<HTMLElement>("[aria-current=true]")?.focus();
  };
  const row = (title: string, at: number) => {
    const item = button(title, () => void history.goTo(at), at > history.at ? "Redo up to here" : "Go back to here", "item");
    item.setAttribute("aria-current", String(at === history.at));
    item.classList.toggle("undone", at > history.at);
    return el("li", {}, item);
  };
  const draw = () => {
    const { changes, at } = history;
    undo.disabled = at === 0;
    redo.disabled = at === changes.length;
    undo.title = `${at ? `Undo: ${changes[at - 1]!.title}` : "Nothing to undo"} (Ctrl+Z)`;
    redo.title = `${at < changes.length ? `Redo: ${changes[at]!.title}` : "Nothing to redo"} (Ctrl+Shift+Z)`;
    if (list.hidden) return;
    const focused = list.contains(document.activeElement);
    list.replaceChildren(row("Start", 0), ...changes.map(({ title }, k) => row(title, k + 1)));
    const current = list.querySelector<HTMLElement>("[aria-current=true]");
    current?.scrollIntoView({ block: "nearest" });
    if (focused) current?.focus();
  };
  list.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const items = [...list.querySelectorAll<HTMLElement>("button")];
    if (!by) return;
    items[items.indexOf(document.activeElement as HTMLElement) + by]?.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  // A clicked entry has given up the focus, so the key may come from anywhere.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || list.hidden) return;
    show(false);
    open.focus();
    event.preventDefault();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!list.hidden && !box.contains(event.target as Node)) show(false);
  });
  history.changed.on(draw);
  draw();
  return [box];
}
