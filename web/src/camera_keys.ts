/** Control the camera with the keyboard while the scene has the focus: orbit, pan and zoom, as with the mouse. */
import * as THREE from "three";
import type { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

/** Effect of one key press: rotation in radians, pan as a fraction of the distance to the target, zoom as a factor. */
const TURN = THREE.MathUtils.degToRad(7.5);
const PAN = 0.05;
const ZOOM = 0.9;
/** Minimum angle, in radians, between the camera and straight up or down. */
const POLE = 0.02;

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function cameraKeys(camera: THREE.PerspectiveCamera, controls: OrbitControls, event: KeyboardEvent): void {
  if (event.altKey || !controls.enabled) return;
  const command = event.ctrlKey || event.metaKey;
  const away = camera.position.clone().sub(controls.target);
  const [x, y] = ARROWS[event.key] ?? [0, 0];
  if ((x || y) && command) pan(camera, controls, x * PAN * away.length(), y * PAN * away.length());
  else if ((x || y) && event.shiftKey) camera.position.copy(controls.target).add(orbited(away, x * TURN, y * TURN));
  else if (!command && (event.key === "+" || event.key === "=")) zoom(camera, controls, away, ZOOM);
  else if (!command && (event.key === "-" || event.key === "_")) zoom(camera, controls, away, 1 / ZOOM);
  else return;
  controls.update();
  // Otherwise the browser would zoom or navigate, and the page would step through time.
  event.preventDefault();
  event.stopPropagation();
}

function orbited(away: THREE.Vector3, right: number, up: number): THREE.Vector3 {
  const at = new THREE.Spherical().setFromVector3(away);
  at.theta += right;
  at.phi = THREE.MathUtils.clamp(at.phi - up, POLE, Math.PI - POLE);
  return away.clone().setFromSpherical(at);
}

function pan(camera: THREE.PerspectiveCamera, controls: OrbitControls, right: number, up: number): void {
  const move = new THREE.Vector3(right, up, 0).applyQuaternion(camera.quaternion);
  camera.position.add(move);
  controls.target.add(move);
}

function zoom(camera: THREE.PerspectiveCamera, controls: OrbitControls, away: THREE.Vector3, factor: number): void {
  const distance = THREE.MathUtils.clamp(away.length() * factor, controls.minDistance, controls.maxDistance);
  camera.position.copy(controls.target).add(away.setLength(distance));
}
