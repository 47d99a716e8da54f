/** Moves the camera along with the selected character. */
import type * as THREE from "three";
import type { Stage, Subject } from "./scene";

export class Follower {
  /** Whether the camera follows. */
  on = true;
  private lastCenter: THREE.Vector3 | null = null;
  /** Whether the camera should turn to the character before it follows it. */
  private turns = false;
  /** Whether a mouse button or a finger is down in the scene. */
  private pressed = false;

  constructor(private readonly stage: Stage) {
    stage.canvas.addEventListener("pointerdown", () => (this.pressed = true), { capture: true });
    for (const name of ["pointerup", "pointercancel", "blur"]) window.addEventListener(name, () => (this.pressed = false));
  }

  /** Start again with the next position, after the character was replaced. `turn`: first center another character. */
  restart(turn = this.turns): void {
    this.lastCenter = null;
    this.turns = turn;
  }

  /**
   * Move the camera by the distance that the character has moved since the last call, except while the user drags or
   * draws something in the scene. The user can still rotate the camera.
   */
  follow(character: Subject | undefined): void {
    const { enabled, enableRotate, target } = this.stage.controls;
    if (!character?.posed || !this.on || !enabled || (this.pressed && !enableRotate)) {
      this.lastCenter = null;
      return;
    }
    const center = character.center();
    const move = center.clone().sub(this.turns ? target : (this.lastCenter ?? center)).setY(0);
    this.turns = false;
    if (move.lengthSq()) this.stage.follow(move);
    this.lastCenter = center;
  }
}
