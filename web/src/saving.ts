/** Save and close clips without losing work. */
import type { App } from "./app";
import { download, sentenceList, visible } from "./dom";
import type { Change } from "./history";
import type { MotionInfo } from "./messages";

/** Number of clips whose names are listed. */
const MAX_NAMES = 5;

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
  app.notices.info(info.edited && saved.path !== info.file ? `Saved to the new file ${saved.path}` : `Saved ${saved.path}`);
  app.folderChanged.emit();
  return true;
}

/** Close clips. If some are new or have changes, ask the user once. Closing can be undone for a while. */
export function closeClips(app: App, infos: readonly MotionInfo[]): void {
  const only = infos.length === 1 ? infos[0]! : null;
  const close = async () => {
    for (const { motion } of infos) await app.shut(motion);
    let last: Change | null = null;
    // They are reopened in their order.
    app.history.together(() => [...infos].reverse().forEach((info) => (last = app.history.recordClosed(info))));
    if (last) app.notices.ask(`Closed ${only ? visible(only.name) : `${infos.length} clips`}`, [["Undo", () => app.history.revert(last!)]], true);
  };
  const quietly = () => void close().catch(() => undefined);
  const saveAll = async () => {
    for (const info of changed) if (!(await save(app, info))) return;
    quietly();
  };
  const changed = infos.filter(hasChanges);
  if (!changed.length) {
    quietly();
    return;
  }
  const names = changed.slice(0, MAX_NAMES).map(({ name }) => visible(name));
  if (changed.length > names.length) names.push(`${changed.length - names.length} more`);
  const what = only && losesWork(only) ? "has changes that are not saved" : changed.length === 1 ? "is not saved" : "are not saved";
  app.notices.ask(`${sentenceList(names)} ${what}.`, [["Save and close", () => void saveAll()], ["Close anyway", quietly]], false, only?.motion ?? "");
}
