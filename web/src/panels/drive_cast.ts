/** The characters that are driven at the same time. */
import { button, el } from "../dom";
import type { LiveCharacter } from "../live";
import type { DriveRequest, DriveStarted } from "../messages";

/** Largest number of characters at the same time; the server allows no more. */
const MAX_CHARACTERS = 4;

/** A character that goes on while another is controlled. */
export interface Other {
  started: DriveStarted;
  character: LiveCharacter;
  request: Required<DriveRequest>;
  played: string[];
}

export class Cast {
  /** Buttons to choose the character that is controlled. */
  readonly element = el("div", { class: "row", role: "group", hidden: true, aria: { label: "Controlled character" } });
  /** All characters in the order of their start, by stream; null is the one that is controlled. */
  private members: [number, Other | null][] = [];

  constructor(private readonly control: (stream: number) => void) {}

  /** Whether there is a character, and one more can be added. */
  get hasRoom(): boolean {
    return this.members.length > 0 && this.members.length < MAX_CHARACTERS;
  }

  find(stream: number): Other | null {
    return this.members.find(([each]) => each === stream)?.[1] ?? null;
  }

  set(stream: number, other: Other | null): void {
    this.members = this.members.map(([each, kept]) => [each, each === stream ? other : kept]);
  }

  /** Put a stream in the place of the one that is controlled, or add it. */
  replaceControlled(stream: number): void {
    const at = this.members.findIndex(([, other]) => !other);
    this.members.splice(at < 0 ? this.members.length : at, 1, [stream, null]);
  }

  /** Remove a character that has ended by itself. */
  drop(stream: number): void {
    this.find(stream)?.character.dispose();
    this.members = this.members.filter(([each]) => each !== stream);
    this.show();
  }

  /** Remove all characters, and return their streams. */
  clear(): number[] {
    const streams = this.members.map(([stream]) => stream);
    for (const [, other] of this.members) other?.character.dispose();
    this.members = [];
    this.show();
    return streams;
  }

  /** Colors of the characters that are not controlled. */
  colors(): Set<string> {
    return new Set(this.members.flatMap(([, other]) => (other ? [other.character.color] : [])));
  }

  show(): void {
    this.element.hidden = this.members.length < 2;
    this.element.replaceChildren(...this.members.map(([stream, other], k) => {
      const node = button(`Character ${k + 1}`, () => this.control(stream), "Control this character", "chip");
      node.setAttribute("aria-pressed", String(!other));
      return node;
    }));
  }
}
