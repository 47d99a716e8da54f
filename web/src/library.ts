/**
 * The library: the folder's files as rows, or as tiles over the scene, with thumbnails, filters and selection.
 *
 * Only the rows in view are elements of the page, so thousands of files scroll without delay. The server reads the
 * files in the background; until then a row shows the file's name alone.
 */
import type { App } from "./app";
import { button, choice, el, nameOf, visible } from "./dom";
import { LibraryFilters } from "./library_filters";
import type { FileEntry, FolderList, LibraryRow } from "./messages";
import { PANELS } from "./panels";
import { Thumbnails, THUMB } from "./library_thumbnails";

/** Heights of a row and of a tile with its gap, and the minimum width of a tile, in pixels. */
const ROW = 46;
const TILE = 152;
const TILE_WIDTH = 132;
/** Size of the picture in a tile. */
const LARGE = { width: 116, height: 96, margin: 4 };
/** Rows beyond the visible ones that are drawn, too. */
const BEYOND = 6;
/** Milliseconds after the list was loaded until the files are read: opening the first one comes first. */
const INDEX_AFTER = 1500;
/** Maximum number of files that are opened together without asking the user. */
const MANY = 24;

export class Library {
  readonly element: HTMLElement;
  private files: FileEntry[] = [];
  private matching: FileEntry[] = [];
  private readonly rows = new Map<string, LibraryRow>();
  private readonly chosen = new Set<string>();
  /** Paths of the files that are being opened. */
  private readonly opening = new Set<string>();
  private readonly list = el("ul", { class: "files", aria: { label: "Files" } });
  private readonly spacer = el("li", { class: "spacer-row", aria: { hidden: "true" } });
  private readonly filter = el("input", { type: "search", placeholder: "Filter", aria: { label: "Filter files" } });
  private readonly count = el("span", { class: "dim count" });
  private readonly title = el("h2", { text: "Folder" });
  private readonly progress = el("progress", { hidden: true, aria: { label: "Reading files" } });
  private readonly filters = new LibraryFilters(() => this.refilter());
  private readonly thumbnails: Thumbnails;
  private readonly bar = el("div", { class: "row chosen-bar", hidden: true });
  /** Elements of the files in view, by index. */
  private readonly drawn = new Map<number, HTMLElement>();
  /** Index of the file that Tab reaches; the arrow keys move it. */
  private stop = 0;
  /** Index at which a range selected with Shift begins. */
  private anchor = 0;
  private wide = false;
  private columns = 1;
  private indexing = false;
  private again = false;

  constructor(private readonly app: App) {
    this.thumbnails = new Thumbnails((paths) => app.connection.ask("library_thumbnails", { paths }).then((reply) => reply.thumbnails));
    const refresh = button("↻", () => void this.load(), "Refresh the list of files", "quiet");
    refresh.setAttribute("aria-label", "Refresh");
    const widen = button("⊞", () => this.setWide(!this.wide), "Show the files as large tiles over the scene", "quiet");
    widen.setAttribute("aria-label", "Large tiles");
    const more = button("▾", () => this.filters.toggle(more), "Filter by label, quality, length and speed, or sort", "quiet");
    more.setAttribute("aria-label", "More filters");
    more.setAttribute("aria-expanded", "false");
    this.progress.max = 1;
    this.element = el("section", { class: "files-box" },
      el("div", { class: "row" }, this.title, this.count, refresh, widen),
      el("div", { class: "row" }, this.filter, more), this.filters.element, this.progress, this.list, this.bar);
    this.list.append(this.spacer);
    this.filter.addEventListener("input", () => this.refilter());
    this.list.addEventListener("scroll", () => this.draw());
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("focusin", ({ target }) => this.setStop(target as HTMLElement));
    new ResizeObserver(() => this.layOut()).observe(this.list);
    app.events.on((event) => {
      if (event.event === "library_rows") this.takeRows(event.rows, event.done / Math.max(1, event.total));
    });
    app.folderChanged.on(() => void this.load().catch(() => undefined));
    app.themes.changed.on(() => this.redraw());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.wide && !event.defaultPrevented) this.setWide(false);
    });
  }

  async load(asked = this.app.ask("list", {})): Promise<FileEntry[]> {
    const listed = await asked;
    const before = new Map(this.files.map((file) => [file.path, file]));
    this.show(listed);
    for (const file of this.files) {
      const old = before.get(file.path);
      if (old && (old.size !== file.size || old.modified !== file.modified)) this.thumbnails.forget(file.path);
    }
    if (this.files.length) setTimeout(() => void this.index(), INDEX_AFTER);
    return this.files;
  }

  private show(listed: FolderList): void {
    const same = JSON.stringify(this.files) === JSON.stringify(listed.files);
    this.files = listed.files;
    this.title.textContent = visible(listed.folder) || "No folder open";
    this.title.title = listed.folder;
    this.count.title = listed.skipped ? `${listed.skipped} more ${listed.skipped === 1 ? "file is" : "files are"} not listed` : "";
    for (const path of [...this.chosen]) if (!this.files.some((file) => file.path === path)) this.chosen.delete(path);
    if (!same) this.refilter(false);
  }

  /** Let the server read files that are new or have changed. */
  private async index(): Promise<void> {
    if (this.indexing) {
      this.again = true;
      return;
    }
    this.indexing = true;
    try {
      await this.app.connection.ask("library_index", {});
    } catch {
      // Without an index, the list shows only names.
    } finally {
      this.indexing = false;
      this.progress.hidden = true;
    }
    if (this.again) {
      this.again = false;
      void this.index();
    }
  }

  private takeRows(rows: readonly LibraryRow[], done: number): void {
    for (const row of rows) this.rows.set(row.path, row);
    this.filters.offer([...this.rows.values()]);
    this.progress.hidden = done >= 1;
    this.progress.value = done;
    this.progress.title = `Reading files: ${Math.round(100 * done)} %`;
    const before = this.matching;
    this.match();
    if (before.length !== this.matching.length || before.some((file, i) => file !== this.matching[i])) {
      this.redraw();
      return;
    }
    // Rows that stay keep their elements: the user may be pressing one.
    const read = new Set(rows.map(({ path }) => path));
    for (const [index] of this.drawn) if (read.has(this.matching[index]!.path)) this.fill(this.itemAt(index)!, this.matching[index]!);
  }

  private refilter(toTop = true): void {
    this.match();
    if (toTop) this.list.scrollTop = 0;
    this.redraw();
  }

  /** Find the files that the filters accept. */
  private match(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { filters } = this;
    this.matching = filters.sort(this.files.filter((file) => {
      const row = this.rows.get(file.path);
      const text = `${file.path} ${(row?.labels ?? file.labels).join(" ")}`.toLowerCase();
      return words.every((word) => text.includes(word)) && filters.accepts(row);
    }), this.rows);
    const all = this.files.length;
    this.count.textContent = this.matching.length === all ? `${all}` : `${this.matching.length} of ${all}`;
  }

  private setWide(wide: boolean): void {
    this.wide = wide;
    document.body.classList.toggle("library-wide", wide);
    this.list.classList.toggle("tiles", wide);
    this.redraw();
  }

  private get rowHeight(): number {
    return this.wide ? TILE : ROW;
  }

  private layOut(): void {
    const columns = this.wide ? Math.max(1, Math.floor((this.list.clientWidth - 12) / TILE_WIDTH)) : 1;
    if (columns === this.columns) this.draw();
    else this.redraw();
  }

  /** Redraw all rows in view, and keep the focus. */
  private redraw(): void {
    this.columns = this.wide ? Math.max(1, Math.floor((this.list.clientWidth - 12) / TILE_WIDTH)) : 1;
    // A clicked row gives up the focus; see `releaseClicked`.
    const focused = document.activeElement?.matches(":focus-visible") ? document.activeElement.closest<HTMLElement>(".files .item")?.dataset["path"] : undefined;
    this.drawn.forEach((node) => node.remove());
    this.drawn.clear();
    this.spacer.style.height = `${Math.ceil(this.matching.length / this.columns) * this.rowHeight}px`;
    const again = focused === undefined ? -1 : this.matching.findIndex((file) => file.path === focused);
    this.stop = again >= 0 ? again : Math.min(this.stop, Math.max(0, this.matching.length - 1));
    this.draw();
    if (again >= 0) this.itemAt(again)?.focus({ preventScroll: true });
    this.drawBar();
  }

  /** Add the rows that came into view and remove those that left it. */
  private draw(): void {
    const { columns, rowHeight } = this;
    const first = Math.max(0, Math.floor(this.list.scrollTop / rowHeight) - BEYOND) * columns;
    const last = Math.min(this.matching.length, (Math.ceil((this.list.scrollTop + this.list.clientHeight) / rowHeight) + BEYOND) * columns);
    for (const [index, node] of this.drawn) {
      if ((index >= first && index < last) || node.contains(document.activeElement)) continue;
      node.remove();
      this.drawn.delete(index);
    }
    const width = columns > 1 || this.wide ? Math.floor((this.list.clientWidth - 12) / columns) : 0;
    for (let index = last - 1, next: HTMLElement | null = null; index >= first; index--) {
      const there = this.drawn.get(index);
      if (there) {
        next = there;
        continue;
      }
      const node = this.row(this.matching[index]!, index);
      node.style.transform = `translate(${(index % columns) * width}px, ${Math.floor(index / columns) * rowHeight}px)`;
      node.style.width = width ? `${width}px` : "100%";
      this.drawn.set(index, node);
      // In the order of the list, for screen readers.
      this.list.insertBefore(node, next);
      next = node;
    }
  }

  private row(file: FileEntry, index: number): HTMLElement {
    const open = el("button", { type: "button", class: "item", tabIndex: index === this.stop ? 0 : -1, data: { path: file.path } });
    this.fill(open, file);
    open.addEventListener("click", (event) => this.click(event, index));
    open.addEventListener("pointerenter", () => this.thumbnails.play(open.querySelector("canvas")!));
    open.setAttribute("aria-busy", String(this.opening.has(file.path)));
    const box = el("input", { type: "checkbox", tabIndex: -1, checked: this.chosen.has(file.path), title: "Select (Ctrl+click; Shift+click selects a range)", aria: { label: `Select ${file.path}` } });
    box.addEventListener("change", () => {
      this.anchor = index;
      this.choose([index], box.checked);
    });
    const node = el("li", { class: this.chosen.has(file.path) ? "chosen" : "" }, open, box);
    node.setAttribute("aria-posinset", String(index + 1));
    node.setAttribute("aria-setsize", String(this.matching.length));
    return node;
  }

  /** Show what is known of a file. */
  private fill(open: HTMLElement, file: FileEntry): void {
    const row = this.rows.get(file.path);
    const slash = file.path.lastIndexOf("/") + 1;
    const [, stem = "", extension = ""] = /^(.+?)(\.[^.]*)?$/.exec(file.path.slice(slash)) ?? [];
    const name = nameOf(stem, extension);
    if (slash) name.append(el("span", { class: "dim rest folder", text: ` ${file.path.slice(0, slash - 1)}` }));
    const facts = el("span", { class: row?.reason ? "missed size" : "dim size", text: row ? factsOf(row) : sizeText(file.size) });
    const labels = row?.labels ?? file.labels;
    if (labels.length) facts.append(el("span", { class: "tags", text: ` ${labels.join(", ")}` }));
    const canvas = el("canvas", { class: "thumb", aria: { hidden: "true" } });
    this.thumbnails.show(canvas, file.path, !!row && !row.reason, this.wide ? LARGE : THUMB);
    open.title = describe(file, row);
    open.setAttribute("aria-label", `${name.textContent} ${facts.textContent}`);
    open.replaceChildren(canvas, el("span", { class: "text" }, name, " ", facts), ...this.findings(row));
  }

  private findings(row: LibraryRow | undefined): HTMLElement[] {
    if (row?.reason) return [el("span", { class: "mark severe", text: "!", title: row.reason, role: "img", aria: { label: "Cannot be read" } })];
    if (!row?.findings.length) return [];
    const severe = row.findings.some(({ severity }) => severity === "severe");
    const text = `${row.findings.length} ${row.findings.length === 1 ? "issue" : "issues"}`;
    return [el("span", { class: severe ? "mark severe" : "mark", text: severe ? "!" : "•", title: row.findings.map(({ message }) => message).join("\n"), role: "img", aria: { label: text } })];
  }

  private click(event: MouseEvent, index: number): void {
    const path = this.matching[index]!.path;
    if (event.shiftKey) {
      const [from, to] = [Math.min(this.anchor, index), Math.max(this.anchor, index)];
      this.choose(Array.from({ length: to - from + 1 }, (_, k) => from + k), true);
      return;
    }
    this.anchor = index;
    if (event.ctrlKey || event.metaKey) {
      this.choose([index], !this.chosen.has(path));
    } else {
      if (this.wide) this.setWide(false);
      void this.openPath(path);
    }
  }

  private choose(indices: readonly number[], on: boolean): void {
    for (const index of indices) {
      const file = this.matching[index];
      if (file && on) this.chosen.add(file.path);
      else if (file) this.chosen.delete(file.path);
    }
    this.stop = indices.at(-1) ?? this.stop;
    this.redraw();
  }

  /** The bar below the list with what can be done with the selected files. */
  private drawBar(): void {
    const n = this.chosen.size;
    this.bar.hidden = !n;
    this.list.classList.toggle("choosing", n > 0);
    if (!n) return;
    const use = choice("", [["", "Open in…"], ...PANELS.filter(({ name }) => USES.includes(name)).map(({ name, title }): [string, string] => [name, title])], "", (panel) => void this.openChosen(panel));
    use.select.setAttribute("aria-label", "Open in a panel");
    use.select.title = "Open the selected files and use them in a panel";
    const clear = button("×", () => {
      this.chosen.clear();
      this.redraw();
    }, "Clear the selection", "quiet");
    clear.setAttribute("aria-label", "Clear the selection");
    this.bar.replaceChildren(button(`Open ${n}`, () => void this.openChosen(""), `Open the ${n} selected files`), use.select, clear);
  }

  private async openChosen(panel: string, sure = false): Promise<void> {
    const paths = this.files.map(({ path }) => path).filter((path) => this.chosen.has(path));
    if (paths.length > MANY && !sure) {
      this.app.notices.ask(`Open ${paths.length} files?`, [["Open all", () => void this.openChosen(panel, true)]]);
      return;
    }
    this.chosen.clear();
    this.setWide(false);
    for (const path of paths) await this.openPath(path);
    const clips = [...this.app.motions.values()].filter(({ info }) => info.where === "folder" && paths.includes(info.file ?? ""));
    if (panel) this.app.clipsSent.emit({ panel, clips: clips.map(({ info }) => info.motion) });
  }

  /** Open a file; if it is already open, select it instead of loading it again. */
  private async openPath(path: string): Promise<void> {
    const there = [...this.app.motions.values()].find(({ info }) => info.where === "folder" && info.file === path);
    if (there) this.app.select(there.info.motion);
    else if (!this.opening.has(path)) {
      this.markOpening(path, true);
      await this.app.open({ path }).finally(() => this.markOpening(path, false));
    }
  }

  private markOpening(path: string, on: boolean): void {
    if (on) this.opening.add(path);
    else this.opening.delete(path);
    for (const row of this.list.querySelectorAll<HTMLElement>("button.item")) {
      if (row.dataset["path"] === path) row.setAttribute("aria-busy", String(on));
    }
  }

  private itemAt(index: number): HTMLElement | null {
    return this.drawn.get(index)?.querySelector<HTMLElement>("button.item") ?? null;
  }

  private setStop(target: HTMLElement): void {
    const at = [...this.drawn].find(([, node]) => node.contains(target))?.[0];
    if (at === undefined) return;
    this.itemAt(this.stop)?.setAttribute("tabindex", "-1");
    this.stop = at;
    this.itemAt(at)?.setAttribute("tabindex", "0");
  }

  /** Move through the list with the arrow keys, Page Up and Down, Home and End; with Shift, select. */
  private key(event: KeyboardEvent): void {
    const { key } = event;
    if (event.altKey || !this.matching.length) return;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "a") {
      event.preventDefault();
      event.stopPropagation();
      this.choose(this.matching.map((_, index) => index), true);
      return;
    }
    const page = Math.max(1, Math.floor(this.list.clientHeight / this.rowHeight)) * this.columns;
    const by: Record<string, number> = {
      ArrowDown: this.columns, ArrowUp: -this.columns, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity,
      ...(this.wide ? { ArrowLeft: -1, ArrowRight: 1 } : {}),
    };
    if (!(key in by) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const from = this.stop;
    const to = Math.min(this.matching.length - 1, Math.max(0, this.stop + by[key]!));
    this.reveal(to);
    this.itemAt(to)?.focus({ preventScroll: true });
    if (event.shiftKey) this.choose([from, to], true);
  }

  private reveal(index: number): void {
    const top = Math.floor(index / this.columns) * this.rowHeight;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top + this.rowHeight > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + this.rowHeight - this.list.clientHeight;
    this.draw();
  }
}

/** Panels that work with several open clips. */
const USES = ["compare", "blend", "graph", "find", "layer", "author", "drive"];

function factsOf(row: LibraryRow): string {
  if (row.reason) return row.reason;
  const clips = row.clips > 1 ? `${row.clips} clips · ` : "";
  return `${clips}${lengthText(row.seconds)} · ${Number(row.fps.toFixed(1))} Hz`;
}

function lengthText(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")} min`;
}

function describe(file: FileEntry, row: LibraryRow | undefined): string {
  const lines = [file.path, `${sizeText(file.size)}, ${file.format}`];
  if (row?.reason) lines.push(row.reason);
  else if (row) {
    lines.push(`${lengthText(row.seconds)} at ${Number(row.fps.toFixed(2))} Hz`);
    lines.push(`${row.speed.toFixed(1)} m/s, ${row.distance.toFixed(1)} m, turns ${Math.round(Math.abs(row.turn))}° ${row.turn < 0 ? "right" : "left"}`);
    lines.push(...row.findings.map(({ message }) => message));
  }
  lines.push(...(row?.labels ?? file.labels));
  return lines.map(visible).join("\n");
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
