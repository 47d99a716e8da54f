/** The camera buttons in the corner of the scene, and their keys. */
import { button, toggle } from "./dom";
import type { Stage, Subject, View } from "./scene";
import type { Signal } from "./signal";

/** Meters around a driven character that are in view. */
export const DRIVEN_RADIUS = 1.6;

export interface Looker {
  stage: Stage;
  following: boolean;
  /** The character that views are relative to. */
  readonly subject: Subject | null;
  /** Emitted when something else has changed `following`. */
  followingChanged?: Signal<boolean>;
  focus(): void;
}

/** Build the buttons. The returned function handles keys (1 front, 3 side, 7 top, F focus, C follow). */
export function viewbar(host: HTMLElement, looker: Looker): (event: KeyboardEvent) => boolean {
  const view = (name: View) => () => {
    const body = looker.stage.driven ?? looker.subject;
    if (body?.posed) looker.stage.view(name, body.facing(), body.center());
    else looker.stage.view(name);
  };
  const focus = () => {
    const { stage } = looker;
    if (stage.driven) stage.focus(stage.driven.center(), DRIVEN_RADIUS);
    else looker.focus();
  };
  const follow = toggle("Follow", looker.following, (on) => (looker.following = on), "The camera follows the character (C)");
  looker.followingChanged?.on((on) => follow.set(on));
  host.append(
    button("Front", view("front"), "Front view: the character's face (1)"),
    button("Side", view("side"), "Side view: the character's left side (3)"),
    button("Top", view("top"), "Top view (7)"),
    button("Selected", focus, "Zoom to the selected clip (F)"),
    follow,
  );
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    switch (event.key) {
      case "1": view("front")(); return true;
      case "3": view("side")(); return true;
      case "7": view("top")(); return true;
      case "f": case "F": focus(); return true;
      case "c": case "C": follow.click(); return true;
      default: return false;
    }
  };
}
