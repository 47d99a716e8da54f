/** The panels, in the order of their tabs. To add a panel, write a module with `mount` and add a line here. */
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
  /** The server's name of the panel. A panel that the server does not have is not shown. */
  name: string;
  title: string;
  /** What the panel is for; tooltip of its tab. */
  about: string;
  mount: (app: App) => Panel;
}

export const PANELS: PanelEntry[] = [
  { name: "look", title: "View", about: "Display options, contacts and labels, curves, export", mount: look },
  { name: "compare", title: "Compare", about: "Compare two clips, and remove foot sliding", mount: compare },
  { name: "blend", title: "Blend", about: "Blend clips, or make a transition from one to another", mount: blend },
  { name: "graph", title: "Graph", about: "Motion graph: find where clips can switch, then generate motion at random or along a path", mount: graph },
  { name: "find", title: "Find", about: "Find passages similar to an example, and blend them toward a target", mount: find },
  { name: "layer", title: "Layers & gaze", about: "Combine body parts of two clips, and make a clip look at a point", mount: layer },
  { name: "author", title: "Characters", about: "Build characters for Drive: nodes of blended clips with transitions between them", mount: author },
  { name: "drive", title: "Drive", about: "Control a character live with keyboard, mouse or gamepad", mount: drive },
];
