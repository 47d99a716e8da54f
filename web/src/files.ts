/** The left side: open motions, and the folder's files with a filter. Files dropped on the page are uploaded. */
import { messageOf, type App } from "./app";
import { button, byId, el, visible } from "./dom";
import { droppedFiles, inOrder } from "./drops";
import type { FileEntry, Refused } from "./messages";
import { closeClip, stateOf } from "./saving";

/** Number of rows added to the list at a time; more are added when the user scrolls down. */
const ROWS = 200;
/** Maximum number of motions that one drop opens. */
const OPENED_AT_ONCE = 24;
/** Maximum number of failed files in one drop that are reported individually. */
const TOLD_SINGLY = 4;

export class Files {
  private files: FileEntry[] = [];
  private readonly list = el("ul", { class: "files", aria: { label: "Files" } });
  private readonly filter = el("input", { type: "search", placeholder: "Filter", aria: { label: "Filter files" } });
  private readonly count = el("span", { class: "dim count" });
  private readonly title = el("h2", { text: "Folder" });
  private readonly opened = el("ul", { class: "opened", aria: { label: "Open clips" } });
  /** Paths of the files that are being opened. */
  private readonly opening = new Set<string>();
  private shown = 0;
  private matching: FileEntry[] = [];

  constructor(private readonly app: App) {
    const pick = el("input", { type: "file", hidden: true, aria: { label: "Add files" } });
    pick.multiple = true;
    pick.addEventListener("change", () => void this.upload([...(pick.files ?? [])]).then(() => (pick.value = "")));
    const add = button("Add files…", () => pick.click(), "Add files from this computer, or drop them anywhere on the page");
    const again = button("↻", () => void this.load(), "Refresh the list of files", "quiet");
    again.setAttribute("aria-label", "Refresh");
    const head = el("div", { class: "row" }, this.title, this.count, again);
    byId("left").append(
      el("section", { class: "opened-box" }, el("div", { class: "row" }, el("h2", { text: "Clips" }), add, pick), this.opened),
      el("section", { class: "files-box" }, head, this.filter, this.list),
    );
    this.filter.addEventListener("input", () => {
      this.draw();
      this.list.scrollTop = 0;
    });
    this.list.addEventListener("scroll", () => {
      if (this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 200) this.more();
    });
    this.list.addEventListener("keydown", (event) => walkList(this.list, event, () => this.more()));
    this.opened.addEventListener("keydown", (event) => walkList(this.opened, event));
    // Only one of hundreds of files is a Tab stop; the arrow keys move between them.
    this.list.addEventListener("focusin", ({ target }) => this.setStop(target as HTMLElement));
    app.motionsChanged.on(() => this.drawOpened());
    app.selectionChanged.on(() => this.drawOpened());
    app.infoChanged.on(() => this.drawOpened());
    app.folderChanged.on(() => void this.load().catch(() => undefined));
    this.drawOpened();
    this.takeDrops();
  }

  async load(asked = this.app.ask("list", {})): Promise<FileEntry[]> {
    const listed = await asked;
    const same = JSON.stringify(this.files) === JSON.stringify(listed.files);
    this.files = listed.files;
    this.title.textContent = visible(listed.folder) || "No folder open";
    this.title.title = listed.folder;
    this.count.title = listed.skipped ? `${listed.skipped} more files are not listed` : "";
    if (!same || !this.list.childElementCount) this.draw();
    return this.files;
  }

  open(path: string): Promise<void> {
    return this.app.open({ path });
  }

  /** Open a file; if it is already open, select it instead of loading it again. */
  private openOnce(path: string): void {
    const there = [...this.app.motions.values()].find(({ info }) => info.where === "folder" && info.file === path);
    if (there) this.app.select(there.info.motion);
    else if (!this.opening.has(path)) {
      this.markOpening(path, true);
      void this.open(path).finally(() => this.markOpening(path, false));
    }
  }

  private markOpening(path: string, on: boolean): void {
    if (on) this.opening.add(path);
    else this.opening.delete(path);
    for (const row of this.list.querySelectorAll<HTMLElement>("button.item")) {
      if (row.dataset["path"] === path) row.setAttribute("aria-busy", String(on));
    }
  }

  private setStop(row: HTMLElement | null): void {
    if (!row) return;
    for (const before of this.list.querySelectorAll<HTMLElement>("button.item[tabindex='0']")) before.tabIndex = -1;
    row.tabIndex = 0;
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
    if (failed.length > TOLD_SINGLY) this.app.notices.error(`${failed.length} files could not be opened; the first: ${failed[0]}`);
    else for (const text of failed) this.app.notices.error(text);
    if (left) this.app.notices.info(`${left} more clips were skipped. Run marey studio FOLDER to list a whole folder.`);
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
      report(`Could not add ${file.name}: ${messageOf(error)}`);
      return false;
    }
  }

  private draw(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.matching = this.files.filter((file) => {
      const text = `${file.path} ${file.labels.join(" ")}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const all = this.files.length;
    this.count.textContent = this.matching.length === all ? `${all}` : `${this.matching.length} of ${all}`;
    const { scrollTop } = this.list;
    const rows = Math.max(ROWS, this.shown);
    const focused = this.list.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset["path"] : undefined;
    this.list.replaceChildren();
    this.shown = 0;
    this.more(rows);
    this.list.scrollTop = scrollTop;
    const items = [...this.list.querySelectorAll<HTMLElement>("button.item")];
    const again = items.find((item) => item.dataset["path"] === focused);
    this.setStop(again ?? items[0] ?? null);
    again?.focus();
  }

  private more(rows = ROWS): void {
    const next = this.matching.slice(this.shown, this.shown + rows);
    this.shown += next.length;
    this.list.append(...next.map((file) => this.fileRow(file)));
  }

  private fileRow(file: FileEntry): HTMLElement {
    const slash = file.path.lastIndexOf("/") + 1;
    const name = el("span", { class: "name" });
    if (slash) name.append(el("span", { class: "dim", text: file.path.slice(0, slash) }));
    name.append(visible(file.path.slice(slash)));
    const size = el("span", { class: "dim size", text: sizeText(file.size) });
    const title = [file.path, `${sizeText(file.size)}, ${file.format}`, ...file.labels].map(visible).join("\n");
    const open = el("button", { type: "button", class: "item", title, tabIndex: -1, data: { path: file.path }, on: { click: () => this.openOnce(file.path) } }, name, size);
    open.setAttribute("aria-busy", String(this.opening.has(file.path)));
    return el("li", {}, open);
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
        this.drawOpened();
      });
      const name = el("span", { class: "name", text: info.name });
      const state = el("span", { class: "dim size", text: stateOf(info) });
      const item = el("button", { type: "button", class: "item", title: `${visible(info.name)}\n${info.n_frames} frames at ${info.fps.toFixed(2)} Hz`, on: { click: () => app.select(info.motion) } }, name, state);
      item.setAttribute("aria-current", String(app.selected === shot));
      const close = button("×", () => closeClip(app, info), "Close", "quiet");
      close.setAttribute("aria-label", `Close ${info.name}`);
      return el("li", { data: { motion: info.motion } }, dot, item, close);
    });
    this.opened.replaceChildren(...rows);
    this.opened.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
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

/** Move through a list with the up and down arrows, Home and End, as in a file manager. `more` adds further items. */
function walkList(list: HTMLElement, event: KeyboardEvent, more: () => void = () => undefined): void {
  const { key } = event;
  if (!["ArrowDown", "ArrowUp", "Home", "End"].includes(key) || event.altKey || event.ctrlKey || event.metaKey) return;
  let items = [...list.querySelectorAll<HTMLElement>("button.item")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  event.preventDefault();
  event.stopPropagation();
  if (key === "ArrowDown" && at === items.length - 1) {
    more();
    items = [...list.querySelectorAll<HTMLElement>("button.item")];
  }
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[key]!;
  items[to]?.focus();
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
