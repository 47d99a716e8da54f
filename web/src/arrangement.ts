/** How several clips are shown: as recorded, in a row, or only the selected one; their names, and views of all of them. */
import * as THREE from "three";
import type { App, Shot } from "./app";
import { button, el, toggle } from "./dom";
import { saveChoice, tabState } from "./tab_state";

type Way = "recorded" | "row" | "solo";

/** Name of the saved choice. */
const KEPT = "arrangement";

const WAYS: [Way, string, string][] = [
  ["recorded", "As recorded", "Show all clips where they were recorded"], ["row", "Row", "Spread the clips in a row, side by side"],
  ["solo", "Solo", "Show only the selected clip"],
];
/** Meters between clips in a row. */
const APART = 1.2;
/** Clips that start closer to each other (meters) would stand inside each other. */
const TOO_CLOSE = 0.6;
/** Names that would lie on others are raised by as many rows as needed, at most these; then they are left out. */
const MAX_ROWS = 4;
/** A raised name comes down only where this much room (pixels) is left beside it, so that names stay put while playing. */
const SLACK = 24;
/** With more clips than this, the camera stays with the selected one. */
const FEW = 6;

/** Build the buttons. The returned function handles keys (A all, T path, N names). */
export function arrangement(host: HTMLElement, app: App): (event: KeyboardEvent) => boolean {
  /** Until the user chooses one, clips are in a row if they would stand inside each other, otherwise as recorded. */
  let way: Way | null = WAYS.find(([name]) => name === tabState().choices[KEPT])?.[0] ?? null;
  let framed = 0;
  let named = true;
  const tags = new Map<Shot, Tag>();
  const shots = () => [...app.motions.values()];
  const buttons = WAYS.map(([name, label, title]) => button(label, () => choose(name), title));
  const names = toggle("Names", named, (on) => {
    named = on;
    placeTags();
  }, "Show the names of the clips over the characters (N)");
  const bar = el("div", { class: "arrangement", role: "group", aria: { label: "Arrangement of clips" } }, ...buttons, names);

  const overlap = (all: Shot[]) => all.some(({ character: a }, k) => all.slice(k + 1).some(({ character: b }) => {
    const [from, to] = [a.start(), b.start()];
    return Math.hypot(from[0] - to[0], from[1] - to[1]) < TOO_CLOSE;
  }));
  const visible = () => shots().filter(({ character }) => character.visible);
  const current = (): Way => way ?? (overlap(visible()) ? "row" : "recorded");

  /**
   * Place the clips, except while a panel such as Compare does. In a row, the selected clip stays where it was recorded,
   * because handles and targets in the scene belong there.
   */
  const arrange = () => {
    draw();
    const { selected } = app;
    // While a character is driven, no clip is shown.
    const wrong = way === "solo" && !app.stage.driven ? shots().filter((shot) => shot.character.visible !== (shot === selected)) : [];
    if (wrong.length) {
      for (const { character } of wrong) character.visible = !character.visible;
      // The list of clips shows which are visible; this comes back here.
      app.motionsChanged.emit();
      return;
    }
    if (app.held) return;
    const row = current() === "row" ? visible() : [];
    const middle = Math.max(0, row.findIndex((shot) => shot === selected));
    const origin = row[middle]?.character.start() ?? [0, 0];
    const before = selected?.character.group.position.clone();
    for (const shot of shots()) {
      const k = row.indexOf(shot);
      const [x, z] = shot.character.start();
      if (k < 0 || k === middle) shot.character.group.position.set(0, 0, 0);
      else shot.character.group.position.set(origin[0] - x + (k - middle) * APART, 0, origin[1] - z);
    }
    // The row moves with the selected clip; the camera goes with it.
    if (selected && before && !app.following) app.stage.follow(selected.character.group.position.clone().sub(before));
    else app.goAlong();
    app.stage.invalidate();
  };
  /** Show a row of a few clips that were just opened as a whole, and the last clip that is left alone. */
  const frameNew = () => {
    const all = visible();
    if (all.length === framed || !all.every(({ character }) => character.posed)) return;
    // What remains of a row was at its side.
    if (framed > 1 && app.motions.size === 1 && app.following) app.focus();
    if (all.length > framed && all.length > 1 && all.length <= FEW && way === null && current() === "row" && !app.held) frameAll();
    framed = all.length;
  };
  const choose = (next: Way) => {
    if (next !== "solo") for (const shot of shots()) show(shot);
    way = next;
    saveChoice(KEPT, way);
    arrange();
    if (app.motions.size > 1 && next !== "solo") frameAll();
    else app.focus();
    app.motionsChanged.emit();
  };
  const show = (shot: Shot) => {
    shot.character.visible = true;
    shot.character.show(app.frameOf(shot));
  };
  const draw = () => {
    bar.hidden = app.motions.size < 2;
    buttons.forEach((each, k) => each.setAttribute("aria-pressed", String(WAYS[k]![0] === current())));
  };
  const frame = (box: THREE.Box3) => {
    if (box.isEmpty()) return;
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    app.stage.focus(sphere.center, Math.max(0.9, sphere.radius));
  };
  const frameAll = () => {
    const box = new THREE.Box3();
    for (const { character } of shots()) if (character.visible) box.union(character.box());
    frame(box);
  };
  const framePath = () => {
    const character = app.selected?.character;
    if (character) frame(character.box().union(character.pathBox()));
  };
  // Names that the buttons would cover are left out.
  let corner = { left: Infinity, bottom: 0 };
  const measureCorner = () => {
    const stage = app.stage.overlay.getBoundingClientRect();
    const boxes = [host, bar].map((each) => each.getBoundingClientRect()).filter(({ width }) => width);
    corner = { left: Math.min(...boxes.map(({ left }) => left)) - stage.left, bottom: Math.max(0, ...boxes.map(({ bottom }) => bottom)) - stage.top };
  };
  const corners = new ResizeObserver(measureCorner);
  for (const each of [host, bar, app.stage.overlay]) corners.observe(each);
  const placeTags = () => {
    const wanted = named && app.motions.size > 1 ? shots().filter(({ character }) => character.visible && character.posed) : [];
    for (const [shot, { span }] of tags) {
      if (wanted.includes(shot)) continue;
      span.remove();
      tags.delete(shot);
    }
    // The name of the selected clip has precedence, then those of the clips opened first.
    wanted.sort((a, b) => Number(b === app.selected) - Number(a === app.selected));
    const taken: Place[] = [];
    for (const shot of wanted) {
      const tag = tags.get(shot) ?? { span: el("span", { class: "clip-name" }), row: 0, width: 0, height: 0 };
      if (!tags.has(shot)) app.stage.overlay.append(tag.span);
      tags.set(shot, tag);
      const { span } = tag;
      span.style.setProperty("--dot", shot.character.color);
      const wasSelected = span.classList.contains("selected");
      span.classList.toggle("selected", shot === app.selected);
      if (span.textContent !== shot.info.name || !tag.width || wasSelected !== (shot === app.selected)) {
        span.textContent = shot.info.name;
        span.hidden = false;
        [tag.width, tag.height] = [span.offsetWidth, span.offsetHeight];
      }
      const box = shot.character.box();
      const at = box.isEmpty() ? null : app.stage.project(new THREE.Vector3((box.min.x + box.max.x) / 2, box.max.y + 0.18, (box.min.z + box.max.z) / 2));
      const room = at && findRoom(tag, at, taken);
      const place = room && (room.x + room.width / 2 < corner.left || room.y - room.height > corner.bottom) ? room : null;
      span.hidden = !place;
      if (!place) continue;
      taken.push(place);
      span.style.transform = `translate(-50%, -100%) translate(${place.x.toFixed(1)}px, ${place.y.toFixed(1)}px)`;
    }
  };
  // The last button of the bar is Follow.
  host.lastElementChild!.before(
    button("All", frameAll, "Zoom to all clips (A)"),
    button("Path", framePath, "Zoom to the whole path of the selected clip (T)"),
  );
  host.after(bar);
  app.motionsChanged.on(arrange);
  app.selectionChanged.on(arrange);
  app.trailLoaded.on(arrange);
  app.stage.ticked.on(() => {
    frameNew();
    placeTags();
  });
  draw();
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    switch (event.key) {
      case "a": case "A": frameAll(); return true;
      case "t": case "T": framePath(); return true;
      case "n": case "N": names.click(); return true;
      default: return false;
    }
  };
}

/** A name over a character: its size in pixels, and the number of rows by which it is raised. */
interface Tag {
  span: HTMLElement;
  row: number;
  width: number;
  height: number;
}

/** The middle of the lower edge of a name, and its size, in pixels. */
interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Find the lowest row above a point where a name lies on no other; null if there is none. */
function findRoom(tag: Tag, at: { x: number; y: number }, taken: Place[]): Place | null {
  const { width, height } = tag;
  for (let row = 0; row <= MAX_ROWS; row++) {
    const slack = row < tag.row ? SLACK : 0;
    const y = at.y - row * height;
    const hits = taken.some((other) => Math.abs(other.x - at.x) < (other.width + width + slack) / 2 + 2
      && y - height < other.y + slack / 2 && other.y - other.height < y + slack / 2);
    if (hits) continue;
    tag.row = row;
    return { x: at.x, y, width, height };
  }
  return null;
}
