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

/** Work that goes on: the id of the command that asked for it and its name, and how far it said that it is. */
export interface UnderWay {
  job: number;
  command: string;
  share: number;
  text: string;
}

/**
 * The session. Where it is `resumed`, replies not yet seen follow; `received` is the last id that had arrived.
 *
 * Commands with greater ids were lost and may be sent again, as may any `frames` without an answer; ids up to it are
 * used up, so that a page that is itself new goes on above it. Where `lost`, some replies were dropped, and the page
 * had better take `motions` for all there is. `folder` is "" where none is open. `work` was asked for before, by a
 * page that may have been reloaded since: its progress and its replies follow, with the ids that it has there.
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
  work: UnderWay[];
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

/**
 * Where the file can be fetched, with the page's cookie.
 *
 * `sidecar` is where its contacts, labels and floor can be, which no format holds; null where it has none.
 */
export interface Exported {
  url: string;
  name: string;
  size: number;
  sidecar: string | null;
  sidecar_name: string;
}

/** Make a file for download; several motions go into one GLB. `name` is without suffix. */
export interface Export {
  motions: string[];
  format: "bvh" | "glb" | "npz";
  name: string;
}

/** The file's path in the folder, or null where the name is taken; `free` is one that is not. */
export interface SavedInFolder {
  path: string | null;
  free: string;
}

/** Write a motion with its sidecar into the opened folder; `name` is without suffix. Nothing is ever replaced. */
export interface SaveInFolder {
  motion: string;
  format: "bvh" | "glb" | "npz";
  name: string;
}

/** The name, without suffix. */
export interface NameFound {
  name: string;
}

/** A name like this one that no motion of the opened folder has. */
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

/** Play a motion live: one binary message per frame, `rate` times a second, from the start again at its end. */
export interface StartLive {
  motion: string;
  rate?: number;
}

/** End a live stream, if it still plays; null for any, those included that are only being made ready. */
export interface StopLive {
  stream?: number | null;
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
 * `pixels` is base64 of `rows` x `columns` bytes: the distance, from 0 to `largest` metres, in the mean over the
 * frames that a pixel stands for. `frames` are counted at `rate`, to which both motions were brought. `minima` are
 * frame of A, frame of B, metres; the nearest first, and not all where there are very many.
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
 * `misfits` are the places of motions that have another skeleton than the first: where there are any, there is no
 * grid. `rests` are the places of those whose first frame is a rest pose that was put before the motion.
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

/** The motion, and what is to be known of it. */
export interface Fitted {
  motion: MotionInfo;
  notes: string[];
}

/**
 * A motion on the skeleton of another one, as a new motion.
 *
 * `frame` and `to_frame` are frames of both in which the figures stand; they count where a rest pose does not.
 */
export interface FitMotion {
  motion: string;
  to: string;
  frame?: number;
  to_frame?: number;
}

/** Leave out the first frame of a motion, where that is a rest pose put before it; it can be undone. */
export interface LeaveOutRest {
  motion: string;
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
 * 1, time being the share of the blend that has passed. `go_on`: it is one change with the blend before, as while a
 * slider moves, and is undone with it.
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
  go_on?: boolean;
}

/**
 * Go over from the first of two motions into the second: `at` are the seconds in both that coincide.
 *
 * Without `at` it is done where they are most alike. `length` is in seconds; `go_on` as for blends.
 */
export interface JoinMotions {
  motions: string[];
  method?: "ours" | "linear" | "discrete" | "cubic";
  at?: [number, number] | null;
  length?: number;
  clean?: boolean;
  force?: boolean;
  result?: string | null;
  go_on?: boolean;
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

/** What one threshold for all, in metres, leaves. */
export interface LimitPoint {
  metres: number;
  share: number;
  transitions: number;
}

/** How much of a label can be played endlessly, of how much there is, and which other labels can be got to. */
export interface LabelPart {
  label: string;
  seconds: number;
  of_seconds: number;
  reaches: string[];
}

/** How many transitions lead from frames of one label to those of another. */
export interface PairCount {
  before: string;
  after: string;
  transitions: number;
}

/** What thresholds leave: `share` is of all frames, in the largest part in which everything leads to everything. */
export interface GraphLinks {
  transitions: number;
  share: number;
  labels: LabelPart[];
  pairs: PairCount[];
}

/**
 * What was compared. `curve` goes up to the largest threshold that can be chosen; `suggested` is one that will do.
 *
 * `left_out` are files and why; `links` is what the suggested threshold leaves.
 */
export interface GraphBuilt {
  clips: string[];
  seconds: number;
  rate: number;
  left_out: string[];
  labels: string[];
  curve: LimitPoint[];
  suggested: number;
  links: GraphLinks;
}

/**
 * Compare clips with each other: open motions, files of the folder, or both.
 *
 * Files of another skeleton than the first clip's are left out. `window` is the length of transitions in seconds;
 * `rate` in frames per second, or null for the lowest of the clips'.
 */
export interface BuildGraph {
  motions?: string[];
  files?: string[];
  window?: number;
  rate?: number | null;
}

/** A threshold in metres for going from frames of one label to those of another; 0 forbids it. */
export interface PairLimit {
  before: string;
  after: string;
  metres: number;
}

/**
 * The graph as it stands; `built` is null where there is none yet.
 *
 * `motions` and `files` are those that it was asked to be built of, `threshold` and `pairs` the last that were asked
 * for, and `links` of `built` what those leave.
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

/** What was compared last, for a page that has been loaded again. */
export interface ShowGraph {
}

/** What these thresholds would leave, without building anything. */
export interface LinkGraph {
  threshold: number;
  pairs?: PairLimit[];
}

/** The motion, and what is to be known of the graph that it walks. */
export interface Walked {
  motion: MotionInfo;
  transitions: number;
  findings: string[];
}

/** A walk by chance; the same seed gives the same. */
export interface WalkGraph {
  threshold: number;
  pairs?: PairLimit[];
  seconds?: number;
  seed?: number;
  label?: string | null;
  clean?: boolean;
}

/** A line as it was drawn, x, z in metres, and what to do along it; null for anything. */
export interface PathStretch {
  points: [number, number][];
  label: string | null;
}

/**
 * The motion, the smoothed path that it was to follow, and the way it went, both x, z; distances in metres.
 *
 * `why` says why the way is far off somewhere; "" where it is not.
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

/** A walk along stretches that follow each other; between two, the straight line. */
export interface FollowGraph {
  threshold: number;
  stretches: PathStretch[];
  pairs?: PairLimit[];
  clean?: boolean;
}

/**
 * The stream's number, its rate, the figure that it moves, and by how many seconds planting the feet puts it off.
 *
 * Frames tell `note` where a wish could not be had.
 */
export interface GraphSteered {
  stream: number;
  rate: number;
  body: MotionInfo;
  delay: number;
}

/** Play the graph live, steered by `graph_wish`; `clean` plants the feet, which shows everything later. */
export interface SteerGraph {
  threshold: number;
  pairs?: PairLimit[];
  direction?: number;
  label?: string | null;
  clean?: boolean;
}

/** Where to go, radians from +Z, positive to the left; what to do, and how fast in m/s, null for any. */
export interface WishGraph {
  direction: number;
  label?: string | null;
  speed?: number | null;
}

/** Where the file can be fetched. */
export interface GraphSaved {
  url: string;
  name: string;
  size: number;
}

/** The graph with its clips as a file for download, which `marey graph` takes. */
export interface SaveGraph {
  threshold: number;
  pairs?: PairLimit[];
}

/**
 * What can now be searched; `left_out` says of each file that is not in it why.
 *
 * A stretch must last `least` seconds to be sought. For a web from a file, `notes` say how far it is of the motions
 * that are there now.
 */
export interface WebBuilt {
  clips: string[];
  frames: number;
  fps: number;
  seconds: number;
  least: number;
  left_out: string[];
  notes: string[];
}

/**
 * Compare all frames of the open `motions`, and with `folder` of its files too, that have the figure of `like`.
 *
 * `remove_height` lets a reach to the floor be like one to a shelf. `rate` is how many frames per second are compared
 * at the most; null for as many as all clips have.
 */
export interface BuildWeb {
  like: string;
  motions?: string[];
  folder?: boolean;
  markers?: "body" | "upper" | "lower";
  remove_height?: boolean;
  rate?: number | null;
}

/** Take a web from a file of the folder, and see which of the motions that are there now it is of. */
export interface LoadWeb {
  path: string;
}

/** A motion that is among them as it stands, has changed since, never was, or is of another figure. */
export interface Whereabouts {
  where: "inside" | "changed" | "outside" | "figure";
}

/** Ask whether a motion is among those that were compared. */
export interface WhereSought {
  motion: string;
}

/**
 * Metres against matches found, and the threshold that stands out, for a person to judge.
 *
 * Between the two of `level` nothing more is found; `still` is how far a figure that stands still is from the query.
 */
export interface ThresholdCurve {
  thresholds: number[];
  counts: number[];
  threshold: number;
  n_matches: number;
  level: [number, number];
  stands_out: boolean;
  still: number;
  told: string;
}

/**
 * How many matches of frames `start` to `stop` of a motion each threshold would find.
 *
 * `repeats` counts stretches that overlap by up to a half as several, as for steps that follow each other; `further`
 * is as of `SearchWeb`.
 */
export interface SuggestThreshold {
  motion: string;
  start: number;
  stop: number;
  further?: boolean;
  repeats?: boolean;
}

/** The figure of all tiles, without its fingers; as the fields of MotionInfo with these names. */
export interface TileBody {
  parents: number[];
  bone_lengths: number[];
  end_sites: boolean[];
  roles: Record<string, number>;
  stature: number;
}

/**
 * `count` matches, the query first; `find_matches` tells of them by the number of the `search`.
 *
 * `joint` is the hand, foot or head that the query moves most beside its hips: what it may be asked by.
 */
export interface SearchDone {
  search: number;
  count: number;
  body: TileBody;
  joint: string;
  notes: string[];
}

/**
 * Find all that is like frames `start` to `stop` of a motion, to within `threshold` metres.
 *
 * With `further` also what is like that, and so on; `repeats` is as of `SuggestThreshold`.
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
 * A match, to be drawn small: seconds within its clip, metres from the query along the way it was found.
 *
 * `points` are x, y, z of each joint of `TileBody` for each of `n_frames` frames, whole millimetres: x to the left of
 * where the figure stands at first, y up from the floor, z ahead. There are `fps` of them per second.
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

/** In order. */
export interface MatchTiles {
  tiles: MatchTile[];
}

/** Some matches of a search, in order of their distance from the query, which is number 0. */
export interface GetMatches {
  search: number;
  first: number;
  count: number;
}

/** The motion, and a `note` where it is at the rate that was compared at, as its source is gone; else "". */
export interface OpenedMatch {
  motion: MotionInfo;
  note: string;
}

/** Put a match among the motions, cut out of the motion that was compared, at the rate of that. */
export interface OpenMatch {
  search: number;
  number: number;
}

/**
 * The motion as it now is, and what it does.
 *
 * `target` is what was asked for, `reached` what the motion does; `errors` is the length of the difference by unit.
 * Where it is `projected`, the target is out of reach, and `aimed` is what was aimed at instead. For a place, `point`
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
 * What a space can be asked for: its parameters, with the box around all that it reaches, and a first motion.
 *
 * `points` are places in the world that it reaches, x y z after each other, where it is about a place. `used` counts
 * the examples of `given` that it is made of.
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
 * Make a space of motions from the matches of a search but those in `drop`, asked by `feature`.
 *
 * A feature is text as for `marey parametric build`: "position:right_hand@farthest", or "turn,speed".
 */
export interface MakeSpace {
  search: number;
  feature: string;
  drop?: number[];
  samples?: number;
}

/** Aim in a space from a file of the folder; its figure stands on the origin and faces ahead. */
export interface LoadSpace {
  path: string;
}

/**
 * Ask a space for a motion: by a `target`, one number per parameter, or by a `point` in the world.
 *
 * `refine` tries that the motion really gets there, which takes longer.
 */
export interface AimMotion {
  target?: number[] | null;
  point?: [number, number, number] | null;
  refine?: boolean;
}

/** Put the motion that is aimed among the others as it is; aiming goes on with another. */
export interface KeepAimed {
}

/** What was made and found last, null where nothing was; `sought` is what was searched for. */
export interface FindStands {
  web: WebBuilt | null;
  sought: SearchWeb | null;
  found: SearchDone | null;
  space: SpaceMade | null;
}

/** Ask how things stand, as a page does that was loaded again. */
export interface FindNow {
}

/** A web or a space in the folder. */
export interface SavedFile {
  path: string;
  kind: "web" | "space";
}

/** In order; whether a folder `is_open`, so that something can be saved. */
export interface SavedFiles {
  files: SavedFile[];
  is_open: boolean;
}

/** List the folder's webs and spaces. */
export interface ListSaved {
}

/** The file; where one of that name `was_there` and was not to be replaced, nothing was written. */
export interface SavedFound {
  path: string;
  was_there: boolean;
}

/** Write the web, or the space that is aimed in, into the folder as ``NAME.npz``, as the command line has them. */
export interface SaveFound {
  kind: "web" | "space";
  name: string;
  replace?: boolean;
}

/**
 * The motion, how alike the steps of both are in metres, from when to when the upper clip is taken, in seconds.
 *
 * `leaned` is by how many degrees the upper body was turned as a whole, `looped` whether its clip is played on and on.
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
 * The upper body of one motion on the lower body of another, in step; both have to walk or run.
 *
 * `align` and `posture` are as for `marey.splice`.
 */
export interface SpliceMotions {
  lower: string;
  upper: string;
  align?: "loop" | "first_minimum";
  posture?: "pitch" | "full" | "none";
}

/** The motion, and what is to be known of it. */
export interface TransplantDone {
  motion: MotionInfo;
  notes: string[];
}

/** A part of one motion on another, whatever both do, from `at` seconds of the base on. */
export interface TransplantLimb {
  base: string;
  donor: string;
  part: "left_arm" | "right_arm" | "arms" | "head" | "upper_body";
  at?: number;
  ease?: number;
}

/** From `time` seconds on look at a point in the world; null goes back to what the motion does by itself. */
export interface LookGoal {
  time: number;
  point: [number, number, number] | null;
}

/**
 * One look: when it settles, null where there is no time for it, and degrees by which it then misses the point.
 *
 * `outside` is how many degrees the point lies beyond where a person can look.
 */
export interface LookReport {
  time: number;
  settled: number | null;
  outside: number;
  missed: number | null;
}

/**
 * The motion, its looks, and its gaze: where the eyes are, and the unit vector of where they look.
 *
 * `places` and `directions` are x y z after each other, for every `step`-th frame.
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
 * Let a motion look at points, one after another.
 *
 * `made` is the motion that an earlier answer carried: it is made again, as while a point is dragged. `steady` lets
 * the eyes take up how the body bobs; `eyes` hangs a joint from the head that points where they look.
 */
export interface LookAt {
  motion: string;
  goals: LookGoal[];
  made?: string | null;
  steady?: boolean;
  eyes?: boolean;
}

/** One parameter of a node; angles are in radians, of which `unit` tells. */
export interface CharacterRange {
  name: string;
  unit: string;
  low: number;
  high: number;
}

/**
 * A node; `of` is the node that it is a part of, or "". `request` says how wishes become parameters.
 *
 * `stuck`: from here no way goes on for ever, so that the character cannot play yet.
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
 * An edge, in metres: its thresholds, the median and greatest cost, and the worst source's best transition.
 *
 * `share` is how much of the target's ranges, by volume, can follow a motion of the source, on average.
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

/** The character that is being made. `note` says what is to be known of the last change, "" for nothing. */
export interface Character {
  name: string;
  nodes: CharacterNode[];
  edges: CharacterEdge[];
  note: string;
}

/** The character that is being made, empty at first. */
export interface ShowCharacter {
}

/** A recipe that comes with marey. */
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

/** What characters and gaze maps can be taken from. */
export interface Sources {
  recipes: RecipeInfo[];
  files: AuthoredFile[];
}

/** The recipes, and the characters and gaze maps of the folder. */
export interface ListSources {
}

/** Begin anew. `length` is that of transitions in seconds. */
export interface NewCharacter {
  name: string;
  length?: number;
}

/** Build a shipped recipe in place of what is there; or, where nodes are named, add these alone. */
export interface UseRecipe {
  recipe: string;
  nodes?: string[];
}

/** Add a node of the gait cycles in open motions; `speed` makes that a second parameter beside the turn. */
export interface AddGait {
  name: string;
  motions: string[];
  speed?: boolean;
  mirror?: boolean;
}

/** Add a part of a node as one of its own. */
export interface AddPart {
  name: string;
  of: string;
  low: number[];
  high: number[];
}

/** Take a node away, with its edges. */
export interface RemoveNode {
  name: string;
}

/**
 * A motion of a node; in place of `result` where that is open.
 *
 * `go_on`: it is one change with the motion before, as while a slider moves, and is undone with it.
 */
export interface MakeMotion {
  node: string;
  parameters: number[];
  result?: string | null;
  go_on?: boolean;
}

/**
 * How many pairs cost how much: `counts` between 0 and `top` metres, in equal steps.
 *
 * `best` are the costs of each source sample's best transition, in order: an edge needs a `good` above them all.
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

/** Find the best transition of many pairs of motions, from which thresholds are chosen. */
export interface CompareNodes {
  source: string;
  target: string;
  n_source?: number;
  n_target?: number;
}

/**
 * Shares of all pairs that are good, and bad; how many source samples have no way on, which `note` tells more of.
 *
 * `points` are all target samples with their costs from source sample `sample`, and `low`, `high` its box, null where
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

/** What thresholds, in metres, would make of nodes that were compared; `sample` is whose box is shown. */
export interface TryEdge {
  source: string;
  target: string;
  good: number;
  bad: number;
  sample?: number;
}

/** Make an edge of nodes that were compared; `part` is the name of the part to connect where not all of it can. */
export interface ConnectNodes {
  source: string;
  target: string;
  good: number;
  bad: number;
  part?: string | null;
}

/** Take an edge away. */
export interface Disconnect {
  source: string;
  target: string;
}

/** Some seconds of the character going about by chance. */
export interface WalkCharacter {
  seconds?: number;
  seed?: number;
}

/** The files that were written. */
export interface SavedAuthored {
  files: string[];
}

/** Write the character, or the gaze map, into the folder as NAME.json. */
export interface SaveAuthored {
  kind: "character" | "gaze";
  name: string;
  replace?: boolean;
}

/** Take a character from the folder. */
export interface LoadCharacter {
  path: string;
}

/**
 * A look: where to (radians), how long it took (s), how far the eyes turn in the head (radians).
 *
 * `cost` is in radians: how far the head of a map of all other examples is from this one's when it looks there; null
 * where the others make no map. What costs much holds the map up where it is, or does not fit the others.
 */
export interface GazeExample {
  name: string;
  yaw: number;
  pitch: number;
  seconds: number;
  eyes: number;
  cost: number | null;
}

/** A gaze map: its examples, and the corners of the region that it can look at. */
export interface GazeChart {
  examples: GazeExample[];
  region: [number, number][];
  note: string;
}

/** Take a gaze map from the folder, or the one that comes with marey; null shows what is there. */
export interface ShowGaze {
  path?: string | null;
  shipped?: boolean;
}

/** Work out what each example costs. */
export interface GazeCosts {
}

/** Add a look that an open motion has: rest, a look at the goal (radians), and rest there. */
export interface AddLook {
  motion: string;
  yaw: number;
  pitch: number;
  start?: number | null;
  stop?: number | null;
}

/** Take an example away, by its place in the list. */
export interface RemoveLook {
  example: number;
}

/** The motion that looks there; `note` says what is to be known of it, "" for nothing. */
export interface AimedGaze {
  motion: MotionInfo;
  note: string;
}

/** An open motion that looks somewhere (radians) from its middle on, by the map as it is. */
export interface AimGaze {
  yaw: number;
  pitch: number;
  motion: string;
  result?: string | null;
}

/** A recipe that comes with marey. */
export interface DriveRecipe {
  name: string;
  about: string;
}

/**
 * What can be driven: recipes, characters of the folder, and the one that Author has, "" where that is empty.
 *
 * `stuck` says why Author's cannot play yet; "" where it can.
 */
export interface DriveChoices {
  recipes: DriveRecipe[];
  files: string[];
  draft: string;
  stuck: string;
}

/** What can be driven. */
export interface ListDrive {
}

/** What a character can be told to do; `at_point`: it goes for a point in space, such as a punch. */
export interface DriveNode {
  name: string;
  ranges: CharacterRange[];
  at_point: boolean;
}

/**
 * The stream; its floor is at 0. `roles` gives joints' indices. `speed` is the range of speeds in m/s that can be
 * asked for, or null, and `usual` the one at which the figure goes while none is.
 *
 * `delay` is in seconds: how long frames wait to be shown, which counts in the response. Each live frame tells:
 * `place` [yaw, x, z] of the figure; `doing`, the node or clip that plays; `answer`, seconds that the last change of
 * direction took, and `waiting`, seconds since one that is not answered yet, or null; `reached`, seconds until the
 * point was, or null; and, where it has changed, `reach`: lines [[x, z], ...] around where it could be next.
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
 * Begin to play, or go over to another way.
 *
 * `way`: a parametric motion graph ("character"), the direction table of a motion graph, motion matching, or a blend
 * tree. A character is named by `source` and `name`. The others are made of `motions` that are open; of generated
 * walks where none are named. `feet`: held at once, cleaned, which takes a look ahead, or left free. With `stay`, the
 * figure begins where the one before stands.
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
 * All that is wished from now on; what is null is not.
 *
 * `direction` is in radians from +Z in the world, positive to the left; `point` x and z of the floor, to go to;
 * `target` x, y and z to be aimed at; `node` what to do, with `values` of its other parameters; `speed` in m/s.
 */
export interface DriveWish {
  direction?: number | null;
  point?: [number, number] | null;
  target?: [number, number, number] | null;
  node?: string | null;
  speed?: number | null;
  values?: Record<string, number> | null;
}

/**
 * Of one way: seconds driven, changes of direction that were answered, and in how many seconds.
 *
 * Answered means that the figure faces the direction to within 15 degrees for 0.25 s; `unanswered` counts those that
 * were given up for another, or not answered within 8 s. A wish that another follows within 0.5 s, as in a drag, is
 * no turn of its own: the time of a turn counts from the last change of the wish that lasted.
 */
export interface WayFigures {
  way: "character" | "graph" | "matching" | "tree";
  seconds: number;
  answered: number;
  unanswered: number;
  median: number | null;
  slowest: number | null;
}

/** All ways that were driven. */
export interface DriveTable {
  ways: WayFigures[];
}

/** How the ways have done so far. */
export interface DriveFigures {
}

/** The motion. */
export interface Kept {
  motion: MotionInfo;
}

/** The last seconds as a motion of their own. */
export interface KeepDriven {
  seconds?: number;
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
  skin: number | null;
}

/**
 * All that the page of `marey view` shows: the text of its script element with id "marey-data", as JSON.
 *
 * `skins` are GLB files in base64, with a body and without animations; `skin` of a motion is the number of its own.
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
  "blend_leave_rest": { fields: LeaveOutRest; reply: MotionInfo };
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
  "graph_wish": { fields: WishGraph; reply: Nothing };
  "graph_save": { fields: SaveGraph; reply: GraphSaved };
  "find_build": { fields: BuildWeb; reply: WebBuilt };
  "find_load": { fields: LoadWeb; reply: WebBuilt };
  "find_where": { fields: WhereSought; reply: Whereabouts };
  "find_suggest": { fields: SuggestThreshold; reply: ThresholdCurve };
  "find_search": { fields: SearchWeb; reply: SearchDone };
  "find_matches": { fields: GetMatches; reply: MatchTiles };
  "find_open": { fields: OpenMatch; reply: OpenedMatch };
  "aim_make": { fields: MakeSpace; reply: SpaceMade };
  "aim_load": { fields: LoadSpace; reply: SpaceMade };
  "aim": { fields: AimMotion; reply: Aimed };
  "aim_keep": { fields: KeepAimed; reply: MotionInfo };
  "find_now": { fields: FindNow; reply: FindStands };
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
  "drive_wish": { fields: DriveWish; reply: Nothing };
  "drive_figures": { fields: DriveFigures; reply: DriveTable };
  "drive_keep": { fields: KeepDriven; reply: Kept };
}

export type StudioEvent = LiveEnded | MotionChanged;

export const PANELS = ["look", "compare", "blend", "graph", "find", "layer", "author", "drive"] as const;
