/** A quiet word beside the connection's state while the server compiles ahead what panels may need. */
import { el } from "../dom";
import type { StudioEvent } from "../messages";
import type { Signal } from "../signal";

const WHY = "Parts of marey are compiled when they are first used on a machine. This does it beforehand; you need not wait for it.";

export function showReadiness(after: HTMLElement, events: Signal<StudioEvent>): void {
  const word = el("span", { class: "dim", title: WHY, hidden: true });
  word.id = "readiness";
  after.after(word);
  events.on((event) => {
    if (event.event !== "getting_ready") return;
    word.hidden = event.done >= event.of;
    word.textContent = `Getting ready in the background: ${event.piece}, ${event.done + 1} of ${event.of}`;
  });
}
