/** Shows two frames of two motions over each other in the scene, and hides everything else. */
import type { App, Shot } from "../app";
import { CharacterView, SHOWN } from "../character_view";
import type { FramesPlaced } from "../messages";

export class Overlay {
  private characters: CharacterView[] = [];
  private hidden: Shot[] = [];
  private frame = -1;
  private moves = 0;
  private held = false;

  constructor(private readonly app: App) {
    // When time moves on, the user wants to see the motions themselves.
    app.playback.changed.on(() => {
      if (this.held || !(app.playback.playing || app.playback.frame !== this.frame)) return;
      this.moves++;
      if (this.shown) this.clear();
    });
    app.motionsChanged.on(() => this.clear());
  }

  get shown(): boolean {
    return this.characters.length > 0;
  }

  /** Show `b` at `frameB`, placed to match `a` at `frameA`, unless the playhead moves while the frames are loaded. */
  async show(a: Shot, frameA: number, b: Shot, frameB: number, placed: FramesPlaced): Promise<void> {
    const { app } = this;
    app.playback.step(0);
    this.frame = app.playback.frame;
    const { moves } = this;
    await Promise.all([a.frames.load(frameA, frameA + 1), b.frames.load(frameB, frameB + 1)]);
    if (moves !== this.moves) return;
    this.remove();
    this.hidden = [...app.motions.values()].filter(({ character }) => character.visible);
    for (const { character } of this.hidden) character.visible = false;
    const look = { ...SHOWN, style: app.shown.style, trail: false, contacts: false };
    this.characters = [a, b].map((shot) => new CharacterView(app.stage, shot.info, shot.frames, shot.character.color, look));
    const [first, second] = this.characters as [CharacterView, CharacterView];
    second.group.rotation.y = placed.theta;
    second.group.position.set(placed.x, 0, placed.z);
    first.show(frameA);
    second.show(frameB);
    app.stage.focus(first.center(), 0.62 * (a.info.stature || 1.7));
  }

  /** Make a change in the scene without closing the overlay. */
  keptOver(change: () => void): void {
    this.held = true;
    change();
    this.held = false;
    this.frame = this.app.playback.frame;
  }

  clear(): void {
    const { selected } = this.app;
    const shown = this.shown;
    this.remove();
    // The camera was turned to the two frames; turn it back.
    if (shown && selected) void this.app.bringIntoView(selected).catch(() => undefined);
  }

  private remove(): void {
    for (const character of this.characters.splice(0)) character.dispose();
    for (const shot of this.hidden.splice(0)) {
      shot.character.visible = true;
      shot.character.show(this.app.frameOf(shot));
    }
  }
}
