// Written by `python -m marey.studio.typescript` from the dataclasses of marey.studio; do not edit by hand.

export const FRAMES_VERSION = 1;
export const FRAMES_MOTION = 1;
export const FRAMES_LIVE = 2;
export const FRAMES_HEADER_BYTES = 16;

/** One contact point: its joint, its place in the joint's frame in metres, and half-open frame intervals. */
export interface ContactLane {
  name: string;
  joint: number;
  offset: [number, number, number];
  intervals: [number, number][];
}

/** A label on frames `start` to `stop`, half-open. */
export interface LabelSpan {
  name: string;
  start: number;
  stop: number;
}

/**
 * All of a motion but its frames.
 *
 * `revision` changes whenever frames do, so that those the page has kept are no longer valid. `kind` is "markers" for
 * recordings without a skeleton: all `parents` are -1, and positions of unseen markers are NaN. `parents`,
 * `bone_lengths` (metres to the parent) and `end_sites` go with `joints`. `roles` gives a joint's index. `contacts` is
 * null where none are known. `file` is the path within `where`; "" for motions that are in no file. `clips` are those
 * of the file. `skin` is where the original GLB can be fetched, else null. `undo` and `redo` count the steps.
 */
export interface MotionInfo {
  motion: string;
  revision: number;
  name: string;
  kind: "motion" | "markers";
  where: "folder" | "uploads";
  file: string;
  clips: string[];
  n_frames: number;
  fps: number;
  seconds: number;
  joints: string[];
  parents: number[];
  bone_lengths: number[];
  end_sites: boolean[];
  roles: Record<string, number>;
  stature: number;
  floor: number | null;
  contacts: ContactLane[] | null;
  labels: LabelSpan[];
  evidence: string[];
  warnings: string[];
  made_by: string[];
  skin: string | null;
  unsaved: boolean;
  undo: number;
  redo: number;
}

/**
 * The session. Where it is `resumed`, replies not yet seen follow; `received` is the last id that had arrived.
 *
 * Commands with greater ids were lost and may be sent again, as may any `frames` without an answer; ids up to it are
 * used up, so that a page that is itself new goes on above it. Where `lost`, some replies were dropped, and the page
 * had better take `motions` for all there is. `folder` is "" where none is open.
 */
export interface Welcome {
  session: string;
  resumed: boolean;
  received: number;
  lost: boolean;
  version: string;
  folder: string;
  motions: MotionInfo[];
  panels: string[];
  upload_bytes: number;
  block_frames: number;
}

/**
 * The first message. `session` is that of an earlier welcome, to go on with it, and `seen` the last `n` seen.
 *
 * -1 is for a page that is itself new, as after a reload: replies to the one before are not for it.
 */
export interface Hello {
  session?: string;
  seen?: number;
}

/** The reply where there is nothing to say but that it is done. */
export interface Nothing {
}

/** End the work of the command with id `job`, which then fails with type "Cancelled". */
export interface Cancel {
  job: number;
}

/**
 * A file of the folder: `path` from there with forward slashes, `modified` in seconds since 1970.
 *
 * `labels` are those of its sidecar, where that is small enough to be read for a list.
 */
export interface FileEntry {
  path: string;
  size: number;
  modified: number;
  format: string;
  sidecar: boolean;
  labels: string[];
}

/** The opened folder's name and files; `left_out` counts those beyond the most that are listed. */
export interface FolderList {
  folder: string;
  files: FileEntry[];
  left_out: number;
}

/** The motion files of the opened folder, none of which is loaded for it. */
export interface ListFolder {
}

/** Load a file of the folder, or one that was uploaded; `clip` chooses one of a GLB's. */
export interface OpenFile {
  path: string;
  where?: "folder" | "uploads";
  clip?: string | null;
}

/** What there is to know of a motion besides its frames. */
export interface GetMotion {
  motion: string;
}

/** The reply to `frames` comes as one binary message with the same id, not as JSON. */
export interface Binary {
}

/** Frames `start` to `stop`, half-open, as one binary message; at most `block_frames` of the welcome at once. */
export interface GetFrames {
  motion: string;
  start: number;
  stop: number;
}

/** One value per frame; `unit` is "m", "m/s" or "deg". */
export interface Curve {
  name: string;
  unit: string;
  values: number[];
}

/** Curves that belong into one picture. */
export interface CurveSet {
  curves: Curve[];
}

/** Values over time; `joint` matters for position and rotation. */
export interface GetCurves {
  motion: string;
  curve: "travel" | "speed" | "position" | "rotation" | "contact_heights" | "contact_speeds";
  joint?: number;
}

/** What frames are compared by: points in the world, metres, x y z after each other, `names` of them per frame. */
export interface Cloud {
  names: string[];
  points: number[];
}

/** The point cloud of the frames around one. */
export interface GetCloud {
  motion: string;
  frame: number;
  window?: number;
}

/** Forget a motion. */
export interface CloseMotion {
  motion: string;
}

/** Find the floor and what touches it; `floor` in metres where it is known. */
export interface DetectContacts {
  motion: string;
  hands?: boolean;
  floor?: number | null;
}

/** The intervals of one contact point, all of them. */
export interface LaneEdit {
  name: string;
  intervals: [number, number][];
}

/** Contacts as edited; points that are not named keep theirs. A motion without contacts gets the usual points. */
export interface SetContacts {
  motion: string;
  lanes: LaneEdit[];
}

/** Labels as edited, all of them. */
export interface SetLabels {
  motion: string;
  labels: LabelSpan[];
}

/** What was written, and the motion as it stands now; for a file that was uploaded, `url` is where to fetch it. */
export interface Saved {
  path: string;
  url: string | null;
  motion: MotionInfo;
}

/** Write contacts and labels into the sidecar beside the motion's file. */
export interface SaveSidecar {
  motion: string;
}

/** Take back the last change of a motion. */
export interface Undo {
  motion: string;
}

/** Make the change again that was last taken back. */
export interface Redo {
  motion: string;
}

/** Where the file can be fetched, with the page's cookie. */
export interface Exported {
  url: string;
  name: string;
  size: number;
}

/** Make a file for download; several motions go into one GLB. `name` is without suffix. */
export interface Export {
  motions: string[];
  format: "bvh" | "glb" | "npz";
  name: string;
}

/** The number of the stream, which its binary messages carry as their id, and its joints. */
export interface LiveStarted {
  stream: number;
  rate: number;
  joints: string[];
  parents: number[];
}

/** Play a motion live: one binary message per frame, `rate` times a second, from the start again at its end. */
export interface StartLive {
  motion: string;
  rate?: number;
}

/** End the live stream, if there is one. */
export interface StopLive {
}

/** The page has shown a live frame, which it had been sent at `sent`; every tenth is enough. */
export interface EchoFrame {
  stream: number;
  frame: number;
  sent: number;
}

/** Frames sent and dropped because the page was slow, and how long it took until echoes came back (ms). */
export interface LiveReport {
  stream: number;
  sent: number;
  dropped: number;
  late: number;
  round_trip_ms: number | null;
}

/** How the live stream does. */
export interface LiveFigures {
}

/** One figure; `value` and `against` are null where `note` says why. */
export interface Measure {
  name: string;
  unit: string;
  value: number | null;
  against: number | null;
  definition: string;
  note: string;
}

/** The cleaned motion, its figures after (`value`) and before (`against`), and what it took: metres, shares of 1. */
export interface CleanDone {
  motion: MotionInfo;
  measures: Measure[];
  plants: number;
  residue_max: number;
  limb_scaling_max: number;
  shift_max: number;
}

/** Hold hands and feet where they stand: in place, so that it can be undone, or `as_new` motion. */
export interface CleanMotion {
  motion: string;
  as_new?: boolean;
  hands?: boolean;
  floor?: number | null;
  max_stretch?: number;
  flat?: boolean;
  smooth?: boolean;
}

/** Figures in the order in which they are shown. */
export interface Measured {
  measures: Measure[];
}

/** All figures of a motion, beside those of another where one is given. */
export interface MeasureMotion {
  motion: string;
  against?: string | null;
}

/** A floor-plane transform: turn by `theta` radians about Y, then move by `x` and `z` metres. */
export interface Placed {
  theta: number;
  x: number;
  z: number;
  distance: number;
}

/** Where on the floor `motion` stands best over `to`, each at its frame. */
export interface AlignMotions {
  motion: string;
  frame: number;
  to: string;
  to_frame: number;
}

/**
 * The distances between frames of A (rows) and B (columns).
 *
 * `pixels` is base64 of `rows` x `columns` bytes: the least distance of the frames that a pixel stands for, from 0 to
 * `largest` metres. `frames` are counted at `rate`, to which both motions were brought. `minima` are frame of A, frame
 * of B, metres; the nearest first, and not all where there are very many.
 */
export interface GridImage {
  rows: number;
  columns: number;
  pixels: string;
  largest: number;
  rate: number;
  frames: [number, number];
  minima: [number, number, number][];
}

/** Which frames belong together by one method: frame of A, frame of B, as the grid counts them. */
export interface WarpPath {
  method: "ours" | "linear" | "discrete" | "cubic";
  points: [number, number][];
}

/**
 * How motions go together. `refused` says why they cannot be brought in step, "" where they can.
 *
 * `distance` is in metres, root mean square along the path. `crops` are the frames taken of each motion, half-open.
 */
export interface BlendStudy {
  grid: GridImage;
  paths: WarpPath[];
  refused: string;
  distance: number | null;
  matches: number;
  crops: [number, number][];
  notes: string[];
}

/**
 * Bring motions in step, and compare all frames of the first with all of `other`, the place of one in `motions`.
 *
 * `window` is in seconds. `whole` takes the motions whole instead of what they have in common; `force` takes motions
 * that are too far apart all the same.
 */
export interface StudyBlend {
  motions: string[];
  other?: number;
  window?: number;
  whole?: boolean;
  force?: boolean;
}

/** A floor-plane transform, theta in radians, x and z in metres; `distance` in metres is what is left. */
export interface FramesPlaced {
  theta: number;
  x: number;
  z: number;
  distance: number;
}

/** Where on the floor `motion` at `seconds` lies best over `to` at `to_seconds`; their rates may differ. */
export interface PlaceFrames {
  motion: string;
  seconds: number;
  to: string;
  to_seconds: number;
  window?: number;
}

/** What was made. `at` are the seconds in both motions where a transition is half over; null for blends. */
export interface Blended {
  motion: MotionInfo;
  at: [number, number] | null;
  notes: string[];
}

/**
 * Blend motions. `result` is the motion that an earlier blend made, which then becomes this one.
 *
 * `weights` has one number for each motion; or `curves` has for each motion points of time and weight, both from 0 to
 * 1, time being the share of the blend that has passed.
 */
export interface BlendMotions {
  motions: string[];
  method?: "ours" | "linear" | "discrete" | "cubic";
  weights?: number[];
  curves?: [number, number][][];
  clean?: boolean;
  whole?: boolean;
  force?: boolean;
  result?: string | null;
}

/**
 * Go over from the first of two motions into the second: `at` are the seconds in both that coincide.
 *
 * Without `at` it is done where they are most alike. `length` is in seconds.
 */
export interface JoinMotions {
  motions: string[];
  method?: "ours" | "linear" | "discrete" | "cubic";
  at?: [number, number] | null;
  length?: number;
  clean?: boolean;
  force?: boolean;
  result?: string | null;
}

/** One way to find the path. `distance` in metres, `accuracy` in percent of the best; null where there is none. */
export interface PathFigures {
  method: string;
  cost: number | null;
  distance: number | null;
  accuracy: number | null;
  milliseconds: number;
  note: string;
}

/** One way to blend, or a motion that is blended; `figures` go with the names of the table. */
export interface BlendFigures {
  method: string;
  milliseconds: number | null;
  figures: (number | null)[];
  note: string;
}

/** All methods beside each other. */
export interface BlendTable {
  paths: PathFigures[];
  proven: boolean;
  names: string[];
  units: string[];
  blends: BlendFigures[];
  notes: string[];
}

/** Find the path and blend two motions by every method there is, and measure all; `limit` in seconds per search. */
export interface CompareBlends {
  motions: string[];
  weights?: number[];
  limit?: number;
}

/** A live stream has ended by itself; `error` is "" where all was well. */
export interface LiveEnded {
  event: "live_ended";
  stream: number;
  error: string;
}

/** A motion is new, or no longer what it was, other than by a reply that says so. */
export interface MotionChanged {
  event: "motion_changed";
  motion: MotionInfo;
}

/** The answer to ``POST /upload?session=...&name=walk.bvh``: what `open` takes, with `where` "uploads". */
export interface Uploaded {
  path: string;
  size: number;
}

/** The answer to an upload that cannot be taken: one sentence. */
export interface Refused {
  text: string;
}

/**
 * A motion in the page of `marey view`. `positions` and `rotations` are base64 of what `coding` says.
 *
 * "q16": little-endian int16. A position of joint j in frame f is ``low[k] + (q + 32767) * step[k]`` metres for each
 * axis k, and a marker was not seen where q is -32768; rotations are x y z w times 32767.
 */
export interface ViewMotion {
  info: MotionInfo;
  coding: "q16";
  low: [number, number, number];
  step: [number, number, number];
  positions: string;
  rotations: string;
}

/** All that the page of `marey view` shows: the text of its script element with id "marey-data", as JSON. */
export interface ViewData {
  version: number;
  title: string;
  motions: ViewMotion[];
}

/** Every command, with its fields and its reply. */
export interface Commands {
  "hello": { fields: Hello; reply: Welcome };
  "cancel": { fields: Cancel; reply: Nothing };
  "list": { fields: ListFolder; reply: FolderList };
  "open": { fields: OpenFile; reply: MotionInfo };
  "motion": { fields: GetMotion; reply: MotionInfo };
  "frames": { fields: GetFrames; reply: Binary };
  "curves": { fields: GetCurves; reply: CurveSet };
  "cloud": { fields: GetCloud; reply: Cloud };
  "close": { fields: CloseMotion; reply: Nothing };
  "detect_contacts": { fields: DetectContacts; reply: MotionInfo };
  "set_contacts": { fields: SetContacts; reply: MotionInfo };
  "set_labels": { fields: SetLabels; reply: MotionInfo };
  "save_sidecar": { fields: SaveSidecar; reply: Saved };
  "undo": { fields: Undo; reply: MotionInfo };
  "redo": { fields: Redo; reply: MotionInfo };
  "export": { fields: Export; reply: Exported };
  "live_start": { fields: StartLive; reply: LiveStarted };
  "live_stop": { fields: StopLive; reply: Nothing };
  "live_echo": { fields: EchoFrame; reply: Nothing };
  "live_figures": { fields: LiveFigures; reply: LiveReport };
  "clean": { fields: CleanMotion; reply: CleanDone };
  "measure": { fields: MeasureMotion; reply: Measured };
  "align": { fields: AlignMotions; reply: Placed };
  "blend_study": { fields: StudyBlend; reply: BlendStudy };
  "blend_place": { fields: PlaceFrames; reply: FramesPlaced };
  "blend": { fields: BlendMotions; reply: Blended };
  "blend_transition": { fields: JoinMotions; reply: Blended };
  "blend_statistics": { fields: CompareBlends; reply: BlendTable };
}

export type StudioEvent = LiveEnded | MotionChanged;

export const PANELS = ["look", "compare", "blend"] as const;
