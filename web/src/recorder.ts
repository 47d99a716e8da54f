/** Record what the scene shows, picture by picture, and let the server write a GIF, a WebP, an MP4 or a PNG file. */
import type { App } from "./app";
import type { Shown } from "./character_view";
import { download } from "./dom";

export type VideoFormat = "gif" | "webp" | "mp4" | "png";

const RATE: Record<VideoFormat, number> = { gif: 25, webp: 25, mp4: 30, png: 1 };
const MAX_PICTURES = 1500;

/** What a video shows besides the bodies. */
export type Extras = Pick<Shown, "trail" | "contacts" | "before">;

/** Record the marked range or the whole clip; `png` is one picture of the current frame. `width` is in pixels, 16:9. */
export async function recordView(app: App, format: VideoFormat, width: number, extras: Extras): Promise<void> {
  const { playback, stage, selected } = app;
  if (!selected) return;
  const height = 2 * Math.round((width * 9) / 32);
  const before = { frame: playback.frame, playing: playback.playing };
  const { trail, contacts, before: previous } = app.shown;
  if (playback.playing) playback.toggle();
  const [start, stop] = playback.region ?? [0, selected.info.n_frames];
  const rate = RATE[format];
  const count = Math.min(MAX_PICTURES, Math.max(1, Math.round(((stop - start) / playback.fps) * rate)));
  const frames = format === "png" ? [playback.frame] : Array.from({ length: count }, (_, k) => Math.min(stop - 1, start + Math.round((k * playback.fps) / rate)));
  let stopped = false;
  const notice = app.notices.job("Recording the view", () => (stopped = true));
  app.show(extras);
  try {
    for (const [k, frame] of frames.entries()) {
      if (stopped) return;
      await showFrame(app, frame);
      const data = stage.snapshot(width, height).split(",")[1]!;
      await app.ask("share_picture", { number: k, data });
      notice.progress((0.9 * (k + 1)) / frames.length, `${k + 1} of ${frames.length}`);
    }
    notice.progress(0.95, "writing the file");
    const { url, name } = await app.ask("share_video", { motion: selected.info.motion, format, rate });
    download(url, name);
    app.notices.info(`Saved ${name} to your downloads.`);
  } catch {
    // `ask` has shown the error.
  } finally {
    notice.close();
    app.show({ trail, contacts, before: previous });
    playback.seek(before.frame);
    if (before.playing) playback.toggle();
  }
}

/** Show a frame of all visible clips, and wait until it is drawn; a camera that follows the selected clip moves along. */
async function showFrame(app: App, frame: number): Promise<void> {
  app.playback.seek(frame);
  const visible = [...app.motions.values()].filter(({ character }) => character.visible);
  await Promise.all(visible.map((shot) => shot.frames.load(app.frameOf(shot), app.frameOf(shot) + 1)));
  // The application draws at the next animation frame.
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}
