// Written by `python -m marey.studio.typescript` from the dataclasses of marey.studio; do not edit by hand.

export const FRAMES_VERSION = 1;
export const FRAMES_MOTION = 1;
export const FRAMES_LIVE = 2;
export const FRAMES_HEADER_BYTES = 16;

/**
 * One contact point and the half-open frame intervals in which it is planted.
 *
 * `joint` is an index; `offset` is in the joint's local coordinates, in meters.
 */
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
 * `motion` is its id. `revision` changes whenever the frames change, and invalidates the page's cached frames. `kind`
 * is "markers" for recordings without a skeleton: all `parents` are -1, and positions of occluded markers are NaN.
 * `parents`, `bone_lengths` (meters to the parent) and `end_sites` have one entry per joint. `roles` maps each role to
 * a joint index. `stature` and `floor` (its height) are in meters. `contacts` is null if the contacts are unknown.
 * `file` is the path within `where`; "" for motions without a file. `clips` are the names of all clips in the file.
 * `history` lists the processing steps. `skin` is the address of the GLB file with the skin, or null. `unsaved` says
 * that the sidecar lacks the current annotations. `undo` and `redo` are the numbers of steps that can be undone or
 * redone.
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

/** A running job: the id and name of its command, and its progress (0 to 1). */
export interface RunningJob {
  job: number;
  command: string;
  fraction: number;
  text: string;
}

/**
 * The reply to `Hello`: the session. If it is `resumed`, the replies that the page has not seen follow.
 *
 * `received` is the last command id that arrived. Commands with greater ids were lost and may be sent again, as may
 * any unanswered `frames`. A new page numbers its commands from `received` + 1. If `lost`, some replies were dropped,
 * and the page should reset to `motions`. `folder` is "" if none is open. `work` lists the running jobs, some of which
 * may have been started before a reload; their progress and replies follow, with these ids.
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
 * The first message of a page. `session` is the session id from an earlier `Welcome`, to resume that session.
 *
 * `seen` is the message number `n` of the last message received. -1 means that the page is new, for example after a
 * reload: replies to the previous page are not sent again.
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
 * `labels` are the label names in its sidecar; empty if the sidecar is too large to read for a list.
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

/** List the motion files in the open folder, without loading them. */
export interface ListFolder {
}

/** Load a file from the folder or the uploads, at its own rate. */
export interface OpenFile {
  path: string;
  where?: "folder" | "uploads";
  settings?: Partial<LoadSettings>;
}

/** Describe a motion, without its frames. */
export interface GetMotion {
  motion: string;
}

/** Marks a reply that is sent as one binary message with the command's id instead of JSON. */
export interface Binary {
}

/** Get frames `start` to `stop`, half-open, as one binary message; at most `Welcome.block_frames` frames. */
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

/** The curves of one plot. */
export interface CurveSet {
  curves: Curve[];
}

/** Get curves over time. `joint` is a joint index, used only for position and rotation. */
export interface GetCurves {
  motion: string;
  curve: "travel" | "speed" | "position" | "rotation" | "contact_heights" | "contact_speeds";
  joint?: number;
}

/** Something that is wrong or doubtful with a motion, in frames `start` to `stop`, half-open. */
export interface FindingRow {
  severity: string;
  start: number;
  stop: number;
  text: string;
}

/** Everything that is wrong or doubtful with a motion, severe findings first. */
export interface Findings {
  findings: FindingRow[];
}

/** Find everything that is wrong or doubtful with a motion. */
export interface CheckMotion {
  motion: string;
}

/** A point cloud, as used to compare frames: x y z in world coordinates, meters, one point per name and frame. */
export interface Cloud {
  names: string[];
  points: number[];
}

/** Get the point cloud of `window` seconds centered on a frame. */
export interface GetCloud {
  motion: string;
  frame: number;
  window?: number;
}

/** Close a motion. */
export interface CloseMotion {
  motion: string;
}

/** Detect the floor and the contacts of the feet and, if set, of the hands. */
export interface DetectContacts {
  motion: string;
  settings?: Partial<ContactSettings>;
}

/** All contact intervals of one contact point, in half-open frames. */
export interface LaneEdit {
  name: string;
  intervals: [number, number][];
}

/** Set the contacts of some points; other points stay unchanged. A motion without contacts gets default points. */
export interface SetContacts {
  motion: string;
  lanes: LaneEdit[];
}

/** Replace all labels of a motion. */
export interface SetLabels {
  motion: string;
  labels: LabelSpan[];
}

/** The name of the saved sidecar and the motion. For an uploaded file, `url` is the sidecar's download address. */
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
 * The download address of the file; downloads need the page's cookie.
 *
 * `sidecar` is the address of the sidecar, with the contacts, labels and floor that no format stores; null if there is
 * none.
 */
export interface Exported {
  url: string;
  name: string;
  size: number;
  sidecar: string | null;
  sidecar_name: string;
}

/** Prepare a file for download. `name` has no suffix. Several motions are written to one GLB file. */
export interface Export {
  motions: string[];
  format: "bvh" | "fbx" | "glb" | "npz";
  name: string;
}

/** The file's path in the folder, or null if the name is taken. `free` is a similar name that is not taken. */
export interface SavedInFolder {
  path: string | null;
  free: string;
}

/** Save a motion and its sidecar to the open folder. `name` has no suffix. Existing files are never overwritten. */
export interface SaveInFolder {
  motion: string;
  format: "bvh" | "fbx" | "glb" | "npz";
  name: string;
}

/** A free file name, without suffix. */
export interface NameFound {
  name: string;
}

/** Get a name, similar to `name`, that no motion in the open folder has. */
export interface FreeName {
  name: string;
}

/** A live stream has started. Its binary messages carry `stream` as their id; `parents` are joint indices. */
export interface LiveStarted {
  stream: number;
  rate: number;
  joints: string[];
  parents: number[];
}

/** Stream a motion in a loop: one binary message per frame, `rate` times per second. */
export interface StartLive {
  motion: string;
  rate?: number;
}

/** Stop a live stream if it is still playing; null for any, including those being prepared. */
export interface StopLive {
  stream?: number | null;
}

/** Report that the page has shown a live frame, sent at `sent` (seconds since 1970); every tenth is enough. */
export interface EchoFrame {
  stream: number;
  frame: number;
  sent: number;
}

/**
 * Statistics of the live stream: frames sent, and frames dropped because the page was slow.
 *
 * `late` is the number of frames by which the server fell behind schedule. `round_trip_ms` is the median, or null
 * before the first echo.
 */
export interface LiveReport {
  stream: number;
  sent: number;
  dropped: number;
  late: number;
  round_trip_ms: number | null;
}

/** Get statistics of the live stream. */
export interface LiveStatistics {
}

/**
 * One metric of a motion (`value`) and of the motion it is compared with (`against`).
 *
 * Undefined values are null; `note` says why.
 */
export interface Measure {
  name: string;
  unit: string;
  value: number | null;
  against: number | null;
  definition: string;
  note: string;
}

/**
 * The cleaned motion, its metrics after (`value`) and before (`against`) the cleanup, and a summary.
 *
 * `plants` is the number of plants. Largest values over all frames: `residue_max` (m), the remaining distance between
 * a planted point and its position; `limb_scaling_max`, the change of limb length as a fraction; `shift_max` (m), the
 * displacement of the entire body.
 */
export interface CleanDone {
  motion: MotionInfo;
  measures: Measure[];
  plants: number;
  residue_max: number;
  limb_scaling_max: number;
  shift_max: number;
}

/** Remove foot skate: lock feet to their contacts. Changes the motion, or adds one if `as_new`. */
export interface CleanMotion {
  motion: string;
  as_new?: boolean;
  settings?: Partial<CleanSettings>;
}

/** Metrics in display order. */
export interface Measured {
  measures: Measure[];
}

/** Measure a motion, and optionally the motion `against` for comparison. */
export interface MeasureMotion {
  motion: string;
  against?: string | null;
}

/**
 * A floor-plane transform: rotate by `theta` radians about Y, then move by `x` and `z` meters.
 *
 * `distance` is the distance of the aligned frames, in meters.
 */
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
 * The distances between the frames of motion A (rows) and motion B (columns).
 *
 * `pixels` is base64 of `rows` x `columns` bytes: the distance, scaled from 0 to `largest` meters and averaged over
 * the frames of a pixel. `frames` are the numbers of frames of A and B at `rate`, to which both were resampled.
 * `minima` are (frame of A, frame of B, meters), the 400 smallest, in ascending order.
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

/** The time alignment found by one method: pairs (frame of A, frame of B) at the grid's rate. */
export interface WarpPath {
  method: "registered" | "linear" | "discrete" | "cubic";
  points: [number, number][];
}

/**
 * The registration of motions. `refused` says why they cannot be synchronized; "" if they can.
 *
 * `distance` is the root mean square distance along the alignment, in meters. `matches` is the number of contacts that
 * were matched. `crops` are the frames used of each motion, half-open. `misfits` are the indices of motions whose
 * skeleton differs from the first; the grid is missing then. `rests` are the indices of motions whose first
 * frame is a rest pose.
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
 * Register motions, and compare all frames of the first with all frames of another.
 *
 * `other` is the index of that motion in `motions`. `window` is the length, in seconds, over which two frames are
 * compared.
 */
export interface StudyBlend {
  motions: string[];
  other?: number;
  window?: number;
  registration?: Partial<RegisterSettings>;
}

/** The retargeted motion, with notes. */
export interface Fitted {
  motion: MotionInfo;
  notes: string[];
}

/**
 * Retarget a motion to the skeleton of the motion `to`, as a new motion.
 *
 * `frame` and `to_frame` are frames of `motion` and `to` in which the character stands. They are used if a rest pose
 * is not a standing pose.
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

/** A floor-plane transform: theta in radians, x and z in meters. `distance` is the residual in meters. */
export interface FramesPlaced {
  theta: number;
  x: number;
  z: number;
  distance: number;
}

/**
 * Align `motion` at `seconds` with the motion `to` at `to_seconds` on the floor. Their frame rates may differ.
 *
 * `window` is the length, in seconds, over which the frames are compared.
 */
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
 * Blend motions. The blend replaces the motion with id `result`, an earlier blend, if that is open.
 *
 * `weights` has one blend weight per motion. Alternatively, `curves` has for each motion its points (time, weight):
 * time is the elapsed fraction of the blend, 0 to 1, and weights are at least 0. `merge_undo`: undo it together with
 * the previous blend, for example while a slider is dragged.
 */
export interface BlendMotions {
  motions: string[];
  weights?: number[];
  curves?: [number, number][][];
  settings?: Partial<BlendSettings>;
  registration?: Partial<RegisterSettings>;
  result?: string | null;
  merge_undo?: boolean;
}

/**
 * Make a transition from the first to the second motion.
 *
 * `at` are the times in both motions, in seconds, that coincide at the middle of the transition; null for the best
 * match. The other fields are as in `BlendMotions`.
 */
export interface JoinMotions {
  motions: string[];
  at?: [number, number] | null;
  settings?: Partial<TransitionSettings>;
  result?: string | null;
  merge_undo?: boolean;
}

/**
 * The result of one alignment method; null fields if it failed.
 *
 * `cost` is the sum over the path (m^2), `distance` the root mean square (m), and `accuracy` 100 * lowest cost / cost.
 */
export interface PathMetrics {
  method: string;
  cost: number | null;
  distance: number | null;
  accuracy: number | null;
  milliseconds: number;
  note: string;
}

/** Metrics of one blend method, or of an input motion. `metrics` are in the order of `BlendTable.names`. */
export interface BlendMetrics {
  method: string;
  milliseconds: number | null;
  metrics: (number | null)[];
  note: string;
}

/** Comparison of all methods. `proven` says whether the lowest cost found is the true minimum. */
export interface BlendTable {
  paths: PathMetrics[];
  proven: boolean;
  names: string[];
  units: string[];
  blends: BlendMetrics[];
  notes: string[];
}

/** Align and blend two motions with every method, and measure the results. */
export interface CompareBlends {
  motions: string[];
  weights?: number[];
  settings?: Partial<ComparisonSettings>;
}

/** Connectivity for one threshold in meters; `connected` is as in `GraphLinks`. */
export interface LimitPoint {
  meters: number;
  connected: number;
  transitions: number;
}

/** The connected part of a label: `seconds` out of `of_seconds`, and the other labels that it can reach. */
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

/** Connectivity of a graph. `connected` is the fraction of frames in the largest strongly connected component. */
export interface GraphLinks {
  transitions: number;
  connected: number;
  labels: LabelPart[];
  pairs: PairCount[];
}

/**
 * The compared clips: their names, total duration in seconds, and common frame rate.
 *
 * `skipped` lists the skipped files with reasons. `curve` is the connectivity for all thresholds, `suggested` a good
 * default threshold (m), and `links` the connectivity at that threshold.
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
 * Files whose skeleton differs from the first clip's are skipped.
 */
export interface BuildGraph {
  motions?: string[];
  files?: string[];
  settings?: Partial<GraphSettings>;
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
 * `motions`, `files` and `settings` are the inputs of the build. `threshold` and `pairs` are the last requested
 * thresholds, and `built.links` is the connectivity for them.
 */
export interface GraphShown {
  built: GraphBuilt | null;
  motions: string[];
  files: string[];
  settings: Partial<GraphSettings>;
  threshold: number;
  pairs: PairLimit[];
}

/** Get the last graph, for example after a page reload. */
export interface ShowGraph {
}

/** Get the connectivity for these thresholds, without building the graph. */
export interface LinkGraph {
  threshold: number;
  pairs?: PairLimit[];
}

/** The motion, the number of transitions of its graph, and notes about the graph (`findings`). */
export interface Walked {
  motion: MotionInfo;
  transitions: number;
  findings: string[];
}

/** Generate a random walk; `clean` removes foot skate. */
export interface WalkGraph {
  threshold: number;
  pairs?: PairLimit[];
  settings?: Partial<GraphWalkSettings>;
  clean?: boolean;
}

/** A segment of a drawn path: points (x, z) in meters, and the action along it, null for any. */
export interface PathStretch {
  points: [number, number][];
  label: string | null;
}

/**
 * The part of a walk in one style: seconds of the motion, and seconds `own` of clips without transitions.
 *
 * `through` lists the labels of the way into this style, if no transition leads directly from the one before.
 */
export interface StylePlayed {
  label: string;
  start: number;
  stop: number;
  own: number;
  through: string[];
}

/**
 * The motion, the smoothed path, and the path actually walked (`way`), both as points (x, z).
 *
 * `length` is the length of the path. `mean_distance`, `largest_distance` and `end_distance` measure the deviation
 * from it. All are in meters. `why` explains a large deviation; "" if there is none.
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
  styles: StylePlayed[];
}

/** Generate a walk along consecutive segments, joined by straight lines. `clean` removes foot skate. */
export interface FollowGraph {
  threshold: number;
  pairs?: PairLimit[];
  stretches?: PathStretch[];
  settings?: Partial<GraphPathSettings>;
  clean?: boolean;
}

/** The download address of the graph. */
export interface GraphSaved {
  url: string;
  name: string;
  size: number;
}

/** Prepare the graph with its clips for download. `marey graph` can read the file. */
export interface SaveGraph {
  threshold: number;
  pairs?: PairLimit[];
}

/**
 * The match web. `skipped` lists the clips that are not in it, with reasons.
 *
 * `least` is the minimum length of an example in seconds. For a web loaded from a file, `notes` compare it with the
 * current motions.
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
 * Build a match web: compare all frames of the open `motions` and, with `folder`, of all files in the folder.
 *
 * Skips motions whose skeleton differs from that of the motion `like`. `rate` is the maximum rate of compared frames,
 * in frames per second; null for all frames.
 */
export interface BuildWeb {
  like: string;
  motions?: string[];
  folder?: boolean;
  markers?: "body" | "upper" | "lower";
  rate?: number | null;
  settings?: Partial<WebSettings>;
}

/** Load a match web from the folder and match its clips to the current motions. */
export interface LoadWeb {
  path: string;
}

/**
 * Whether a motion is in the match web ("inside"), has changed since, or is not in it.
 *
 * "other_skeleton" means that it cannot be in it because its skeleton differs.
 */
export interface ClipStatus {
  where: "inside" | "changed" | "outside" | "other_skeleton";
}

/** Ask whether a motion is in the match web. */
export interface GetClipStatus {
  motion: string;
}

/**
 * The number of matches for each threshold (meters), and the suggested threshold.
 *
 * `level` is the range of thresholds around the suggestion in which the count does not change (a plateau);
 * `stands_out` says whether there is one. `still` is the distance (m) between the query and a motionless character.
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
 * `repeats` counts ranges that overlap by up to one half as separate matches, for cyclic actions such as steps.
 */
export interface SuggestThreshold {
  motion: string;
  start: number;
  stop: number;
  repeats?: boolean;
  settings?: Partial<SuggestSettings>;
}

/** The skeleton of all tiles, without fingers. The fields are those of `MotionInfo`. */
export interface TileBody {
  parents: number[];
  bone_lengths: number[];
  end_sites: boolean[];
  roles: Record<string, number>;
  stature: number;
}

/**
 * A completed search with `count` matches, of which the first is the query itself.
 *
 * `search` is its number, with which `find_matches` gets the matches. `joint` is the hand, foot or head that moves
 * most relative to the hips, the default for target control.
 */
export interface SearchDone {
  search: number;
  count: number;
  body: TileBody;
  joint: string;
  notes: string[];
}

/**
 * Find all matches within `threshold` meters of frames `start` to `stop` of a motion.
 *
 * `repeats` is as in `SuggestThreshold`.
 */
export interface SearchWeb {
  motion: string;
  start: number;
  stop: number;
  threshold: number;
  repeats?: boolean;
  settings?: Partial<SearchSettings>;
}

/**
 * A match with its thumbnail. `start` and `stop` are seconds within its clip.
 *
 * `distance` (m) is the distance from the query along the chain of matches, and `tier` the length of that chain.
 * `points` are x, y, z of each joint of `TileBody` for each of `n_frames` frames at `fps` frames per second, in
 * integer millimeters: x to the left of the character's first placement, y up from the floor, z ahead.
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

/** Matches, in the order of their numbers. */
export interface MatchTiles {
  tiles: MatchTile[];
}

/** Get `count` matches of a search, starting with number `first`, nearest first. Number 0 is the query itself. */
export interface GetMatches {
  search: number;
  first: number;
  count: number;
}

/** The motion of a match. If its source is gone, it has the match web's frame rate, and `note` says so; else "". */
export interface OpenedMatch {
  motion: MotionInfo;
  note: string;
}

/** Open a match as a motion, cut from its source at the source's frame rate. */
export interface OpenMatch {
  search: number;
  number: number;
}

/**
 * The resulting motion and the parameters it reaches.
 *
 * `target` are the requested parameters, `reached` those of the motion; `errors` is the norm of the difference for
 * each unit. If `projected`, the target is out of reach and `aimed` is used instead. If the parameter is a position,
 * `point` and `hit` are the world positions of target and joint, `moment` is the frame of the hit, and `path` has
 * x y z of the joint in each frame.
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
 * A parametric motion: its parameters, the bounding box of its reachable parameters, and a first motion.
 *
 * `points` are reachable world positions as a flat x y z list, if the parameter is a position. `used` is the number of
 * examples that it uses, out of `given`.
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
 * Build a parametric motion ("space") from the matches of a search, except those with numbers in `drop`.
 *
 * `feature` names its parameters, as in `marey parametric build`: for example "position:right_hand@farthest" or
 * "turn,speed".
 */
export interface MakeSpace {
  search: number;
  feature: string;
  drop?: number[];
  settings?: Partial<SpaceSettings>;
}

/** Load a space from the folder. Its character stands at the origin and faces +Z. */
export interface LoadSpace {
  path: string;
}

/**
 * Generate a motion for a `target` (one number per parameter) or for a `point` in the world (meters).
 *
 * `refine` improves the accuracy but takes longer.
 */
export interface AimMotion {
  target?: number[] | null;
  point?: [number, number, number] | null;
  refine?: boolean;
  settings?: Partial<SynthesisSettings>;
}

/** Keep a copy of the current motion. */
export interface KeepAimed {
}

/** The last results of the panel, null if there are none. `search` is the last search request. */
export interface FindSnapshot {
  web: WebBuilt | null;
  search: SearchWeb | null;
  found: SearchDone | null;
  space: SpaceMade | null;
}

/** Get the last results of the panel, for example after a page reload. */
export interface FindNow {
}

/** A match web or parametric space that is saved in the open folder. */
export interface SavedFile {
  path: string;
  kind: "web" | "space";
}

/** The saved files. `is_open` says whether a folder is open to save to. */
export interface SavedFiles {
  files: SavedFile[];
  is_open: boolean;
}

/** List the match webs and spaces in the folder. */
export interface ListSaved {
}

/** The name of the file. If `was_there`, the name is taken and nothing was saved. */
export interface SavedFound {
  path: string;
  was_there: boolean;
}

/** Save the match web or parametric space to the open folder as ``NAME.npz``, which the command line can read. */
export interface SaveFound {
  kind: "web" | "space";
  name: string;
  replace?: boolean;
}

/**
 * The spliced motion. `distance` measures how much the steps differ, in meters.
 *
 * `start` and `stop` are the range of the upper clip that was used, in seconds. `leaned` is the constant rotation
 * applied to the upper body, in degrees; `looped` says whether the upper clip was looped. `warning` says why the steps
 * could not be synchronized; empty if they are.
 */
export interface SpliceDone {
  motion: MotionInfo;
  distance: number;
  start: number;
  stop: number;
  leaned: number;
  looped: boolean;
  warning: string;
  notes: string[];
}

/** Put the upper body of one motion on the lower body of another, synchronized by steps. */
export interface SpliceMotions {
  lower: string;
  upper: string;
  settings?: Partial<SpliceSettings>;
}

/** The combined motion, with notes. */
export interface TransplantDone {
  motion: MotionInfo;
  notes: string[];
}

/** Copy a body part of the motion `donor` to the motion `base`, without synchronizing them. */
export interface TransplantLimb {
  base: string;
  donor: string;
  part: "left_arm" | "right_arm" | "arms" | "head" | "upper_body";
  settings?: Partial<TransplantSettings>;
}

/**
 * A gaze target from `time` seconds on: a point in the world (m), or a direction; neither is the original gaze.
 *
 * `angles` are yaw to the left and pitch upward, relative to the body's heading (radians).
 */
export interface LookGoal {
  time: number;
  point: [number, number, number] | null;
  angles: [number, number] | null;
}

/**
 * The result for one gaze target. `settled` is the time in seconds at which the gaze reaches it.
 *
 * `settled` is null if there is not enough time. `missed` is the remaining error in degrees, null if not applicable.
 * `outside` is the angle in degrees by which the target lies outside the range of the gaze map.
 */
export interface LookReport {
  time: number;
  settled: number | null;
  outside: number;
  missed: number | null;
}

/**
 * The motion, the result for each gaze target, and the gaze over time.
 *
 * `places` (eye positions in meters) and `directions` (unit vectors) are flat x y z lists, for every `step`-th frame.
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
 * Make a motion look at points or in directions, one after another.
 *
 * `made` is the id of an earlier result to update, for example while a point is dragged. `eyes` adds a joint to the
 * head that points along the gaze. `map` is the path of a gaze map in the folder; null is the built-in one.
 */
export interface LookAt {
  motion: string;
  goals: LookGoal[];
  made?: string | null;
  eyes?: boolean;
  map?: string | null;
  settings?: Partial<GazeSettings>;
}

/** The range of one parameter of a node, in `unit`. */
export interface CharacterRange {
  name: string;
  unit: string;
  low: number;
  high: number;
}

/**
 * A node. If it is a sub-range of another node, `of` is that node's name, otherwise "".
 *
 * `request` is the name of the function that converts requests to parameters. `seconds` is the duration of the motion
 * in the middle of the range. `stuck`: the node is a dead end, so the character cannot play yet.
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
 * A transition between two nodes: its thresholds and costs, in meters.
 *
 * `median` is the median cost. `worst` is the cost of the best transition from the source motion for which it is
 * highest. `reachable` is the average fraction of the target's range, by volume, that can follow a source motion.
 * `samples` is the number of source samples.
 */
export interface CharacterEdge {
  source: string;
  target: string;
  good: number;
  bad: number;
  median: number;
  worst: number;
  reachable: number;
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

/** The available recipes, characters and gaze maps. */
export interface Sources {
  recipes: RecipeInfo[];
  files: AuthoredFile[];
}

/** List the recipes, and the characters and gaze maps in the folder. */
export interface ListSources {
}

/** Start a new character. The settings are those of all its transitions. */
export interface NewCharacter {
  name: string;
  settings?: Partial<SeamSettings>;
}

/** Replace the character with a built-in recipe; if `nodes` are given, only add these nodes instead. */
export interface UseRecipe {
  recipe: string;
  nodes?: string[];
}

/**
 * Add a node built from the gait cycles in open motions. Its parameter is the turn rate.
 *
 * `speed` adds speed as a second parameter.
 */
export interface AddGait {
  name: string;
  motions: string[];
  speed?: boolean;
  settings?: Partial<GaitSettings>;
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
 * Generate a motion of a node. It replaces the motion with id `result` if that is open.
 *
 * `merge_undo`: undo it together with the previous change, for example while a slider is dragged.
 */
export interface MakeMotion {
  node: string;
  parameters: number[];
  result?: string | null;
  merge_undo?: boolean;
}

/**
 * Histogram of transition costs: `counts` in equal bins from 0 to `top` meters.
 *
 * `best` are the sorted costs (m) of the best transition from each source sample. If `good` is below the largest, some
 * source motions cannot continue. `good` and `bad` are the default thresholds, in meters.
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

/** Find the best transition for many pairs of sampled motions, as a basis for choosing thresholds. */
export interface CompareNodes {
  source: string;
  target: string;
  settings?: Partial<CompareSettings>;
}

/**
 * The effect of thresholds: fractions of good and bad pairs, and the number of source samples that cannot continue.
 *
 * `note` describes the source samples that cannot continue. `at` are the parameters of source sample `sample`.
 * `points` are the parameters of all target samples, and `costs` (m) their costs from that sample. `low` and `high`
 * are the box of target parameters that can follow it; null if there is none. Units are those of the nodes.
 */
export interface TriedEdge {
  accepted: number;
  rejected: number;
  stuck: number;
  note: string;
  sample: number;
  at: number[];
  points: number[][];
  costs: number[];
  low: number[] | null;
  high: number[] | null;
}

/** Preview thresholds for compared nodes. `sample` is the index of the source sample whose box is shown. */
export interface TryEdge {
  source: string;
  target: string;
  good: number;
  bad: number;
  sample?: number;
}

/** Connect compared nodes. If some motions cannot continue, connect a sub-range as a new node named `part`. */
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

/** Generate a random walk of the character. */
export interface WalkCharacter {
  seconds?: number;
  seed?: number;
  settings?: Partial<StreamSettings>;
}

/** The names of the saved files. */
export interface SavedAuthored {
  files: string[];
}

/** Save the character or the gaze map to the folder as NAME.json. `replace` allows overwriting. */
export interface SaveAuthored {
  kind: "character" | "gaze";
  name: string;
  replace?: boolean;
}

/** The download address of a file, its name, and its size in bytes. */
export interface Download {
  url: string;
  name: string;
  size: number;
}

/** The files to download, and the number of clips in them. */
export interface ExportedCharacter {
  files: Download[];
  clips: number;
}

/** Export the character for use without marey: as a page to drive it, or as clips with a transition table. */
export interface ExportCharacter {
  format?: "html" | "glb";
  name?: string;
  settings?: Partial<SampleSettings>;
}

/** Load a character from the folder. */
export interface LoadCharacter {
  path: string;
}

/**
 * An example of a gaze map: gaze direction (radians), duration (s), rotation of the eyes in the head (radians).
 *
 * `cost` is the leave-one-out error in radians: the angle between the head in this example and the head that a map of
 * all other examples gives for it. It is null if it was not computed, or if the others are too few for a map. An
 * example with a high cost is either important or does not fit the others.
 */
export interface GazeExample {
  name: string;
  yaw: number;
  pitch: number;
  seconds: number;
  eyes: number;
  cost: number | null;
}

/** A gaze map: its examples, and the corners (yaw, pitch) of the region it can look at, in radians. */
export interface GazeChart {
  examples: GazeExample[];
  region: [number, number][];
  note: string;
}

/** Show a gaze map: the file at `path`, the built-in map if `shipped`, otherwise the current one. */
export interface ShowGaze {
  path?: string | null;
  shipped?: boolean;
}

/** Compute the leave-one-out error of each example. */
export interface GazeCosts {
}

/** Add an open motion as an example: it starts at rest, turns to look at the goal (radians), and rests there. */
export interface AddLook {
  motion: string;
  yaw: number;
  pitch: number;
  settings?: Partial<GazeExampleSettings>;
}

/** Remove the example with this index. */
export interface RemoveLook {
  example: number;
}

/** The resulting motion. `note` has the warnings; "" if there are none. */
export interface AimedGaze {
  motion: MotionInfo;
  note: string;
}

/** Make an open motion look in a direction (radians), starting at the middle of the motion, with the current map. */
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
 * Characters that can be driven: recipes, files in the folder, and the draft of the Characters panel.
 *
 * `draft` is its name, "" if it has no nodes. `stuck` says why the draft cannot play yet; "" if it can. `graph` says
 * whether the Graph panel has a graph.
 */
export interface DriveChoices {
  recipes: DriveRecipe[];
  files: string[];
  draft: string;
  stuck: string;
  graph: boolean;
}

/** List the characters that can be driven. */
export interface ListDrive {
}

/** An action of a character. `at_point`: it can be aimed at a point in space, like a punch. */
export interface DriveNode {
  name: string;
  ranges: CharacterRange[];
  at_point: boolean;
}

/**
 * The stream of a character has started. Its floor is at height 0.
 *
 * `roles` maps roles to joint indices. `speed` is the range of speeds that can be requested, null if the speed is
 * fixed, and `usual` the default speed, both in m/s. `delay` is the display delay in seconds; response times include
 * it. Each live frame reports: `place`, [yaw, x, z] of the character; `doing`, the current node or clip; `answer`,
 * the response time (s) to the last change of direction, or null; `waiting`, seconds since a change of direction that
 * is still pending, or null; `reached`, the seconds it took to reach the requested point, or null; and, if it has
 * changed, `reach`: outlines [[x, z], ...] of the area that the character can reach next. `limits` says what the
 * character cannot do after some of its clips.
 */
export interface DriveStarted {
  started: LiveStarted;
  roles: Record<string, number>;
  way: "character" | "graph" | "matching" | "tree";
  nodes: DriveNode[];
  speed: [number, number] | null;
  usual: number | null;
  delay: number;
  limits: string[];
}

/**
 * Start a controller, or switch to another one.
 *
 * `way`: a parametric motion graph ("character"), a motion graph with direction tables, motion matching, or a blend
 * tree. A character is given by `source` and `name`. The other controllers are built from open `motions`, or from
 * generated walks if there are none; with `built`, the motion graph is that of the Graph panel. `feet`: locked without
 * delay ("lock"), cleaned with lookahead ("clean"), or unchanged ("free"). With `stay`, the character starts where the
 * previous one stands. With `look`, the head turns toward a new direction before the body does.
 */
export interface StartDrive {
  way: "character" | "graph" | "matching" | "tree";
  source?: "recipe" | "file" | "draft";
  name?: string;
  motions?: string[];
  built?: boolean;
  feet?: "lock" | "clean" | "free";
  stay?: boolean;
  look?: boolean;
  character?: Partial<GoToSettings>;
  graph?: Partial<GraphStreamSettings>;
  matching?: Partial<MatchingSettings>;
  tree?: Partial<BlendTreeSettings>;
}

/**
 * Replace the request to the character; null fields are not requested.
 *
 * `direction` is in radians from +Z in the world, positive to the left. `point` is the floor point (x, z) to go to,
 * and `target` the point (x, y, z) to aim at, in meters. `node` is the action, with `values` for its other parameters.
 * `speed` is in m/s. With `stop`, the character stands still if it can.
 */
export interface DriveRequest {
  direction?: number | null;
  point?: [number, number] | null;
  target?: [number, number, number] | null;
  node?: string | null;
  speed?: number | null;
  values?: Record<string, number> | null;
  stop?: boolean;
}

/**
 * Statistics of one controller: seconds driven, completed changes of direction, and response times.
 *
 * A change is completed when the character has faced the direction within 15 degrees for 0.25 s. `unanswered` counts
 * the changes that were replaced by another or took longer than 8 s. A request followed by another within 0.5 s, as
 * during a drag, does not count: the response time starts when the final direction is requested. Times are in
 * seconds.
 */
export interface WayStatistics {
  way: "character" | "graph" | "matching" | "tree";
  seconds: number;
  answered: number;
  unanswered: number;
  median: number | null;
  slowest: number | null;
}

/** Statistics of all controllers used. */
export interface DriveTable {
  ways: WayStatistics[];
}

/** Get the response times measured so far. */
export interface DriveStatistics {
}

/** The saved motion. */
export interface SavedDrive {
  motion: MotionInfo;
}

/** Save the last seconds of the stream as a motion. */
export interface KeepDriven {
  seconds?: number;
}

/** A live stream has ended by itself; `error` is "" if there was none. */
export interface LiveEnded {
  event: "live_ended";
  stream: number;
  error: string;
}

/** A motion was added or changed, and no reply reports it. */
export interface MotionChanged {
  event: "motion_changed";
  motion: MotionInfo;
}

/** The answer to ``POST /upload?session=...&name=walk.bvh``: the `path` to open, with `where` "uploads". */
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
 * axis k; q = -32768 marks an occluded marker; rotations are x y z w times 32767.
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
 * `skins` are GLB files in base64, without animations; a motion's `skin` is an index into `skins`.
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
  "check": { fields: CheckMotion; reply: Findings };
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
  "live_statistics": { fields: LiveStatistics; reply: LiveReport };
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
  "author_export": { fields: ExportCharacter; reply: ExportedCharacter };
  "author_load": { fields: LoadCharacter; reply: Character };
  "author_gaze": { fields: ShowGaze; reply: GazeChart };
  "author_gaze_costs": { fields: GazeCosts; reply: GazeChart };
  "author_gaze_add": { fields: AddLook; reply: GazeChart };
  "author_gaze_remove": { fields: RemoveLook; reply: GazeChart };
  "author_gaze_aim": { fields: AimGaze; reply: AimedGaze };
  "drive_list": { fields: ListDrive; reply: DriveChoices };
  "drive_start": { fields: StartDrive; reply: DriveStarted };
  "drive_request": { fields: DriveRequest; reply: Nothing };
  "drive_statistics": { fields: DriveStatistics; reply: DriveTable };
  "drive_keep": { fields: KeepDriven; reply: SavedDrive };
}

export type StudioEvent = LiveEnded | MotionChanged;

export const PANELS = ["look", "compare", "blend", "graph", "find", "layer", "author", "drive"] as const;

/** The controls of each operation's settings; `widgets/form.ts` draws them. */
export const FORMS = {
  BlendSettings: [{"name": "path_finder", "label": "Path finder", "help": "How \"discrete\" and \"cubic\" find the path of corresponding frames: by dynamic timewarping, by recursion below a threshold, greedily, or by trying all paths (\"brute_force\").", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "dynamic", "choices": ["dynamic", "threshold", "greedy", "brute_force"], "optional": false, "advanced": true}, {"name": "path_start", "label": "Path start", "help": "Where the path starts: at the beginning of both motions, or at the lowest cell of the first third of one of them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "corner", "choices": ["corner", "third"], "optional": false, "advanced": true}, {"name": "path_slope_limit", "label": "Path slope limit", "help": "Largest ratio of playback speeds along the path, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 3, "choices": [], "optional": false, "advanced": true}, {"name": "path_threshold", "label": "Path threshold", "help": "Largest cell that \"threshold\" enters, as a fraction of the largest of all.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 33.0, "choices": [], "optional": false, "advanced": true}, {"name": "path_time_limit", "label": "Path time limit", "help": "Time after which a search returns the best path until then.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 10.0, "choices": [], "optional": true, "advanced": true}, {"name": "whole_costs", "label": "Whole costs", "help": "Round the cells to gray levels 0 to 255, instead of square meters.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "n_frames", "label": "Number of frames", "help": "Number of frames that \"cubic\" makes. By default the weighted mean of what the path covers of both.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 1000000, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "method", "label": "Method", "help": "\"registered\" averages timing, path, posture and contacts. The others are simpler, for comparison: \"linear\" averages frame by frame without matching times; \"discrete\" and \"cubic\" match the times of two motions, along the cells of a path and along a spline through them; they leave the feet as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "registered", "choices": ["registered", "linear", "discrete", "cubic"], "optional": false, "advanced": false}, {"name": "fps", "label": "Frame rate", "help": "Frames per second of the blend. By default those of the motions. Poses are not filtered, so for a much lower rate blend first, then resample.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "seconds", "label": "Duration of loops", "help": "Duration of a blend of loops; one cycle by default. Other blends end where the motions end.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Otherwise the feet are left where the blend puts them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}, {"name": "name", "label": "Name", "help": "Name of the result.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  BlendTreeSettings: [{"name": "feet", "label": "Feet", "help": "\"clean\" removes foot skate and delays the output. \"lock\" holds planted feet without a delay by rotating the legs. \"auto\" cleans recordings and locks feet in live control. Otherwise the feet stay as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "clean", "lock"], "optional": true, "advanced": false}, {"name": "direction", "label": "Direction", "help": "Target heading in the world, from +Z. The stream steers toward it with the knob `turn`. None to set that knob by hand.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": 0.0, "choices": [], "optional": true, "advanced": true}, {"name": "steer", "label": "Steering time", "help": "Time constant for correcting small direction errors.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": true}, {"name": "half_life", "label": "Half-life of knobs", "help": "Time in which a knob moves about halfway to its requested value.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}],
  CleanSettings: [{"name": "floor", "label": "Floor height", "help": "Height of the floor. By default the one stored with the motion, else it is detected.", "kind": "number", "unit": "m", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "hands", "label": "Lock hands too", "help": "Also detect contacts of the hands, if the motion has none of them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "body", "label": "Lock whole body", "help": "Also detect contacts of hands, knees, elbows, pelvis, back and head, if the motion has none of them. They are held in place and lifted out of the floor like feet.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "max_stretch", "label": "Max limb stretch", "help": "Maximum change of the length of a limb, or of a foot from heel to ball. Plants take priority over straight knees: with 0, bone lengths are constant, and knees of nearly straight legs may snap. The remaining distance to a plant that is out of reach is the residue.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 20.0, "choices": [], "optional": false, "advanced": false}, {"name": "max_pull", "label": "Max pull of a foot", "help": "Maximum distance between a plant and the recorded foot. Where a foot slides farther than this during one contact, it is freed for a moment and planted again. Feet are lifted above the floor by at most this much.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.2, "choices": [], "optional": false, "advanced": true}, {"name": "smooth", "label": "Smooth", "help": "Keep velocities continuous where contacts begin and end (C1), not only positions (C0, as in Kovar).", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "roll", "label": "Foot roll", "help": "Roll of a planted foot about the line from heel to ball: \"source\" for the smallest change, \"flat\" for the ankle straight above it.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "source", "choices": ["source", "flat"], "optional": false, "advanced": true}, {"name": "damping_from", "label": "Damp knees from", "help": "Knees and elbows straighter than this angle rotate less and less, and the limb is scaled instead. 180 degrees (pi radians) disable damping.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": 0.0, "max": 180.0, "default": 135.0, "choices": [], "optional": false, "advanced": true}, {"name": "swivel", "label": "Knee swivel", "help": "How far knee and elbow swivel to reduce the rotation of ankle and wrist.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 50.0, "choices": [], "optional": false, "advanced": true}, {"name": "gap", "label": "Join contacts within", "help": "Contacts of one point that are closer together than this form one plant.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.05, "choices": [], "optional": false, "advanced": true}, {"name": "plant_window", "label": "Plant averaging", "help": "L1, window over which a plant's position is averaged. Longer than Kovar's 0.25 s, because recorded feet drift throughout their stance.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.35, "choices": [], "optional": false, "advanced": true}, {"name": "orientation_window", "label": "Foot orientation fade", "help": "L2, window over which the orientation of a foot with two plants fades into frames with one.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.12, "choices": [], "optional": false, "advanced": true}, {"name": "body_window", "label": "Body smoothing", "help": "L3, half the width of the bell-shaped window that smooths the displacement of the body.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.45, "choices": [], "optional": false, "advanced": true}, {"name": "fade_window", "label": "Fade into free frames", "help": "L4, window over which adjustments fade into free frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.4, "choices": [], "optional": false, "advanced": true}],
  CompareSettings: [{"name": "n_source", "label": "Source samples", "help": "Number of motions to sample from the node that is left.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": null, "default": 60, "choices": [], "optional": false, "advanced": true}, {"name": "n_target", "label": "Target samples", "help": "Number of motions to sample from the node that is entered.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": null, "default": 400, "choices": [], "optional": false, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed of the samples.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}],
  ComparisonSettings: [{"name": "start", "label": "Start", "help": "Where paths start: \"corner\", at the beginning of both motions; \"third\", at the lowest cell of the first third of one of them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "corner", "choices": ["corner", "third"], "optional": false, "advanced": true}, {"name": "end", "label": "End", "help": "Where paths end: at the end of both motions (\"corner\"), or at the end of one of them (\"border\").", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "corner", "choices": ["corner", "border"], "optional": false, "advanced": true}, {"name": "slope_limit", "label": "Slope limit", "help": "Largest ratio of playback speeds along a path, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 3, "choices": [], "optional": false, "advanced": true}, {"name": "threshold", "label": "Threshold", "help": "Largest cell that the recursion enters, as a fraction of the largest of all.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 33.0, "choices": [], "optional": false, "advanced": true}, {"name": "time_limit", "label": "Time limit", "help": "Time limit of each search.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 10.0, "choices": [], "optional": true, "advanced": true}, {"name": "whole_costs", "label": "Whole costs", "help": "Round the cells to gray levels 0 to 255, instead of square meters.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "n_frames", "label": "Number of frames", "help": "Number of frames of the cubic timewarp.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "window", "label": "Window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "crop", "label": "Crop", "help": "\"auto\" crops motions that are not registered yet to their common part.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto"], "optional": true, "advanced": true}, {"name": "blends", "label": "Blends", "help": "Blend with every method, too. Otherwise only paths are compared.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}],
  ContactSettings: [{"name": "floor", "label": "Floor height", "help": "Height of the floor. By default the one stored with the motion, else it is detected.", "kind": "number", "unit": "m", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "hands", "label": "Detect hands too", "help": "Also detect contacts of wrists and fingertips, with the floor and other supports.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "body", "label": "Detect whole body", "help": "Also detect contacts of hands, knees, elbows, pelvis, back and head with the floor, as in kneeling, crawling, lying and rolling.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "enter_speed", "label": "Enter speed", "help": "A contact needs a frame slower than this.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.35, "choices": [], "optional": false, "advanced": true}, {"name": "keep_speed", "label": "Keep speed", "help": "A contact lasts while the point is slower than this. It applies to a body that travels at 1.5 m/s and scales with the speed of travel, from a factor of 0.9 when standing to 1.35 when running.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.6, "choices": [], "optional": false, "advanced": true}, {"name": "enter_height", "label": "Enter height", "help": "A contact needs a frame lower than this above the support at rest.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.025, "choices": [], "optional": false, "advanced": true}, {"name": "keep_height", "label": "Keep height", "help": "A contact lasts while the point is lower than this above the support at rest.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.035, "choices": [], "optional": false, "advanced": true}, {"name": "gap", "label": "Gap", "help": "Shorter interruptions of a contact are closed.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.05, "choices": [], "optional": false, "advanced": true}, {"name": "duration", "label": "Duration", "help": "Shorter contacts are dropped.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.075, "choices": [], "optional": false, "advanced": true}],
  GaitSettings: [{"name": "margin", "label": "Margin", "help": "Gait cycles that each clip extends at both ends, for blending with the next clip.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.2, "choices": [], "optional": false, "advanced": true}, {"name": "mirror", "label": "Mirror the clips", "help": "Also use the mirror image of each clip, to make left and right symmetric.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "steps", "label": "Steps per clip", "help": "Steps per clip: 2, or 1 to halve the response time. With 1, left and right steps need separate nodes that lead to each other.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 2, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "side", "label": "First foot", "help": "The foot that passes the other at the start of the clip and comes down first.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "left", "choices": ["left", "right"], "optional": false, "advanced": true}],
  GazeExampleSettings: [{"name": "start", "label": "Start", "help": "First frame of the look, for recordings in which no rest is found; its first and last 0.2 s are taken as rest.", "kind": "integer", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "stop", "label": "Stop", "help": "End of the frames of the look, exclusive.", "kind": "integer", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "facing", "label": "Facing", "help": "Yaw of the body at rest in the world, to the left of +Z. By default it is taken from the clip, or from the markers `front` and `back`, else 0.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "eye_lead", "label": "Eye lead", "help": "How long before the first visible movement the eyes start.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 1.0, "default": 0.04, "choices": [], "optional": false, "advanced": true}],
  GazeSettings: [{"name": "steady", "label": "Stabilize eyes", "help": "Let the eyes compensate for the body's bobbing while they look at a goal.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "smoothing", "label": "Smoothing", "help": "Standard deviation of the Gaussian that extracts the slow rotation of body and head.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.3, "choices": [], "optional": false, "advanced": true}],
  GoToSettings: [{"name": "heading", "label": "Heading", "help": "Heading at the target, from +Z, positive to the left. By default any.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}],
  GraphPathSettings: [{"name": "min_distance", "label": "Distance to others", "help": "Minimum distance to the other characters.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": true}, {"name": "seconds", "label": "Stop after", "help": "Stop after this time, anywhere along the path. By default the walk stops at the end of the path.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "style_overlap", "label": "Style overlap", "help": "The next style may begin this far before the current one ends. The default is half a person's height (Kovar 4.3.1).", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.9, "choices": [], "optional": false, "advanced": true}, {"name": "min_style_time", "label": "Min time in a style", "help": "Shortest time in each style, counted in frames of clips with its label, without transitions.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.5, "choices": [], "optional": false, "advanced": true}, {"name": "beam_width", "label": "Search width", "help": "States per frame of the beam search. Widths 25, 50, 100 and so on up to this one are searched and the best walk is kept, so a larger width is never worse. By default 50 to 200, as wide as needed to stay close to the path.", "kind": "integer", "unit": "", "factor": 1.0, "min": 25, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed that chooses the start nodes to try.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}],
  GraphSettings: [{"name": "rng", "label": "Random seed", "help": "Random seed of the variations.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}, {"name": "spread", "label": "Spread of variations", "help": "How far variations differ from the mean of the takes: 0 always gives the mean, 1 any mixture with equal probability, and larger values extrapolate beyond the takes.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": 1.5, "default": 1.0, "choices": [], "optional": false, "advanced": true}, {"name": "fps", "label": "Frame rate", "help": "Frame rate of the graph. By default the highest rate of the clips.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "min_seconds", "label": "Report labels shorter than", "help": "Report labels with less endless motion than this among the findings.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 2.0, "choices": [], "optional": false, "advanced": true}, {"name": "variations", "label": "Variations per action", "help": "Number of random blends to add as extra clips for each action that has several takes.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Transition length", "help": "Length of a transition, and of the window over which frames are compared.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": false}, {"name": "window_shape", "label": "Weights of the window", "help": "How much the frames of the window count: \"triangle\" weighs the middle most, \"box\" all the same.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "triangle", "choices": ["triangle", "box", "gaussian"], "optional": false, "advanced": true}, {"name": "per_joint", "label": "Markers per joint", "help": "Number of markers on each joint; more than one also compares orientations (Kovar 4.1.4).", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 3, "default": 1, "choices": [], "optional": false, "advanced": true}, {"name": "contact_penalty", "label": "Penalty for other contacts", "help": "Weight p of different contacts: p^2 times the fraction of contact points that differ is added to the squared distance of a transition. With 1 m, transitions between different contacts are practically excluded.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": 100.0, "default": 0.0, "choices": [], "optional": false, "advanced": true}, {"name": "coarse_step", "label": "Coarse step", "help": "Compare every n-th frame first, then all frames around promising cells; 1 compares all frames.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 1, "choices": [], "optional": false, "advanced": true}, {"name": "max_memory", "label": "Max memory (bytes)", "help": "Maximum memory for distance grids, in bytes.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 268435456, "choices": [], "optional": false, "advanced": true}],
  GraphStreamSettings: [{"name": "label", "label": "Action", "help": "Use only motion with this label. By default any.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "n_directions", "label": "Number of directions", "help": "Number of directions.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": null, "default": 16, "choices": [], "optional": false, "advanced": true}, {"name": "speed", "label": "Speed", "help": "Requested speed. By default as fast as possible.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "feet", "label": "Feet", "help": "\"clean\" removes foot skate and delays the output. \"lock\" holds planted feet without a delay by rotating the legs. \"auto\" cleans recordings and locks feet in live control. Otherwise the feet stay as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "clean", "lock"], "optional": true, "advanced": false}, {"name": "start", "label": "Start node", "help": "Number of the start node. By default the best one for the first direction.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "direction", "label": "Direction", "help": "First direction of travel, from +Z, positive to the left.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": true}],
  GraphWalkSettings: [{"name": "label", "label": "Action", "help": "Use only motion with this label. By default any.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "seconds", "label": "Duration", "help": "Duration.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 30.0, "choices": [], "optional": false, "advanced": false}, {"name": "rng", "label": "Random seed", "help": "Random seed; the same seed gives the same walk.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": false}, {"name": "transition_interval", "label": "Time between transitions", "help": "Mean time between transitions. The probability of leaving a clip at a node grows with the time until the clip's next node, so places with many transitions are not favored.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 2.0, "choices": [], "optional": false, "advanced": true}, {"name": "start", "label": "Start node", "help": "Number of the start node. By default random, with equal probability for each frame of each clip.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  LoadSettings: [{"name": "unit", "label": "Unit", "help": "Unit of the file: m, cm, mm, in, cmu, or meters per unit. By default it is detected.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "up", "label": "Up axis", "help": "Up axis of the file. By default it is detected.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["y", "z", "x", "-y", "-z", "-x"], "optional": true, "advanced": false}, {"name": "fps", "label": "Resample to", "help": "Frames per second of the result, which is resampled if necessary. By default those of the file.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "file_fps", "label": "Recorded rate", "help": "Frames per second of the recording, if the file states no rate or a wrong one. The curves of FBX and GLB files are sampled at this rate.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": 100000.0, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "trim_rest", "label": "Skip a rest pose at the start", "help": "Skip frame 0 if it is a rest pose inserted before the motion, as in CMU's BVH files.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "root", "label": "Root", "help": "Name or index of the ROOT, for BVH files with several.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "clip", "label": "Clip", "help": "Name or index of the animation, for FBX and GLB files with several.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  MatchingSettings: [{"name": "feet", "label": "Feet", "help": "\"clean\" removes foot skate and delays the output. \"lock\" holds planted feet without a delay by rotating the legs. \"auto\" cleans recordings and locks feet in live control. Otherwise the feet stay as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "clean", "lock"], "optional": true, "advanced": false}, {"name": "direction", "label": "Direction", "help": "First direction of travel, from +Z, positive to the left.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": true}, {"name": "speed", "label": "Speed", "help": "First speed. By default the median speed of the clips.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "row", "label": "First frame", "help": "Frame to start at, counted over all clips. By default the one that fits the command best.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "search_every", "label": "Search every", "help": "Time between searches. A new command triggers a search immediately.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "min_gain", "label": "Min gain of a jump", "help": "Jump only if this reduces the distance of the features by at least this fraction.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 20.0, "choices": [], "optional": false, "advanced": true}, {"name": "half_life", "label": "Half-life of offsets", "help": "Time in which the pose offset of a jump roughly halves.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "speed_half_life", "label": "Half-life of speed", "help": "Half-life with which the predicted path approaches the requested speed.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.25, "choices": [], "optional": false, "advanced": true}, {"name": "facing_half_life", "label": "Half-life of heading", "help": "Half-life with which the predicted path approaches the requested heading.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.25, "choices": [], "optional": false, "advanced": true}],
  RegisterSettings: [{"name": "slope_limit", "label": "Max speed ratio", "help": "Largest ratio of playback speeds of two motions at any point, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "max_distance", "label": "Max difference", "help": "Motions with a larger root mean square distance along the path are rejected.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.22, "choices": [], "optional": false, "advanced": true}, {"name": "max_opposite", "label": "Max time on opposite feet", "help": "Motions that stand on opposite feet for a larger part of the path are rejected.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 5.0, "choices": [], "optional": false, "advanced": true}, {"name": "force", "label": "Blend even if very different", "help": "Accept motions that are too far apart, or on opposite feet, with a note.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "reference", "label": "Reference", "help": "Number of the motion that the others are compared with, from 0. By default the one with the smallest mean distance to the others.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "crop", "label": "Trim to the common part", "help": "\"auto\" crops the motions to their common part: the largest equal number of half cycles of gait, starting with the same foot, or else the range found in the distance grid. Otherwise whole motions are used, and the slope limit applies to their own times instead of times stretched to equal length.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto"], "optional": true, "advanced": false}, {"name": "cyclic", "label": "Loops", "help": "The motions are loops, for example from `marey edit cycle`; they are shifted to begin at the same phase, and are not cropped.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "cut_loops", "label": "Cut loops first", "help": "Cut a loop from each motion first, as `marey.edit.cycle` does, and register the loops: one gait cycle of each walk or run.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}],
  SampleSettings: [{"name": "max_clips", "label": "Clips per node", "help": "Maximum number of clips for each node. More clips meet requests more exactly and take more space.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 400, "default": 60, "choices": [], "optional": false, "advanced": false}, {"name": "fps", "label": "Frame rate", "help": "Frames per second of the clips. Players interpolate between them, so 30 is enough for a smooth picture.", "kind": "number", "unit": "", "factor": 1.0, "min": 10.0, "max": 240.0, "default": 30.0, "choices": [], "optional": false, "advanced": false}],
  SeamSettings: [{"name": "length", "label": "Transition length", "help": "Duration of a transition.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.333333, "choices": [], "optional": false, "advanced": false}, {"name": "region", "label": "Transition region", "help": "Part of a clip, at its start and at its end, that transitions must be completely inside.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 50.0, "default": 30.0, "choices": [], "optional": false, "advanced": false}, {"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large or root_knees.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}],
  SearchSettings: [{"name": "max_matches", "label": "Max matches", "help": "Maximum number of matches; a note says if there are more.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 500, "choices": [], "optional": false, "advanced": false}, {"name": "max_tiers", "label": "Search depth", "help": "Depth of the transitive search: 1 finds matches of the query, 2 also matches of these, and so on. By default unlimited.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "order", "label": "Sort matches by", "help": "\"distance\" sorts matches by the sum of distances along the match graph (Kovar 6.2.3); \"chain\" by the largest gap on the best chain of similar matches, which puts variations of the query before other actions in sets without labels.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "distance", "choices": ["distance", "chain"], "optional": false, "advanced": true}],
  SpaceSettings: [{"name": "slope_limit", "label": "Max speed ratio", "help": "Largest ratio of playback speeds of two motions at any point, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "max_distance", "label": "Max difference", "help": "Examples with a larger root mean square distance from the one they are aligned to are left out.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.3, "choices": [], "optional": false, "advanced": true}, {"name": "max_opposite", "label": "Max time on opposite feet", "help": "Motions that stand on opposite feet for a larger part of the path are rejected.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 5.0, "choices": [], "optional": false, "advanced": true}, {"name": "force", "label": "Blend even if very different", "help": "Accept motions that are too far apart, or on opposite feet, with a note.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "samples", "label": "Sampled blends", "help": "Number of blends to sample; 0 for none.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": 1000000, "default": 1000, "choices": [], "optional": false, "advanced": false}, {"name": "crop", "label": "Trim walks to a common phase", "help": "\"auto\" crops a list of walks or runs to an equal number of half cycles around the middle of each, starting with the same foot. Motions that do not walk from end to end, matches and registered motions are used whole.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto"], "optional": true, "advanced": true}, {"name": "snap", "label": "Snap moments to", "help": "If a feature's moment is given in seconds of the reference motion, the timewarp maps it to the other motions, and this moves it to the largest such extreme within 0.2 s. By default the result of the timewarp is used.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["farthest", "highest", "lowest", "fastest", "slowest"], "optional": true, "advanced": true}, {"name": "landmarks", "label": "Align moments", "help": "Register the motions in such a way that the moments of the features coincide. Otherwise the timewarp maps the reference's moment to the other motions (Kovar 6.3.1).", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": true}, {"name": "delta", "label": "Extrapolation", "help": "How far blend weights may leave the range from 0 to 1.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "k", "label": "Nearest samples", "help": "Number of nearest samples that determine the weights for a target.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 1000000, "default": 12, "choices": [], "optional": false, "advanced": true}, {"name": "expand", "label": "Enlarge sampled range", "help": "How much larger the sampled box is than the bounding box of the examples, as a fraction of its size.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": null, "default": 20.0, "choices": [], "optional": false, "advanced": true}, {"name": "spacing", "label": "Min spacing of samples", "help": "Samples closer than this to another, in units of the scale, are dropped.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.423333, "choices": [], "optional": false, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed of the sampling.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}],
  SpliceSettings: [{"name": "slope_limit", "label": "Max speed ratio", "help": "Largest ratio of the two clips' playback speeds.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 20, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "align", "label": "Timing", "help": "\"loop\": the upper clip may begin anywhere in its first cycle, and it loops through its gait if it is too short. \"first_minimum\" (Heck 4.2.2): it is cropped to the first frame that matches the lower clip's first frame, and the result ends when either clip ends.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "loop", "choices": ["loop", "first_minimum"], "optional": false, "advanced": true}, {"name": "posture", "label": "Posture", "help": "\"pitch\" restores how far the upper clip leans forward or backward and keeps the lower clip's lean into turns; \"full\" restores its complete posture (Heck 4.2.4); without either, the lower clip's posture remains.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "pitch", "choices": ["pitch", "full"], "optional": true, "advanced": false}],
  StreamSettings: [{"name": "feet", "label": "Feet", "help": "\"clean\" removes foot skate and delays the output. \"lock\" holds planted feet without a delay by rotating the legs. \"auto\" cleans recordings and locks feet in live control. Otherwise the feet stay as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "clean", "lock"], "optional": true, "advanced": false}, {"name": "start", "label": "Start node", "help": "Node of the first clip. By default the controller's, else the first node.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "respond", "label": "Respond", "help": "When a command takes effect: \"anytime\" within the current clip, by a transition to another clip of the same node at the same moment; \"clip\" with the next clip.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "anytime", "choices": ["anytime", "clip"], "optional": false, "advanced": true}],
  SuggestSettings: [{"name": "max_matches", "label": "Max matches", "help": "Stop raising the threshold when there are more matches than this.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 200, "choices": [], "optional": false, "advanced": false}, {"name": "max_tiers", "label": "Search depth", "help": "Depth of the transitive search: 1 finds matches of the query, 2 also matches of these, and so on. By default unlimited.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "order", "label": "Sort matches by", "help": "\"distance\" sorts matches by the sum of distances along the match graph (Kovar 6.2.3); \"chain\" by the largest gap on the best chain of similar matches, which puts variations of the query before other actions in sets without labels.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "distance", "choices": ["distance", "chain"], "optional": false, "advanced": true}],
  SynthesisSettings: [{"name": "feet", "label": "Feet", "help": "\"clean\" keeps planted feet in place by enforcing the contacts of the blend.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}, {"name": "name", "label": "Name", "help": "Name of the motion. By default the features and the target.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  TransitionSettings: [{"name": "path_finder", "label": "Path finder", "help": "How \"discrete\" and \"cubic\" find the path of corresponding frames: by dynamic timewarping, by recursion below a threshold, greedily, or by trying all paths (\"brute_force\").", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "dynamic", "choices": ["dynamic", "threshold", "greedy", "brute_force"], "optional": false, "advanced": true}, {"name": "path_start", "label": "Path start", "help": "Where the path starts: at the beginning of both motions, or at the lowest cell of the first third of one of them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "corner", "choices": ["corner", "third"], "optional": false, "advanced": true}, {"name": "path_slope_limit", "label": "Path slope limit", "help": "Largest ratio of playback speeds along the path, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 3, "choices": [], "optional": false, "advanced": true}, {"name": "path_threshold", "label": "Path threshold", "help": "Largest cell that \"threshold\" enters, as a fraction of the largest of all.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 33.0, "choices": [], "optional": false, "advanced": true}, {"name": "path_time_limit", "label": "Path time limit", "help": "Time after which a search returns the best path until then.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 10.0, "choices": [], "optional": true, "advanced": true}, {"name": "whole_costs", "label": "Whole costs", "help": "Round the cells to gray levels 0 to 255, instead of square meters.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "n_frames", "label": "Number of frames", "help": "Number of frames that \"cubic\" makes. By default the weighted mean of what the path covers of both.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 1000000, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "slope_limit", "label": "Max speed ratio", "help": "Largest ratio of playback speeds of two motions at any point, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "max_distance", "label": "Max difference", "help": "Motions with a larger root mean square distance along the path are rejected.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.22, "choices": [], "optional": false, "advanced": true}, {"name": "max_opposite", "label": "Max time on opposite feet", "help": "Motions that stand on opposite feet for a larger part of the transition are rejected.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 10.0, "choices": [], "optional": false, "advanced": true}, {"name": "force", "label": "Blend even if very different", "help": "Accept motions that are too far apart, or on opposite feet, with a note.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "length", "label": "Transition length", "help": "Duration of the transition; half of it is kept free at both ends of both motions.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 1.0, "choices": [], "optional": false, "advanced": false}, {"name": "search_window", "label": "Search window", "help": "Duration that is compared around each pair of frames to find the best point. It is longer than for the timewarp, so that the motions stay similar for a while.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": true}, {"name": "method", "label": "Method", "help": "\"registered\" aligns the motions in time around the point. The others are simpler, for comparison: \"linear\" blends frame by frame; \"discrete\" and \"cubic\" match the times, along the cells of a path and along a spline through them. They accept any distance of the motions, and leave the feet as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "registered", "choices": ["registered", "linear", "discrete", "cubic"], "optional": false, "advanced": false}, {"name": "boundaries", "label": "Boundaries", "help": "Ends of the transition that fall between frames: \"resample\" leaves the frames of the first motion and resamples the second; \"integer\" shifts time within the transition by less than a frame, so that it begins on a frame of the first, ends on a frame of the second, and lasts a whole number of frames.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "resample", "choices": ["resample", "integer"], "optional": false, "advanced": true}, {"name": "max_middle_distance", "label": "Max center difference", "help": "Motions that are farther apart in the middle of the transition are rejected.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.3, "choices": [], "optional": false, "advanced": true}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Otherwise the feet are left where the transition puts them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}, {"name": "name", "label": "Name", "help": "Name of the result.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  TransplantSettings: [{"name": "falloff", "label": "Blended joints", "help": "Number of joints toward the hips over which the weights fall off; 0 for a sharp edge. By default all joints up to the hips.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "at", "label": "Start at", "help": "Time in the base motion at which the donor begins.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "ease", "label": "Fade in and out", "help": "Duration of fading the donor in and out, if it begins or ends within the base motion.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.3, "choices": [], "optional": false, "advanced": false}],
  WebSettings: [{"name": "remove_height", "label": "Ignore height", "help": "Subtract each frame's mean marker height, so that a reach to the floor matches one to a shelf.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "max_distance", "label": "Max distance stored", "help": "Maximum distance of the frames that are kept; a search finds nothing beyond it.", "kind": "number", "unit": "m", "factor": 1.0, "min": 1e-05, "max": 0.65535, "default": 0.4, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "max_rise", "label": "Max rise", "help": "How far D in the valid region may exceed D at its minimum.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 1000.0, "default": 15.0, "choices": [], "optional": false, "advanced": true}, {"name": "max_extension_seconds", "label": "Max extension", "help": "Maximum length of the valid region on either side of a minimum.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.13, "choices": [], "optional": false, "advanced": true}, {"name": "min_chain_seconds", "label": "Min chain length", "help": "Minimum length of a chain of minima.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.25, "choices": [], "optional": false, "advanced": true}, {"name": "max_chain_distance", "label": "Max distance in chains", "help": "Maximum distance of the minima of a chain.", "kind": "number", "unit": "m", "factor": 1.0, "min": 1e-05, "max": 0.65535, "default": 0.15, "choices": [], "optional": false, "advanced": true}, {"name": "max_bridge_seconds", "label": "Max bridge length", "help": "Maximum length of a path between chains.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 2.0, "choices": [], "optional": false, "advanced": true}, {"name": "min_level_seconds", "label": "Min level path", "help": "Minimum length of a level path.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.65, "choices": [], "optional": false, "advanced": true}],
} as const;

type Setting<C> = C extends { kind: "flag" } ? boolean : C extends { kind: "number" | "integer" } ? number
  : C extends { kind: "choice"; choices: readonly (infer T)[] } ? T
  : C extends { kind: "name" } ? string | number : string;
/** The settings that a list of controls sets. */
export type SettingsOf<F extends readonly { name: string }[]> = {
  [C in F[number] as C["name"]]: Setting<C> | (C extends { optional: true } ? null : never);
};

export type BlendSettings = SettingsOf<typeof FORMS.BlendSettings>;
export type BlendTreeSettings = SettingsOf<typeof FORMS.BlendTreeSettings>;
export type CleanSettings = SettingsOf<typeof FORMS.CleanSettings>;
export type CompareSettings = SettingsOf<typeof FORMS.CompareSettings>;
export type ComparisonSettings = SettingsOf<typeof FORMS.ComparisonSettings>;
export type ContactSettings = SettingsOf<typeof FORMS.ContactSettings>;
export type GaitSettings = SettingsOf<typeof FORMS.GaitSettings>;
export type GazeExampleSettings = SettingsOf<typeof FORMS.GazeExampleSettings>;
export type GazeSettings = SettingsOf<typeof FORMS.GazeSettings>;
export type GoToSettings = SettingsOf<typeof FORMS.GoToSettings>;
export type GraphPathSettings = SettingsOf<typeof FORMS.GraphPathSettings>;
export type GraphSettings = SettingsOf<typeof FORMS.GraphSettings>;
export type GraphStreamSettings = SettingsOf<typeof FORMS.GraphStreamSettings>;
export type GraphWalkSettings = SettingsOf<typeof FORMS.GraphWalkSettings>;
export type LoadSettings = SettingsOf<typeof FORMS.LoadSettings>;
export type MatchingSettings = SettingsOf<typeof FORMS.MatchingSettings>;
export type RegisterSettings = SettingsOf<typeof FORMS.RegisterSettings>;
export type SampleSettings = SettingsOf<typeof FORMS.SampleSettings>;
export type SeamSettings = SettingsOf<typeof FORMS.SeamSettings>;
export type SearchSettings = SettingsOf<typeof FORMS.SearchSettings>;
export type SpaceSettings = SettingsOf<typeof FORMS.SpaceSettings>;
export type SpliceSettings = SettingsOf<typeof FORMS.SpliceSettings>;
export type StreamSettings = SettingsOf<typeof FORMS.StreamSettings>;
export type SuggestSettings = SettingsOf<typeof FORMS.SuggestSettings>;
export type SynthesisSettings = SettingsOf<typeof FORMS.SynthesisSettings>;
export type TransitionSettings = SettingsOf<typeof FORMS.TransitionSettings>;
export type TransplantSettings = SettingsOf<typeof FORMS.TransplantSettings>;
export type WebSettings = SettingsOf<typeof FORMS.WebSettings>;
