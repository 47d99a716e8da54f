/** The panels, in the order of their tabs. To add a panel, write a module with `mount` and add a line here. */
import type { App, Panel } from "../app";
import { mount as author } from "./author";
import { mount as blend } from "./blend";
import { mount as compare } from "./compare";
import { mount as drive } from "./drive";
import { mount as edit } from "./edit";
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
  /** Introduction for users who see the panel for the first time. */
  intro: string;
  /** A first thing to try; `EXAMPLES` in demos.ts does it. */
  example: string;
  mount: (app: App) => Panel;
}

export const PANELS: PanelEntry[] = [
  { name: "look", title: "View", about: "View options, contacts and labels, curves, export",
    intro: "See contacts, labels and curves of a clip. Drag in the lanes below to edit contacts and labels.",
    example: "Example: open the sample “medley”, a clip with labels, and drag the end of a label.", mount: look },
  { name: "edit", title: "Edit", about: "Trim, loop, retime, mirror, retarget, repair and save clips",
    intro: "Change the selected clip: choose an edit, adjust it, and press its button. Undo reverts it.",
    example: "Example: open a walk, choose Pose and Mirror, and press Apply.", mount: edit },
  { name: "compare", title: "Compare", about: "Compare two clips, and remove foot sliding",
    intro: "Show two clips side by side and measure them, or remove foot sliding.",
    example: "Example: press Clean up on a walk with sliding feet, and compare before and after.", mount: compare },
  { name: "blend", title: "Blend", about: "Blend clips, or make a transition from one to another",
    intro: "Mix similar clips, such as a walk and a run: check their boxes and press Blend.",
    example: "Example: open a walk and a run, check both boxes, and press Blend.", mount: blend },
  { name: "graph", title: "Graph", about: "Motion graph: find where clips can switch, then generate motion at random or along a path",
    intro: "Join clips into motion that never ends, at random or along a path that you draw.",
    example: "Example: build a graph of three walks, draw a path, and follow it.", mount: graph },
  { name: "find", title: "Find", about: "Find passages similar to an example, and blend them toward a target",
    intro: "Mark a kick or a step on the timeline, and find all others like it.",
    example: "Example: mark one kick of a take, and press Find similar.", mount: find },
  { name: "layer", title: "Layers & gaze", about: "Combine body parts of two clips, or make a character look at a point",
    intro: "Put the arms of one clip on another, or make a character look at a point.",
    example: "Example: put the arms from a cup-carrying clip onto a walk.", mount: layer },
  { name: "author", title: "Characters", about: "Build characters for Drive: nodes of blended clips with transitions between them",
    intro: "Build a character for Drive from walks that turn, or change a built-in one.",
    example: "Example: choose the character “walking” below, and press Preview.", mount: author },
  { name: "drive", title: "Drive", about: "Control a character live with keyboard, mouse or gamepad",
    intro: "Choose a character, press Start, and steer with WASD, arrow keys or a gamepad.",
    example: "Example: start the character “stopping”, hold W, and let go: it stops.", mount: drive },
];
