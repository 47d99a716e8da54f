/** Buttons of the timeline: fit to the clip, seconds or frames, and the tracks of all clips. */
import type { App } from "./app";
import { button, byId, toggle } from "./dom";
import { Tracks } from "./tracks";

const KEY = "marey.timeline";

interface Choice {
  frames: boolean;
  tracks: boolean;
}

export function timelineTools(host: HTMLElement, app: App): void {
  const tracks = new Tracks(byId("tracks"), app);
  const now = stored();
  const put = () => {
    app.scale.setFrames(now.frames);
    tracks.shown = now.tracks;
    try {
      localStorage.setItem(KEY, JSON.stringify(now));
    } catch {
      // The choice is lost with the page if the browser stores nothing.
    }
  };
  const fit = button("Fit", () => app.scale.fit(app.scale.nFrames), "Show the whole clip on the timeline (double-click the ruler)");
  const frames = toggle("Frames", now.frames, (on) => {
    now.frames = on;
    put();
  }, "Show frames instead of seconds on the timeline");
  const all = toggle("Tracks", now.tracks, (on) => {
    now.tracks = on;
    put();
  }, "Show all clips as bars in time. Drag one to shift it relative to the selected clip");
  host.querySelector(".spacer")!.before(fit, frames, all);
  put();
}

function stored(): Choice {
  try {
    const read = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Record<keyof Choice, unknown>>;
    return { frames: read.frames === true, tracks: read.tracks === true };
  } catch {
    return { frames: false, tracks: false };
  }
}
