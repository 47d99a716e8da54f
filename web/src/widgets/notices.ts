/** Notices over the scene: errors, results, and running jobs. */
import { button, el, visible } from "../dom";

const ERROR_MS = 9000;
const INFO_MS = 4000;
/** Milliseconds per character of a text. */
const READING_MS = 80;
const MAX_SHOWN = 4;
/** Number of errors that are shown apart from each other; more are one notice. */
const MAX_ERRORS = 2;
/** Milliseconds after which a job has shown how fast it is. */
const ESTIMATE_AFTER_MS = 2000;

export interface JobNotice {
  progress(fraction: number, text: string): void;
  close(): void;
}

export class Notices {
  /** Notes about clips that are shown now, by their texts. */
  private readonly notes = new Map<string, { box: HTMLElement; names: Map<string, string> }>();

  /** Notes that were shown, with the names of their clips: those of a file that is opened again are known. */
  private readonly noted = new Set<string>();

  constructor(private readonly host: HTMLElement) {}

  /** Show an error; one about the clip with id `motion` goes away with it. */
  error(text: string, motion = ""): void {
    const shown = [...this.host.querySelectorAll<HTMLElement>(".notice.error")].filter((box) => box.firstElementChild?.textContent !== capitalize(text));
    if (shown.length >= MAX_ERRORS || shown.some((box) => box.classList.contains("many"))) {
      this.gather(shown, text);
      return;
    }
    this.say(text, "error", ERROR_MS).dataset["motion"] = motion;
  }

  /** Show several errors as one notice, so that all of them can be read. */
  private gather(shown: readonly HTMLElement[], newest: string): void {
    const texts = new Set(shown.flatMap((box) => {
      const listed = [...box.querySelectorAll("li")].map((item) => item.textContent ?? "");
      return listed.length ? listed : [box.firstElementChild?.textContent ?? ""];
    }));
    texts.add(capitalize(newest));
    for (const box of shown) box.remove();
    const box = this.say(`${texts.size} problems`, "error", Infinity);
    box.classList.add("many");
    box.append(el("ul", {}, ...[...texts].map((text) => el("li", { text }))));
  }

  /** Show one notice for several errors, which lists them when it is unfolded. It stays until it is closed. */
  errors(text: string, reasons: string[]): void {
    const list = el("ul", {}, ...reasons.map((reason) => el("li", { text: reason })));
    this.say(text, "error", Infinity).append(el("details", {}, el("summary", { text: "Reasons" }), list));
  }

  /** Show a note about a clip, once. The same note about several clips is one notice, which goes away with them. */
  note(text: string, motion: string, name: string): void {
    const key = `${name}\n${text}`;
    if (this.noted.has(key)) return;
    this.noted.add(key);
    const before = this.notes.get(text);
    const names = before?.box.isConnected ? before.names : new Map<string, string>();
    names.set(motion, name);
    before?.box.remove();
    // A text about a file begins with its name.
    const who = names.size > 1 ? `${names.size} clips: ` : text.startsWith(name) ? "" : `${name}: `;
    const box = this.say(`${who}${text}`, "info", INFO_MS);
    if (names.size > 1) box.title = [...names.values()].map(visible).join(", ");
    this.notes.set(text, { box, names });
  }

  /** Remove the notes about a clip that are not true anymore. */
  keepNotes(motion: string, texts: readonly string[]): void {
    for (const [text, { box, names }] of this.notes) if (!texts.includes(text) && names.delete(motion) && !names.size) box.remove();
  }

  /** Remove the notices about a clip that was closed. */
  forget(motion: string): void {
    for (const box of this.host.querySelectorAll<HTMLElement>(".notice[data-motion]")) if (motion && box.dataset["motion"] === motion) box.remove();
    for (const { box, names } of this.notes.values()) if (names.delete(motion) && !names.size) box.remove();
  }

  info(text: string): void {
    this.say(text, "info", INFO_MS);
  }

  /**
   * Ask something: a press of one of the buttons closes the question. `brief` ones go away by themselves, one about the
   * clip with id `motion` goes away with it.
   */
  ask(text: string, answers: [string, () => void][], brief = false, motion = ""): void {
    const buttons = answers.map(([label, act]) => button(label, () => {
      box.remove();
      act();
    }));
    const close = button("×", () => box.remove(), "Close", "quiet");
    close.setAttribute("aria-label", "Close");
    // Of several brief ones, such as those about closed clips, the last is enough.
    if (brief) for (const old of this.host.querySelectorAll(".question.brief")) old.remove();
    // A question that is asked again is shown once.
    if (motion) this.answer(motion);
    const box = el("div", { class: `notice question${brief ? " brief" : ""}`, role: "status", data: { motion } }, el("span", { text: capitalize(text) }), ...buttons, close);
    this.host.append(box);
    if (brief) setTimeout(() => box.remove(), ERROR_MS);
  }

  /** Remove the questions about a clip. */
  answer(motion: string): void {
    for (const old of this.host.querySelectorAll<HTMLElement>(".question")) if (old.dataset["motion"] === motion) old.remove();
  }

  /** Show a running job with a cancel button. */
  job(title: string, cancel: () => void): JobNotice {
    const bar = el("progress", { aria: { label: title } });
    bar.max = 1;
    const text = el("span", { text: title });
    const stop = button("Cancel", () => {
      stop.disabled = true;
      cancel();
    });
    const rest = el("span", { class: "dim" });
    const box = el("div", { class: "notice job", role: "status" }, text, bar, rest, stop);
    this.host.append(box);
    const began = performance.now();
    return {
      progress(fraction, what) {
        // Without a value, the bar shows that work goes on: a full one would look like the end.
        if (fraction >= 1) bar.removeAttribute("value");
        else if (fraction) bar.value = fraction;
        text.textContent = what ? `${title}: ${what}` : title;
        rest.textContent = fraction >= 1 ? "almost ready" : remaining(fraction, performance.now() - began);
      },
      close: () => box.remove(),
    };
  }

  private say(words: string, kind: "error" | "info", milliseconds: number): HTMLElement {
    const text = capitalize(words);
    // A repeated text is shown only once, for a longer time.
    for (const same of this.host.querySelectorAll(`.notice.${kind}`)) if (same.firstElementChild?.textContent === text) same.remove();
    const box = el("div", { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" }, el("span", { text }));
    const close = button("×", () => box.remove(), "Close", "quiet");
    close.setAttribute("aria-label", "Close");
    box.append(close);
    this.host.append(box);
    const shown = this.host.querySelectorAll(".notice:not(.job)");
    for (const old of [...shown].slice(0, Math.max(0, shown.length - MAX_SHOWN))) old.remove();
    // Long texts take longer to read.
    if (milliseconds < Infinity) setTimeout(() => box.remove(), Math.max(milliseconds, READING_MS * text.length));
    return box;
  }
}

/** An estimate of the time that a job still takes; "" before there is one. */
function remaining(fraction: number, milliseconds: number): string {
  if (milliseconds < ESTIMATE_AFTER_MS || fraction < 0.05 || fraction >= 1) return "";
  const seconds = Math.ceil(((milliseconds / 1000) * (1 - fraction)) / fraction);
  return seconds < 60 ? `about ${seconds} s left` : `about ${Math.ceil(seconds / 60)} min left`;
}

/** Capitalize the first word, unless it is the quoted name of a file or clip. */
function capitalize(text: string): string {
  return text.replace(/^[a-z]+(?= )/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}
