/** Projects: save and reopen clips, panels, settings and camera. Reopening works like a reload of the page. */
import { messageOf, type App } from "./app";
import { button, el, visible } from "./dom";
import { losesAny } from "./saving";
import { saveTabState, tabState } from "./tab_state";

/** What a project keeps of the page; the server stores it unread. */
interface PageState {
  panel: string;
  motion: string;
  frame: number;
  choices: Record<string, unknown>;
}

/** Set while the page reloads to show a project: what was open is gone already. */
let leaving = false;

export function isLeaving(): boolean {
  return leaving;
}

const SUFFIX = ".marey-project.json";

/**
 * Save the project, under a name that the user chooses the first time. Whenever clips would be saved to new files, the
 * user sees which, and can cancel.
 */
export async function saveProject(app: App): Promise<void> {
  const { files, open } = await app.ask("project_list", {});
  const written = [...app.motions.values()].filter(({ info }) => info.edited || info.where === "uploads").map(({ info }) => info.name);
  if (open && !written.length) await write(app, open).catch(() => undefined);
  else askName(app, open.replace(SUFFIX, "") || (files.length ? `project_${files.length + 1}` : "project"), written);
}

async function write(app: App, name: string, report?: (text: string) => void): Promise<void> {
  // Panels store their state when the page is left.
  window.dispatchEvent(new Event("pagehide"));
  const { panel, motion, frame, choices } = tabState();
  const state: PageState = { panel, motion, frame, choices };
  const saved = await app.ask("project_save", { name, state: { ...state } }, {}, report);
  for (const info of saved.motions) app.update(info);
  for (const note of saved.notes) app.notices.error(note);
  app.folderChanged.emit();
  app.notices.info(`Saved ${saved.file}${saved.motions.length ? `, and ${saved.motions.length} changed clip${saved.motions.length > 1 ? "s" : ""} as new files` : ""}`);
}

/** Ask for the name of the project; `written` are the names of clips that will be saved to new files. */
function askName(app: App, suggested: string, written: readonly string[]): void {
  const name = el("input", { type: "text", value: suggested, aria: { label: "Name" } });
  const failure = el("p", { class: "missed", role: "alert", hidden: true });
  const save = () => void write(app, name.value, (text) => {
    failure.textContent = visible(text);
    failure.hidden = false;
  }).then(() => dialog.close(), () => undefined);
  name.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") save();
  });
  const dialog = el("dialog", { class: "shortcuts", aria: { label: "Save project" } }, el("h2", { text: "Save project" }),
    el("p", { class: "dim", text: "A project reopens these clips, panels, settings and camera." }),
    ...(written.length ? [el("p", { text: "These clips are saved to files of their own in the folder; recordings stay as they are:" }),
      el("ul", { class: "written" }, ...written.map((text) => el("li", { text })))] : []),
    el("label", { class: "field" }, el("span", { text: "Name" }), name), failure,
    el("div", { class: "row" }, el("span", { class: "spacer" }), button("Cancel", () => dialog.close()), button("Save", save, "", "primary")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  name.select();
}

/** Let the user choose a project of the open folder. */
export async function chooseProject(app: App): Promise<void> {
  const { files } = await app.ask("project_list", {});
  const rows = files.map((file) => el("li", {}, el("button", { type: "button", class: "item", on: { click: () => {
    dialog.close();
    void openProject(app, file);
  } } }, el("span", { class: "name", text: file.replace(SUFFIX, "") }))));
  const none = el("p", { class: "dim", text: "The open folder has no projects. The start page lists recent ones." });
  const dialog = el("dialog", { class: "shortcuts folder-dialog", aria: { label: "Open project" } }, el("h2", { text: "Open project" }),
    rows.length ? el("ul", { class: "folders" }, ...rows) : none,
    el("div", { class: "row" }, el("span", { class: "spacer" }), button("Cancel", () => dialog.close())));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Open a project in place of what is open; asks first if that would lose changes. */
export async function openProject(app: App, path: string): Promise<void> {
  if (losesAny(app)) {
    app.notices.ask("Some clips have changes that are not saved.", [
      ["Save project", () => void saveProject(app).catch(() => undefined)],
      ["Open anyway", () => void replaceAll(app, path)],
    ]);
  } else await replaceAll(app, path);
}

async function replaceAll(app: App, path: string): Promise<void> {
  try {
    const { motions, ids, state, notes } = await app.ask("project_open", { path });
    const now = new Map(ids.map((id, k) => [id, motions[k]!.motion]));
    const { panel, motion, frame, choices } = renamed(state, now) as Partial<PageState>;
    const next = {
      panel: typeof panel === "string" ? panel : "", motion: typeof motion === "string" ? motion : "", frame: typeof frame === "number" ? frame : 0,
      choices: { ...(choices && typeof choices === "object" ? choices : {}), notes },
    };
    leaving = true;
    // This listener is added last, so it runs after those that store the state of the old clips.
    window.addEventListener("pagehide", () => saveTabState(next));
    location.reload();
  } catch (error) {
    console.warn(messageOf(error));
  }
}

/** Replace the ids of clips in saved state by their new ones. */
function renamed(value: unknown, now: Map<string, string>): unknown {
  if (typeof value === "string") return now.get(value) ?? value;
  if (Array.isArray(value)) return value.map((each) => renamed(each, now));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, each]) => [now.get(key) ?? key, renamed(each, now)]));
  return value;
}
