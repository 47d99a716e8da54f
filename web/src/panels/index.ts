/** The panels, in the order of their tabs. A new one: a module with `mount`, and a line here. */
import type { App, Panel } from "../app";
import { mount as blend } from "./blend";
import { mount as compare } from "./compare";
import { mount as look } from "./look";

export interface PanelEntry {
  /** As the server calls it; a panel that the server does not have is not shown. */
  name: string;
  title: string;
  mount: (app: App) => Panel;
}

export const PANELS: PanelEntry[] = [
  { name: "look", title: "Look", mount: look },
  { name: "compare", title: "Compare", mount: compare },
  { name: "blend", title: "Blend", mount: blend },
];
