/** Save and close clips without losing work. */
import type { App } from "./app";
import { download, visible } from "./dom";
import type { MotionInfo } from "./messages";

/** Whether the annotations or the frames of a clip are not saved in any file. */
export function hasChanges({ unsaved, edited }: MotionInfo): boolean {
  return unsaved || edited;
}

/** Whether closing a clip would lose changes to its file. Results of panels can be made again. */
function losesWork(info: MotionInfo): boolean {
  return info.unsaved || (info.edited && (info.file !== "" || info.undo > 0));
}

/** Whether leaving the page would lose changes. */
export function losesAny(app: App): boolean {
  return [...app.motions.values()].some(({ info }) => losesWork(info));
}

/** The text beside a clip's name in the list of clips. */
export function stateOf(info: MotionInfo): string {
  if (losesWork(info)) return "edited";
  return info.edited ? "new" : `${info.seconds.toFixed(1)} s`;
}

/** Save what has changed of the selected clip. Returns whether it is saved now. */
export async function saveSelected(app: App): Promise<boolean> {
  return app.selected ? save(app, app.selected.info) : false;
}

async function save(app: App, info: MotionInfo): Promise<boolean> {
  if (app.changing.has(info.motion)) {
    app.notices.info(`${visible(info.name)} is still being changed. Save it when that is done.`);
    return false;
  }
  if (!hasChanges(info)) return true;
  const saved = await app.ask("save", { motion: info.motion }).catch(() => null);
  if (!saved) return false;
  app.update(saved.motion);
  app.notices.answer(info.motion);
  if (saved.url) download(saved.url, saved.path);
  app.notices.info(`Saved ${saved.path}`);
  app.folderChanged.emit();
  return true;
}

/** Close a clip. If it has changes, ask the user first. Closing can be undone for a while. */
export function closeClip(app: App, info: MotionInfo): void {
  const name = visible(info.name);
  const close = async () => {
    const change = await app.forget(info.motion);
    if (change) app.notices.ask(`Closed ${name}`, [["Undo", () => app.history.revert(change)]], true);
  };
  const quietly = () => void close().catch(() => undefined);
  if (!losesWork(info)) quietly();
  else {
    app.notices.ask(`${name} has changes that are not saved.`, [
      ["Save and close", () => void save(app, info).then((saved) => saved && quietly())],
      ["Close anyway", quietly],
    ], false, info.motion);
  }
}
