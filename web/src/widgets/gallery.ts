/**
 * Small characters that move in a loop, one page at a time. A click, Space or Enter excludes or includes one; a double
 * click, or O, opens it in the scene. The arrow keys move between tiles, and from page to page.
 */
import { button, el } from "../dom";
import { bonesOf, type Bone } from "../limbs";
import type { MatchTile, TileBody } from "../messages";
import { paintPose, project, scaleOf, type Scale } from "./pose_drawing";

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

const WIDTH = 126;
const HEIGHT = 112;
const MARGIN = 6;
const SIZE = { width: WIDTH, height: HEIGHT, margin: MARGIN };
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
  let scale: Scale = { perMeter: 1, low: 0 };
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
    scale = scaleOf(shownTiles.map(({ seen }) => seen), nJoints, SIZE);
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
      paintPose(each.canvas, each.seen, at, nJoints, bones, scale, SIZE);
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
  const through = tier > 1 ? `, similar to the example only via ${tier - 1} other ${tier === 2 ? "match" : "matches"}` : "";
  return `${name}\n${distance.toFixed(3)} m from the example${through}\nclick: exclude or include; double-click: open in scene`;
}
