/** What a reload of this tab keeps: the session, and where the person was in it. */
export interface Kept {
  session: string;
  panel: string;
  motion: string;
  frame: number;
}

const KEY = "marey.kept";
const NOTHING: Kept = { session: "", panel: "", motion: "", frame: 0 };

export function kept(): Kept {
  try {
    const read = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Partial<Record<keyof Kept, unknown>>;
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    const frame = typeof read.frame === "number" ? read.frame : 0;
    return { session: text(read.session), panel: text(read.panel), motion: text(read.motion), frame };
  } catch {
    return NOTHING;
  }
}

export function keep(change: Partial<Kept>): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...kept(), ...change }));
  } catch {
    // A browser that stores nothing loses the session on a reload, and nothing else.
  }
}
