/** Shows a notice while a reply takes long and nothing else indicates it. */
import { el, visible } from "./dom";

/** Milliseconds after which a user wonders whether the click had any effect. */
const PATIENCE = 300;

export class Waiting {
  /** Texts of the pending replies, oldest first. */
  private readonly texts = new Map<Promise<unknown>, string>();
  private readonly words = el("span");
  private readonly box = el("div", { class: "notice waiting", role: "status" }, this.words);

  constructor(private readonly host: HTMLElement) {}

  /** Show `text` until the reply arrives; nothing is shown if it arrives at once. */
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
