/** Edit panel: the operations of the library that change one clip, check it, or read and write files. */
import type { App, Panel } from "../app";
import { el } from "../dom";
import { operationMenu } from "../widgets/operations";
import { HandEdit } from "./edit_hand";

export function mount(app: App): Panel {
  const hand = new HandEdit(app);
  const menu = operationMenu(app, "edit", (operation, form) => hand.toolOf(operation, form), (operation) => hand.choose(operation));
  return {
    element: el("div", { class: "panel" }, menu.element),
    shown() {
      menu.shown();
      hand.shown();
    },
    hidden: () => hand.hidden(),
    use: (group) => menu.choose?.(group),
  };
}
