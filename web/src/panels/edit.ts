/** Edit panel: the operations of the library that change one clip, check it, or read and write files. */
import type { App, Panel } from "../app";
import { el } from "../dom";
import { operationMenu } from "../widgets/operations";

export function mount(app: App): Panel {
  const menu = operationMenu(app, "edit");
  return { element: el("div", { class: "panel" }, menu.element), shown: () => menu.shown() };
}
