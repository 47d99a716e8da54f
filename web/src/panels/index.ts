/** The panels, in the order of their tabs. A new one: a module with `mount`, and a line here. */
import type { App, Panel } from "../app";
import { mount as author } from "./author";
import { mount as blend } from "./blend";
import { mount as compare } from "./compare";
import { mount as drive } from "./drive";
import { mount as find } from "./find";
import { mount as layer } from "./layer";
import { mount as graph } from "./graph";
import { mount as look } from "./look";

export interface PanelEntry {
  /** As the server calls it; a panel that the server does not have is not shown. */
  name: string;
  title: string;
  mount: (app: App) => Panel;
}

export const PANELS: PanelEntry[] = [
  { name: "look", title: "View", mount: look },
  { name: "compare", title: "Compare", mount: compare },
  { name: "blend", title: "Blend", mount: blend },
  { name: "graph", title: "Graph", mount: graph },
  { name: "find", title: "Find", mount: find },
  { name: "layer", title: "Layers & gaze", mount: layer },
  { name: "author", title: "Characters", mount: author },
  { name: "drive", title: "Drive", mount: drive },
];
