/** Work that was under way when the page was reloaded: it is shown again, can be cancelled, and what it makes is taken. */
import { messageOf, type App } from "./app";
import { Failed, type Adopted } from "./connection";
import type { MotionInfo } from "./messages";

export async function goOnWith(app: App, { work, answer, progress, cancel }: Adopted): Promise<void> {
  const words = work.command.replaceAll("_", " ");
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const notice = app.notices.job(title, cancel);
  if (work.text) notice.progress(work.fraction, work.text);
  const stop = progress.on(({ fraction, text }) => notice.progress(fraction, text));
  try {
    const made = motionsIn(await answer);
    for (const info of made) app.add(info);
    app.workEnded.emit();
    app.notices.info(made.length ? `${title}: done` : `${title}: done; open its panel to see the result`);
  } catch (error) {
    if (!(error instanceof Failed && error.type === "Cancelled")) app.notices.error(messageOf(error));
  } finally {
    stop();
    notice.close();
  }
}

/** Motions that a reply carries: it is one, or has one, or a list of some. */
function motionsIn(reply: unknown): MotionInfo[] {
  if (isMotion(reply)) return [reply];
  const values = reply && typeof reply === "object" ? Object.values(reply) : [];
  return values.flatMap((value: unknown) => (Array.isArray(value) ? value : [value])).filter(isMotion);
}

function isMotion(value: unknown): value is MotionInfo {
  return typeof value === "object" && value !== null && "revision" in value && "n_frames" in value && "joints" in value;
}
