// Written by `python -m marey.studio.typescript` from the dataclasses of marey.studio; do not edit by hand.

export const FRAMES_VERSION = 1;
export const FRAMES_MOTION = 1;
export const FRAMES_LIVE = 2;
export const FRAMES_HEADER_BYTES = 16;

/** One contact point: its joint, its offset in the joint's frame in meters, and half-open frame intervals. */
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
 * Everything about a motion except its frames.
 *
 * `revision` changes whenever frames do and invalidates the page's cached frames. `kind` is "markers" for
 * recordings without a skeleton: all `parents` are -1, and positions of invisible markers are NaN. `parents`,
 * `bone_lengths` (meters to the parent) and `end_sites` match `joints`. `roles` gives a joint's index. `contacts` is
 * null if none are known. `file` is the path within `where`; "" for unsaved motions. `clips` are those
 * of the file. `history` lists the processing steps. `skin` is the address of the original GLB, else null. `undo` and
 * `redo` count the steps.
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
  history: string[];
  skin: string | null;
  unsaved: boolean;
  undo: number;
  redo: number;
}

/** A running job: the id and name of its command, and its progress. */
export interface RunningJob {
  job: number;
  command: string;
  fraction: number;
  text: string;
}

/**
 * The session. If it is `resumed`, unseen replies follow; `received` is the last id that arrived.
 *
 * Commands with greater ids were lost and may be sent again, as may any unanswered `frames`; ids up to it are
 * used, so a new page continues above it. If `lost`, some replies were dropped, and the page
 * should reset to `motions`. `folder` is "" if none is open. `work` are running jobs, started by a
 * page that may have been reloaded since: their progress and replies follow, with these ids.
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
  work: RunningJob[];
}

/**
 * The first message. `session` is the id of an earlier welcome to resume, and `seen` the last `n` seen.
 *
 * -1 means that the page itself is new, as after a reload: replies to the previous page are not sent.
 */
export interface Hello {
  session?: string;
  seen?: number;
}

/** An empty reply: the command succeeded. */
export interface Nothing {
}

/** Cancel the job of the command with id `job`, which then fails with type "Cancelled". */
export interface Cancel {
  job: number;
}

/**
 * A file in the folder: relative `path` with forward slashes, `modified` in seconds since 1970.
 *
 * `labels` are those of its sidecar, if it is small enough to read for a list.
 */
export interface FileEntry {
  path: string;
  size: number;
  modified: number;
  format: string;
  sidecar: boolean;
  labels: string[];
}

/** The open folder's name and files; `skipped` counts the files beyond the limit. */
export interface FolderList {
  folder: string;
  files: FileEntry[];
  skipped: number;
}

/** List the motion files of the open folder without loading them. */
export interface ListFolder {
}

/** Load a file from the folder or the uploads; `clip` selects a clip of a GLB file. */
export interface OpenFile {
  path: string;
  where?: "folder" | "uploads";
  clip?: string | null;
}

/** Describe a motion, without its frames. */
export interface GetMotion {
  motion: string;
}

/** The reply to `frames` comes as one binary message with the same id, not as JSON. */
export interface Binary {
}

/** Get frames `start` to `stop`, half-open, as one binary message; at most `block_frames` of the welcome. */
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

/** Curves of one plot. */
export interface CurveSet {
  curves: Curve[];
}

/** Get curves over time; `joint` is used for position and rotation. */
export interface GetCurves {
  motion: string;
  curve: "travel" | "speed" | "position" | "rotation" | "contact_heights" | "contact_speeds";
  joint?: number;
}

/** A point cloud by which frames are compared: flat x y z in world meters, one point per name and frame. */
export interface Cloud {
  names: string[];
  points: number[];
}

/** Get the point cloud around a frame. */
export interface GetCloud {
  motion: string;
  frame: number;
  window?: number;
}

/** Close a motion. */
export interface CloseMotion {
  motion: string;
}

/** Detect the floor and contacts; `floor` is its height in meters if known. */
export interface DetectContacts {
  motion: string;
  hands?: boolean;
  floor?: number | null;
}

/** All intervals of one contact point. */
export interface LaneEdit {
  name: string;
  intervals: [number, number][];
}

/** Set edited contacts; other points keep theirs. A motion without contacts gets the default points. */
export interface SetContacts {
  motion: string;
  lanes: LaneEdit[];
}

/** Set all labels. */
export interface SetLabels {
  motion: string;
  labels: LabelSpan[];
}

/** The saved file and the current motion; for an uploaded file, `url` is the download address. */
export interface Saved {
  path: string;
  url: string | null;
  motion: MotionInfo;
}

/** Save contacts and labels to the sidecar of the motion's file. */
export interface SaveSidecar {
  motion: string;
}

/** Undo the last change to a motion. */
export interface Undo {
  motion: string;
}

/** Redo the last undone change. */
export interface Redo {
  motion: string;
}

/**
 * The download address, which needs the page's cookie.
 *
 * `sidecar` is the address of its contacts, labels and floor, which no format stores; null if it has none.
 */
export interface Exported {
  url: string;
  name: string;
  size: number;
  sidecar: string | null;
  sidecar_name: string;
}

/** Prepare a file for download; several motions go into one GLB. `name` has no suffix. */
export interface Export {
  motions: string[];
  format: "bvh" | "glb" | "npz";
  name: string;
}

/** The file's path in the folder, or null if the name is taken; `free` is a free name. */
export interface SavedInFolder {
  path: string | null;
  free: string;
}

/** Save a motion and its sidecar to the open folder; `name` has no suffix. Never overwrites files. */
export interface SaveInFolder {
  motion: string;
  format: "bvh" | "glb" | "npz";
  name: string;
}

/** The name without suffix. */
export interface NameFound {
  name: string;
}

/** Get a similar name that no motion in the open folder has. */
export interface FreeName {
  name: string;
}

/** The number of the stream, which its binary messages carry as their id, and its joints. */
export interface LiveStarted {
  stream: number;
  rate: number;
  joints: string[];
  parents: number[];
}

/** Play a motion live: one binary message per frame, `rate` times per second, in a loop. */
export interface StartLive {
  motion: string;
  rate?: number;
}

/** Stop a live stream if it still plays; null for any, including those being prepared. */
export interface StopLive {
  stream?: number | null;
}

/** The page has shown a live frame that was sent at `sent`; every tenth is enough. */
export interface EchoFrame {
  stream: number;
  frame: number;
  sent: number;
}

/** Frames sent, frames dropped because the page was slow, and the round-trip time (ms). */
export interface LiveReport {
  stream: number;
  sent: number;
  dropped: number;
  late: number;
  round_trip_ms: number | null;
}

/** Get statistics of the live stream. */
export interface LiveFigures {
}

/** One metric; `value` and `against` are null if they are undefined, and `note` says why. */
export interface Measure {
  name: string;
  unit: string;
  value: number | null;
  against: number | null;
  definition: string;
  note: string;
}

/** The cleaned motion, metrics after (`value`) and before (`against`), and a summary: meters, fractions. */
export interface CleanDone {
  motion: MotionInfo;
  measures: Measure[];
  plants: number;
  residue_max: number;
  limb_scaling_max: number;
  shift_max: number;
}

/** Lock feet and hands to their contacts, in place (undoable) or `as_new` motion. */
export interface CleanMotion {
  motion: string;
  as_new?: boolean;
  hands?: boolean;
  floor?: number | null;
  max_stretch?: number;
  flat?: boolean;
  smooth?: boolean;
}

/** Metrics in display order. */
export interface Measured {
  measures: Measure[];
}

/** Measure a motion, optionally next to another. */
export interface MeasureMotion {
  motion: string;
  against?: string | null;
}

/** A floor-plane transform: rotate by `theta` radians about Y, then move by `x` and `z` meters. */
export interface Placed {
  theta: number;
  x: number;
  z: number;
  distance: number;
}

/** Align a frame of `motion` with a frame of `to` on the floor. */
export interface AlignMotions {
  motion: string;
  frame: number;
  to: string;
  to_frame: number;
}

/**
 * The distances between frames of A (rows) and B (columns).
 *
 * `pixels` is base64 of `rows` x `columns` bytes: the distance, from 0 to `largest` meters, averaged over the
 * frames of a pixel. `frames` are counted at `rate`, to which both motions were resampled. `minima` are
 * (frame of A, frame of B, meters), the smallest first, limited in number.
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

/** The alignment found by one method: frame of A, frame of B, in grid frames. */
export interface WarpPath {
  method: "ours" | "linear" | "discrete" | "cubic";
  points: [number, number][];
}

/**
 * The registration of motions. `refused` says why they cannot be synchronized; "" if they can.
 *
 * `distance` is in meters, root mean square along the path. `crops` are the frames used of each motion, half-open.
 * `misfits` are the indices of motions with another skeleton than the first; if there are any, there is no
 * grid. `rests` are the indices of motions whose first frame is a rest pose.
 */
export interface BlendStudy {
  grid: GridImage | null;
  paths: WarpPath[];
  refused: string;
  distance: number | null;
  matches: number;
  crops: [number, number][];
  notes: string[];
  misfits: number[];
  rests: number[];
}

/**
 * Register motions, and compare all frames of the first with all of `other`, an index into `motions`.
 *
 * `window` is in seconds. `whole` uses full clips instead of the part they have in common; `force` accepts motions
 * that are too different.
 */
export interface StudyBlend {
  motions: string[];
  other?: number;
  window?: number;
  whole?: boolean;
  force?: boolean;
}

/** The motion, with notes. */
export interface Fitted {
  motion: MotionInfo;
  notes: string[];
}

/**
 * Retarget a motion to another's skeleton, as a new motion.
 *
 * `frame` and `to_frame` are standing poses of both, used if a rest pose does not stand.
 */
export interface FitMotion {
  motion: string;
  to: string;
  frame?: number;
  to_frame?: number;
}

/** Remove the first frame of a motion if it is a rest pose; can be undone. */
export interface TrimRestPose {
  motion: string;
}

/** A floor-plane transform, theta in radians, x and z in meters; `distance` is the residual in meters. */
export interface FramesPlaced {
  theta: number;
  x: number;
  z: number;
  distance: number;
}

/** Align `motion` at `seconds` with `to` at `to_seconds` on the floor; their rates may differ. */
export interface PlaceFrames {
  motion: string;
  seconds: number;
  to: string;
  to_seconds: number;
  window?: number;
}

/** The result. `at` are the times (s) in both motions at the middle of a transition; null for blends. */
export interface Blended {
  motion: MotionInfo;
  at: [number, number] | null;
  notes: string[];
}

/**
 * Blend motions. `result` is the result of an earlier blend, which is replaced.
 *
 * `weights` has one number per motion; or `curves` has, for each motion, points (time, weight), both from 0 to
 * 1, where time is the elapsed fraction of the blend. `merge_undo`: undo it with the previous blend, as while a
 * slider moves.
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
  merge_undo?: boolean;
}

/**
 * Make a transition from the first to the second motion; `at` are the times in both that coincide, in seconds.
 *
 * Without `at`, use the best match. `length` is in seconds; `merge_undo` as for blends.
 */
export interface JoinMotions {
  motions: string[];
  method?: "ours" | "linear" | "discrete" | "cubic";
  at?: [number, number] | null;
  length?: number;
  clean?: boolean;
  force?: boolean;
  result?: string | null;
  merge_undo?: boolean;
}

/** One alignment method. `distance` in meters, `accuracy` in percent of the best; null if it failed. */
export interface PathFigures {
  method: string;
  cost: number | null;
  distance: number | null;
  accuracy: number | null;
  milliseconds: number;
  note: string;
}

/** Metrics of one blend method, or of an input motion; `figures` are in the order of the table's names. */
export interface BlendFigures {
  method: string;
  milliseconds: number | null;
  figures: (number | null)[];
  note: string;
}

/** Comparison of all methods. */
export interface BlendTable {
  paths: PathFigures[];
  proven: boolean;
  names: string[];
  units: string[];
  blends: BlendFigures[];
  notes: string[];
}

/** Align and blend two motions with every method, and measure the results; `limit` is in seconds per search. */
export interface CompareBlends {
  motions: string[];
  weights?: number[];
  limit?: number;
}

/** Connectivity for one threshold in meters. */
export interface LimitPoint {
  meters: number;
  share: number;
  transitions: number;
}

/** How many seconds of a label are connected, out of how many, and which other labels can be reached. */
export interface LabelPart {
  label: string;
  seconds: number;
  of_seconds: number;
  reaches: string[];
}

/** Number of transitions from one label to another. */
export interface PairCount {
  before: string;
  after: string;
  transitions: number;
}

/** Connectivity: `share` is the fraction of all frames in the largest strongly connected component. */
export interface GraphLinks {
  transitions: number;
  share: number;
  labels: LabelPart[];
  pairs: PairCount[];
}

/**
 * The compared clips. `curve` goes up to the largest threshold; `suggested` is a good default.
 *
 * `skipped` lists files and reasons; `links` is the connectivity at the suggested threshold.
 */
export interface GraphBuilt {
  clips: string[];
  seconds: number;
  rate: number;
  skipped: string[];
  labels: string[];
  curve: LimitPoint[];
  suggested: number;
  links: GraphLinks;
}

/**
 * Find transitions between clips: open motions, files in the folder, or both.
 *
 * Files with another skeleton than the first clip's are skipped. `window` is the transition length in seconds;
 * `rate` is in frames per second, or null for the highest rate of the clips.
 */
export interface BuildGraph {
  motions?: string[];
  files?: string[];
  window?: number;
  rate?: number | null;
}

/** A threshold in meters for transitions from one label to another; 0 forbids them. */
export interface PairLimit {
  before: string;
  after: string;
  meters: number;
}

/**
 * The current graph; `built` is null if there is none.
 *
 * `motions` and `files` are its inputs, `threshold` and `pairs` the last requested
 * thresholds, and `links` of `built` the connectivity for them.
 */
export interface GraphShown {
  built: GraphBuilt | null;
  motions: string[];
  files: string[];
  window: number;
  rate: number | null;
  threshold: number;
  pairs: PairLimit[];
}

/** Get the last graph, as after a reload of the page. */
export interface ShowGraph {
}

/** Get the connectivity for these thresholds, without building the graph. */
export interface LinkGraph {
  threshold: number;
  pairs?: PairLimit[];
}

/** The motion, and notes about its graph. */
export interface Walked {
  motion: MotionInfo;
  transitions: number;
  findings: string[];
}

/** Make a random walk; the same seed gives the same walk. */
export interface WalkGraph {
  threshold: number;
  pairs?: PairLimit[];
  seconds?: number;
  seed?: number;
  label?: string | null;
  clean?: boolean;
}

/** A drawn segment, x, z in meters, and the action along it; null for any. */
export interface PathStretch {
  points: [number, number][];
  label: string | null;
}

/**
 * The motion, the smoothed path, and the walked way, both x, z; distances in meters.
 *
 * `why` explains a large deviation; "" if there is none.
 */
export interface PathFollowed {
  motion: MotionInfo;
  path: [number, number][];
  way: [number, number][];
  length: number;
  mean_distance: number;
  largest_distance: number;
  end_distance: number;
  why: string;
}

/** Make a walk along consecutive segments, joined by straight lines. */
export interface FollowGraph {
  threshold: number;
  stretches: PathStretch[];
  pairs?: PairLimit[];
  clean?: boolean;
}

/**
 * The stream's number, rate, character, and delay in seconds caused by foot locking.
 *
 * Frames have a `note` if a request cannot be met.
 */
export interface GraphSteered {
  stream: number;
  rate: number;
  body: MotionInfo;
  delay: number;
}

/** Play the graph live, steered by `graph_request`; `clean` locks the feet, which adds delay. */
export interface SteerGraph {
  threshold: number;
  pairs?: PairLimit[];
  direction?: number;
  label?: string | null;
  clean?: boolean;
}

/** Direction in radians from +Z, positive to the left; action, and speed in m/s, null for any. */
export interface SteerRequest {
  direction: number;
  label?: string | null;
  speed?: number | null;
}

/** The file's download address. */
export interface GraphSaved {
  url: string;
  name: string;
  size: number;
}

/** Prepare the graph with its clips for download; `marey graph` can read it. */
export interface SaveGraph {
  threshold: number;
  pairs?: PairLimit[];
}

/**
 * The index; `skipped` lists the files that are not in it, with reasons.
 *
 * An example must last `least` seconds. For a web from a file, `notes` compare it with the motions
 * that exist now.
 */
export interface WebBuilt {
  clips: string[];
  frames: number;
  fps: number;
  seconds: number;
  least: number;
  skipped: string[];
  notes: string[];
}

/**
 * Compare all frames of the open `motions`, and with `folder` of its files, that have the skeleton of `like`.
 *
 * `remove_height` makes a reach to the floor similar to one to a shelf. `rate` is the maximum of compared frames
 * per second; null for all.
 */
export interface BuildWeb {
  like: string;
  motions?: string[];
  folder?: boolean;
  markers?: "body" | "upper" | "lower";
  remove_height?: boolean;
  rate?: number | null;
}

/** Load a web from the folder and match its clips to the current motions. */
export interface LoadWeb {
  path: string;
}

/** Whether a motion is in the index, has changed since, is not in it, or has another skeleton. */
export interface ClipStatus {
  where: "inside" | "changed" | "outside" | "figure";
}

/** Ask whether a motion is in the index. */
export interface GetClipStatus {
  motion: string;
}

/**
 * Number of matches by threshold (meters), and the suggested threshold.
 *
 * Between the two values of `level` the count does not change; `still` is the distance of a motionless character.
 */
export interface ThresholdCurve {
  thresholds: number[];
  counts: number[];
  threshold: number;
  n_matches: number;
  level: [number, number];
  stands_out: boolean;
  still: number;
  text: string;
}

/**
 * Count the matches of frames `start` to `stop` of a motion for each threshold.
 *
 * `repeats` counts ranges that overlap by up to one half as separate, as for consecutive steps; `further`
 * is as in `SearchWeb`.
 */
export interface SuggestThreshold {
  motion: string;
  start: number;
  stop: number;
  further?: boolean;
  repeats?: boolean;
}

/** The skeleton of all tiles, without fingers; fields as in MotionInfo. */
export interface TileBody {
  parents: number[];
  bone_lengths: number[];
  end_sites: boolean[];
  roles: Record<string, number>;
  stature: number;
}

/**
 * `count` matches, the query first; `find_matches` returns them by the number of the `search`.
 *
 * `joint` is the hand, foot or head that moves most relative to the hips: the default for target control.
 */
export interface SearchDone {
  search: number;
  count: number;
  body: TileBody;
  joint: string;
  notes: string[];
}

/**
 * Find everything within `threshold` meters of frames `start` to `stop` of a motion.
 *
 * With `further`, search transitively from the matches; `repeats` is as in `SuggestThreshold`.
 */
export interface SearchWeb {
  motion: string;
  start: number;
  stop: number;
  threshold: number;
  further?: boolean;
  repeats?: boolean;
}

/**
 * A match thumbnail: seconds within its clip, distance (m) from the query along the chain of matches.
 *
 * `points` are x, y, z of each joint of `TileBody` for each of `n_frames` frames, integer millimeters: x left of
 * the character's first placement, y up from the floor, z ahead, at `fps` frames per second.
 */
export interface MatchTile {
  number: number;
  clip: string;
  start: number;
  stop: number;
  distance: number;
  tier: number;
  fps: number;
  n_frames: number;
  points: number[];
}

/** Matches in order. */
export interface MatchTiles {
  tiles: MatchTile[];
}

/** Get some matches of a search, sorted by distance from the query, which is number 0. */
export interface GetMatches {
  search: number;
  first: number;
  count: number;
}

/** The motion, and a `note` if it has the index's rate because its source is gone; else "". */
export interface OpenedMatch {
  motion: MotionInfo;
  note: string;
}

/** Open a match as a motion, cut from its source at the source's rate. */
export interface OpenMatch {
  search: number;
  number: number;
}

/**
 * The resulting motion and what it reaches.
 *
 * `target` is the request, `reached` the result; `errors` is the norm of the difference by unit.
 * If it is `projected`, the target is out of reach and `aimed` is used instead. For a position, `point`
 * and `hit` are target and joint in the world, `moment` is the frame, and `path` has x y z of the joint in each frame.
 */
export interface Aimed {
  motion: MotionInfo;
  target: number[];
  aimed: number[];
  reached: number[];
  errors: Record<string, number>;
  projected: boolean;
  point: [number, number, number] | null;
  hit: [number, number, number] | null;
  moment: number | null;
  path: number[];
}

/**
 * A parametric motion: its parameters, the bounding box of its reach, and a first motion.
 *
 * `points` are reachable world positions, flat x y z, if the parameter is a position. `used` counts
 * the examples out of `given` that it uses.
 */
export interface SpaceMade {
  names: string[];
  units: string[];
  low: number[];
  high: number[];
  points: number[];
  used: number;
  given: number;
  notes: string[];
  first: Aimed;
}

/**
 * Build a parametric motion from the matches of a search except those in `drop`, controlled by `feature`.
 *
 * A feature is text as for `marey parametric build`: "position:right_hand@farthest", or "turn,speed".
 */
export interface MakeSpace {
  search: number;
  feature: string;
  drop?: number[];
  samples?: number;
}

/** Load a space from the folder; its character stands at the origin and faces ahead. */
export interface LoadSpace {
  path: string;
}

/**
 * Make a motion for a `target` (one number per parameter) or for a `point` in the world.
 *
 * `refine` improves the accuracy, which takes longer.
 */
export interface AimMotion {
  target?: number[] | null;
  point?: [number, number, number] | null;
  refine?: boolean;
}

/** Keep a copy of the current motion. */
export interface KeepAimed {
}

/** The last results, null if there are none; `sought` is the last search request. */
export interface FindSnapshot {
  web: WebBuilt | null;
  sought: SearchWeb | null;
  found: SearchDone | null;
  space: SpaceMade | null;
}

/** Get the current state, as after a reload of the page. */
export interface FindNow {
}

/** A web or a space in the folder. */
export interface SavedFile {
  path: string;
  kind: "web" | "space";
}

/** Files in order; `is_open` says whether a folder is open to save to. */
export interface SavedFiles {
  files: SavedFile[];
  is_open: boolean;
}

/** List the folder's webs and spaces. */
export interface ListSaved {
}

/** The file; if the name `was_there` already and must not be overwritten, nothing was saved. */
export interface SavedFound {
  path: string;
  was_there: boolean;
}

/** Save the web or the space to the folder as ``NAME.npz``, which the command line can read. */
export interface SaveFound {
  kind: "web" | "space";
  name: string;
  replace?: boolean;
}

/**
 * The motion, the difference of the steps in meters, and the used range of the upper clip in seconds.
 *
 * `leaned` is the overall rotation of the upper body in degrees, `looped` whether its clip is looped.
 */
export interface SpliceDone {
  motion: MotionInfo;
  distance: number;
  start: number;
  stop: number;
  leaned: number;
  looped: boolean;
  notes: string[];
}

/**
 * Put the upper body of one motion on the lower body of another, synchronized; both must walk or run.
 *
 * `align` and `posture` are as for `marey.splice`.
 */
export interface SpliceMotions {
  lower: string;
  upper: string;
  align?: "loop" | "first_minimum";
  posture?: "pitch" | "full" | "none";
}

/** The motion, with notes. */
export interface TransplantDone {
  motion: MotionInfo;
  notes: string[];
}

/** Put a body part of one motion on another, unsynchronized, from `at` seconds of the base on. */
export interface TransplantLimb {
  base: string;
  donor: string;
  part: "left_arm" | "right_arm" | "arms" | "head" | "upper_body";
  at?: number;
  ease?: number;
}

/** From `time` seconds on, look at a point in the world; null returns to the original motion. */
export interface LookGoal {
  time: number;
  point: [number, number, number] | null;
}

/**
 * One gaze target: when it is reached (null if there is not enough time), and the remaining error in degrees.
 *
 * `outside` is how many degrees the point lies beyond the range of the gaze map.
 */
export interface LookReport {
  time: number;
  settled: number | null;
  outside: number;
  missed: number | null;
}

/**
 * The motion, its gaze targets, and its gaze: eye positions and unit gaze directions.
 *
 * `places` and `directions` are flat x y z lists, for every `step`-th frame.
 */
export interface LookDone {
  motion: MotionInfo;
  looks: LookReport[];
  step: number;
  places: number[];
  directions: number[];
  notes: string[];
}

/**
 * Make a motion look at points, one after another.
 *
 * `made` is an earlier result, which is updated, as while a point is dragged. With `steady`, the eyes compensate
 * for the body's bobbing; `eyes` adds a joint to the head that points along the gaze.
 */
export interface LookAt {
  motion: string;
  goals: LookGoal[];
  made?: string | null;
  steady?: boolean;
  eyes?: boolean;
}

/** One parameter of a node; `unit` says whether it is in radians. */
export interface CharacterRange {
  name: string;
  unit: string;
  low: number;
  high: number;
}

/**
 * A node; `of` is the node that it is a sub-range of, or "". `request` says how requests become parameters.
 *
 * `stuck`: a dead end, so the character cannot play yet.
 */
export interface CharacterNode {
  name: string;
  of: string;
  ranges: CharacterRange[];
  request: string;
  seconds: number;
  stuck: boolean;
}

/**
 * A transition, in meters: thresholds, median cost, and the largest best cost over all source motions.
 *
 * `share` is the fraction of the target's range, by volume, that can follow a source motion, on average.
 */
export interface CharacterEdge {
  source: string;
  target: string;
  good: number;
  bad: number;
  median: number;
  worst: number;
  share: number;
  samples: number;
}

/** The character being edited. `note` comments on the last change; "" for none. */
export interface Character {
  name: string;
  nodes: CharacterNode[];
  edges: CharacterEdge[];
  note: string;
}

/** Get the character being edited, initially empty. */
export interface ShowCharacter {
}

/** A built-in recipe. */
export interface RecipeInfo {
  name: string;
  about: string;
  nodes: string[];
}

/** A character or a gaze map in the folder. */
export interface AuthoredFile {
  path: string;
  kind: "character" | "gaze";
}

/** Sources of characters and gaze maps. */
export interface Sources {
  recipes: RecipeInfo[];
  files: AuthoredFile[];
}

/** List the recipes, and the characters and gaze maps in the folder. */
export interface ListSources {
}

/** Start a new character. `length` is the transition length in seconds. */
export interface NewCharacter {
  name: string;
  length?: number;
}

/** Replace the character with a built-in recipe; or, if `nodes` are given, add only these. */
export interface UseRecipe {
  recipe: string;
  nodes?: string[];
}

/** Add a node of the gait cycles in open motions; `speed` adds speed as a second parameter besides turn rate. */
export interface AddGait {
  name: string;
  motions: string[];
  speed?: boolean;
  mirror?: boolean;
}

/** Add a sub-range of a node as a new node. */
export interface AddPart {
  name: string;
  of: string;
  low: number[];
  high: number[];
}

/** Remove a node and its transitions. */
export interface RemoveNode {
  name: string;
}

/**
 * Make a motion of a node; it replaces `result` if that is open.
 *
 * `merge_undo`: undo it together with the previous change, as while a slider moves.
 */
export interface MakeMotion {
  node: string;
  parameters: number[];
  result?: string | null;
  merge_undo?: boolean;
}

/**
 * Histogram of transition costs: `counts` between 0 and `top` meters, in equal bins.
 *
 * `best` are the sorted costs of each source sample's best transition: a transition needs `good` above all of them.
 */
export interface CostChart {
  source: string;
  target: string;
  top: number;
  counts: number[];
  best: number[];
  good: number;
  bad: number;
}

/** Find the best transition for many pairs of motions, from which to choose thresholds. */
export interface CompareNodes {
  source: string;
  target: string;
  n_source?: number;
  n_target?: number;
}

/**
 * Fractions of good and bad pairs, and the number of source samples that cannot continue (see `note`).
 *
 * `points` are all target samples with their costs from source sample `sample`; `low` and `high` are its box, null if
 * there is none. Parameters are as in the node.
 */
export interface TriedEdge {
  good_share: number;
  bad_share: number;
  stuck: number;
  note: string;
  sample: number;
  at: number[];
  points: number[][];
  costs: number[];
  low: number[] | null;
  high: number[] | null;
}

/** Preview thresholds, in meters, for compared nodes; `sample` selects the source motion whose box is shown. */
export interface TryEdge {
  source: string;
  target: string;
  good: number;
  bad: number;
  sample?: number;
}

/** Connect compared nodes; `part` names the sub-range to connect if not all motions can continue. */
export interface ConnectNodes {
  source: string;
  target: string;
  good: number;
  bad: number;
  part?: string | null;
}

/** Remove a transition. */
export interface Disconnect {
  source: string;
  target: string;
}

/** Make a random walk of the character. */
export interface WalkCharacter {
  seconds?: number;
  seed?: number;
}

/** The saved files. */
export interface SavedAuthored {
  files: string[];
}

/** Save the character or the gaze map to the folder as NAME.json. */
export interface SaveAuthored {
  kind: "character" | "gaze";
  name: string;
  replace?: boolean;
}

/** Load a character from the folder. */
export interface LoadCharacter {
  path: string;
}

/**
 * An example: gaze direction (radians), duration (s), rotation of the eyes in the head (radians).
 *
 * `cost` is the leave-one-out error in radians: how far the head of a map of all other examples is off; null if the
 * others form no map. An example with a high cost is either important or does not fit the others.
 */
export interface GazeExample {
  name: string;
  yaw: number;
  pitch: number;
  seconds: number;
  eyes: number;
  cost: number | null;
}

/** A gaze map: its examples, and the corners of the region it can look at. */
export interface GazeChart {
  examples: GazeExample[];
  region: [number, number][];
  note: string;
}

/** Load a gaze map from the folder, or the built-in one; null shows the current one. */
export interface ShowGaze {
  path?: string | null;
  shipped?: boolean;
}

/** Compute the leave-one-out error of each example. */
export interface GazeCosts {
}

/** Add an open motion as an example: at rest, a look at the goal (radians), at rest again. */
export interface AddLook {
  motion: string;
  yaw: number;
  pitch: number;
  start?: number | null;
  stop?: number | null;
}

/** Remove an example by its index. */
export interface RemoveLook {
  example: number;
}

/** The resulting motion; `note` is a comment, "" for none. */
export interface AimedGaze {
  motion: MotionInfo;
  note: string;
}

/** Make an open motion look somewhere (radians) from its middle on, using the current map. */
export interface AimGaze {
  yaw: number;
  pitch: number;
  motion: string;
  result?: string | null;
}

/** A built-in recipe. */
export interface DriveRecipe {
  name: string;
  about: string;
}

/**
 * Characters that can be driven: recipes, files in the folder, and the draft of the Characters panel ("" if empty).
 *
 * `stuck` says why the draft cannot play yet; "" if it can.
 */
export interface DriveChoices {
  recipes: DriveRecipe[];
  files: string[];
  draft: string;
  stuck: string;
}

/** List the characters that can be driven. */
export interface ListDrive {
}

/** An action of a character; `at_point`: it aims at a point in space, such as a punch. */
export interface DriveNode {
  name: string;
  ranges: CharacterRange[];
  at_point: boolean;
}

/**
 * The stream; its floor is at 0. `roles` gives joint indices. `speed` is the range of speeds in m/s that can be
 * requested, or null, and `usual` the default speed.
 *
 * `delay` is the display delay in seconds, which is included in the response time. Each live frame reports:
 * `place` [yaw, x, z] of the character; `doing`, the current node or clip; `answer`, response time of the last change
 * of direction, and `waiting`, seconds since one that is still pending, or null; `reached`, seconds until the
 * point was reached, or null; and, if it has changed, `reach`: lines [[x, z], ...] around where it can be next.
 */
export interface DriveStarted {
  started: LiveStarted;
  roles: Record<string, number>;
  way: "character" | "graph" | "matching" | "tree";
  nodes: DriveNode[];
  speed: [number, number] | null;
  usual: number | null;
  delay: number;
}

/**
 * Start to play, or change the controller.
 *
 * `way`: a parametric motion graph ("character"), the direction table of a motion graph, motion matching, or a blend
 * tree. A character is given by `source` and `name`. The others are built from open `motions`, or from generated
 * walks if there are none. `feet`: locked instantly, cleaned (which needs look-ahead), or free. With `stay`, the
 * character starts where the previous one stands.
 */
export interface StartDrive {
  way: "character" | "graph" | "matching" | "tree";
  source?: "recipe" | "file" | "draft";
  name?: string;
  motions?: string[];
  feet?: "lock" | "clean" | "free";
  stay?: boolean;
}

/**
 * The complete request from now on; null fields are not requested.
 *
 * `direction` is in radians from +Z in the world, positive to the left; `point` x and z of the floor, to go to;
 * `target` x, y and z to aim at; `node` the action, with `values` of its other parameters; `speed` in m/s.
 */
export interface DriveRequest {
  direction?: number | null;
  point?: [number, number] | null;
  target?: [number, number, number] | null;
  node?: string | null;
  speed?: number | null;
  values?: Record<string, number> | null;
}

/**
 * Statistics of one controller: seconds driven, completed changes of direction, and response times.
 *
 * A change is completed when the character faces the direction within 15 degrees for 0.25 s; `unanswered` counts those
 * that were replaced by another or took longer than 8 s. A request followed by another within 0.5 s, as in drags, does
 * not count: the time of a turn starts at the last change of the request that lasted.
 */
export interface WayFigures {
  way: "character" | "graph" | "matching" | "tree";
  seconds: number;
  answered: number;
  unanswered: number;
  median: number | null;
  slowest: number | null;
}

/** Statistics of all controllers used. */
export interface DriveTable {
  ways: WayFigures[];
}

/** Get the response times so far. */
export interface DriveFigures {
}

/** The motion. */
export interface SavedDrive {
  motion: MotionInfo;
}

/** Save the last seconds as a motion. */
export interface KeepDriven {
  seconds?: number;
}

/** A live stream has ended by itself; `error` is "" if there was none. */
export interface LiveEnded {
  event: "live_ended";
  stream: number;
  error: string;
}

/** A motion was added or changed without a reply that says so. */
export interface MotionChanged {
  event: "motion_changed";
  motion: MotionInfo;
}

/** The answer to ``POST /upload?session=...&name=walk.bvh``: what `open` takes, with `where` "uploads". */
export interface Uploaded {
  path: string;
  size: number;
}

/** The answer to a rejected upload: one sentence. */
export interface Refused {
  text: string;
}

/**
 * A motion in the page of `marey view`. `positions` and `rotations` are base64, encoded as `coding` says.
 *
 * "q16": little-endian int16. A position of joint j in frame f is ``low[k] + (q + 32767) * step[k]`` meters for each
 * axis k; q = -32768 means that a marker is not visible; rotations are x y z w times 32767.
 */
export interface ViewMotion {
  info: MotionInfo;
  coding: "q16";
  low: [number, number, number];
  step: [number, number, number];
  positions: string;
  rotations: string;
  skin: number | null;
}

/**
 * The content of a `marey view` page: JSON in its script element with id "marey-data".
 *
 * `skins` are GLB files in base64, without animations; `skin` of a motion is an index into it.
 */
export interface ViewData {
  version: number;
  title: string;
  motions: ViewMotion[];
  skins: string[];
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
  "save_in_folder": { fields: SaveInFolder; reply: SavedInFolder };
  "free_name": { fields: FreeName; reply: NameFound };
  "live_start": { fields: StartLive; reply: LiveStarted };
  "live_stop": { fields: StopLive; reply: Nothing };
  "live_echo": { fields: EchoFrame; reply: Nothing };
  "live_figures": { fields: LiveFigures; reply: LiveReport };
  "clean": { fields: CleanMotion; reply: CleanDone };
  "measure": { fields: MeasureMotion; reply: Measured };
  "align": { fields: AlignMotions; reply: Placed };
  "blend_study": { fields: StudyBlend; reply: BlendStudy };
  "blend_fit": { fields: FitMotion; reply: Fitted };
  "blend_trim_rest": { fields: TrimRestPose; reply: MotionInfo };
  "blend_place": { fields: PlaceFrames; reply: FramesPlaced };
  "blend": { fields: BlendMotions; reply: Blended };
  "blend_transition": { fields: JoinMotions; reply: Blended };
  "blend_statistics": { fields: CompareBlends; reply: BlendTable };
  "graph_build": { fields: BuildGraph; reply: GraphBuilt };
  "graph_show": { fields: ShowGraph; reply: GraphShown };
  "graph_links": { fields: LinkGraph; reply: GraphLinks };
  "graph_walk": { fields: WalkGraph; reply: Walked };
  "graph_follow": { fields: FollowGraph; reply: PathFollowed };
  "graph_steer": { fields: SteerGraph; reply: GraphSteered };
  "graph_request": { fields: SteerRequest; reply: Nothing };
  "graph_save": { fields: SaveGraph; reply: GraphSaved };
  "find_build": { fields: BuildWeb; reply: WebBuilt };
  "find_load": { fields: LoadWeb; reply: WebBuilt };
  "find_where": { fields: GetClipStatus; reply: ClipStatus };
  "find_suggest": { fields: SuggestThreshold; reply: ThresholdCurve };
  "find_search": { fields: SearchWeb; reply: SearchDone };
  "find_matches": { fields: GetMatches; reply: MatchTiles };
  "find_open": { fields: OpenMatch; reply: OpenedMatch };
  "aim_make": { fields: MakeSpace; reply: SpaceMade };
  "aim_load": { fields: LoadSpace; reply: SpaceMade };
  "aim": { fields: AimMotion; reply: Aimed };
  "aim_keep": { fields: KeepAimed; reply: MotionInfo };
  "find_now": { fields: FindNow; reply: FindSnapshot };
  "find_files": { fields: ListSaved; reply: SavedFiles };
  "find_save": { fields: SaveFound; reply: SavedFound };
  "layer_splice": { fields: SpliceMotions; reply: SpliceDone };
  "layer_transplant": { fields: TransplantLimb; reply: TransplantDone };
  "layer_look": { fields: LookAt; reply: LookDone };
  "author_show": { fields: ShowCharacter; reply: Character };
  "author_sources": { fields: ListSources; reply: Sources };
  "author_new": { fields: NewCharacter; reply: Character };
  "author_recipe": { fields: UseRecipe; reply: Character };
  "author_add": { fields: AddGait; reply: Character };
  "author_part": { fields: AddPart; reply: Character };
  "author_remove": { fields: RemoveNode; reply: Character };
  "author_motion": { fields: MakeMotion; reply: MotionInfo };
  "author_compare": { fields: CompareNodes; reply: CostChart };
  "author_try": { fields: TryEdge; reply: TriedEdge };
  "author_connect": { fields: ConnectNodes; reply: Character };
  "author_disconnect": { fields: Disconnect; reply: Character };
  "author_walk": { fields: WalkCharacter; reply: MotionInfo };
  "author_save": { fields: SaveAuthored; reply: SavedAuthored };
  "author_load": { fields: LoadCharacter; reply: Character };
  "author_gaze": { fields: ShowGaze; reply: GazeChart };
  "author_gaze_costs": { fields: GazeCosts; reply: GazeChart };
  "author_gaze_add": { fields: AddLook; reply: GazeChart };
  "author_gaze_remove": { fields: RemoveLook; reply: GazeChart };
  "author_gaze_aim": { fields: AimGaze; reply: AimedGaze };
  "drive_list": { fields: ListDrive; reply: DriveChoices };
  "drive_start": { fields: StartDrive; reply: DriveStarted };
  "drive_request": { fields: DriveRequest; reply: Nothing };
  "drive_figures": { fields: DriveFigures; reply: DriveTable };
  "drive_keep": { fields: KeepDriven; reply: SavedDrive };
}

export type StudioEvent = LiveEnded | MotionChanged;

export const PANELS = ["look", "compare", "blend", "graph", "find", "layer", "author", "drive"] as const;
