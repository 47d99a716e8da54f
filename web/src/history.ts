/** Undo and redo for the selected motion: the buttons at the top, and their keys. */
import type { App } from "./app";
import { button } from "./dom";

export async function step(app: App, which: "undo" | "redo"): Promise<void> {
  const info = app.selected?.info;
  if (info?.[which]) await app.ask(which, { motion: info.motion }).then((after) => app.update(after), () => undefined);
}

export function historyButtons(app: App): HTMLElement[] {
  const undo = button("Undo", () => void step(app, "undo"), "Undo the last change to the selected clip (Ctrl+Z)");
  const redo = button("Redo", () => void step(app, "redo"), "Redo (Ctrl+Shift+Z)");
  const draw = () => {
    undo.disabled = !app.selected?.info.undo;
    redo.disabled = !app.selected?.info.redo;
  };
  app.selectionChanged.on(draw);
  app.infoChanged.on(draw);
  draw();
  return [undo, redo];
}
