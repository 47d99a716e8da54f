/** Which clips share a skeleton, as the server requires of clips that are joined. */
import type { App } from "./app";
import type { MotionInfo } from "./messages";

/** Meters by which bones of one skeleton may differ. */
const SAME_BONE = 1e-3;

export function sameSkeleton(a: MotionInfo, b: MotionInfo): boolean {
  return a.joints.length === b.joints.length && a.joints.every((name, k) =>
    name === b.joints[k] && a.parents[k] === b.parents[k] && Math.abs(a.bone_lengths[k]! - b.bone_lengths[k]!) <= SAME_BONE);
}

/**
 * Whether a list of clips to join has this one checked at first: it comes from a file and has the skeleton of the
 * selected clip, or of the last opened one if the selected clip was made here.
 */
export function checkedAtFirst({ motions, selected }: App, info: MotionInfo): boolean {
  if (!info.file) return false;
  const like = selected?.info.file ? selected : [...motions.values()].filter((shot) => shot.info.file).at(-1);
  return !like || sameSkeleton(like.info, info);
}
