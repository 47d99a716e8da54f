/** The range to search for, and whether that is possible; if not, one sentence with the reason and the remedy. */
import { messageOf, type App } from "../app";
import { Failed } from "../connection";
import type { Commands, WebBuilt, ClipStatus } from "../messages";

/** A range of a motion, in half-open frames. */
export interface Stretch {
  motion: string;
  start: number;
  stop: number;
}

const ABOUT: Record<ClipStatus["where"], string> = {
  inside: "",
  changed: "This clip has changed since it was indexed; the search uses its current version. Press Index clips again to find matches in it.",
  outside: "This clip is not indexed. You can use it as the example; to find matches in it, press Index clips again.",
  other_skeleton: "This clip has different joints or bone lengths than the indexed clips. Press Index clips to index the clips that have its skeleton, or mark a range in an indexed clip.",
};

/** The range that is marked on the timeline now. */
export function marked(app: App): Stretch | null {
  const [region, info] = [app.playback.region, app.selected?.info];
  return region && info?.kind === "motion" ? { motion: info.motion, start: region[0], stop: region[1] } : null;
}

export function same(a: Stretch | null, b: Stretch | null): boolean {
  return a?.motion === b?.motion && a?.start === b?.start && a?.stop === b?.stop;
}

export function describeRange(app: App, { motion, start, stop }: Stretch): string {
  const info = app.motions.get(motion)?.info;
  return info ? `${info.name}, ${(start / info.fps).toFixed(2)} to ${(stop / info.fps).toFixed(2)} s` : "";
}

/** The reason why nothing can be indexed; "" if it can. */
export function cannotCompare(app: App): string {
  const info = app.selected?.info;
  if (!info) return "Open a clip first. All clips with its skeleton are indexed.";
  return info.kind === "motion" ? "" : "Marker data cannot be searched. Select a clip with a skeleton.";
}

/** The reason why the range cannot be searched for; "" if it can, perhaps after clips were indexed. */
export function cannotSearch(app: App, web: WebBuilt | null, example: Stretch | null, before: Stretch | null): string {
  if (!example) {
    if (before && !app.motions.has(before.motion)) return "The example was closed. Open it again, or mark a range in another clip.";
    return cannotCompare(app) || "Mark a range on the timeline: Shift+drag on its ruler, or press I and O to set start and end.";
  }
  if (!web) return "";
  const fps = app.motions.get(example.motion)!.info.fps;
  const seconds = (example.stop - example.start) / fps;
  if (seconds > web.least - 0.5 / fps) return "";
  return `The range is ${seconds.toFixed(2)} s long. Mark at least ${web.least.toFixed(2)} s.`;
}

/** Tracks whether the current state of a motion is among the indexed clips. */
export class About {
  text = "";
  /** The reason why this motion cannot be searched for at all; "" if it can. */
  refuses = "";
  private asked = "";

  constructor(private readonly app: App, private readonly changed: () => void) {}

  look(web: WebBuilt | null, example: Stretch | null, number: number): void {
    const info = example && this.app.motions.get(example.motion)?.info;
    const wanted = web && info ? `${info.motion} ${info.revision} ${number}` : "";
    if (wanted === this.asked) return;
    this.asked = wanted;
    this.text = this.refuses = "";
    if (!wanted) return;
    this.app.connection.ask("find_where", { motion: info!.motion }).then(({ where }) => {
      if (wanted !== this.asked) return;
      if (where === "other_skeleton") this.refuses = ABOUT[where];
      else this.text = ABOUT[where];
      this.changed();
    }, () => undefined);
  }
}

/**
 * Run a long job whose errors only the panel reports: `report` gets a sentence, and whether the user canceled the job.
 * Returns null if it failed.
 */
export async function outcome<K extends "find_build" | "find_suggest" | "find_search">(
  app: App,
  title: string,
  name: K,
  fields: Commands[K]["fields"],
  report: (text: string, ended: boolean) => void,
): Promise<Commands[K]["reply"] | null> {
  const stop = new AbortController();
  const notice = app.notices.job(title, () => stop.abort());
  try {
    return await app.connection.ask(name, fields, { signal: stop.signal, progress: (fraction, text) => notice.progress(fraction, text) });
  } catch (error) {
    const ended = error instanceof Failed && error.type === "Cancelled";
    report(ended ? "Canceled." : sentence(messageOf(error)), ended);
    return null;
  } finally {
    notice.close();
  }
}

/** Turn an error message into a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

const BUSY = "marey.find.busy";

/** The job that a reload interrupted, "" for none, and the state before it, as passed to `remembered`. */
export function interruptedJob(): { what: string; before: string } {
  try {
    const [what = "", before = ""] = (sessionStorage.getItem(BUSY) ?? "").split("\n");
    sessionStorage.removeItem(BUSY);
    return { what, before };
  } catch {
    return { what: "", before: "" };
  }
}

/** Remember a running job across a reload. A finished job leaves a state different from `before`. */
export async function remembered<T>(what: string, before: string, work: Promise<T>): Promise<T> {
  const put = (text: string) => {
    try {
      sessionStorage.setItem(BUSY, text);
    } catch {
      // If the browser stores nothing, an interrupted job is not reported after a reload.
    }
  };
  put(`${what}\n${before}`);
  try {
    return await work;
  } finally {
    put("");
  }
}
