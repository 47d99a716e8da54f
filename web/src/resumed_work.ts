/**
 * Jobs that were running when the page was reloaded: show them again, let the user cancel them, and add their results.
 */
import { messageOf, type App } from "./app";
import { Failed, type ResumedWork } from "./connection";
import type { MotionInfo } from "./messages";
import { tabState } from "./tab_state";

export async function showResumedWork(app: App, { work, answer, progress, cancel }: ResumedWork): Promise<void> {
  const title = String(tabState().choices[`title ${work.command}`] ?? "Working");
  const notice = app.notices.job(title, cancel);
  if (work.text) notice.progress(work.fraction, work.text);
  const stop = progress.on(({ fraction, text }) => notice.progress(fraction, text));
  try {
    const motions = motionsIn(await answer);
    for (const info of motions) app.add(info);
    app.workEnded.emit();
    app.notices.info(motions.length ? `${title}: done` : `${title}: done; open its panel to see the result`);
  } catch (error) {
    if (!(error instanceof Failed && error.type === "Cancelled")) app.notices.error(messageOf(error));
  } finally {
    stop();
    notice.close();
  }
}

/** Find the motions in a reply: the reply itself, one of its fields, or a list in one of its fields. */
function motionsIn(reply: unknown): MotionInfo[] {
  if (isMotion(reply)) return [reply];
  const values = reply && typeof reply === "object" ? Object.values(reply) : [];
  return values.flatMap((value: unknown) => (Array.isArray(value) ? value : [value])).filter(isMotion);
}

function isMotion(value: unknown): value is MotionInfo {
  return typeof value === "object" && value !== null && "revision" in value && "n_frames" in value && "joints" in value;
}
