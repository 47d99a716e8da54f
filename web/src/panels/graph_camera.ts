/** Camera positions for a path: obliquely from above to see all of it, or straight down to draw. */
import * as THREE from "three";
import type { App, Shot } from "../app";
import type { Stage } from "../scene";
import type { Place } from "./graph_lines";

/** View direction halfway from above, from the same side as while drawing. */
const OBLIQUE = new THREE.Vector3(0, Math.sin(0.8), Math.cos(0.8));
const ABOVE = new THREE.Vector3(0, 1, 0.0001).normalize();
/** Fraction of the half view that may be filled: buttons and notices are at the edges. */
const FILL = 0.78;
/** Meters: from farther away, a character is too small; from nearer, there is too little floor to draw on. */
const FARTHEST = 24;
const LEAST_FLOOR = 9;
/** Camera distance in meters when following a character along a path that is too long to fit in the view. */
const ALONG = 9;
const TALL = 1.8;

/** The distance in meters from which all points are in view, looking from direction `from`. */
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

/** The points on the floor, and the same points at a character's height. */
function room(stage: Stage, places: Place[], height: number): THREE.Vector3[] {
  return places.flatMap(([x, z]) => [new THREE.Vector3(x, stage.floor, z), new THREE.Vector3(x, stage.floor + height, z)]);
}

/** Look straight down at the drawn path, if there is one, with floor to draw on around it. */
export function lookFromAbove(stage: Stage, path: Place[]): void {
  const points = room(stage, path, 0);
  const center = path.length ? new THREE.Box3().setFromPoints(points).getCenter(new THREE.Vector3()) : stage.controls.target.clone();
  center.y = stage.floor;
  const needed = path.length ? 1.3 * distanceTo(stage, points, center, ABOVE) : 0;
  stand(stage, center, ABOVE, Math.max(LEAST_FLOOR, needed));
}

/**
 * Look at an entire path and the character on it. The camera then stays in place while this motion is selected, or until
 * the user turns on following. If the path is too long to fit in the view, the camera follows the character.
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
    app.followingChanged.on(() => stops.forEach((stop) => stop())),
    app.selectionChanged.on(() => {
      if (app.selected !== shot) app.following = true;
    }),
  ];
}
