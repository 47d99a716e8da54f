/**
 * State of this tab that survives a reload: the session, the position in it, and panel state that the server does not
 * have.
 */
export interface TabState {
  session: string;
  panel: string;
  motion: string;
  frame: number;
  /** Saved panel state, keyed by panel name; each panel validates what it reads. */
  choices: Record<string, unknown>;
}

const KEY = "marey.tab";
const NOTHING: TabState = { session: "", panel: "", motion: "", frame: 0, choices: {} };

export function tabState(): TabState {
  try {
    const read = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Partial<Record<keyof TabState, unknown>>;
    const text = (value: unknown) => (typeof value === "string" ? value : "");
    const frame = typeof read.frame === "number" ? read.frame : 0;
    const choices = read.choices && typeof read.choices === "object" ? (read.choices as Record<string, unknown>) : {};
    return { session: text(read.session), panel: text(read.panel), motion: text(read.motion), frame, choices };
  } catch {
    return NOTHING;
  }
}

export function saveTabState(change: Partial<TabState>): void {
  try {
    const before = tabState();
    // Saved panel state refers to motions of its session.
    const fresh = change.session !== undefined && change.session !== before.session ? { choices: {} } : {};
    sessionStorage.setItem(KEY, JSON.stringify({ ...before, ...fresh, ...change }));
  } catch {
    // If the browser stores nothing, a reload loses the session; nothing else fails.
  }
}

/** Save the state of a panel. The state of an ended session is not read again. */
export function saveChoice(panel: string, choice: unknown): void {
  saveTabState({ choices: { ...tabState().choices, [panel]: choice } });
}
