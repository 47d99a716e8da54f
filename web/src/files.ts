/** The left side: open motions, and the library of the folder's files. Files dropped on the page are uploaded. */
import { messageOf, type App } from "./app";
import { button, byId, el, visible } from "./dom";
import { droppedFiles, inOrder } from "./drops";
import { Library } from "./library";
import type { FileEntry, FolderList, Refused } from "./messages";
import { closeClips, stateOf } from "./saving";

/** Maximum number of motions that one drop opens. */
const OPENED_AT_ONCE = 24;
/** Maximum number of failed files in one drop that are reported individually. */
const TOLD_SINGLY = 4;

export class Files {
  private readonly opened = el("ul", { class: "opened", aria: { label: "Open clips" } });
  private readonly library: Library;

  constructor(private readonly app: App) {
    const pick = el("input", { type: "file", hidden: true, aria: { label: "Add files" } });
    pick.multiple = true;
    pick.addEventListener("change", () => void this.upload([...(pick.files ?? [])]).then(() => (pick.value = "")));
    const add = button("Add files…", () => pick.click(), "Add files from this computer, or drop them anywhere on the page");
    this.library = new Library(app);
    byId("left").append(
      el("section", { class: "opened-box" }, el("div", { class: "row" }, el("h2", { text: "Clips" }), add, pick), this.opened),
      this.library.element,
    );
    this.opened.addEventListener("keydown", (event) => walkList(this.opened, event));
    app.motionsChanged.on(() => this.drawOpened());
    new ResizeObserver(() => this.showSelected()).observe(this.opened);
    app.selectionChanged.on(() => this.drawOpened());
    app.infoChanged.on(() => this.drawOpened());
    this.drawOpened();
    this.takeDrops();
  }

  load(asked?: Promise<FolderList>): Promise<FileEntry[]> {
    return this.library.load(asked);
  }

  /** Upload files and open the motions among them. */
  async upload(files: File[]): Promise<void> {
    let opened = 0;
    let left = 0;
    const failed: string[] = [];
    const report = (text: string) => void failed.push(text);
    for (const { file, opens } of inOrder(files)) {
      if (opens && opened >= OPENED_AT_ONCE) left++;
      else if ((await this.send(file, report)) && opens) {
        await this.app.open({ path: file.name, where: "uploads" }, undefined, report);
        opened++;
      }
    }
    if (failed.length > TOLD_SINGLY) this.app.notices.errors(`${failed.length} files could not be opened`, failed);
    else for (const text of failed) this.app.notices.error(text);
    if (left) this.app.notices.info(`Only the first ${OPENED_AT_ONCE} clips were opened; ${left} more ${left === 1 ? "was" : "were"} not. To list a whole folder, run marey studio FOLDER.`);
  }

  /** Upload a file. Returns whether the server accepted it; `report` gets the reason if not. */
  private async send(file: File, report: (text: string) => void): Promise<boolean> {
    const most = this.app.welcome?.upload_bytes ?? Infinity;
    if (file.size > most) {
      report(`${file.name} is larger than the upload limit of ${Math.floor(most / 2 ** 20)} MB`);
      return false;
    }
    try {
      const query = new URLSearchParams({ session: this.app.welcome?.session ?? "", name: file.name });
      const reply = await fetch(`/upload?${query}`, { method: "POST", body: file, credentials: "same-origin" });
      if (!reply.ok) throw new Error(((await reply.json()) as Refused).text);
      return true;
    } catch (error) {
      report(messageOf(error).startsWith(file.name) ? messageOf(error) : `Could not add ${file.name}: ${messageOf(error)}`);
      return false;
    }
  }

  private showSelected(): void {
    this.opened.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }

  private drawOpened(): void {
    const { app } = this;
    const focus = this.focusInOpened();
    const rows = [...app.motions.values()].map((shot) => {
      const { info, character } = shot;
      const dot = el("button", { type: "button", class: "dot", title: "Show or hide in the scene", aria: { label: `Show ${info.name}`, pressed: String(character.visible) } });
      dot.style.setProperty("--dot", character.color);
      dot.addEventListener("click", () => {
        character.visible = !character.visible;
        if (character.visible) character.show(app.frameOf(shot));
        app.motionsChanged.emit();
      });
      const name = el("span", { class: "name", dir: "auto", text: info.name });
      const state = el("span", { class: "dim size", text: stateOf(info) });
      const item = el("button", { type: "button", class: "item", title: `${visible(info.name)}\n${info.n_frames} frames at ${info.fps.toFixed(2)} Hz`, on: { click: () => app.select(info.motion) } }, name, " ", state);
      item.setAttribute("aria-label", `${visible(info.name)} ${stateOf(info)}`);
      item.setAttribute("aria-current", String(app.selected === shot));
      const close = button("×", () => closeClips(app, [info]), "Close", "quiet");
      close.setAttribute("aria-label", `Close ${info.name}`);
      return el("li", { data: { motion: info.motion } }, dot, item, close);
    });
    this.opened.replaceChildren(...rows);
    this.showSelected();
    if (!rows.length) this.opened.append(el("li", { class: "dim empty", text: "Choose a file below, or drop files here." }));
    if (focus) {
      const row = rows.find((each) => each.dataset["motion"] === focus.motion) ?? rows[Math.min(focus.row, rows.length - 1)];
      (row?.children[focus.column] as HTMLElement | undefined)?.focus();
    }
  }

  /** Which button of which motion has the focus; used to restore it when the rows are rebuilt. */
  private focusInOpened(): { motion: string; row: number; column: number } | null {
    const row = document.activeElement?.closest<HTMLElement>("li");
    // A clicked button has given up the focus, so there is nothing to restore.
    if (!row || row.parentElement !== this.opened || !document.activeElement!.matches(":focus-visible")) return null;
    const column = [...row.children].indexOf(document.activeElement!);
    return { motion: row.dataset["motion"] ?? "", row: [...this.opened.children].indexOf(row), column };
  }

  private takeDrops(): void {
    const page = document.body;
    let depth = 0;
    const mark = (on: boolean) => page.classList.toggle("dropping", on);
    page.addEventListener("dragenter", (event) => {
      event.preventDefault();
      depth++;
      mark(true);
    });
    page.addEventListener("dragleave", () => {
      depth = Math.max(0, depth - 1);
      if (!depth) mark(false);
    });
    page.addEventListener("dragover", (event) => event.preventDefault());
    page.addEventListener("drop", (event) => {
      event.preventDefault();
      depth = 0;
      mark(false);
      const { dataTransfer } = event;
      if (dataTransfer) void droppedFiles(dataTransfer).then((files) => this.upload(files));
    });
  }
}

/** Move through a list with the up and down arrows, Home and End, as in a file manager. */
function walkList(list: HTMLElement, event: KeyboardEvent): void {
  const { key } = event;
  if (!["ArrowDown", "ArrowUp", "Home", "End"].includes(key) || event.altKey || event.ctrlKey || event.metaKey) return;
  const items = [...list.querySelectorAll<HTMLElement>("button.item")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[key]!;
  items[to]?.focus();
}
