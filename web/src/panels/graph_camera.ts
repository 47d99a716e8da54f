/** Camera positions for a path: obliquely from above to see all of it, or straight from above to draw. */
import * as THREE from "three";
import type { App, Shot } from "../app";
import type { Stage } from "../scene";
import type { Place } from "./graph_lines";

/** Half from above, with the same side of the path up as while it was path. */
const OBLIQUE = new THREE.Vector3(0, Math.sin(0.8), Math.cos(0.8));
const ABOVE = new THREE.Vector3(0, 1, 0.0001).normalize();
/** Share of the picture's half that may be filled: buttons and notices lie along its edges. */
const FILL = 0.78;
/** Meters: beyond, a character is too small; nearer than that, there is too little floor to draw on. */
const FARTHEST = 24;
const LEAST_FLOOR = 9;
/** Meters from which a character is followed along a path that is too long to fit in the view. */
const ALONG = 9;
const TALL = 1.8;

/** From how far away, in meters, all points are seen from a side. */
function distanceTo(stage: Stage, points: THREE.Vector3[], center: THREE.Vector3, from: THREE.Vector3): number {
  const right = new THREE.Vector3(0, 1, 0).cross(from).normalize();
  const up = from.clone().cross(right);
  const high = Math.tan(THREE.MathUtils.degToRad(stage.camera.fov / 2)) * FILL;
  const wide = high * stage.camera.aspect;
  return Math.max(...points.map((point) => {
    const relative = point.clone().sub(center);
    return relative.dot(from) + Math.max(Math.abs(relative.dot(right)) / wide, Math.abs(relative.dot(up)) / high);
  }));
}

function stand(stage: Stage, center: THREE.Vector3, from: THREE.Vector3, away: number): void {
  stage.controls.target.copy(center);
  stage.camera.position.copy(center).addScaledVector(from, away);
  stage.controls.update();
  stage.invalidate();
}

/** The places on the floor, and as high above it as a character is. */
function room(stage: Stage, places: Place[], height: number): THREE.Vector3[] {
  return places.flatMap(([x, z]) => [new THREE.Vector3(x, stage.floor, z), new THREE.Vector3(x, stage.floor + height, z)]);
}

/** Look from above, at what is drawn already where something is, with floor to draw on around it. */
export function lookFromAbove(stage: Stage, path: Place[]): void {
  const points = room(stage, path, 0);
  const center = path.length ? new THREE.Box3().setFromPoints(points).getCenter(new THREE.Vector3()) : stage.controls.target.clone();
  center.y = stage.floor;
  const needed = path.length ? 1.3 * distanceTo(stage, points, center, ABOVE) : 0;
  stand(stage, center, ABOVE, Math.max(LEAST_FLOOR, needed));
}

/**
 * Look at a whole path and the character on it. The camera then stands still for as long as that motion is shown, or
 * until the person lets it follow. The camera follows along a path that is too long to fit in the view.
 */
export function lookAtPath(app: App, shot: Shot, places: Place[]): void {
  const { stage } = app;
  const points = room(stage, places, TALL);
  if (!points.length) return;
  const center = new THREE.Box3().setFromPoints(points).getCenter(new THREE.Vector3());
  const away = distanceTo(stage, points, center, OBLIQUE);
  if (away > FARTHEST) {
    stand(stage, shot.character.center(), OBLIQUE, ALONG);
    return;
  }
  stand(stage, center, OBLIQUE, Math.max(away, 3 * TALL));
  if (!app.following) return;
  app.following = false;
  const stops = [
    app.followingChanged.on(() => {
      stops.forEach((stop) => stop());
      still.delete(app);
    }),
    app.selectionChanged.on(() => {
      if (app.selected !== shot) app.following = true;
    }),
  ];
  still.add(app);
}

/** Those whose camera stands still to see a path. */
const still = new WeakSet<App>();

/** The camera goes along again, where it stood still only to see a path. */
export function leavePath(app: App): void {
  if (still.has(app)) app.following = true;
}
