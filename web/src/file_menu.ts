/** The File menu: start page, folders, the selected clip, and projects. */
import type { App } from "./app";
import { button, el } from "./dom";
import { openFolderDialog } from "./folder_dialog";
import { chooseProject, saveProject } from "./project";
import { closeClips, saveSelected } from "./saving";
import type { StartPage } from "./start_page";

export function fileMenu(app: App, start: StartPage): HTMLElement {
  const quietly = (act: Promise<void>) => void act.catch(() => undefined);
  const items: [string, string, () => void][] = [
    ["Start page", "Demos, samples, recent folders and projects", () => void start.show()],
    ["Open folder…", "Show the clips of another folder", () => openFolderDialog(app)],
    ["Save clip", "Save changes to the selected clip (Ctrl+S), to a new file the first time: a recording is never overwritten", () => void saveSelected(app)],
    ["Save clip as…", "Save the selected clip to a new file, in any format", () => app.openPanel.emit("look:save")],
    ["Close all clips", "Close all open clips; unsaved ones are listed first", () => closeClips(app, [...app.motions.values()].map(({ info }) => info))],
    ["Open project…", "Open a project in this folder: clips, panels, settings and camera", () => quietly(chooseProject(app))],
    ["Save project", "Save clips, panels, settings and camera", () => quietly(saveProject(app))],
  ];
  const list = el("ul", { class: "menu-list", hidden: true, role: "menu", aria: { label: "File" } });
  const open = button("File", () => show(Boolean(list.hidden)), "Start page, folders, saving and projects");
  open.setAttribute("aria-haspopup", "menu");
  open.setAttribute("aria-expanded", "false");
  const show = (on: boolean) => {
    list.hidden = !on;
    open.setAttribute("aria-expanded", String(on));
    if (on) list.querySelector("button")?.focus();
  };
  list.append(...items.map(([label, title, act]) => {
    const item = button(label, () => {
      show(false);
      act();
    }, title, "item");
    item.setAttribute("role", "menuitem");
    return el("li", { role: "none" }, item);
  }));
  const box = el("div", { class: "menu" }, open, list);
  box.addEventListener("focusout", (event) => !box.contains(event.relatedTarget as Node | null) && event.relatedTarget && show(false));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      show(false);
      open.focus();
    }
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || list.hidden) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...list.querySelectorAll("button")];
    all[(all.indexOf(document.activeElement as HTMLButtonElement) + by + all.length) % all.length]?.focus();
  });
  document.addEventListener("pointerdown", (event) => !box.contains(event.target as Node) && show(false));
  return box;
}
