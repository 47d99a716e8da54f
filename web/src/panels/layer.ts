/** Layers & gaze panel: a body part of one motion on another, and a gaze that follows dragged points. */
import type { App, Panel } from "../app";
import { el } from "../dom";
import { operationMenu } from "../widgets/operations";
import { LookSection } from "./layer_look";

export function mount(app: App): Panel {
  const looks = new LookSection(app);
  const menu = operationMenu(app, "layer");
  const combine = el("section", {}, el("h3", { text: "Combine body parts" }), menu.element);
  const shown = () => {
    menu.shown();
    looks.shown();
  };
  return { element: el("div", { class: "panel" }, combine, looks.element), shown, hidden: () => looks.hidden() };
}
