/**
 * The list of motions that can be blended, with the letters of the chosen ones. Rows are reused, which keeps the focus.
 */
import type { App, Shot } from "../app";
import { check, el } from "../dom";

export const LETTERS = "ABCDEFGHIJKLMNOP";

interface Row {
  item: HTMLElement;
  letter: HTMLElement;
  label: HTMLLabelElement;
}

export class MotionList {
  readonly element = el("ul", { class: "blend-list", aria: { label: "Clips to blend" } });
  private readonly rows = new Map<string, Row>();
  private readonly empty = el("li", { class: "dim", text: "Open two or more clips from the list on the left." });

  constructor(private readonly app: App, private readonly choose: (id: string, on: boolean) => void) {}

  /** Ids of the motions, if there are exactly two. */
  get pair(): string[] | null {
    const { usable } = this;
    return usable.length === 2 ? usable.map(({ info }) => info.motion) : null;
  }

  private get usable(): Shot[] {
    return [...this.app.motions.values()].filter(({ info }) => info.kind === "motion");
  }

  draw(chosen: string[]): void {
    const { usable } = this;
    for (const [id, { item }] of this.rows) {
      if (usable.some(({ info }) => info.motion === id)) continue;
      item.remove();
      this.rows.delete(id);
    }
    if (usable.length) this.empty.remove();
    else this.element.append(this.empty);
    // New motions come last, as in the list of open motions.
    for (const shot of usable) this.drawRow(shot, chosen.indexOf(shot.info.motion));
  }

  private drawRow({ info, character }: Shot, at: number): void {
    let row = this.rows.get(info.motion);
    if (!row) {
      const letter = el("span", { class: "letter" });
      const label = check("", false, (on) => this.choose(info.motion, on));
      row = { letter, label, item: el("li", { data: { motion: info.motion } }, letter, label) };
      this.rows.set(info.motion, row);
      this.element.append(row.item);
    }
    row.letter.textContent = at < 0 ? "" : LETTERS[at]!;
    row.letter.style.setProperty("--dot", character.color);
    row.label.querySelector("input")!.checked = at >= 0;
    row.label.querySelector("span")!.textContent = row.label.title = info.name;
  }
}
