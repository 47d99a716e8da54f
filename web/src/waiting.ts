/** Tells that an answer takes its time, where nothing else does. */
import { el, visible } from "./dom";

/** Milliseconds after which a person wonders whether the click has arrived. */
const PATIENCE = 300;

export class Waiting {
  /** What is waited for, the oldest first. */
  private readonly texts = new Map<Promise<unknown>, string>();
  private readonly words = el("span");
  private readonly box = el("div", { class: "notice waiting", role: "status" }, this.words);

  constructor(private readonly host: HTMLElement) {}

  /** Say `text` while there is no answer; nothing where it comes at once. */
  watch(text: string, answer: Promise<unknown>): void {
    const timer = setTimeout(() => {
      this.texts.set(answer, text);
      this.draw();
    }, PATIENCE);
    const over = () => {
      clearTimeout(timer);
      if (this.texts.delete(answer)) this.draw();
    };
    answer.then(over, over);
  }

  private draw(): void {
    const [oldest] = this.texts.values();
    if (oldest === undefined) this.box.remove();
    else {
      if (this.words.textContent !== visible(oldest)) this.words.textContent = visible(oldest);
      if (!this.box.isConnected) this.host.append(this.box);
    }
  }
}
