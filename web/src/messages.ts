// Written by `python -m marey.studio.typescript` from the dataclasses of marey.studio; do not edit by hand.

export const FRAMES_VERSION = 1;
export const FRAMES_MOTION = 1;
export const FRAMES_LIVE = 2;
export const FRAMES_HEADER_BYTES = 16;

/**
 * One interval in which a contact point is planted: its mean position, and the distance (m) that it slides.
 *
 * `slide_before` is the distance in the motion before the last edit, or in the motion it was made from; null if
 * there is none with the same skeleton and frames.
 */
export interface Plant {
  at: [number, number, number];
  slide: number;
  slide_before: number | null;
}

/**
 * One contact point and the half-open frame intervals in which it is planted.
 *
 * `joint` is an index; `offset` is in the joint's local coordinates, in meters. `plants` has one entry for each
 * interval.
 */
export interface ContactLane {
  name: string;
  joint: number;
  offset: [number, number, number];
  intervals: [number, number][];
  plants: Plant[];
}

/** A label on frames `start` to `stop`, half-open. */
export interface LabelSpan {
  name: string;
  start: number;
  stop: number;
}

/** A step of a motion's undo history: its name and number. Steps are numbered across all motions of the session. */
export interface EditStep {
  number: number;
  name: string;
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
 * that the sidecar lacks the current annotations, `edited` that the frames are in no file. `undo` and
 * `redo` are the numbers of steps that can be undone or redone; `steps` are all of them, the first is the motion as it
 * was opened. `before` is the number of the last step with other frames, if the motion is edited and both can be
 * compared frame by frame; otherwise null.
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
  edited: boolean;
  undo: number;
  redo: number;
  steps: EditStep[];
  before: number | null;
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

/** Python code. `variable` is the name of the motion in it, and `files` must be saved before it can run. */
export interface SharedCode {
  code: string;
  variable: string;
  files: string[];
}

/** Get Python code that recreates a motion from its files. */
export interface GetCode {
  motion: string;
}

/** The download address of a file, its name, and its size in bytes. */
export interface Download {
  url: string;
  name: string;
  size: number;
}

/** Make one page, which plays motions without the studio, for download. */
export interface MakePage {
  motions: string[];
}

/** Add a picture of the view to a recording; number 0 starts a new one. `data` is a PNG or WebP file in base64. */
export interface AddPicture {
  number: number;
  data: string;
}

/** Write the pictures of the recording as a file, named after a motion, at `rate` frames per second. */
export interface MakeVideo {
  motion: string;
  format: "gif" | "webp" | "mp4" | "png";
  rate?: number;
}

/** A generated clip: its name, and what it shows. */
export interface SampleEntry {
  name: string;
  about: string;
}

/** A recently opened folder or project. */
export interface RecentEntry {
  kind: "folder" | "project";
  name: string;
  path: string;
}

/** What the start page offers. If other machines can connect, `can_browse` is false: the folder stays as it is. */
export interface StartInfo {
  samples: SampleEntry[];
  recent: RecentEntry[];
  can_browse: boolean;
}

/** Get what the start page offers. */
export interface StartPage {
}

/** Open a generated clip. `slide` makes its feet slide, in m/s. Without a `name`, it has the name of the sample. */
export interface OpenSample {
  sample: string;
  options: Record<string, number>;
  slide?: number;
  name?: string;
}

/** A folder: its path, that of its parent ("" if there is none), its folders, and its number of motion files. */
export interface FolderView {
  path: string;
  parent: string;
  folders: string[];
  motions: number;
}

/** List the folders in a folder; "" is the open one, or the user's home. */
export interface BrowseFolder {
  path?: string;
}

/**
 * A file in the folder: relative `path` with forward slashes, `modified` in seconds since 1970.
 *
 * `labels` are the label names in its sidecar; empty if the sidecar is too large to be read
 * while files are listed.
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

/** Open another folder. Open clips stay open. */
export interface OpenFolder {
  path: string;
}

/** Projects in the open folder, and the name of the open project; "" if there is none. */
export interface ProjectList {
  files: string[];
  open: string;
}

/** List the projects in the open folder. */
export interface ListProjects {
}

/** The name of the project file, the clips that were saved, and notes. */
export interface ProjectSaved {
  file: string;
  motions: MotionInfo[];
  notes: string[];
}

/**
 * Save the open clips and the page's state to a project file in the folder.
 *
 * Clips with changes are saved first, as by `SaveMotion`. Other files are never overwritten: `name` must be new, or
 * that of the project that is open.
 */
export interface SaveProject {
  name: string;
  state: Record<string, unknown>;
}

/** The clips, their ids in the saved state (in the same order), the state, and notes on what could not be opened. */
export interface ProjectOpened {
  folder: string;
  motions: MotionInfo[];
  ids: string[];
  state: Record<string, unknown>;
  notes: string[];
}

/** Open a project in place of the open clips: a file in the open folder, or an absolute path. */
export interface OpenProject {
  path: string;
}

/** All files of the folder have been read: their number, and the number of those that cannot be indexed. */
export interface LibraryDone {
  files: number;
  skipped: number;
}

/** Read the files of the folder in the background; `library_rows` events describe them as they are read. */
export interface IndexLibrary {
}

/**
 * Poses of a clip at equal times: x y z of each joint in millimeters, relative to the hips.
 *
 * The second pose faces +Z. The other fields are those of `MotionInfo`.
 */
export interface Thumbnail {
  path: string;
  parents: number[];
  bone_lengths: number[];
  roles: Record<string, number>;
  stature: number;
  points: number[];
}

/** The thumbnails of those files that are indexed. */
export interface Thumbnails {
  thumbnails: Thumbnail[];
}

/** Get the poses of some indexed files, at most 100. */
export interface GetThumbnails {
  paths: string[];
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

/**
 * Get frames `start` to `stop`, half-open, as one binary message; at most `Welcome.block_frames` frames.
 *
 * `step` is the number of a step of the motion's history; null is the current one.
 */
export interface GetFrames {
  motion: string;
  start: number;
  stop: number;
  step?: number | null;
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

/** Open a motion again that was just closed. */
export interface Reopen {
  motion: string;
}

/** Detect the floor and the contacts of the feet and, if set, of the hands. */
export interface DetectContacts {
  motion: string;
  settings?: Partial<ContactSettings>;
}

/** All contact intervals of one contact point, as half-open frame ranges. */
export interface LaneEdit {
  name: string;
  intervals: [number, number][];
}

/** Set the contacts of some points; other points stay unchanged. A motion without contacts gets default points. */
export interface SetContacts {
  motion: string;
  lanes: LaneEdit[];
}

/** Replace all labels of a motion. `merge_undo` merges with an edit of labels before: both are undone together. */
export interface SetLabels {
  motion: string;
  labels: LabelSpan[];
  merge_undo?: boolean;
}

/** The name of the saved file or sidecar, and the motion. For an uploaded file, `url` is the sidecar's address. */
export interface Saved {
  path: string;
  url: string | null;
  motion: MotionInfo;
}

/**
 * Save a motion. If only contacts and labels have changed, they go to the sidecar of its file.
 *
 * Otherwise the motion is saved to the open folder, with a sidecar: to a new file, or to the one to which it was saved
 * before. Other files are never overwritten.
 */
export interface SaveMotion {
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
 * Inputs to choose from.
 *
 * `graphs`: "" is that of the Graph panel, then those of operations, then files. `spaces`, `positions` and `files` are
 * files in the folder: target controls, positions of joints or markers, and motions.
 */
export interface OperationInputs {
  graphs: string[];
  spaces: string[];
  positions: string[];
  files: string[];
}

/** List the graphs and files that operations can take. */
export interface ListInputs {
}

/**
 * A quality metric of a result with its grade: "good", "fair" or "poor"; see `marey.studio.grades`.
 *
 * `before` is the value before the edit. It and the grades are "" if they are not known. `before_grade` is "reference"
 * if the metric is graded by its change from `before`.
 */
export interface GradedMetric {
  title: string;
  before: string;
  after: string;
  before_grade: string;
  grade: string;
  about: string;
}

/**
 * The result of an operation: motions, notes, a table, files, and grades of its quality.
 *
 * A row's link is "frame:N" or "file:PATH"; "" for none. `graph` is the entry of `OperationInputs.graphs` that was
 * added.
 */
export interface OperationDone {
  motions: MotionInfo[];
  notes: string[];
  columns: string[];
  rows: string[][];
  links: string[];
  files: Download[];
  graph: string;
  grades: GradedMetric[];
}

/**
 * Run an operation of the table `OPERATIONS`. Only the data that it takes are read.
 *
 * `motion` is the selected motion, `other` another one; or `file` is a file in the folder. `frame` is the playhead,
 * `range` the marked frames, half-open. `points` is a path x, z on the floor in meters. `graph` is an entry of
 * `OperationInputs.graphs`. `settings` are the options of all forms. `as_new`: the result is a new motion.
 * `merge_undo`: replace the result of the same operation just before, for example while something is dragged.
 */
export interface RunOperation {
  operation: string;
  settings: Record<string, unknown>;
  motion?: string | null;
  other?: string | null;
  motions?: string[];
  frame?: number;
  range?: [number, number] | null;
  points?: [number, number][];
  graph?: string;
  file?: string;
  as_new?: boolean;
  merge_undo?: boolean;
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

/** Names of clips that an operation did not use, all for the same reason. */
export interface SkippedClips {
  reason: string;
  names: string[];
  has_other_skeleton: boolean;
}

/** Connectivity for one threshold in meters; `connected` is as in `GraphLinks`. */
export interface LimitPoint {
  meters: number;
  connected: number;
  transitions: number;
}

/**
 * How much of the footage with a label is connected: `seconds` of its `of_seconds`.
 *
 * `reaches` lists the other labels that can be reached from it.
 */
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
 * `number` counts the graphs of the session.
 * `skipped` are the skipped files, grouped by reason. `curve` is the connectivity for all thresholds, `suggested` a
 * good default threshold (m), and `links` the connectivity at that threshold.
 */
export interface GraphBuilt {
  number: number;
  clips: string[];
  seconds: number;
  rate: number;
  skipped: SkippedClips[];
  labels: string[];
  curve: LimitPoint[];
  suggested: number;
  links: GraphLinks;
}

/**
 * Find transitions between clips: open motions, files in the folder, or both.
 *
 * Unless they are retargeted, files are skipped if their skeleton is not that of the motions or, without motions, that
 * of most files.
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

/** Make an earlier graph of the session the current one, by its number; 0 for none. */
export interface UseGraph {
  number: number;
}

/** Get the connectivity for some thresholds, without building the graph. */
export interface LinkGraph {
  threshold: number;
  pairs?: PairLimit[];
}

/** The motion, the number of transitions of its graph, and notes about the requested label, if any (`findings`). */
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
 * `through` lists the labels that the walk passes to get into this style, if no transition leads there directly from
 * the previous style.
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
 * The match web. `skipped` are the clips that are not in it, grouped by reason.
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
  skipped: SkippedClips[];
  notes: string[];
}

/**
 * Build a match web: compare all frames of the open `motions` and, with `folder`, of all files in the folder.
 *
 * Motions are skipped if their skeleton differs from that of the motion `like`. `rate` is the maximum rate of compared
 * frames, in frames per second; null for all frames.
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
 * fastest, and `moment` when it reaches a target: the defaults for target control.
 */
export interface SearchDone {
  search: number;
  count: number;
  body: TileBody;
  joint: string;
  moment: string;
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

/** The saved files. `is_open` says whether a folder is open to save to; `clips` is its number of motion files. */
export interface SavedFiles {
  files: SavedFile[];
  is_open: boolean;
  clips: number;
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
 * A gaze target from `time` seconds on: a point in the world (m), or a direction.
 *
 * `angles` are yaw to the left and pitch upward, relative to the body's heading (radians). If both are null, the
 * motion returns to its original gaze.
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
 * `median` is the median cost. `worst` is the highest cost that any source motion has for its best transition.
 * `reachable` is the average fraction of the target's range, by volume, that can follow a source motion. `samples` is
 * the number of source samples.
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

/**
 * The character being edited. `version` is its number among the states that can be restored.
 *
 * `note` comments on the last change; "" for none.
 */
export interface Character {
  name: string;
  nodes: CharacterNode[];
  edges: CharacterEdge[];
  version: number;
  note: string;
}

/** Get the character being edited, initially empty. */
export interface ShowCharacter {
}

/** Restore an earlier or later state of the character, to undo or redo a change. */
export interface RestoreCharacter {
  version: number;
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

/**
 * The available recipes, characters and gaze maps.
 *
 * `spaces` are the paths of target controls that were saved in Find, `recipe_files` those of recipes in the folder.
 */
export interface Sources {
  recipes: RecipeInfo[];
  files: AuthoredFile[];
  spaces: string[];
  recipe_files: string[];
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

/**
 * Add a node of single actions, such as punches.
 *
 * The actions are open motions, each from its first frame to its last, with a `feature` as in `marey parametric
 * build`; or a target control that was saved in Find, at `path` in the folder. With `at_point`, the three parameters
 * are a position, and the action can be aimed at a point. Target controls of a joint can always be aimed at a point.
 */
export interface AddAction {
  name: string;
  motions?: string[];
  feature?: string;
  path?: string;
  at_point?: boolean;
}

/** Build the character of a recipe in the folder. */
export interface OpenRecipe {
  path: string;
}

/** The names of the saved files. */
export interface SavedAuthored {
  files: string[];
}

/** Save the character's recipe as NAME.toml for editing. `replace` allows overwriting. */
export interface SaveRecipe {
  name: string;
  replace?: boolean;
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
 * A preview of thresholds: fractions of accepted and rejected pairs of samples, and details of one source sample.
 *
 * `stuck` is the number of source samples without a transition, which `note` describes. `sample` is the number of the
 * source sample in detail and `at` its parameters. `points` are the parameters of all target samples, and `costs` (m)
 * the costs of transitions to them. `low` and `high` bound the target parameters that can follow; null if none can.
 * Units are those of the nodes.
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

/** Save the character or the gaze map to the folder as NAME.json. `replace` allows overwriting. */
export interface SaveAuthored {
  kind: "character" | "gaze";
  name: string;
  replace?: boolean;
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

/** Add an open motion as an example: it starts at rest, turns to look at the target (radians), and rests there. */
export interface AddLook {
  motion: string;
  yaw: number;
  pitch: number;
  settings?: Partial<GazeExampleSettings>;
}

/** Remove the example with the index `example`. */
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

/** A built-in recipe. `is_built`: its character is on disk, so it starts at once. */
export interface DriveRecipe {
  name: string;
  about: string;
  is_built: boolean;
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
 * is still pending, or null; `reached`, the seconds it took to reach the requested point, or null; `kept`, the
 * seconds that can be saved; and, if it has changed, `reach`: outlines [[x, z], ...] of the area that the character
 * can reach next. `limits` says what the character cannot do after some of its clips, and `can_stop` whether it can
 * stand still.
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
  can_stop: boolean;
}

/**
 * Start a controller, or switch to another one.
 *
 * `way`: a parametric motion graph ("character"), a motion graph with direction tables, motion matching, or a blend
 * tree. A character is given by `source` and `name`. The other controllers, and a character from "clips", are built
 * from open `motions`, or from generated walks if there are none; with `built`, the motion graph is that of the Graph
 * panel. `feet`: locked without delay ("lock"), cleaned with lookahead ("clean"), or unchanged ("free"). With `stay`,
 * the character starts where the previous one stands. With `look`, the head turns toward a new direction before the
 * body does. `carry` is an open motion whose arms and trunk the character takes over, or "sample" for a generated one
 * that carries a box.
 *
 * The character replaces that of `stream`; null means the newest one. With `beside`, it starts next to that character,
 * and both play.
 */
export interface StartDrive {
  way: "character" | "graph" | "matching" | "tree";
  source?: "recipe" | "file" | "draft" | "clips";
  name?: string;
  motions?: string[];
  built?: boolean;
  feet?: "lock" | "clean" | "free";
  stay?: boolean;
  look?: boolean;
  carry?: string;
  stream?: number | null;
  beside?: boolean;
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
 * `speed` is in m/s. With `stop`, the character stands still if it can. `stream` is that of the character; null is the
 * last one that was started.
 */
export interface DriveRequest {
  direction?: number | null;
  point?: [number, number] | null;
  target?: [number, number, number] | null;
  node?: string | null;
  speed?: number | null;
  values?: Record<string, number> | null;
  stop?: boolean;
  stream?: number | null;
}

/** Load a built-in character in advance, if it is on disk. */
export interface PrepareDrive {
  name: string;
}

/**
 * Statistics of one controller with one character: seconds driven, completed turns, and response times.
 *
 * `character` is the name of the character or of its clips, and `rate` that of the stream in frames per second: only
 * rows in which both are the same can be compared.
 *
 * A change is completed when the character has faced the direction within 15 degrees for 0.25 s. `unanswered` counts
 * the changes that were replaced by another or took longer than 8 s. A request followed by another within 0.5 s, as
 * during a drag, does not count: the response time starts when the final direction is requested. Times are in
 * seconds.
 */
export interface ControllerStatistics {
  way: "character" | "graph" | "matching" | "tree";
  character: string;
  rate: number;
  seconds: number;
  answered: number;
  unanswered: number;
  median: number | null;
  slowest: number | null;
}

/**
 * Statistics of all controllers that the user drove, and of those in the last comparison.
 *
 * `failed` says why controllers could not be compared, by `way`.
 */
export interface DriveTable {
  ways: ControllerStatistics[];
  compared: ControllerStatistics[];
  failed: Record<string, string>;
}

/**
 * Build every controller from the same clips, let each make the same turns, and add their response times.
 *
 * The clips are open `motions`, or generated walks if there are none.
 */
export interface CompareDrive {
  motions?: string[];
  feet?: "lock" | "clean" | "free";
}

/** Get the response times measured so far. */
export interface DriveStatistics {
}

/** The saved motion. */
export interface SavedDrive {
  motion: MotionInfo;
}

/** Save what a character has done since its start, up to 10 minutes. Null means the stream that was started last. */
export interface KeepDriven {
  stream?: number | null;
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

/** What `marey check` finds in a clip; see `marey.check.report.Finding`. */
export interface LibraryFinding {
  kind: string;
  severity: string;
  message: string;
}

/**
 * What a file contains: number of clips, total duration, and the values of its first clip.
 *
 * `speed` is in m/s, `distance` in meters, `turn` in degrees to the left. `reason` says why the file cannot be
 * indexed; the other fields are then empty.
 */
export interface LibraryRow {
  path: string;
  clips: number;
  seconds: number;
  fps: number;
  speed: number;
  distance: number;
  turn: number;
  labels: string[];
  findings: LibraryFinding[];
  reason: string;
}

/** Files were read: their rows, and how many of all files have been read. */
export interface LibraryRows {
  event: "library_rows";
  rows: LibraryRow[];
  done: number;
  total: number;
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
  "share_code": { fields: GetCode; reply: SharedCode };
  "share_page": { fields: MakePage; reply: Download };
  "share_picture": { fields: AddPicture; reply: Nothing };
  "share_video": { fields: MakeVideo; reply: Download };
  "start_page": { fields: StartPage; reply: StartInfo };
  "open_sample": { fields: OpenSample; reply: MotionInfo };
  "folder_browse": { fields: BrowseFolder; reply: FolderView };
  "folder_open": { fields: OpenFolder; reply: FolderList };
  "project_list": { fields: ListProjects; reply: ProjectList };
  "project_save": { fields: SaveProject; reply: ProjectSaved };
  "project_open": { fields: OpenProject; reply: ProjectOpened };
  "library_index": { fields: IndexLibrary; reply: LibraryDone };
  "library_thumbnails": { fields: GetThumbnails; reply: Thumbnails };
  "list": { fields: ListFolder; reply: FolderList };
  "open": { fields: OpenFile; reply: MotionInfo };
  "motion": { fields: GetMotion; reply: MotionInfo };
  "frames": { fields: GetFrames; reply: Binary };
  "curves": { fields: GetCurves; reply: CurveSet };
  "cloud": { fields: GetCloud; reply: Cloud };
  "close": { fields: CloseMotion; reply: Nothing };
  "reopen": { fields: Reopen; reply: MotionInfo };
  "detect_contacts": { fields: DetectContacts; reply: MotionInfo };
  "set_contacts": { fields: SetContacts; reply: MotionInfo };
  "set_labels": { fields: SetLabels; reply: MotionInfo };
  "save": { fields: SaveMotion; reply: Saved };
  "undo": { fields: Undo; reply: MotionInfo };
  "redo": { fields: Redo; reply: MotionInfo };
  "live_start": { fields: StartLive; reply: LiveStarted };
  "live_stop": { fields: StopLive; reply: Nothing };
  "live_echo": { fields: EchoFrame; reply: Nothing };
  "live_statistics": { fields: LiveStatistics; reply: LiveReport };
  "operation_inputs": { fields: ListInputs; reply: OperationInputs };
  "operate": { fields: RunOperation; reply: OperationDone };
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
  "graph_use": { fields: UseGraph; reply: GraphShown };
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
  "layer_look": { fields: LookAt; reply: LookDone };
  "author_show": { fields: ShowCharacter; reply: Character };
  "author_restore": { fields: RestoreCharacter; reply: Character };
  "author_sources": { fields: ListSources; reply: Sources };
  "author_new": { fields: NewCharacter; reply: Character };
  "author_recipe": { fields: UseRecipe; reply: Character };
  "author_add": { fields: AddGait; reply: Character };
  "author_action": { fields: AddAction; reply: Character };
  "author_open_recipe": { fields: OpenRecipe; reply: Character };
  "author_save_recipe": { fields: SaveRecipe; reply: SavedAuthored };
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
  "drive_prepare": { fields: PrepareDrive; reply: Nothing };
  "drive_compare": { fields: CompareDrive; reply: DriveTable };
  "drive_statistics": { fields: DriveStatistics; reply: DriveTable };
  "drive_keep": { fields: KeepDriven; reply: SavedDrive };
}

export type StudioEvent = LiveEnded | MotionChanged | LibraryRows;

export const PANELS = ["look", "edit", "compare", "blend", "graph", "find", "layer", "author", "drive"] as const;

/** The controls of each operation's settings; `widgets/form.ts` draws them. */
export const FORMS = {
  BlendSettings: [{"name": "path_finder", "label": "Path finder", "help": "How \"discrete\" and \"cubic\" find the path of corresponding frames: by dynamic timewarping, by recursion below a threshold, greedily, or by trying all paths (\"brute_force\").", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "dynamic", "choices": ["dynamic", "threshold", "greedy", "brute_force"], "optional": false, "advanced": true}, {"name": "path_start", "label": "Path start", "help": "Where the path starts: \"corner\", at the beginning of both motions; \"third\", at the beginning of one and the most similar frame in the first third of the other.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "corner", "choices": ["corner", "third"], "optional": false, "advanced": true}, {"name": "path_slope_limit", "label": "Path slope limit", "help": "Largest ratio of playback speeds along the path, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 3, "choices": [], "optional": false, "advanced": true}, {"name": "path_threshold", "label": "Path threshold", "help": "Largest cost of a pair of frames on the path, as a fraction of the largest cost of all pairs; only for the path finder \"threshold\".", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 33.0, "choices": [], "optional": false, "advanced": true}, {"name": "path_time_limit", "label": "Path time limit", "help": "Time limit of the search, which then returns the best path found so far.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 10.0, "choices": [], "optional": true, "advanced": true}, {"name": "whole_costs", "label": "Round costs to integers", "help": "Round the costs of frames to integers from 0 to 255, as gray levels of an image, instead of using square meters.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "n_frames", "label": "Number of frames", "help": "Number of frames of the result; only for the method \"cubic\". By default the weighted mean of the numbers of frames of both motions along the path.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 1000000, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "method", "label": "Method", "help": "\"registered\" averages timing, path, posture and contacts. The others are simpler, for comparison: \"linear\" averages frame by frame without matching times; \"discrete\" and \"cubic\" match the times of two motions, along the cells of a path and along a spline through them; they leave the feet as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "registered", "choices": ["registered", "linear", "discrete", "cubic"], "optional": false, "advanced": false}, {"name": "fps", "label": "Frame rate", "help": "Frames per second of the blend. By default those of the motions. Poses are not filtered, so for a much lower rate blend first, then resample.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "seconds", "label": "Duration of loops", "help": "Duration of a blend of loops; one cycle by default. Other blends end where the motions end.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where the blend puts them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}, {"name": "start", "label": "Start", "help": "Placement (theta, x, z) of the first frame: heading in radians and position of the hips on the floor in meters. By default where the motion with the largest weight starts.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "name", "label": "Name", "help": "Name of the result.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "joint_limits", "label": "Joint limits", "help": "Joint limits to respect: a file, such as limits.json, or from `marey.core.learn_joint_limits`. Weights outside 0 to 1 often need them.", "kind": "file", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  BlendTreeSettings: [{"name": "place", "label": "Place", "help": "Rigid2d (theta, x, z) that places the first frame in the world. By default the character starts at the origin.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "feet", "label": "Feet", "help": "\"clean\" removes foot skate and delays the output. \"lock\" holds planted feet without a delay by rotating the legs. \"auto\" cleans recordings and locks feet in live control. With none, the feet stay as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "clean", "lock"], "optional": true, "advanced": false}, {"name": "direction", "label": "Direction", "help": "Target heading in the world, from +Z. The stream steers toward it with the knob turn. Without a direction, that knob is set by hand.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": 0.0, "choices": [], "optional": true, "advanced": true}, {"name": "steer", "label": "Steering time", "help": "Time constant for correcting small direction errors.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": true}, {"name": "half_life", "label": "Half-life of knobs", "help": "Time in which a knob moves about halfway to its requested value.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}],
  CompareSettings: [{"name": "n_source", "label": "Source samples", "help": "Number of motions to sample from the source node.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 10000, "default": 60, "choices": [], "optional": false, "advanced": true}, {"name": "n_target", "label": "Target samples", "help": "Number of motions to sample from the target node.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 10000, "default": 400, "choices": [], "optional": false, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed of the samples.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}],
  ComparisonSettings: [{"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}, {"name": "start", "label": "Start", "help": "Where paths start: \"corner\", at the beginning of both motions; \"third\", at the beginning of one and the most similar frame in the first third of the other.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "corner", "choices": ["corner", "third"], "optional": false, "advanced": true}, {"name": "end", "label": "End", "help": "Where paths end: at the end of both motions (\"corner\"), or at the end of one of them (\"border\").", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "corner", "choices": ["corner", "border"], "optional": false, "advanced": true}, {"name": "slope_limit", "label": "Slope limit", "help": "Largest ratio of playback speeds along a path, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 3, "choices": [], "optional": false, "advanced": true}, {"name": "threshold", "label": "Max cost along the path", "help": "Largest cost of a pair of frames on a path that is found by recursion, as a fraction of the largest cost of all pairs.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 33.0, "choices": [], "optional": false, "advanced": true}, {"name": "time_limit", "label": "Time limit", "help": "Time limit of each search.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 10.0, "choices": [], "optional": true, "advanced": true}, {"name": "whole_costs", "label": "Round costs to integers", "help": "Round the costs of frames to integers from 0 to 255, as gray levels of an image, instead of using square meters.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "n_frames", "label": "Number of frames", "help": "Number of frames of the cubic timewarp.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "window", "label": "Window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "crop", "label": "Crop", "help": "\"auto\" crops motions that are not registered yet to their common part.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto"], "optional": true, "advanced": true}, {"name": "blends", "label": "Blends", "help": "Also blend with every method. Otherwise only paths are compared.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}],
  ContactSettings: [{"name": "floor", "label": "Floor height", "help": "Height of the floor. By default the one stored with the motion, else it is detected.", "kind": "number", "unit": "m", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "planes", "label": "Planes", "help": "Supports in addition to the floor: heights in meters, or (height, a, b) for the slope y = height + a x + b z. No others are then detected; with an empty list everything stands on the floor. By default raised supports are detected: a foot clearly above the floor stands on one at its height.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "hands", "label": "Detect hands too", "help": "Also detect contacts of wrists and fingertips, with the floor and other supports.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "body", "label": "Detect whole body", "help": "Also detect contacts of hands, knees, elbows, pelvis, back and head with the floor, as in kneeling, crawling, lying and rolling.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "enter_speed", "label": "Enter speed", "help": "In at least one frame of a contact, the point is slower than this.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.35, "choices": [], "optional": false, "advanced": true}, {"name": "keep_speed", "label": "Keep speed", "help": "A contact lasts while the point is slower than this. It applies to a body that travels at 1.5 m/s and scales with the speed of travel, from a factor of 0.9 when standing to 1.35 when running.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.6, "choices": [], "optional": false, "advanced": true}, {"name": "enter_height", "label": "Enter height", "help": "In at least one frame of a contact, the point is lower than this above its height at rest on the support.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.025, "choices": [], "optional": false, "advanced": true}, {"name": "keep_height", "label": "Keep height", "help": "A contact lasts while the point is lower than this above its height at rest on the support.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.035, "choices": [], "optional": false, "advanced": true}, {"name": "gap", "label": "Gap", "help": "Shorter interruptions of a contact are closed.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.05, "choices": [], "optional": false, "advanced": true}, {"name": "duration", "label": "Duration", "help": "Shorter contacts are dropped.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.075, "choices": [], "optional": false, "advanced": true}],
  GaitSettings: [{"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "parameters", "label": "Parameters", "help": "turn, or turn and speed. Without speed, all motions should have the same speed.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "turn", "choices": [], "optional": false, "advanced": true}, {"name": "margin", "label": "Margin", "help": "Number of gait cycles by which each clip is extended at both ends, for blending with the next clip.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.2, "choices": [], "optional": false, "advanced": true}, {"name": "mirror", "label": "Mirror the clips", "help": "Also use the mirror image of each clip, to make left and right symmetric.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "bandwidth", "label": "Bandwidth", "help": "Kernel width for each parameter, in radians and m/s. By default 7 degrees per cycle (half of it per step) and 0.1 m/s.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "steps", "label": "Steps per clip", "help": "Steps per clip: 2, or 1 to halve the response time. With 1, left and right steps need separate nodes that lead to each other.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 2, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "side", "label": "First foot", "help": "The foot that passes the other at the start of a clip and touches down first.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "left", "choices": ["left", "right"], "optional": false, "advanced": true}],
  GazeExampleSettings: [{"name": "start", "label": "Start", "help": "First frame of the recorded gaze movement, for recordings in which no rest is found; its first and last 0.2 s are taken as rest.", "kind": "integer", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "stop", "label": "Stop", "help": "The frame after the last one of the recorded gaze movement.", "kind": "integer", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "facing", "label": "Facing", "help": "Yaw of the body at rest in the world, to the left of +Z. By default it is taken from the clip, or from the markers front and back, else 0.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "eye_lead", "label": "Eye lead", "help": "How long before the first visible movement the eyes start.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 1.0, "default": 0.04, "choices": [], "optional": false, "advanced": true}],
  GazeSettings: [{"name": "steady", "label": "Stabilize eyes", "help": "Let the eyes compensate for the body's bobbing while they look at a gaze target.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "forward", "label": "Forward", "help": "Direction in which the head looks. \"clip\" assumes that the clip looks straight ahead on average, because head joints in files are up to 20 degrees off; \"rest\" takes it from the rest pose; or a direction (3,) in the head's local axes.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clip", "choices": [], "optional": false, "advanced": true}, {"name": "eyes", "label": "Eyes", "help": "\"add\" adds a joint to the head that points where the eyes look; names of children of the head joint rotate these with the eyes. By default there are no eye joints.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "smoothing", "label": "Smoothing", "help": "Standard deviation of the Gaussian that extracts the slow rotation of body and head.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.3, "choices": [], "optional": false, "advanced": true}],
  GoToSettings: [{"name": "heading", "label": "Heading", "help": "Heading at the target, from +Z, positive to the left. By default any.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "nodes", "label": "Nodes", "help": "Names of the nodes to use. By default all.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "short_way", "label": "Prefer short paths", "help": "How strongly to prefer a short path. With 0, the character arrives as soon as possible, even if it runs along a wide curve; larger values prefer slow, tight turns.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": 0.9, "default": 0.75, "choices": [], "optional": false, "advanced": false}],
  GraphPathSettings: [{"name": "avoid", "label": "Avoid", "help": "(K, 3) circles to stay out of: x, z and radius in meters.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": true}, {"name": "other_characters", "label": "Other characters", "help": "(T, M, 2) positions (x, z) in meters of M other characters in each of T frames; NaN where a character is absent.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "min_distance", "label": "Min distance to others", "help": "Minimum distance to the other characters.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": true}, {"name": "seconds", "label": "Stop after", "help": "Stop after this time, anywhere along the path. By default the walk stops at the end of the path.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "style_overlap", "label": "Style overlap", "help": "The next style may begin this far before the current one ends. The default is half a person's height (Kovar 4.3.1).", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.9, "choices": [], "optional": false, "advanced": true}, {"name": "min_style_time", "label": "Min time in a style", "help": "Shortest time in each style, counted in frames of clips with its label, without transitions.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.5, "choices": [], "optional": false, "advanced": true}, {"name": "beam_width", "label": "Search width", "help": "Number of states that the beam search keeps for each frame. Widths 25, 50, 100 and so on up to this one are searched and the best walk is kept, so a larger width is never worse. By default 50 to 200, as wide as needed to stay close to the path.", "kind": "integer", "unit": "", "factor": 1.0, "min": 25, "max": 10000, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed that chooses the start nodes to try.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}],
  GraphSettings: [{"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed of the variations.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}, {"name": "spread", "label": "Spread of variations", "help": "How far variations may differ from the mean of the takes: 0 always gives the mean, 1 gives any mixture with equal probability, and larger values extrapolate beyond the takes.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": 1.5, "default": 1.0, "choices": [], "optional": false, "advanced": true}, {"name": "fps", "label": "Frame rate", "help": "Frame rate of the graph. By default the highest rate of the clips.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "min_seconds", "label": "Report labels shorter than", "help": "A label is reported as a finding if less of its motion than this can be played endlessly.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 2.0, "choices": [], "optional": false, "advanced": true}, {"name": "variations", "label": "Variations per action", "help": "Number of random blends to add as extra clips for each action with several takes.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": 1000, "default": 0, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Transition length", "help": "Length of a transition, and of the window over which frames are compared.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": false}, {"name": "window_shape", "label": "Window weights", "help": "Weights of the frames in the window: \"triangle\" gives the middle frame the most weight, \"box\" gives all frames the same weight.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "triangle", "choices": ["triangle", "box", "gaussian"], "optional": false, "advanced": true}, {"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}, {"name": "per_joint", "label": "Markers per joint", "help": "Number of markers on each joint; more than one also compares orientations (Kovar 4.1.4).", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 3, "default": 1, "choices": [], "optional": false, "advanced": true}, {"name": "weights", "label": "Weights", "help": "Weights of the markers by name, such as 2 for the hips; 1 for those that are not named. 0 ignores one.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "contact_penalty", "label": "Penalty for different contacts", "help": "Penalty p for different contacts: p^2 times the fraction of contact points that differ is added to the squared distance between two frames. With 1 m, transitions between different contacts are practically excluded.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": 100.0, "default": 0.0, "choices": [], "optional": false, "advanced": true}, {"name": "max_search_distance", "label": "Max distance searched", "help": "Look only for transitions up to this distance. Frames that are known to be farther apart are not compared, so large sets are built faster. Percentages then refer to the minima up to this distance. By default unlimited.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "coarse_step", "label": "Coarse step", "help": "Compare every n-th frame first, then all frames around promising cells; 1 compares all frames.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 1, "choices": [], "optional": false, "advanced": true}, {"name": "max_memory", "label": "Max memory (bytes)", "help": "Maximum memory for distance grids, in bytes.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 268435456, "choices": [], "optional": false, "advanced": true}],
  GraphStreamSettings: [{"name": "label", "label": "Action", "help": "Use only motion with this label. By default any.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "n_directions", "label": "Number of directions", "help": "Number of directions.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 3600, "default": 16, "choices": [], "optional": false, "advanced": true}, {"name": "speed", "label": "Speed", "help": "Requested speed. By default as fast as possible.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "place", "label": "Place", "help": "Rigid2d (theta, x, z) that places the first frame in the world. By default the character starts at the origin.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "feet", "label": "Feet", "help": "\"clean\" removes foot skate and delays the output. \"lock\" holds planted feet without a delay by rotating the legs. \"auto\" cleans recordings and locks feet in live control. With none, the feet stay as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "clean", "lock"], "optional": true, "advanced": false}, {"name": "start", "label": "Start node", "help": "Number of the start node. By default the best one for the first direction.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "direction", "label": "Direction", "help": "First direction of travel, from +Z, positive to the left.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": true}],
  GraphWalkSettings: [{"name": "label", "label": "Action", "help": "Use only motion with this label. By default any.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "seconds", "label": "Duration", "help": "Duration of the walk.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 30.0, "choices": [], "optional": false, "advanced": false}, {"name": "rng", "label": "Random seed", "help": "Random seed; the same seed gives the same walk.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": false}, {"name": "transition_interval", "label": "Time between transitions", "help": "Mean time between transitions. The probability of leaving a clip at a node grows with the time until the clip's next node, so places with many transitions are not favored.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 2.0, "choices": [], "optional": false, "advanced": true}, {"name": "start", "label": "Start node", "help": "Number of the start node. By default random, with equal probability for each frame of each clip.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  LoadSettings: [{"name": "unit", "label": "Unit", "help": "Unit of the file: m, cm, mm, in, cmu, or meters per unit. By default it is detected.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "up", "label": "Up axis", "help": "Up axis of the file. By default it is detected.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["y", "z", "x", "-y", "-z", "-x"], "optional": true, "advanced": false}, {"name": "fps", "label": "Resample to", "help": "Frames per second of the result, which is resampled if necessary. By default those of the file.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "file_fps", "label": "Recorded rate", "help": "Frames per second of the recording, if the file states no rate or a wrong one. The curves of FBX and GLB files are sampled at this rate.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": 100000.0, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "roles", "label": "Roles", "help": "Map from role to joint name, or a JSON file with such a map; it overrides the detected roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "trim_rest", "label": "Skip a rest pose at the start", "help": "Skip frame 0 if it is a rest pose inserted before the motion, as in CMU's BVH files.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "root", "label": "Root", "help": "Name or index of the ROOT, for BVH files with several.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "clip", "label": "Clip", "help": "Name or index of the animation, for FBX and GLB files with several.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "skeleton", "label": "Skeleton", "help": "The ASF file of an AMC file; by default, found in the same folder.", "kind": "file", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "body_model", "label": "Body model", "help": "Body model of a SMPL or AMASS file, as NPZ; by default, its bones have the lengths of an average body.", "kind": "file", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  MatchingSettings: [{"name": "place", "label": "Place", "help": "Rigid2d (theta, x, z) that places the first frame in the world. By default the character starts at the origin.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "feet", "label": "Feet", "help": "\"clean\" removes foot skate and delays the output. \"lock\" holds planted feet without a delay by rotating the legs. \"auto\" cleans recordings and locks feet in live control. With none, the feet stay as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "clean", "lock"], "optional": true, "advanced": false}, {"name": "direction", "label": "Direction", "help": "First direction of travel, from +Z, positive to the left.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": true}, {"name": "speed", "label": "Speed", "help": "First speed. By default the median speed of the clips.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "row", "label": "First frame", "help": "Frame to start at, counted over all clips. By default the one that fits the command best.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "search_every", "label": "Search interval", "help": "Time between searches. A new command triggers a search immediately.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "min_gain", "label": "Min improvement to jump", "help": "The search jumps to another frame only if this reduces the feature distance by at least this fraction.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 20.0, "choices": [], "optional": false, "advanced": true}, {"name": "half_life", "label": "Half-life of offsets", "help": "Time in which the pose offset of a jump roughly halves.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "speed_half_life", "label": "Half-life of speed", "help": "Half-life with which the predicted path approaches the requested speed.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.25, "choices": [], "optional": false, "advanced": true}, {"name": "facing_half_life", "label": "Half-life of heading", "help": "Half-life with which the predicted path approaches the requested heading.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.25, "choices": [], "optional": false, "advanced": true}],
  RegisterSettings: [{"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}, {"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "slope_limit", "label": "Max speed ratio", "help": "Largest ratio of playback speeds of two motions at any point, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "max_distance", "label": "Max difference", "help": "Motions with a larger root mean square distance along the path are rejected.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.22, "choices": [], "optional": false, "advanced": true}, {"name": "max_opposite", "label": "Max time with different support feet", "help": "Largest fraction of the path in which one motion may stand on the left foot while the other stands on the right. Beyond it, motions are rejected.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 5.0, "choices": [], "optional": false, "advanced": true}, {"name": "force", "label": "Blend even if very different", "help": "Accept motions that are too far apart, or on opposite feet, with a note.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "reference", "label": "Reference", "help": "Index of the motion that the others are compared with, from 0. By default the one with the smallest mean distance to the others.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "crop", "label": "Trim to the common part", "help": "\"auto\" crops the motions to their common part: the largest equal number of half cycles of gait, starting with the same foot, or else the range found in the distance grid. Otherwise whole motions are used, and the slope limit applies to their own times instead of times stretched to equal length.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto"], "optional": true, "advanced": false}, {"name": "cyclic", "label": "Loops", "help": "The motions are loops, for example clips that were looped; they are shifted to begin at the same phase, and are not cropped.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "cut_loops", "label": "Cut loops first", "help": "Cut a loop from each motion first, as looping a clip does, and register the loops: one gait cycle of each walk or run.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}],
  SampleSettings: [{"name": "max_clips", "label": "Clips per node", "help": "Maximum number of clips for each node. More clips meet requests more exactly and take more space.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 400, "default": 60, "choices": [], "optional": false, "advanced": false}, {"name": "fps", "label": "Frame rate", "help": "Frames per second of the clips. Players interpolate between them, so 30 is enough for a smooth picture. By default 30, or 60 or 120 if clips of a lower rate could not follow each other.", "kind": "number", "unit": "", "factor": 1.0, "min": 10.0, "max": 240.0, "default": null, "choices": [], "optional": true, "advanced": false}],
  SeamSettings: [{"name": "length", "label": "Transition length", "help": "Duration of a transition.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.333333, "choices": [], "optional": false, "advanced": false}, {"name": "region", "label": "Transition region", "help": "Fraction of a clip, at its start and at its end, within which transitions must lie completely.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 50.0, "default": 30.0, "choices": [], "optional": false, "advanced": false}, {"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large or root_knees.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}],
  SearchSettings: [{"name": "max_matches", "label": "Max matches", "help": "Maximum number of matches; a note says if there are more.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 500, "choices": [], "optional": false, "advanced": false}, {"name": "max_tiers", "label": "Search depth", "help": "Depth of the transitive search: 1 finds matches of the query, 2 also matches of these, and so on. By default unlimited.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "overlap", "label": "Overlap", "help": "Two fractions of the shorter interval, called same and new. An interval that overlaps a match by more than the first is the same match; by less than the second, it is a new match; in between, it is left out. A larger second fraction finds several cycles of a cyclic motion.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "0.8, 0.2", "choices": [], "optional": false, "advanced": true}, {"name": "labels", "label": "Labels", "help": "One or several labels; at least half the frames of a match must have one of them. By default all frames are allowed.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "order", "label": "Sort matches by", "help": "\"distance\" sorts matches by the sum of distances along the match graph (Kovar 6.2.3); \"chain\" by the largest difference between neighbors on the best path of similar matches from the query to the match, which puts variations of the query before other actions in sets without labels.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "distance", "choices": ["distance", "chain"], "optional": false, "advanced": true}],
  SpaceSettings: [{"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}, {"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "slope_limit", "label": "Max speed ratio", "help": "Largest ratio of playback speeds of two motions at any point, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "max_distance", "label": "Max difference", "help": "Examples with a larger root mean square distance from the one they are aligned to are left out.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.3, "choices": [], "optional": false, "advanced": true}, {"name": "max_opposite", "label": "Max time with different support feet", "help": "Largest fraction of the path in which one motion may stand on the left foot while the other stands on the right. Beyond it, motions are rejected.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 5.0, "choices": [], "optional": false, "advanced": true}, {"name": "force", "label": "Blend even if very different", "help": "Accept motions that are too far apart, or on opposite feet, with a note.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "values", "label": "Values", "help": "Numbers given by hand for each motion, (n, d) or (n,), instead of a feature, such as 0 for sad and 1 for happy. They cannot be measured, so the space is not sampled (Kovar 6.4.2), and errors are unknown.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "names", "label": "Names", "help": "Names of the numbers that are given by hand.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": true}, {"name": "samples", "label": "Sampled blends", "help": "Number of blends to sample; 0 for none.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": 1000000, "default": 1000, "choices": [], "optional": false, "advanced": true}, {"name": "crop", "label": "Trim walks to a common phase", "help": "\"auto\" crops a list of walks or runs to an equal number of half cycles around the middle of each, starting with the same foot. Motions that do not walk from end to end, matches and registered motions are used whole.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto"], "optional": true, "advanced": true}, {"name": "redundant", "label": "Redundancy tolerance", "help": "Tolerance, one number or one for each dimension, in units of the parameters. Examples whose parameters can be blended from other examples within this tolerance are left out. By default all are kept.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "snap", "label": "Snap key times to", "help": "For features at a time in seconds of the reference motion, which the timewarp maps to the other motions: move the mapped times to the most extreme frame of this kind within 0.2 s. By default they are not moved.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["farthest", "highest", "lowest", "fastest", "slowest"], "optional": true, "advanced": true}, {"name": "landmarks", "label": "Align key times", "help": "Register the motions so that the times of their features, such as the apex of each kick, coincide. Otherwise the timewarp maps the time in the reference motion to the others (Kovar 6.3.1).", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": true}, {"name": "apexes", "label": "Apexes", "help": "(n,) the frame of each motion at which pose features are measured. By default the frames are found.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "delta", "label": "Extrapolation", "help": "How far blend weights may leave the range from 0 to 1.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "k", "label": "Number of samples averaged", "help": "Number of nearest samples from which the weights for a target are averaged.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 1000000, "default": 12, "choices": [], "optional": false, "advanced": true}, {"name": "expand", "label": "Enlarge sampled range", "help": "How much larger the sampled box is than the bounding box of the examples, as a fraction of its size.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": null, "default": 20.0, "choices": [], "optional": false, "advanced": true}, {"name": "scale", "label": "Scale", "help": "Distance in each dimension that counts as one unit. A target within one unit of a sample is reachable. The default depends on the dimension's unit: 3 cm, 3 degrees, 0.05 m/s and so on.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "spacing", "label": "Min spacing of samples", "help": "Samples closer than this to another, in units of the scale, are dropped.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.423333, "choices": [], "optional": false, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed of the sampling.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}],
  StreamSettings: [{"name": "place", "label": "Place", "help": "Rigid2d (theta, x, z) that places the first frame in the world. By default the character starts at the origin.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "feet", "label": "Feet", "help": "\"clean\" removes foot skate and delays the output. \"lock\" holds planted feet without a delay by rotating the legs. \"auto\" cleans recordings and locks feet in live control. With none, the feet stay as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "clean", "lock"], "optional": true, "advanced": false}, {"name": "start", "label": "Start node", "help": "Node of the first clip. By default the controller's, else the first node.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "parameters", "label": "Parameters", "help": "Parameters of the first clip. By default the controller chooses from the node's full ranges.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "respond", "label": "Commands take effect", "help": "When a command takes effect: \"anytime\" within the current clip, by a transition to the same phase of another clip of the node; \"clip\" with the next clip.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "anytime", "choices": ["anytime", "clip"], "optional": false, "advanced": true}],
  SuggestSettings: [{"name": "max_matches", "label": "Max matches", "help": "Stop raising the threshold when there are more matches than this.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 200, "choices": [], "optional": false, "advanced": false}, {"name": "max_tiers", "label": "Search depth", "help": "Depth of the transitive search: 1 finds matches of the query, 2 also matches of these, and so on. By default unlimited.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "overlap", "label": "Overlap", "help": "Two fractions of the shorter interval, called same and new. An interval that overlaps a match by more than the first is the same match; by less than the second, it is a new match; in between, it is left out. A larger second fraction finds several cycles of a cyclic motion.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "0.8, 0.2", "choices": [], "optional": false, "advanced": true}, {"name": "labels", "label": "Labels", "help": "One or several labels; at least half the frames of a match must have one of them. By default all frames are allowed.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "order", "label": "Sort matches by", "help": "\"distance\" sorts matches by the sum of distances along the match graph (Kovar 6.2.3); \"chain\" by the largest difference between neighbors on the best path of similar matches from the query to the match, which puts variations of the query before other actions in sets without labels.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "distance", "choices": ["distance", "chain"], "optional": false, "advanced": true}],
  SynthesisSettings: [{"name": "refine", "label": "Refine", "help": "Refine the weights to bring the motion closer to the target, in 4 steps or a given number of steps.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" keeps planted feet in place by enforcing the contacts of the blend.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}, {"name": "start", "label": "Start", "help": "(theta, x, z) floor placement of the first frame: heading in radians (0 faces +Z, positive to the left) and hip position in meters. By default every motion begins at the origin and faces +Z. Similar targets then give similar motions, and requested positions are world positions (for a floor at height 0).", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "name", "label": "Name", "help": "Name of the motion. By default the features and the target.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  TransitionSettings: [{"name": "path_finder", "label": "Path finder", "help": "How \"discrete\" and \"cubic\" find the path of corresponding frames: by dynamic timewarping, by recursion below a threshold, greedily, or by trying all paths (\"brute_force\").", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "dynamic", "choices": ["dynamic", "threshold", "greedy", "brute_force"], "optional": false, "advanced": true}, {"name": "path_start", "label": "Path start", "help": "Where the path starts: \"corner\", at the beginning of both motions; \"third\", at the beginning of one and the most similar frame in the first third of the other.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "corner", "choices": ["corner", "third"], "optional": false, "advanced": true}, {"name": "path_slope_limit", "label": "Path slope limit", "help": "Largest ratio of playback speeds along the path, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 3, "choices": [], "optional": false, "advanced": true}, {"name": "path_threshold", "label": "Path threshold", "help": "Largest cost of a pair of frames on the path, as a fraction of the largest cost of all pairs; only for the path finder \"threshold\".", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 33.0, "choices": [], "optional": false, "advanced": true}, {"name": "path_time_limit", "label": "Path time limit", "help": "Time limit of the search, which then returns the best path found so far.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 10.0, "choices": [], "optional": true, "advanced": true}, {"name": "whole_costs", "label": "Round costs to integers", "help": "Round the costs of frames to integers from 0 to 255, as gray levels of an image, instead of using square meters.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "n_frames", "label": "Number of frames", "help": "Number of frames of the result; only for the method \"cubic\". By default the weighted mean of the numbers of frames of both motions along the path.", "kind": "integer", "unit": "", "factor": 1.0, "min": 2, "max": 1000000, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}, {"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "slope_limit", "label": "Max speed ratio", "help": "Largest ratio of playback speeds of two motions at any point, an integer.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 60, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "max_distance", "label": "Max difference", "help": "Motions with a larger root mean square distance along the path are rejected.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.22, "choices": [], "optional": false, "advanced": true}, {"name": "max_opposite", "label": "Max time with different support feet", "help": "Largest fraction of the transition in which one motion may stand on the left foot while the other stands on the right. Beyond it, motions are rejected.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 10.0, "choices": [], "optional": false, "advanced": true}, {"name": "force", "label": "Blend even if very different", "help": "Accept motions that are too far apart, or on opposite feet, with a note.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "length", "label": "Transition length", "help": "Duration of the transition. Its middle is at least half of this from both ends of both motions.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 1.0, "choices": [], "optional": false, "advanced": false}, {"name": "region_a", "label": "Search region in A", "help": "Part of the first motion to search, (start, end) in seconds. By default all of it.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "region_b", "label": "Search region in B", "help": "Part of the second motion to search, (start, end) in seconds. By default all of it.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "search_window", "label": "Search window", "help": "Duration that is compared around each pair of frames to find the best point. It is longer than for the timewarp, so that the motions stay similar for a while.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": true}, {"name": "at", "label": "At", "help": "Middle of the transition: seconds in the first motion and in the second. By default the best point is found.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "method", "label": "Method", "help": "\"registered\" aligns the motions in time around the point. The others are simpler, for comparison: \"linear\" blends frame by frame; \"discrete\" and \"cubic\" match the times, along the cells of a path and along a spline through them. They accept any distance of the motions, and leave the feet as they are.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "registered", "choices": ["registered", "linear", "discrete", "cubic"], "optional": false, "advanced": false}, {"name": "boundaries", "label": "Boundaries", "help": "Ends of the transition that fall between frames: \"resample\" keeps the frames of the first motion and resamples the second; \"integer\" shifts time within the transition by less than a frame, so that it begins on a frame of the first, ends on a frame of the second, and lasts a whole number of frames.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "resample", "choices": ["resample", "integer"], "optional": false, "advanced": true}, {"name": "max_middle_distance", "label": "Max distance in the middle", "help": "Transitions are rejected if the poses of the two motions are farther apart than this in the middle of the transition.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.3, "choices": [], "optional": false, "advanced": true}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where the transition puts them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}, {"name": "name", "label": "Name", "help": "Name of the result.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  WebSettings: [{"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}, {"name": "remove_height", "label": "Ignore height", "help": "Subtract each frame's mean marker height, so that a reach to the floor matches one to a shelf.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "labels", "label": "Labels", "help": "The web covers only frames with one of these labels. By default all frames.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "max_distance", "label": "Max difference stored", "help": "Pairs of frames with a larger pose difference are not stored, so a search cannot find them.", "kind": "number", "unit": "m", "factor": 1.0, "min": 1e-05, "max": 0.65535, "default": 0.4, "choices": [], "optional": false, "advanced": true}, {"name": "max_rise", "label": "Max rise around a minimum", "help": "Frames around a local minimum of the distance grid are matched while their squared pose difference exceeds that of the minimum by less than this fraction.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 1000.0, "default": 15.0, "choices": [], "optional": false, "advanced": true}, {"name": "max_extension_seconds", "label": "Max distance from a minimum", "help": "Longest time from a local minimum of the distance grid to a frame that is matched because of it.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.13, "choices": [], "optional": false, "advanced": true}, {"name": "min_chain_seconds", "label": "Min run of similar frames", "help": "Minimum duration of a run of similar frames: consecutive local minima of the distance grid.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.25, "choices": [], "optional": false, "advanced": true}, {"name": "max_chain_distance", "label": "Max difference in a run", "help": "Largest pose difference between two frames in a run of similar frames.", "kind": "number", "unit": "m", "factor": 1.0, "min": 1e-05, "max": 0.65535, "default": 0.15, "choices": [], "optional": false, "advanced": true}, {"name": "max_bridge_seconds", "label": "Max gap between runs", "help": "Maximum duration of a path that joins two runs of similar frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 2.0, "choices": [], "optional": false, "advanced": true}, {"name": "min_level_seconds", "label": "Min length without a run", "help": "Passages that stay as similar as the frames of a run for at least this time are kept even if no run is found, for example where both characters pause.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.65, "choices": [], "optional": false, "advanced": true}],
  CycleSettings: [{"name": "start", "label": "Start", "help": "First frame of the loop. By default the frame that closes the loop best is found; a loop is at least 0.4 s long.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "stop", "label": "Stop", "help": "Frame of the clip that corresponds to the first frame of the loop, one cycle later; the loop ends before it. By default it is found.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "repeats", "label": "Repeats", "help": "Number of cycles in the result, each continuing the one before.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 1, "choices": [], "optional": false, "advanced": false}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where closing the loop puts them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}],
  SpeedInputs: [{"name": "speed", "label": "Speed", "help": "Speed of the marked range, or of the entire clip: 2 is twice as fast.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.1, "max": 5.0, "default": 1.5, "choices": [], "optional": false, "advanced": false}],
  TimewarpInputs: [{"name": "keys", "label": "Time keys", "help": "Times in seconds, each with its new time, such as 1.0=1.4, 1.6=2.0. Between them, time runs smoothly.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": false}],
  ResampleInputs: [{"name": "fps", "label": "Frame rate", "help": "Frames per second of the result.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": 1000.0, "default": 30.0, "choices": [], "optional": false, "advanced": false}],
  ResampleSettings: [{"name": "band_limited", "label": "Filter when lowering the rate", "help": "For a lower rate, filter out frequencies that it cannot represent. Otherwise fast movement may alias.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}],
  ConnectSettings: [{"name": "gap", "label": "Gap", "help": "Duration from the last frame of the first clip to the first frame of the second, rounded to a number of frames, at least one.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 3600.0, "default": 0.5, "choices": [], "optional": false, "advanced": false}, {"name": "align", "label": "Align", "help": "Move the second clip on the floor so that it faces the same way as the end of the first. It starts where the first would arrive if it continued through the gap at the mean velocity of both. Otherwise the second clip stays where it is.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where interpolation puts them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}],
  MoveInputs: [{"name": "part", "label": "Move", "help": "What is moved at the playhead.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "hips", "choices": ["hips", "left_hand", "right_hand", "left_foot", "right_foot"], "optional": false, "advanced": false}, {"name": "left", "label": "Left", "help": "Meters to the left; negative is to the right.", "kind": "number", "unit": "m", "factor": 1.0, "min": -1.0, "max": 1.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "up", "label": "Up", "help": "Meters upward; negative is downward.", "kind": "number", "unit": "m", "factor": 1.0, "min": -1.0, "max": 1.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "forward", "label": "Forward", "help": "Meters forward; negative is backward.", "kind": "number", "unit": "m", "factor": 1.0, "min": -1.0, "max": 1.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "axes", "label": "Axes", "help": "Axes of the offset: those of the body at the playhead, or the world's x, y and z.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": ["body", "world"], "optional": false, "advanced": true}, {"name": "hold", "label": "Hold", "help": "How long the offset is held.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}],
  WarpSettings: [{"name": "ease", "label": "Ease", "help": "Duration in which the motion is eased into the first key and out of the last. If the motion begins or ends within this time, it begins or ends displaced.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": false}, {"name": "continuity", "label": "Continuity", "help": "1 for cubic splines with continuous velocities, 2 for quintic ones with continuous accelerations.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 2, "default": 1, "choices": [], "optional": false, "advanced": true}, {"name": "orientation", "label": "Orientation", "help": "Orientation of displaced hands and feet: \"world\" keeps their orientation in the world, \"limb\" keeps it relative to forearm or shin, as for a kick. By default world for feet and limb for hands.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["world", "limb"], "optional": true, "advanced": false}, {"name": "max_stretch", "label": "Max stretch", "help": "Fraction by which limbs may be scaled to reach farther; 0 keeps all bone lengths.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where moved hips carry them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}],
  RotateInputs: [{"name": "joint", "label": "Joint", "help": "The joint that is rotated at the playhead, or its role, such as head.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "spine", "choices": [], "optional": false, "advanced": false}, {"name": "bend", "label": "Bend", "help": "Rotation about the axis to the body's left: forward is positive.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": -180.0, "max": 180.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "twist", "label": "Twist", "help": "Rotation about the vertical axis: to the left is positive.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": -180.0, "max": 180.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "lean", "label": "Lean", "help": "Rotation about the axis that points forward: to the right is positive.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": -180.0, "max": 180.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "axes", "label": "Axes", "help": "Axes of the rotation: the body's (left, up, forward), the world's, or the joint's own.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": ["body", "world", "joint"], "optional": false, "advanced": true}, {"name": "hold", "label": "Hold", "help": "How long the rotation is held.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.0, "choices": [], "optional": false, "advanced": false}],
  EditPathSettings: [{"name": "stretch", "label": "Stretch", "help": "Scale the travel to cover the entire new path; steps become longer or shorter.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "smooth", "label": "Smoothing", "help": "Standard deviation, in seconds, of the Gaussian that removes sway from the traveled path.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.4, "choices": [], "optional": false, "advanced": true}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where the bent path carries them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}],
  InPlaceSettings: [{"name": "remove", "label": "Remove", "help": "\"start\" removes only where the motion starts: it begins over the origin, facing +Z, with the floor at height 0, and travels as before (root motion). \"travel\" also removes the travel over the floor, and \"turns\" the changes of direction too.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "travel", "choices": ["start", "travel", "turns"], "optional": false, "advanced": false}, {"name": "smooth", "label": "Smoothing", "help": "Standard deviation, in seconds, of the Gaussian that smooths the removed path. 0 keeps the hips exactly over the origin, so loops stay loops; 0.4 keeps their sway.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 60.0, "default": 0.0, "choices": [], "optional": false, "advanced": true}],
  RetargetSettings: [{"name": "pose", "label": "Reference frame", "help": "Frame of the motion with the reference pose, standing upright on flat feet. By default its rest pose; if that does not stand, the frame in which it stands straightest.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "target_pose", "label": "Reference frame of the target", "help": "Frame of the target with the same pose, if it is a motion. By default as for the motion.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "hands", "label": "Hands", "help": "\"together\" keeps hands that are close to each other proportionally close; \"targets\" moves hands to the positions of the source's hands, scaled like the path, as on a rail or a table. By default arms only copy rotations.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["together", "targets"], "optional": true, "advanced": false}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where the rotated legs put them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}],
  CheckSettings: [{"name": "severity", "label": "Severity", "help": "\"mild\" reports every finding, \"severe\" only those that make a clip useless as it is.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "mild", "choices": ["mild", "severe"], "optional": false, "advanced": false}],
  RepairSettings: [{"name": "level", "label": "Level", "help": "Also level a tilted or drifting floor.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}],
  SmoothSettings: [{"name": "strength", "label": "Strength", "help": "Factor for the measured noise. Above 1, smoothing is stronger and also affects movement; below 1, more noise remains.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 1.0, "choices": [], "optional": false, "advanced": false}, {"name": "max_window", "label": "Max window", "help": "Longest time over which a joint is averaged, used while it rests; the faster it moves, the shorter the time.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.8, "choices": [], "optional": false, "advanced": true}],
  DeseamSettings: [{"name": "seconds", "label": "Fade duration", "help": "Fade out the jump over this duration, by eased interpolation.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "half_life", "label": "Half-life", "help": "Fade out the jump by inertialization with this half-life. If neither a half-life nor a fade duration is given, the half-life is 0.1 s.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}],
  JointLimitSettings: [{"name": "margin", "label": "Margin", "help": "Margin added to each limit beyond the observed movement.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": 0.0, "max": 180.0, "default": 5.0, "choices": [], "optional": false, "advanced": false}, {"name": "outliers", "label": "Outliers", "help": "Fraction of the frames that may lie beyond each limit, so that broken frames do not widen it.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 50.0, "default": 0.1, "choices": [], "optional": false, "advanced": false}],
  CleanSettings: [{"name": "floor", "label": "Floor height", "help": "Height of the floor. By default the one stored with the motion, else it is detected.", "kind": "number", "unit": "m", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "planes", "label": "Planes", "help": "Supports in addition to the floor: heights in meters, or (height, a, b) for the slope y = height + a x + b z. No others are then detected; with an empty list everything stands on the floor. By default raised supports are detected: a foot clearly above the floor stands on one at its height.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "hands", "label": "Lock hands too", "help": "Also detect contacts of the hands, if the motion has none of them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "body", "label": "Lock whole body", "help": "Also detect contacts of hands, knees, elbows, pelvis, back and head, if the motion has none of them. They are held in place and lifted out of the floor like feet.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "plants", "label": "Plants", "help": "Fixed positions for contact points, each for the entire contact that it is part of.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": true}, {"name": "targets", "label": "Targets", "help": "Positions that hands and feet should reach in some frames, fixed or moving.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": true}, {"name": "max_stretch", "label": "Max limb stretch", "help": "Maximum change of the length of a limb, or of a foot from heel to ball. Plants take priority over straight knees: with 0, bone lengths are constant, and knees of nearly straight legs may snap. The remaining distance to a plant that is out of reach is the residue.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 20.0, "choices": [], "optional": false, "advanced": false}, {"name": "max_pull", "label": "Max foot displacement", "help": "Maximum distance between a plant and the recorded foot. Where a foot slides farther than this during one contact, it is freed for a moment and planted again. Feet are lifted by at most 1.45 times this.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.2, "choices": [], "optional": false, "advanced": true}, {"name": "smooth", "label": "Smooth", "help": "Keep velocities continuous where contacts begin and end (C1), not only positions (C0, as in Kovar).", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "roll", "label": "Foot roll", "help": "Roll of a planted foot about the line from heel to ball: \"source\" for the smallest change, \"flat\" for the ankle straight above that line.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "source", "choices": ["source", "flat"], "optional": false, "advanced": true}, {"name": "damping_from", "label": "Knee damping angle", "help": "Angle of knees and elbows above which damping begins: the straighter the limb, the less they rotate, and the limb is scaled instead. 180 degrees (pi radians) disables damping.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": 0.0, "max": 180.0, "default": 135.0, "choices": [], "optional": false, "advanced": true}, {"name": "swivel", "label": "Knee swivel", "help": "How far knee and elbow swivel to reduce the rotation of ankle and wrist.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 50.0, "choices": [], "optional": false, "advanced": true}, {"name": "gap", "label": "Join contacts within", "help": "Contacts of one point that are closer together than this form one plant.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.05, "choices": [], "optional": false, "advanced": true}, {"name": "plant_window", "label": "Plant averaging", "help": "L1, window over which a plant's position is averaged. Longer than Kovar's 0.25 s, because recorded feet drift throughout their stance.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.35, "choices": [], "optional": false, "advanced": true}, {"name": "orientation_window", "label": "Foot orientation fade", "help": "L2, window over which the orientation of a foot with two plants fades into frames with one.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.12, "choices": [], "optional": false, "advanced": true}, {"name": "body_window", "label": "Body smoothing", "help": "L3, half the width of the bell-shaped window that smooths the displacement of the body.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.45, "choices": [], "optional": false, "advanced": true}, {"name": "fade_window", "label": "Fade into free frames", "help": "L4, window over which adjustments fade into free frames.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 0.4, "choices": [], "optional": false, "advanced": true}, {"name": "joint_limits", "label": "Joint limits", "help": "Joint limits to respect: a file, such as limits.json, or from `marey.core.learn_joint_limits`. Where they keep a foot or hand from its place, the remaining distance is the residue.", "kind": "file", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  SaveInputs: [{"name": "format", "label": "Format", "help": "Format of the file.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "glb", "choices": ["glb", "fbx", "bvh", "npz", "usda"], "optional": false, "advanced": false}, {"name": "name", "label": "Name", "help": "Name of the file without its suffix. Empty takes the name of the clip.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": false}, {"name": "target", "label": "Save to", "help": "Save to the open folder, with contacts and labels in a sidecar file, or download the motion alone. Existing files are never overwritten.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "folder", "choices": ["folder", "download"], "optional": false, "advanced": false}],
  SaveSettings: [{"name": "unit", "label": "Unit", "help": "Unit of a BVH file: m, cm, mm, in, cmu, or meters per unit; by default that of the BVH, AMC or ASF file that the motion was loaded from, else centimeters. GLB, NPZ and USD files are always in meters, FBX files in centimeters.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "up", "label": "Up axis", "help": "Up axis of a BVH file; by default that of the file that the motion was loaded from, else y. Other files always have Y up.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["y", "z", "x", "-y", "-z", "-x"], "optional": true, "advanced": false}, {"name": "rigid", "label": "Constant bone lengths", "help": "Keep bone lengths constant.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "body", "label": "Body", "help": "Add a simple body mesh to an FBX, GLB or USD file; without it, viewers show joints at most.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "character", "label": "Character", "help": "A GLB or VRM file with the skeleton of the motion. The saved file is a copy of it, with its mesh and materials, and with the motion as its first animation.", "kind": "file", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  RenderInputs: [{"name": "format", "label": "Format", "help": "An animation, or a still image (png) of the frame at the playhead.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "gif", "choices": ["gif", "mp4", "webp", "png"], "optional": false, "advanced": false}],
  RenderSettings: [{"name": "camera", "label": "Camera", "help": "How the camera moves: with the body, standing still at its side, in front of it or above it, or around it once.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "follow", "choices": ["follow", "side", "front", "top", "turntable"], "optional": false, "advanced": false}, {"name": "size", "label": "Size", "help": "Width and height in pixels, such as 1280x720.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "640x360", "choices": [], "optional": false, "advanced": false}, {"name": "fps", "label": "Frame rate", "help": "Frames per second of the animation.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": 120.0, "default": 25.0, "choices": [], "optional": false, "advanced": false}, {"name": "contacts", "label": "Contacts", "help": "Mark feet and hands while they are in contact.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "skin", "label": "Skin", "help": "Draw the mesh of a GLB or VRM file instead of a simple body. Only a browser can draw it.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "path", "label": "Path", "help": "Draw the path on the floor.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "labels", "label": "Labels", "help": "Write names and labels into the image.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "apart", "label": "Side by side", "help": "Put several motions side by side, all facing the same way.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "theme", "label": "Theme", "help": "Colors of the background.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "light", "choices": ["light", "dark"], "optional": false, "advanced": false}, {"name": "drawing", "label": "Renderer", "help": "Program that draws the frames: a browser without a window draws solid bodies with shadows; matplotlib draws simple bodies and needs no browser. auto uses a browser if there is one.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "auto", "choices": ["auto", "browser", "plot"], "optional": false, "advanced": true}],
  ClipSearchSettings: [{"name": "words", "label": "Search text", "help": "Words that must all occur in the clip's name, labels or description.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": false}, {"name": "label", "label": "Label", "help": "Only clips with this label.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": false}, {"name": "min_duration", "label": "Min duration", "help": "Shortest duration.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "max_duration", "label": "Max duration", "help": "Longest duration.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "min_speed", "label": "Min speed", "help": "Lowest mean speed.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "max_speed", "label": "Max speed", "help": "Highest mean speed.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "min_turn", "label": "Min turn", "help": "Smallest turn from start to end, left or right.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "finding", "label": "Finding", "help": "Only clips with this finding: any, none, broken_frames, jump, loose_joints, frozen, repeated_frames, frame_rate, rest_pose, unit, axis, bone_lengths, tilted_floor, drifting_floor, foot_slide, penetration, jitter, speed, in_place, swapped_sides, marker_gaps, duplicate, file, unreadable.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": false}, {"name": "order", "label": "Order", "help": "Sort the clips by this. Numbers are sorted from high to low.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "name", "choices": ["name", "duration", "speed", "distance", "turn"], "optional": false, "advanced": false}],
  OpenSettings: [{"name": "unit", "label": "Unit", "help": "Unit of the file: m, cm, mm, in, cmu, or meters per unit. By default it is detected.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "up", "label": "Up axis", "help": "Up axis of the file. By default it is detected.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["y", "z", "x", "-y", "-z", "-x"], "optional": true, "advanced": false}, {"name": "fps", "label": "Frame rate", "help": "Frame rate to which all clips are resampled.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": null, "default": 30.0, "choices": [], "optional": false, "advanced": false}, {"name": "file_fps", "label": "Recorded rate", "help": "Frames per second of the recording, if the file states no rate or a wrong one. The curves of FBX and GLB files are sampled at this rate.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": 100000.0, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "roles", "label": "Roles", "help": "Map from role to joint name, or a JSON file with such a map; it overrides the detected roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "trim_rest", "label": "Skip a rest pose at the start", "help": "Skip frame 0 if it is a rest pose inserted before the motion, as in CMU's BVH files.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": false}, {"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "mirrored", "label": "Mirrored", "help": "Add a mirrored copy of each clip, named NAME_mirrored, after all others.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": false}, {"name": "group", "label": "Skeleton", "help": "Clips to use if they have different skeletons: the number of a group, or the name of any clip in it. Group 0 has the most frames.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "pattern", "label": "Files", "help": "Files to use, such as \"*.bvh\" or \"walks/*\".", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "*", "choices": [], "optional": false, "advanced": true}],
  SolveSettings: [{"name": "unit", "label": "Unit", "help": "Unit of the file: m, cm, mm, in, cmu, or meters per unit. By default it is detected.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "up", "label": "Up axis", "help": "Up axis of the file. By default it is detected.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": ["y", "z", "x", "-y", "-z", "-x"], "optional": true, "advanced": false}, {"name": "names", "label": "Names", "help": "Names of the points of an array, in order: a list, or the name of a set (humanml3d, coco, human36m, mediapipe). By default the set with this number of points.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "joints", "label": "Joints", "help": "Map from point to joint, or a JSON or CSV file with such a map. Several points may be one joint, whose position is their mean. By default the map of the set; without a set, points are matched by name.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "file_fps", "label": "Recorded rate", "help": "Frames per second of the recording, if the file states none.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": 100000.0, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "max_gap", "label": "Max gap", "help": "Longer gaps in the path of a point are not filled.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": false}, {"name": "strength", "label": "Strength", "help": "Strength of smoothing of the positions: 1 matches their measured noise, 0 turns smoothing off.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": 10.0, "default": 1.0, "choices": [], "optional": false, "advanced": false}],
  SpliceSettings: [{"name": "slope_limit", "label": "Max speed ratio", "help": "Largest ratio of the two clips' playback speeds.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 20, "default": 2, "choices": [], "optional": false, "advanced": true}, {"name": "align", "label": "Timing", "help": "\"loop\": the upper clip may begin anywhere in its first cycle, and it loops through its gait if it is too short. \"first_minimum\" (Heck 4.2.2): it is cropped to the first frame that matches the lower clip's first frame, and the result ends when either clip ends.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "loop", "choices": ["loop", "first_minimum"], "optional": false, "advanced": true}, {"name": "posture", "label": "Posture", "help": "\"pitch\" restores how far the upper clip leans forward or backward and keeps the lower clip's lean into turns; \"full\" restores its complete posture (Heck 4.2.4); without either, the lower clip's posture remains.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "pitch", "choices": ["pitch", "full"], "optional": true, "advanced": false}, {"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}],
  PartInputs: [{"name": "part", "label": "Body part", "help": "The body part that is taken from the other clip.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "arms", "choices": ["upper_body", "arms", "left_arm", "right_arm", "head"], "optional": false, "advanced": false}],
  TransplantSettings: [{"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "joints", "label": "Joints", "help": "Limbs (left_arm, right_arm, arms, left_leg, right_leg, legs, head, upper_body), roles or joint names, each with all of its descendants. Or a mapping from these names to weights from 0 to 1, which apply to exactly these joints.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": true}, {"name": "falloff", "label": "Blended joints", "help": "Number of joints toward the hips over which the weights fall off; 0 for a sharp edge. By default all joints up to the hips.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "at", "label": "Start at", "help": "Time in the base motion at which the donor begins.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "ease", "label": "Fade in and out", "help": "Duration of fading the donor in and out, if it begins or ends within the base motion.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.3, "choices": [], "optional": false, "advanced": false}],
  GridInputs: [{"name": "threshold", "label": "Max distance", "help": "List only pairs of frames up to this distance.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}],
  GridSettings: [{"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large, root_knees, or a list of joints and roles.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}, {"name": "per_joint", "label": "Markers per joint", "help": "Number of markers on each joint; more than one also compares orientations.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 3, "default": 1, "choices": [], "optional": false, "advanced": true}, {"name": "weights", "label": "Weights", "help": "Weights of the joints or markers, by name or in their order. Equal by default.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "window", "label": "Comparison window", "help": "Duration that is compared around each pair of frames. At the ends of a clip the window is cut in both clips, and the remaining weights are scaled to sum 1.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": false}, {"name": "shape", "label": "Window shape", "help": "Weights of the frames in a window.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "triangle", "choices": ["triangle", "box", "gaussian"], "optional": false, "advanced": true}, {"name": "align", "label": "Align poses", "help": "Align each pair of frames first. Otherwise poses are compared at their positions.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": true, "choices": [], "optional": false, "advanced": true}],
  PlaceInputs: [{"name": "x", "label": "X", "help": "Position on the floor.", "kind": "number", "unit": "m", "factor": 1.0, "min": null, "max": null, "default": 2.0, "choices": [], "optional": false, "advanced": false}, {"name": "z", "label": "Z", "help": "Position on the floor.", "kind": "number", "unit": "m", "factor": 1.0, "min": null, "max": null, "default": 4.0, "choices": [], "optional": false, "advanced": false}],
  GraphReachSettings: [{"name": "label", "label": "Action", "help": "Use only motion with this label. By default any.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "heading", "label": "Heading", "help": "Direction that hips and shoulders face at the target, from +Z, positive to the left. By default any; a clip faces 0.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "avoid", "label": "Avoid", "help": "(M, 3) circles to stay out of: x, z and radius in meters.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": true}, {"name": "max_error", "label": "Max error", "help": "Largest error at the end, in position and heading. A radian of heading counts as 0.6 m for walks to a position, and as 1 m for walks into a clip.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": false}, {"name": "clip", "label": "Clip", "help": "Name of the clip to enter at the position. By default the walk ends there.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "start_clip", "label": "Start clip", "help": "Name of the clip to start in. By default any.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "rng", "label": "Random seed", "help": "Random seed that chooses the start nodes to try.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": false}],
  LandingSettings: [{"name": "heading", "label": "Heading", "help": "Direction that hips and shoulders face at the end, from +Z, positive to the left. By default unchanged.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "landing_seconds", "label": "Landing duration", "help": "Duration of the adjusted part.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 2.0, "choices": [], "optional": false, "advanced": false}, {"name": "max_shift", "label": "Max shift", "help": "Largest distance by which the end may be moved.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.3, "choices": [], "optional": false, "advanced": false}, {"name": "max_turn", "label": "Max turn", "help": "Largest angle by which the end may be rotated.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": 0.0, "max": 180.0, "default": 28.64789, "choices": [], "optional": false, "advanced": false}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where the adjustment puts them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}, {"name": "name", "label": "Name", "help": "Name of the result. By default that of the original motion.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}],
  SearchInputs: [{"name": "x", "label": "X", "help": "Position on the floor.", "kind": "number", "unit": "m", "factor": 1.0, "min": null, "max": null, "default": 2.0, "choices": [], "optional": false, "advanced": false}, {"name": "z", "label": "Z", "help": "Position on the floor.", "kind": "number", "unit": "m", "factor": 1.0, "min": null, "max": null, "default": 4.0, "choices": [], "optional": false, "advanced": false}, {"name": "objective", "label": "Objective", "help": "What the walk should do: go to a point, enter a clip at a point, follow the drawn path, or keep a speed or a style (a label).", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "point", "choices": ["point", "clip", "path", "speed", "style"], "optional": false, "advanced": false}, {"name": "style", "label": "Clip or style", "help": "Name of the clip or label, if the objective is a clip or a style.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": false}, {"name": "angle", "label": "Direction", "help": "Direction of the clip's first frame, to the left of +Z, if the objective is a clip.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "speed", "label": "Speed", "help": "Speed to keep, if the objective is a speed.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": 1.2, "choices": [], "optional": false, "advanced": false}, {"name": "seconds", "label": "Duration", "help": "Duration of the walk, if the objective is a speed or a style.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": 600.0, "default": 4.0, "choices": [], "optional": false, "advanced": false}, {"name": "max_error", "label": "Max error", "help": "Accepted distance from the position, if the objective is a point or a clip.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "min_step", "label": "Min step", "help": "If the objective is a path: each frame counts as at least this much progress, so standing still does not pay.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.01, "choices": [], "optional": false, "advanced": true}],
  GraphSearchSettings: [{"name": "label", "label": "Action", "help": "Use only motion with this label. By default any.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "window", "label": "Window", "help": "Length of a window. With none, the whole walk is searched at once, which proves the optimum but takes exponential time.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 1.5, "choices": [], "optional": true, "advanced": false}, {"name": "step", "label": "Window step", "help": "Time from the start of one window to the start of the next. Of the walk through a window, only this first part is kept.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.5, "choices": [], "optional": false, "advanced": false}, {"name": "tolerance", "label": "Tolerance", "help": "In each window, choose at random among the walks that cost at most this much more than the best.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": false}, {"name": "rng", "label": "Random seed", "help": "Random seed of the choice among similar walks.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": false}, {"name": "max_expanded", "label": "Max partial walks", "help": "Maximum number of partial walks to expand in the whole search.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 50000, "choices": [], "optional": false, "advanced": false}, {"name": "max_expanded_per_window", "label": "Max expanded per window", "help": "Maximum number of partial walks to expand in each window. A few thousand take a second.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 1500, "choices": [], "optional": false, "advanced": false}, {"name": "max_seconds", "label": "Max seconds", "help": "Maximum computing time of the whole search. By default no limit.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "cost_threshold", "label": "Cost threshold", "help": "Stop at the first complete walk that costs less than this.", "kind": "number", "unit": "", "factor": 1.0, "min": null, "max": null, "default": 0.0, "choices": [], "optional": false, "advanced": false}],
  CrowdInputs: [{"name": "characters", "label": "Characters", "help": "Number of characters, which cross a circle.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 50, "default": 6, "choices": [], "optional": false, "advanced": false}, {"name": "radius", "label": "Radius", "help": "Radius of the circle.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": 100.0, "default": 5.0, "choices": [], "optional": false, "advanced": false}],
  GraphCrowdSettings: [{"name": "seconds", "label": "Duration", "help": "Duration of the walks.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 20.0, "choices": [], "optional": false, "advanced": false}, {"name": "min_distance", "label": "Min distance", "help": "Minimum distance between the hips of any two characters; if no walk is found, 0.8 and 0.6 times this distance are tried.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.6, "choices": [], "optional": false, "advanced": false}, {"name": "beam_width", "label": "Beam width", "help": "Width of the beam search. Up to 8 times this width is tried if no walk is found.", "kind": "integer", "unit": "", "factor": 1.0, "min": 25, "max": 10000, "default": 50, "choices": [], "optional": false, "advanced": false}, {"name": "rng", "label": "Random seed", "help": "Random seed; each character gets its own, so walks differ.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": false}],
  ReductionSettings: [{"name": "loss", "label": "Allowed loss of quality", "help": "Fraction by which each quality measure of the graph may get worse; 0 allows no loss.", "kind": "number", "unit": "%", "factor": 100.0, "min": 0.0, "max": 100.0, "default": 10.0, "choices": [], "optional": false, "advanced": false}, {"name": "rng", "label": "Random seed", "help": "Random seed of the test paths.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": false}],
  RegisteredSettings: [{"name": "threshold", "label": "Max difference", "help": "Maximum distance, both at the middle of a transition and between the registered clips. By default 1.5 times the largest distance of the graph's own transitions.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "lengths", "label": "Transition lengths", "help": "Lengths of a transition in seconds, tried in order; the first that fits is used.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "1.2, 0.8", "choices": [], "optional": false, "advanced": true}, {"name": "max_transitions", "label": "Max transitions", "help": "Maximum number of new transitions; each direction counts as one and is stored as two short clips.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 200, "choices": [], "optional": false, "advanced": false}, {"name": "markers", "label": "Markers", "help": "Points to compare: body, upper, lower, large or root_knees.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "body", "choices": [], "optional": false, "advanced": true}],
  SimilaritySettings: [{"name": "retarget", "label": "Retarget", "help": "On: retarget motions of different skeletons, with planted feet, onto the most frequent one, or onto a given skeleton, motion or file. Off: reject them.", "kind": "flag", "unit": "", "factor": 1.0, "min": null, "max": null, "default": false, "choices": [], "optional": false, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed of the variations.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}, {"name": "spread", "label": "Spread of variations", "help": "How far variations may differ from the mean of the takes: 0 always gives the mean, 1 gives any mixture with equal probability, and larger values extrapolate beyond the takes.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": 1.5, "default": 1.0, "choices": [], "optional": false, "advanced": true}, {"name": "fps", "label": "Frame rate", "help": "Frame rate of the graph. By default the highest rate of the clips.", "kind": "number", "unit": "Hz", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "min_seconds", "label": "Report labels shorter than", "help": "A label is reported as a finding if less of its motion than this can be played endlessly.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 2.0, "choices": [], "optional": false, "advanced": true}, {"name": "variations", "label": "Variations per action", "help": "Number of random blends to add as extra clips for each action with several takes.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": 1000, "default": 0, "choices": [], "optional": false, "advanced": true}, {"name": "threshold", "label": "Min similarity", "help": "Minimum similarity, 1 / (1 + cost), of frames to join.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": 1.0, "default": 0.7, "choices": [], "optional": false, "advanced": false}, {"name": "fade", "label": "Fade", "help": "Time over which the offset between two poses fades out.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 0.3, "choices": [], "optional": false, "advanced": false}, {"name": "weights", "label": "Weights", "help": "Weights of joints in the cost, by role or name; joints that are not named are ignored. By default upper legs 1, upper arms 0.75, lower legs and forearms 0.25.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "velocity", "label": "Velocity", "help": "Weight of angular velocities in the cost.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.1, "choices": [], "optional": false, "advanced": true}, {"name": "acceleration", "label": "Acceleration", "help": "Weight of angular accelerations in the cost.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": null, "default": 0.01, "choices": [], "optional": false, "advanced": true}, {"name": "max_distance", "label": "Max distance", "help": "Maximum distance between the aligned bodies. Frames farther apart are not joined, however similar their poses, for example on a stair and next to it.", "kind": "number", "unit": "m", "factor": 1.0, "min": 0.0, "max": null, "default": 0.15, "choices": [], "optional": false, "advanced": true}],
  EvaluationSettings: [{"name": "turn", "label": "Turn", "help": "Angle of the requested turns: one to the left, two to the right, two to the left and so on, each after a random pause.", "kind": "number", "unit": "°", "factor": 57.29577951308232, "min": null, "max": null, "default": 90.0, "choices": [], "optional": false, "advanced": false}, {"name": "n_turns", "label": "Number of turns", "help": "Number of requested turns.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": null, "default": 12, "choices": [], "optional": false, "advanced": false}, {"name": "timeout", "label": "Timeout", "help": "Time to wait for each turn.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 6.0, "choices": [], "optional": false, "advanced": false}, {"name": "path", "label": "Path", "help": "(n, 2) x, z in meters, path to steer the character along, starting at its first point. By default a figure eight with loops of 3 m radius.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "seconds", "label": "Time limit", "help": "Duration after which the character is stopped, wherever it is on the path.", "kind": "number", "unit": "s", "factor": 1.0, "min": 0.0, "max": null, "default": 40.0, "choices": [], "optional": false, "advanced": false}, {"name": "speed", "label": "Speed", "help": "Speed to request. By default none.", "kind": "number", "unit": "m/s", "factor": 1.0, "min": 0.0, "max": null, "default": null, "choices": [], "optional": true, "advanced": false}, {"name": "rng", "label": "Random seed", "help": "Random seed of the pauses.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": false}],
  VariationInputs: [{"name": "n", "label": "Variations", "help": "Number of blends of the clips, each with random weights.", "kind": "integer", "unit": "", "factor": 1.0, "min": 1, "max": 50, "default": 2, "choices": [], "optional": false, "advanced": false}],
  VariationSettings: [{"name": "rng", "label": "Random seed", "help": "Random seed of the variations.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}, {"name": "spread", "label": "Spread of variations", "help": "How far variations may differ from the mean of the takes: 0 always gives the mean, 1 gives any mixture with equal probability, and larger values extrapolate beyond the takes.", "kind": "number", "unit": "", "factor": 1.0, "min": 0.0, "max": 1.5, "default": 1.0, "choices": [], "optional": false, "advanced": true}, {"name": "feet", "label": "Foot cleanup", "help": "\"clean\" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where the blend puts them.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "clean", "choices": ["clean"], "optional": true, "advanced": false}],
  GazeMapSettings: [{"name": "k", "label": "Number of blends averaged", "help": "Number of nearest blends that are averaged for a gaze target, at least 4: the farthest of them gets no weight, and yaw and pitch need the other three.", "kind": "integer", "unit": "", "factor": 1.0, "min": 4, "max": null, "default": 6, "choices": [], "optional": false, "advanced": true}, {"name": "rng", "label": "Random seed", "help": "Random seed of the sampled blends.", "kind": "integer", "unit": "", "factor": 1.0, "min": 0, "max": null, "default": 0, "choices": [], "optional": false, "advanced": true}],
  NodeInputs: [{"name": "name", "label": "Name", "help": "Name of the new node.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "action", "choices": [], "optional": false, "advanced": false}, {"name": "request", "label": "Control", "help": "How the node is controlled: by the values of its parameters, or by a target point.", "kind": "choice", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "by name", "choices": ["by name", "at a point"], "optional": false, "advanced": false}],
  ActionSettings: [{"name": "names", "label": "Names", "help": "Names of the parameters, in place of the space's own. Required if the parameters are computed by a function of your own.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "units", "label": "Units", "help": "Units of the parameters, in place of the space's own.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": true}, {"name": "low", "label": "Low", "help": "Smallest value of each parameter that can be requested. By default all that the examples cover. Required if the parameters are computed by a function of your own.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "high", "label": "High", "help": "Largest value of each parameter that can be requested. By default all that the examples cover. Required if the parameters are computed by a function of your own.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "bandwidth", "label": "Bandwidth", "help": "Kernel width for each parameter, in units of the parameters. By default 0.2 to 0.4 of the average spacing of the examples along each parameter, depending on how close their nearest neighbors are.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
  NodeSettings: [{"name": "names", "label": "Names", "help": "Names of the parameters, in place of the space's own. Required if the parameters are computed by a function of your own.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "units", "label": "Units", "help": "Units of the parameters, in place of the space's own.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": "", "choices": [], "optional": false, "advanced": true}, {"name": "low", "label": "Low", "help": "Smallest value of each parameter that can be requested. By default all that the examples cover. Required if the parameters are computed by a function of your own.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}, {"name": "high", "label": "High", "help": "Largest value of each parameter that can be requested. By default all that the examples cover. Required if the parameters are computed by a function of your own.", "kind": "text", "unit": "", "factor": 1.0, "min": null, "max": null, "default": null, "choices": [], "optional": true, "advanced": true}],
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
export type StreamSettings = SettingsOf<typeof FORMS.StreamSettings>;
export type SuggestSettings = SettingsOf<typeof FORMS.SuggestSettings>;
export type SynthesisSettings = SettingsOf<typeof FORMS.SynthesisSettings>;
export type TransitionSettings = SettingsOf<typeof FORMS.TransitionSettings>;
export type WebSettings = SettingsOf<typeof FORMS.WebSettings>;

/** The operations with generated forms; `widgets/operations.ts` shows them. */
export const OPERATIONS = [
  {"name": "trim", "title": "Trim", "about": "Keep only the marked range (keys I and O).", "panel": "edit", "group": "Time", "takes": ["motion", "range"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": []},
  {"name": "split", "title": "Split", "about": "Cut the clip in two at the playhead.", "panel": "edit", "group": "Time", "takes": ["motion", "frame"], "gives": "new", "button": "Apply", "skip": [], "as_new": false, "forms": []},
  {"name": "loop", "title": "Loop", "about": "Make the clip repeat without a jump: the marked range, or the part that loops best.", "panel": "edit", "group": "Time", "takes": ["motion"], "gives": "motion", "button": "Apply", "skip": ["start", "stop"], "as_new": false, "forms": [FORMS.CycleSettings]},
  {"name": "speed", "title": "Speed", "about": "Play the marked range, or the entire clip, faster or slower.", "panel": "edit", "group": "Time", "takes": ["motion", "span"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.SpeedInputs]},
  {"name": "speed_curve", "title": "Speed curve", "about": "Draw how fast the clip plays over time.", "panel": "edit", "group": "Time", "takes": ["motion", "curve"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": []},
  {"name": "timewarp", "title": "Timewarp", "about": "Move events to other times.", "panel": "edit", "group": "Time", "takes": ["motion"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.TimewarpInputs]},
  {"name": "resample", "title": "Resample", "about": "Change the frame rate.", "panel": "edit", "group": "Time", "takes": ["motion"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.ResampleInputs, FORMS.ResampleSettings]},
  {"name": "connect", "title": "Append", "about": "Append another clip and fill the gap.", "panel": "edit", "group": "Time", "takes": ["motion", "other"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.ConnectSettings]},
  {"name": "mirror", "title": "Mirror", "about": "Swap left and right.", "panel": "edit", "group": "Pose", "takes": ["motion"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": []},
  {"name": "move", "title": "Move", "about": "Move a hand, a foot or the hips at the playhead, with ease in and out.", "panel": "edit", "group": "Pose", "takes": ["motion", "frame"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.MoveInputs, FORMS.WarpSettings]},
  {"name": "rotate", "title": "Rotate", "about": "Rotate a joint at the playhead, with ease in and out.", "panel": "edit", "group": "Pose", "takes": ["motion", "frame"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.RotateInputs, FORMS.WarpSettings]},
  {"name": "path", "title": "Path", "about": "Bend the path of the clip.", "panel": "edit", "group": "Pose", "takes": ["motion", "points"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.EditPathSettings]},
  {"name": "in_place", "title": "In place", "about": "Keep the hips over the origin, as games need it, or only start there.", "panel": "edit", "group": "Pose", "takes": ["motion"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.InPlaceSettings]},
  {"name": "retarget", "title": "Retarget", "about": "Transfer the motion to another body.", "panel": "edit", "group": "Pose", "takes": ["motion", "other"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.RetargetSettings]},
  {"name": "check", "title": "Check", "about": "Find errors and suspicious parts of the clip, and how to fix them.", "panel": "edit", "group": "Repair", "takes": ["recording"], "gives": "new", "button": "Check", "skip": [], "as_new": false, "forms": [FORMS.CheckSettings]},
  {"name": "repair", "title": "Repair", "about": "Trim or interpolate broken frames, and rotate flipped joints back.", "panel": "edit", "group": "Repair", "takes": ["motion"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.RepairSettings]},
  {"name": "smooth", "title": "Smooth", "about": "Remove noise without softening contacts and fast actions.", "panel": "edit", "group": "Repair", "takes": ["motion"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.SmoothSettings]},
  {"name": "level", "title": "Level", "about": "Rotate a tilted capture upright, and remove a slow drift of the floor.", "panel": "edit", "group": "Repair", "takes": ["motion"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": []},
  {"name": "deseam", "title": "Remove jump", "about": "Fade out a jump. Put the playhead on the first frame after it.", "panel": "edit", "group": "Repair", "takes": ["motion", "frame"], "gives": "motion", "button": "Apply", "skip": [], "as_new": false, "forms": [FORMS.DeseamSettings]},
  {"name": "limits", "title": "Check joint limits", "about": "Learn from clips how far each joint bends, and list where the selected clip exceeds this.", "panel": "edit", "group": "Repair", "takes": ["motion", "motions"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.JointLimitSettings]},
  {"name": "limit", "title": "Apply joint limits", "about": "Keep joints within the limits learned from other clips, with the feet at their contacts.", "panel": "edit", "group": "Repair", "takes": ["motion", "motions"], "gives": "motion", "button": "Apply", "skip": ["joint_limits"], "as_new": false, "forms": [FORMS.JointLimitSettings, FORMS.CleanSettings]},
  {"name": "save", "title": "Save as", "about": "Save the selected clip to a new file, in any format.", "panel": "edit", "group": "Files", "takes": ["motion"], "gives": "new", "button": "Save", "skip": [], "as_new": false, "forms": [FORMS.SaveInputs, FORMS.SaveSettings]},
  {"name": "render", "title": "Video", "about": "Draw the selected clip as a video, a GIF or an image.", "panel": "edit", "group": "Files", "takes": ["motion", "frame", "span"], "gives": "new", "button": "Render", "skip": [], "as_new": false, "forms": [FORMS.RenderInputs, FORMS.RenderSettings]},
  {"name": "library", "title": "Search", "about": "Search the open folder by words, duration, speed and findings.", "panel": "edit", "group": "Files", "takes": ["folder"], "gives": "new", "button": "Search", "skip": [], "as_new": false, "forms": [FORMS.ClipSearchSettings]},
  {"name": "open_all", "title": "Open all", "about": "Open all clips of the folder at one frame rate.", "panel": "edit", "group": "Files", "takes": ["folder"], "gives": "new", "button": "Open", "skip": [], "as_new": false, "forms": [FORMS.OpenSettings]},
  {"name": "solve", "title": "Solve", "about": "Fit a skeleton to positions of joints or markers (NPY, TRC, C3D).", "panel": "edit", "group": "Files", "takes": ["file"], "gives": "new", "button": "Solve", "skip": [], "as_new": false, "forms": [FORMS.SolveSettings]},
  {"name": "clean", "title": "Foot cleanup", "about": "Remove foot sliding: lock the feet to their contacts.", "panel": "compare", "group": "Clean up", "takes": ["motion"], "gives": "motion", "button": "Clean up", "skip": [], "as_new": true, "forms": [FORMS.CleanSettings]},
  {"name": "measure", "title": "Measure quality", "about": "Compare the quality metrics of two clips.", "panel": "", "group": "", "takes": ["motion", "against"], "gives": "new", "button": "Apply", "skip": [], "as_new": false, "forms": []},
  {"name": "splice", "title": "Upper body, in sync", "about": "Put the upper body of another clip on the selected one, aligned in time with its steps.", "panel": "layer", "group": "Combine", "takes": ["motion", "other"], "gives": "new", "button": "Combine", "skip": [], "as_new": false, "forms": [FORMS.SpliceSettings]},
  {"name": "transplant", "title": "Body part", "about": "Put a body part of another clip on the selected one, with its own timing.", "panel": "layer", "group": "Combine", "takes": ["motion", "other"], "gives": "new", "button": "Combine", "skip": [], "as_new": false, "forms": [FORMS.PartInputs, FORMS.TransplantSettings]},
  {"name": "grid", "title": "Frame similarity", "about": "Compare all frames of two clips, and list where they are most similar.", "panel": "compare", "group": "Compare", "takes": ["motion", "other"], "gives": "new", "button": "Compare frames", "skip": [], "as_new": false, "forms": [FORMS.GridInputs, FORMS.GridSettings]},
  {"name": "graph_reach", "title": "Go to a point", "about": "Walk from the origin to a position, and end there exactly.", "panel": "graph", "group": "Graph", "takes": ["graph"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.PlaceInputs, FORMS.GraphReachSettings, FORMS.LandingSettings]},
  {"name": "graph_search", "title": "Search", "about": "Find the walk that meets an objective best, by branch and bound.", "panel": "graph", "group": "Graph", "takes": ["graph", "points"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.SearchInputs, FORMS.GraphSearchSettings]},
  {"name": "graph_crowd", "title": "Crowd", "about": "Many characters that avoid each other.", "panel": "graph", "group": "Graph", "takes": ["graph"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.CrowdInputs, FORMS.GraphCrowdSettings]},
  {"name": "graph_reduce", "title": "Reduce", "about": "Remove transitions that the graph does not need.", "panel": "graph", "group": "Graph", "takes": ["graph"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.ReductionSettings]},
  {"name": "graph_register", "title": "Add transitions", "about": "Add longer transitions, aligned in time, where plain ones fail.", "panel": "graph", "group": "Graph", "takes": ["graph"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.RegisteredSettings]},
  {"name": "graph_similarity", "title": "Build by similarity", "about": "Build a graph by the similarity of poses, velocities and accelerations instead of by distance.", "panel": "graph", "group": "Graph", "takes": ["motions"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.SimilaritySettings]},
  {"name": "graph_evaluate", "title": "Measure response", "about": "Measure how fast and how well a live character of the graph responds.", "panel": "graph", "group": "Graph", "takes": ["graph"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.EvaluationSettings]},
  {"name": "variations", "title": "Variations", "about": "Blend takes of one action with random weights.", "panel": "graph", "group": "Graph", "takes": ["motions"], "gives": "new", "button": "Run", "skip": [], "as_new": false, "forms": [FORMS.VariationInputs, FORMS.VariationSettings]},
  {"name": "gaze_map", "title": "Gaze map settings", "about": "Build the gaze map again from its examples, with these settings.", "panel": "author", "group": "Gaze map", "takes": [], "gives": "new", "button": "Rebuild", "skip": [], "as_new": false, "forms": [FORMS.GazeMapSettings]},
  {"name": "add_node", "title": "Add a node from a target control", "about": "Add an action that was saved in the Find panel.", "panel": "author", "group": "Node", "takes": ["space"], "gives": "new", "button": "Add node", "skip": [], "as_new": false, "forms": [FORMS.NodeInputs, FORMS.ActionSettings, FORMS.NodeSettings]},
] as const;
