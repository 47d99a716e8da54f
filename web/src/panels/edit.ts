/** Edit panel: the operations of the library that change one clip, check it, or read and write files. */
import type { App, Panel } from "../app";
import { el } from "../dom";
import { operationMenu } from "../widgets/operations";
import { HandEdit } from "./edit_hand";

export function mount(app: App): Panel {
  const menu = operationMenu(app, "edit");
  const hand = new HandEdit(app);
  return {
    element: el("div", { class: "panel" }, hand.element, menu.element),
    shown() {
      menu.shown();
      hand.shown();
    },
    hidden: () => hand.hidden(),
  };
}
