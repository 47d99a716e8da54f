/**
 * Small characters that move in a loop, one page at a time. A click, Space or Enter excludes or includes one; a double
 * click, or O, opens it in the scene. The arrow keys move between tiles, and from page to page.
 */
import { button, cssVariable, el } from "../dom";
import { bonesOf, type Bone } from "../limbs";
import type { MatchTile, TileBody } from "../messages";

export interface GalleryOptions {
  perPage: number;
  /** Get tiles `first` to `first + count`; there may be fewer. */
  fetch: (first: number, count: number) => Promise<MatchTile[]>;
  open: (number: number) => void;
  /** Called when a tile was excluded or included. */
  changed: () => void;
}

export interface Gallery {
  element: HTMLElement;
  /** Numbers of the excluded tiles. */
  readonly dropped: ReadonlySet<number>;
  /** Exclude these tiles and include all others, without calling `changed`. */
  exclude(numbers: number[]): void;
  /** Start again with this many tiles of a body, some of which are already excluded. */
  show(count: number, body: TileBody, thrownOut?: number[]): Promise<void>;
}

/** View direction in radians: half from the left, a little from above. */
const AZIMUTH = 0.9;
const ELEVATION = 0.15;
const WIDTH = 126;
const HEIGHT = 112;
const MARGIN = 6;
/** Seconds to pause at the last frame before the loop restarts. */
const REST = 0.4;

interface Drawn {
  tile: MatchTile;
  canvas: HTMLCanvasElement;
  node: HTMLElement;
  /** Coordinates across, up, and toward the viewer for each joint and frame, in meters. */
  seen: Float32Array;
  shown: number;
}

/** Scale in pixels per meter at which all tiles fit, and the height at their lower edge. */
interface Scale {
  perMetre: number;
  low: number;
}

export function gallery(options: GalleryOptions): Gallery {
  const dropped = new Set<number>();
  const grid = el("div", { class: "gallery", role: "group", aria: { label: "Matches" } });
  const where = el("span", { class: "dim", aria: { live: "polite" } });
  const back = button("‹", () => void turn(-1), "Previous page");
  const on = button("›", () => void turn(1), "Next page");
  back.setAttribute("aria-label", "Previous page");
  on.setAttribute("aria-label", "Next page");
  const pager = el("div", { class: "row pager" }, back, where, on);
  const restore = button("Include all matches", () => takeBack(), "Include all excluded matches again");
  const element = el("div", { class: "stack" }, grid, pager, el("div", { class: "row" }, restore));
  let count = 0;
  let first = 0;
  let bones: Bone[] = [];
  let nJoints = 0;
  let shownTiles: Drawn[] = [];
  let scale: Scale = { perMetre: 1, low: 0 };
  let asked = 0;
  let running = false;

  const turn = (pages: number) => load(first + pages * options.perPage);
  const mark = ({ tile, node }: Drawn) => node.setAttribute("aria-pressed", String(!dropped.has(tile.number)));
  const changed = () => {
    restore.hidden = !dropped.size;
    options.changed();
  };
  const takeBack = () => {
    dropped.clear();
    shownTiles.forEach(mark);
    changed();
  };
  /** Move the focus to a tile, on whichever page it is. */
  const go = async (number: number) => {
    const to = Math.max(0, Math.min(count - 1, number));
    if (to < first || to >= first + options.perPage) await load(options.perPage * Math.floor(to / options.perPage));
    shownTiles.find(({ tile }) => tile.number === to)?.node.focus();
  };
  const load = async (from: number) => {
    const mine = ++asked;
    const tiles = await options.fetch(from, options.perPage).catch(() => null);
    if (!tiles || mine !== asked) return;
    first = from;
    shownTiles = tiles.map((tile) => make(tile));
    scale = scaleOf(shownTiles, nJoints);
    grid.replaceChildren(...shownTiles.map(({ node }) => node));
    const last = Math.min(count, first + options.perPage);
    where.textContent = `${first + 1}–${last} of ${count}`;
    back.disabled = first === 0;
    on.disabled = last >= count;
    pager.hidden = count <= options.perPage;
    if (!running) requestAnimationFrame((now) => play(now));
    running = true;
  };

  function make(tile: MatchTile): Drawn {
    const canvas = el("canvas", { aria: { hidden: "true" } });
    const ratio = Math.min(2, devicePixelRatio);
    canvas.width = WIDTH * ratio;
    canvas.height = HEIGHT * ratio;
    const isQuery = tile.number === 0;
    const name = `${tile.clip}, ${tile.start.toFixed(2)} to ${tile.stop.toFixed(2)} s`;
    const state = isQuery ? "example" : `${tile.distance.toFixed(3)} m`;
    const pick = el("button", { type: "button", class: "tile", title: tileTitle(name, tile), aria: { label: `${name}, ${state}` } },
      canvas, el("span", { class: "tile-name", text: shortName(tile.clip) }), el("span", { class: "tile-metric", text: state }),
      el("span", { class: "tile-time", text: `${tile.start.toFixed(2)} to ${tile.stop.toFixed(2)} s` }));
    const each = { tile, canvas, node: pick, seen: project(tile.points), shown: -1 };
    pick.addEventListener("click", () => {
      if (isQuery) return;
      if (!dropped.delete(tile.number)) dropped.add(tile.number);
      mark(each);
      changed();
    });
    pick.addEventListener("dblclick", () => options.open(tile.number));
    pick.addEventListener("keydown", (event) => {
      const act = actionOf(event.key, tile.number);
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
    mark(each);
    return each;
  }

  function actionOf(key: string, number: number): (() => void) | null {
    if (key === "o" || key === "O") return () => options.open(number);
    const columns = getComputedStyle(grid).gridTemplateColumns.split(" ").length;
    const to: Record<string, number> = {
      ArrowLeft: number - 1, ArrowRight: number + 1, ArrowUp: number - columns, ArrowDown: number + columns,
      PageUp: number - options.perPage, PageDown: number + options.perPage, Home: 0, End: count - 1,
    };
    return key in to ? () => void go(to[key]!) : null;
  }

  /** Draw all tiles at their own time. The loop ends while they are out of view. */
  function play(now: number): void {
    if (!element.isConnected) {
      running = false;
      return;
    }
    requestAnimationFrame((next) => play(next));
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const each of shownTiles) {
      const { fps, n_frames } = each.tile;
      const period = n_frames / fps + REST;
      const at = still ? Math.floor(n_frames / 2) : Math.min(n_frames - 1, Math.floor(((now / 1000) % period) * fps));
      if (at === each.shown) continue;
      each.shown = at;
      paint(each, at, nJoints, bones, scale);
    }
  }

  // A gallery that was out of view resumes when it is visible again.
  new ResizeObserver(() => {
    if (running || !element.isConnected || !shownTiles.length) return;
    running = true;
    for (const each of shownTiles) each.shown = -1;
    requestAnimationFrame((now) => play(now));
  }).observe(element);

  return {
    element,
    dropped,
    exclude(numbers) {
      dropped.clear();
      numbers.forEach((number) => dropped.add(number));
      shownTiles.forEach(mark);
      restore.hidden = !dropped.size;
    },
    async show(total, body, thrownOut = []) {
      dropped.clear();
      thrownOut.forEach((number) => dropped.add(number));
      restore.hidden = !dropped.size;
      count = total;
      nJoints = body.parents.length;
      bones = bonesOf({ ...body, kind: "motion" });
      await load(0);
    },
  };
}

/** A file's name without its folder and suffix. */
function shortName(clip: string): string {
  return clip.slice(clip.lastIndexOf("/") + 1).replace(/\.[a-z0-9]{2,4}$/i, "");
}

function tileTitle(name: string, { number, distance, tier }: MatchTile): string {
  if (number === 0) return `${name}\nthe example`;
  const through = tier > 1 ? `, via ${tier - 1} other ${tier === 2 ? "match" : "matches"}` : "";
  return `${name}\n${distance.toFixed(3)} m from the example${through}\nclick: exclude or include; double-click: open in scene`;
}

/** Convert left, up and ahead in millimeters to across, up and toward the viewer in meters. */
function project(points: number[]): Float32Array {
  const out = new Float32Array(points.length);
  const [c, s, ce, se] = [Math.cos(AZIMUTH), Math.sin(AZIMUTH), Math.cos(ELEVATION), Math.sin(ELEVATION)];
  for (let i = 0; i < points.length; i += 3) {
    const [x, y, z] = [points[i]! / 1000, points[i + 1]! / 1000, points[i + 2]! / 1000];
    const towards = s * x + c * z;
    out[i] = c * x - s * z;
    out[i + 1] = ce * y - se * towards;
    out[i + 2] = ce * towards + se * y;
  }
  return out;
}

function scaleOf(shownTiles: Drawn[], nJoints: number): Scale {
  let [low, high, wide] = [Infinity, -Infinity, 0.5];
  for (const { seen } of shownTiles) {
    let [left, right] = [Infinity, -Infinity];
    for (let i = 0; i < seen.length; i += 3) {
      low = Math.min(low, seen[i + 1]!);
      high = Math.max(high, seen[i + 1]!);
      // Measured from the hips, because the view follows characters that travel.
      const across = seen[i]! - seen[i - (i % (3 * nJoints))]!;
      left = Math.min(left, across);
      right = Math.max(right, across);
    }
    wide = Math.max(wide, right, -left);
  }
  const perMetre = Math.min((HEIGHT - 2 * MARGIN) / Math.max(0.5, high - low), (WIDTH / 2 - MARGIN) / wide);
  return { perMetre, low };
}

function paint(each: Drawn, frame: number, nJoints: number, bones: Bone[], { perMetre, low }: Scale): void {
  const pen = each.canvas.getContext("2d")!;
  const ratio = each.canvas.width / WIDTH;
  const base = 3 * nJoints * frame;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, WIDTH, HEIGHT);
  const middle = each.seen[base]!;
  const x = (joint: number) => WIDTH / 2 + perMetre * (each.seen[base + 3 * joint]! - middle);
  const y = (joint: number) => HEIGHT - MARGIN - perMetre * (each.seen[base + 3 * joint + 1]! - low);
  const depth = (bone: Bone) => each.seen[base + 3 * bone.from + 2]! + each.seen[base + 3 * bone.to + 2]!;
  pen.lineCap = "round";
  const [near, far] = [cssVariable("--accent"), cssVariable("--dim")];
  // Draw bones in the back first, and paler.
  const ordered = bones.map((bone) => ({ bone, depth: depth(bone) })).sort((a, b) => a.depth - b.depth);
  ordered.forEach(({ bone }, rank) => {
    pen.strokeStyle = rank < ordered.length / 2 ? far : near;
    pen.lineWidth = Math.max(1.5, 2 * perMetre * bone.radius);
    pen.beginPath();
    pen.moveTo(x(bone.from), y(bone.from));
    pen.lineTo(x(bone.to), y(bone.to));
    pen.stroke();
  });
}
