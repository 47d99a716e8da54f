/** The camera buttons in the corner of the scene, and their keys. */
import { button, toggle } from "./dom";
import type { Stage, View } from "./scene";
import type { Signal } from "./signal";

export interface Looker {
  stage: Stage;
  following: boolean;
  /** Emitted when something else has changed `following`. */
  followingChanged?: Signal<boolean>;
  focus(): void;
}

/** Build the buttons. The returned function handles keys (1 front, 3 side, 7 top, F focus, C follow). */
export function viewbar(host: HTMLElement, looker: Looker): (event: KeyboardEvent) => boolean {
  const view = (name: View) => () => looker.stage.view(name);
  const follow = toggle("Follow", looker.following, (on) => (looker.following = on), "The camera follows the character (C)");
  looker.followingChanged?.on((on) => follow.set(on));
  host.append(
    button("Front", view("front"), "Front view (1)"),
    button("Side", view("side"), "Side view (3)"),
    button("Top", view("top"), "Top view (7)"),
    button("Frame selected", () => looker.focus(), "Move the camera to the selected clip (F)"),
    follow,
  );
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    switch (event.key) {
      case "1": looker.stage.view("front"); return true;
      case "3": looker.stage.view("side"); return true;
      case "7": looker.stage.view("top"); return true;
      case "f": case "F": looker.focus(); return true;
      case "c": case "C": follow.click(); return true;
      default: return false;
    }
  };
}
