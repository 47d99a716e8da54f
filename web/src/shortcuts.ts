/** The list of keyboard shortcuts, which the key ? shows. */
import { button, el } from "./dom";

const SHORTCUTS: [string, [string, string][]][] = [
  ["Play", [
    ["Space", "play or pause"], ["← →", "one frame back or forward"], ["↓ ↑", "ten frames"], ["Home End", "first or last frame"],
    ["I O  or  [ ]", "start and end of the marked range"], ["\\", "whole clip"], ["L", "loop"], ["P", "play forward and backward"],
  ]],
  ["Camera", [
    ["1 3 7", "front, side, top of the character"], ["F A T", "zoom to the selected clip, all clips, the path"], ["N", "names of the clips"], ["Click", "select a clip and a joint"], ["C", "follow the character"],
    ["Left drag", "orbit"], ["Right drag", "pan"], ["Wheel", "zoom"],
    ["Shift + arrows", "orbit, while the scene has the focus"], ["Ctrl + arrows", "pan"], ["+ −", "zoom"],
  ]],
  ["Edit", [
    ["Ctrl S", "save the clip and its annotations"], ["Ctrl Z", "undo"], ["Ctrl Shift Z", "redo"],
    ["Enter", "in a lane: new contact or label over the marked range"], ["Alt + arrows", "move it; with Shift, its end"],
    ["F2", "rename a label"], ["Delete", "remove a contact or label"],
  ]],
];

/** Create the dialog. Returns the button that opens it, and a function that handles its key. */
export function shortcuts(): { open: HTMLButtonElement; key(event: KeyboardEvent): boolean } {
  const groups = SHORTCUTS.map(([title, rows]) => el("section", {}, el("h3", { text: title }),
    el("dl", {}, ...rows.flatMap(([keys, what]) => [el("dt", {}, el("kbd", { text: keys })), el("dd", { text: what })]))));
  const close = button("Close", () => dialog.close(), "", "primary");
  const dialog = el("dialog", { class: "shortcuts", aria: { label: "Keyboard shortcuts" } }, el("div", { class: "columns" }, ...groups), el("div", { class: "row" }, el("span", { class: "spacer" }), close));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  const open = button("?", () => dialog.showModal(), "Keyboard shortcuts (?)", "quiet");
  open.setAttribute("aria-label", "Keyboard shortcuts");
  const key = (event: KeyboardEvent) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return false;
    dialog.showModal();
    return true;
  };
  return { open, key };
}
