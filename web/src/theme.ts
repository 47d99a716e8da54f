/** Light and dark theme: follows the system until the user chooses. */
import { Signal } from "./signal";

export type Theme = "light" | "dark";
const KEY = "marey-theme";

export class Themes {
  readonly changed = new Signal<Theme>();
  private system = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    this.apply();
    this.system.addEventListener("change", () => this.apply());
  }

  get current(): Theme {
    return stored() ?? (this.system.matches ? "dark" : "light");
  }

  toggle(): void {
    const next = this.current === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // The browser may refuse storage (for a page opened from a file); the choice then lasts until the page is closed.
    }
    this.apply(next);
  }

  private apply(theme: Theme = this.current): void {
    document.documentElement.dataset["theme"] = theme;
    this.changed.emit(theme);
  }
}

function stored(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "dark" || value === "light" ? value : null;
  } catch {
    return null;
  }
}
