/** Which clips share a skeleton, as the server requires of clips that are joined. */
import type { App } from "./app";
import type { MotionInfo } from "./messages";
import { saveChoice, tabState } from "./tab_state";

/** Meters by which bones of one skeleton may differ. */
const SAME_BONE = 1e-3;

export function sameSkeleton(a: MotionInfo, b: MotionInfo): boolean {
  return a.joints.length === b.joints.length && a.joints.every((name, k) =>
    name === b.joints[k] && a.parents[k] === b.parents[k] && Math.abs(a.bone_lengths[k]! - b.bone_lengths[k]!) <= SAME_BONE);
}

/**
 * The clips that are checked in a panel's list of clips to join. A clip is checked when it is first listed if it comes
 * from a file and has the skeleton of those that are checked, or else of the selected or last opened one. Once the user
 * has chosen clips, later ones are not checked; none ever unchecks others.
 */
export class CheckedClips {
  private readonly known = new Map<string, boolean>();
  private chosen = false;

  /** `kept` is the name under which the choice survives a reload, and is part of a project. */
  constructor(private readonly app: App, private readonly kept: string) {
    const before = tabState().choices[kept];
    if (!Array.isArray(before) || !before.length) return;
    this.chosen = true;
    for (const id of before) this.known.set(String(id), true);
  }

  has(info: MotionInfo): boolean {
    const known = this.known.get(info.motion) ?? this.checksAtFirst(info);
    this.known.set(info.motion, known);
    return known;
  }

  set(motion: string, on: boolean): void {
    this.chosen = true;
    this.known.set(motion, on);
    this.keep();
  }

  /** Check these clips and no others. */
  choose(motions: readonly string[]): void {
    this.chosen = true;
    for (const id of new Set([...this.app.motions.keys(), ...motions])) this.known.set(id, motions.includes(id));
    this.keep();
  }

  private keep(): void {
    saveChoice(this.kept, [...this.known].filter(([id, on]) => on && this.app.motions.has(id)).map(([id]) => id));
  }

  private checksAtFirst(info: MotionInfo): boolean {
    if (!info.file || this.chosen) return false;
    const { motions, selected } = this.app;
    const shots = [...motions.values()];
    const checked = shots.find((shot) => this.known.get(shot.info.motion));
    const like = checked ?? (selected?.info.file ? selected : shots.filter((shot) => shot.info.file).at(-1));
    return !like || sameSkeleton(like.info, info);
  }
}
