/** What a reload of this tab keeps: the session, where the person was in it, and what panels have that the server has not. */
export interface Kept {
  session: string;
  panel: string;
  motion: string;
  frame: number;
  /** By the panel's name, as it was given; a panel checks what it reads. */
  choices: Record<string, unknown>;
}

const KEY = "marey.kept";
const NOTHING: Kept = { session: "", panel: "", motion: "", frame: 0, choices: {} };

export function kept(): Kept {
  try {
    const read = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Partial<Record<keyof Kept, unknown>>;
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    const frame = typeof read.frame === "number" ? read.frame : 0;
    const choices = read.choices && typeof read.choices === "object" ? (read.choices as Record<string, unknown>) : {};
    return { session: text(read.session), panel: text(read.panel), motion: text(read.motion), frame, choices };
  } catch {
    return NOTHING;
  }
}

export function keep(change: Partial<Kept>): void {
  try {
    const before = kept();
    // What panels kept speaks of the motions of its session.
    const fresh = change.session !== undefined && change.session !== before.session ? { choices: {} } : {};
    sessionStorage.setItem(KEY, JSON.stringify({ ...before, ...fresh, ...change }));
  } catch {
    // A browser that stores nothing loses the session on a reload, and nothing else.
  }
}

/** Keep what a panel has; of a session that is gone, nothing is read again. */
export function keepChoice(panel: string, choice: unknown): void {
  keep({ choices: { ...kept().choices, [panel]: choice } });
}
