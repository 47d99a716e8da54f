/** The button that adds what was driven so far to the clips. Driving goes on. */
import type { App } from "../app";
import { button } from "../dom";
import { durationText } from "../widgets/measures";

/** Seconds that are worth keeping. */
const SHORTEST = 0.5;

export class Keep {
  readonly element = button("Keep as new clip", () => void this.keep(), "Add what the controlled character has done since its start, up to 10 minutes, to the clips");
  private stream: number | null = null;
  private seconds = 0;

  /** `added` is called with a new clip that must not be shown, because the user still drives. */
  constructor(private readonly app: App, private readonly isDriving: () => boolean, private readonly added: (motion: string) => void) {
    this.show(null, 0);
  }

  /** Show how much can be kept of a stream. */
  show(stream: number | null, seconds: number): void {
    [this.stream, this.seconds] = [stream, seconds];
    this.element.disabled = stream === null || seconds < SHORTEST;
    const text = this.element.disabled ? "Keep as new clip" : `Keep ${durationText(seconds)} as new clip`;
    if (this.element.textContent !== text) this.element.textContent = text;
  }

  private async keep(): Promise<void> {
    const { app, seconds } = this;
    const taken = await app.ask("drive_keep", { stream: this.stream }).catch(() => null);
    if (!taken) return;
    const { motion } = taken;
    if (!this.isDriving()) {
      app.present(motion);
      return;
    }
    app.add(motion, false);
    this.added(motion.motion);
    // The list of clips shows that it is hidden.
    app.motionsChanged.emit();
    app.notices.info(`Added ${motion.name} (${durationText(seconds)}) to the clips.`);
  }
}
