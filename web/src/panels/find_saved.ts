/** Saved match webs or spaces in the open folder: one row to load a file, and one to save the current state. */
import { messageOf, type App } from "../app";
import { button, choice, el, setOptions } from "../dom";
import type { SavedFile, SaveFound } from "../messages";
import { sentence } from "./find_example";

type Kind = SaveFound["kind"];

const CHOOSE = "choose…";

export interface Saved {
  /** The list of files to load; hidden if there are none. */
  readonly opening: HTMLElement;
  /** The name field and the save button. */
  readonly saving: HTMLElement;
  /** Show the folder's files; `mayBeSaved` says whether there is something to save. */
  show(files: SavedFile[], mayBeSaved: boolean): void;
}

export interface SavedOptions {
  kind: Kind;
  /** Default file name. */
  name: string;
  open: (path: string) => void;
  /** Called when a file was written. */
  saved: () => void;
}

export function savedFiles(app: App, options: SavedOptions): Saved {
  const list = choice("Open saved", [], "", (path) => {
    list.select.value = "";
    if (!path) return;
    name.value = path.slice(path.lastIndexOf("/") + 1).replace(/\.npz$/i, "");
    options.open(path);
  });
  const called = options.kind === "web" ? "Search index" : "Target control";
  const name = el("input", { type: "text", value: options.name, aria: { label: `${called} name` } });
  const message = el("p", { class: "hint", hidden: true, aria: { live: "polite" } });
  const instead = button("Overwrite", () => void save(true), "Overwrite the existing file");
  const write = button("Save", () => void save(false), `Save the ${called.toLowerCase()} to the open folder as NAME.npz`);
  const again = el("div", { class: "row", hidden: true }, instead);
  const saving = el("div", { class: "stack", hidden: true }, el("div", { class: "save-row" }, name, write), message, again);

  const say = (text: string, mayReplace = false) => {
    message.textContent = text;
    message.hidden = !text;
    again.hidden = !mayReplace;
  };
  async function save(replace: boolean): Promise<void> {
    const called = name.value.trim();
    if (!called) {
      say("Enter a file name first.");
      name.focus();
      return;
    }
    // Problems with the name are shown next to it, not as a notice for each attempt.
    const done = await app.connection.ask("find_save", { kind: options.kind, name: called, replace }).catch((error: unknown) => {
      say(sentence(messageOf(error)));
      return null;
    });
    if (!done) return;
    say(done.was_there ? `${done.path} already exists. Overwrite it, or choose another name.` : "", done.was_there);
    if (done.was_there) return;
    app.notices.info(`Saved ${done.path}`);
    options.saved();
  }
  name.addEventListener("input", () => say(""));
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter") void save(false);
  });
  return {
    opening: list,
    saving,
    show(files, mayBeSaved) {
      const saved = files.filter(({ kind }) => kind === options.kind).map(({ path }): [string, string] => [path, path]);
      list.hidden = !saved.length;
      setOptions(list.select, [["", CHOOSE], ...saved], "");
      saving.hidden = !mayBeSaved;
    },
  };
}
