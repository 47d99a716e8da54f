/** Choose a folder of this computer. The server lists folders, because a browser cannot open one with its files in place. */
import { messageOf, type App } from "./app";
import { button, el, visible } from "./dom";
import { hasChanges } from "./saving";

/** Open a folder: its clips replace those of the last one, except clips with changes. */
export async function openFolder(app: App, path: string): Promise<void> {
  const old = [...app.motions.values()].map(({ info }) => info).filter((info) => info.file && info.where === "folder" && !hasChanges(info));
  const listed = await app.ask("folder_open", { path });
  for (const { motion } of old) await app.forget(motion).catch(() => undefined);
  if (app.welcome) app.welcome = { ...app.welcome, folder: listed.folder };
  app.folderChanged.emit();
  const [first] = listed.files;
  if (first && !app.motions.size) await app.open({ path: first.path });
  if (!first) app.notices.info(`${visible(listed.folder)} has no motion files.`);
}

export function openFolderDialog(app: App): void {
  const path = el("input", { type: "text", aria: { label: "Path of the folder" } });
  const list = el("ul", { class: "folders", aria: { label: "Folders" } });
  const said = el("p", { class: "dim", aria: { live: "polite" } });
  const go = async (to: string) => {
    try {
      const found = await app.connection.ask("folder_browse", { path: to });
      path.value = found.path;
      const inside = found.folders.map((name): [string, string] => [name, `${found.path.replace(/[\\/]$/, "")}/${name}`]);
      const rows: [string, string][] = [...(found.parent ? [["..", found.parent] as [string, string]] : []), ...inside];
      list.replaceChildren(...rows.map(([name, at]) => el("li", {}, el("button", { type: "button", class: "item", on: { click: () => void go(at) } }, el("span", { class: "name", text: name })))));
      list.scrollTop = 0;
      said.textContent = found.motions ? `${found.motions} motion ${found.motions === 1 ? "file" : "files"} here` : "No motion files at the top level of this folder. If you open it, files in its subfolders are listed.";
    } catch (error) {
      said.textContent = visible(messageOf(error));
    }
  };
  path.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") void go(path.value);
  });
  const open = button("Open", () => {
    dialog.close();
    void openFolder(app, path.value).catch(() => undefined);
  }, "Open this folder", "primary");
  const dialog = el("dialog", { class: "shortcuts folder-dialog", aria: { label: "Open folder" } }, el("h2", { text: "Open folder" }), path, list, said,
    el("div", { class: "row" }, el("span", { class: "spacer" }), button("Cancel", () => dialog.close()), open));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  void go("");
}
