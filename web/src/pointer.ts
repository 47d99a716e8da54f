/** Tools for mouse and touch in the scene: drawing on the floor, dragging a target. */
import * as THREE from "three";
import { cssVariable } from "./dom";
import type { Stage } from "./scene";

/** A drawn line: points x, z in meters, a few centimeters apart, and the time in seconds at which each was drawn. */
export interface Stroke {
  points: [number, number][];
  seconds: number[];
}

const SPACING = 0.05;
/** Radius of a target in meters, and the factor by which it is larger for touch. */
const RADIUS = 0.06;
const FINGER = 2.5;

/** From now on, dragging with the left button draws on the floor. Call the returned function to end this. */
export function drawOnGround(stage: Stage, done: (stroke: Stroke) => void): () => void {
  const { canvas, controls } = stage;
  let stroke: Stroke | null = null;
  let line: THREE.Line | null = null;
  const began = { at: 0 };

  const redraw = () => {
    erase(line);
    const flat = stroke!.points.map(([x, z]) => new THREE.Vector3(x, stage.floor + 0.006, z));
    const look = new THREE.LineBasicMaterial({ color: cssVariable("--accent") });
    line = new THREE.Line(new THREE.BufferGeometry().setFromPoints(flat), look);
    stage.scene.add(line);
    stage.invalidate();
  };
  const add = (event: PointerEvent) => {
    const at = stage.onGround(event);
    if (!at || !stroke) return;
    const last = stroke.points[stroke.points.length - 1];
    if (last && Math.hypot(at.x - last[0], at.z - last[1]) < SPACING) return;
    stroke.points.push([at.x, at.z]);
    stroke.seconds.push((event.timeStamp - began.at) / 1000);
    redraw();
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    stroke = { points: [], seconds: [] };
    began.at = event.timeStamp;
    add(event);
  };
  const drop = () => {
    stroke = null;
    erase(line);
    line = null;
    stage.invalidate();
  };
  const up = () => {
    const finished = stroke;
    drop();
    if (finished && finished.points.length >= 2) done(finished);
  };
  controls.enableRotate = false;
  canvas.classList.add("drawing");
  const stop = listen(canvas, { pointerdown: down, pointermove: add, pointerup: up, pointercancel: drop });
  return () => {
    stop();
    erase(line);
    controls.enableRotate = true;
    canvas.classList.remove("drawing");
    stage.invalidate();
  };
}

export interface TargetOptions {
  at: [number, number, number];
  /** Drag on the floor plane, or in the plane that faces the camera. */
  plane?: "ground" | "view";
  radius?: number;
  color?: string;
  /** Called while it is dragged. */
  moved?: (at: [number, number, number]) => void;
  /** Called when it is released. */
  dropped?: (at: [number, number, number]) => void;
}

/** A handle in the scene: `set` moves it, `remove` removes it. */
export interface Target {
  readonly object: THREE.Object3D;
  set(at: [number, number, number]): void;
  remove(): void;
}

/** The handles of each stage. If several are under the pointer, only the nearest is dragged. */
const handles = new WeakMap<Stage, Set<(event: PointerEvent) => number>>();

export function dragTarget(stage: Stage, options: TargetOptions): Target {
  const { canvas, controls } = stage;
  const look = new THREE.MeshBasicMaterial({ color: options.color ?? cssVariable("--accent"), transparent: true, opacity: 0.9 });
  const ball = new THREE.Mesh(new THREE.SphereGeometry(options.radius ?? RADIUS, 24, 16), look);
  ball.position.set(...options.at);
  stage.scene.add(ball);
  stage.invalidate();
  let plane: THREE.Plane | null = null;
  let hand = -1;
  const all = handles.get(stage) ?? new Set<(event: PointerEvent) => number>();
  handles.set(stage, all);

  const place = (): [number, number, number] => [ball.position.x, ball.position.y, ball.position.z];
  /** Distance in meters between the ball and the pointer's ray; infinite if too far to grab the ball. */
  const far = (event: PointerEvent) => {
    // A finger covers more than a mouse pointer.
    const reach = (event.pointerType === "touch" ? FINGER : 1) * (options.radius ?? RADIUS);
    const meters = stage.ray(event).ray.distanceToPoint(ball.position);
    return meters > reach ? Infinity : meters;
  };
  all.add(far);
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || plane || far(event) === Infinity) return;
    const nearest = [...all].reduce((best, each) => (each(event) < best(event) ? each : best), [...all][0]!);
    if (nearest !== far) return;
    hand = event.pointerId;
    // The camera must not rotate during the drag.
    controls.enabled = false;
    canvas.setPointerCapture(event.pointerId);
    const normal = options.plane === "view" ? stage.camera.getWorldDirection(new THREE.Vector3()) : new THREE.Vector3(0, 1, 0);
    plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, ball.position);
  };
  const move = (event: PointerEvent) => {
    if (!plane || event.pointerId !== hand || !stage.ray(event).ray.intersectPlane(plane, ball.position)) return;
    stage.invalidate();
    options.moved?.(place());
  };
  const up = (event: PointerEvent) => {
    if (!plane || event.pointerId !== hand) return;
    plane = null;
    controls.enabled = true;
    options.dropped?.(place());
  };
  // Listen before the camera's controls do, because they must see that they are disabled.
  const stop = listen(canvas, { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up }, true);
  return {
    object: ball,
    set(at) {
      ball.position.set(...at);
      stage.invalidate();
    },
    remove() {
      stop();
      all.delete(far);
      if (plane) controls.enabled = true;
      ball.removeFromParent();
      ball.geometry.dispose();
      look.dispose();
      stage.invalidate();
    },
  };
}

function listen(node: HTMLElement, listeners: Record<string, (event: PointerEvent) => void>, capture = false): () => void {
  const entries = Object.entries(listeners) as [string, EventListener][];
  for (const [name, listener] of entries) node.addEventListener(name, listener, { capture });
  return () => {
    for (const [name, listener] of entries) node.removeEventListener(name, listener, { capture });
  };
}

function erase(line: THREE.Line | null): void {
  line?.removeFromParent();
  line?.geometry.dispose();
  (line?.material as THREE.Material | undefined)?.dispose();
}
