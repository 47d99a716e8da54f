/** Working in the scene with the mouse or a finger: drawing on the floor, dragging a target. */
import * as THREE from "three";
import { cssVariable } from "./dom";
import type { Stage } from "./scene";

/** A line that was drawn: x, z in meters, a few centimeters apart, with the seconds at which each point was drawn. */
export interface Stroke {
  points: [number, number][];
  seconds: number[];
}

const SPACING = 0.05;
/** Meters: the size of a target; and how much farther from it a finger may be. */
const RADIUS = 0.06;
const FINGER = 2.5;

/** From now on, dragging with the left button draws on the floor. The returned function ends it. */
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
  /** On the floor, or in the plane that faces the camera. */
  plane?: "ground" | "view";
  radius?: number;
  color?: string;
  /** While it is dragged. */
  moved?: (at: [number, number, number]) => void;
  /** When it is let go. */
  dropped?: (at: [number, number, number]) => void;
}

/** A handle in the scene; `set` places it, `remove` takes it away. */
export interface Target {
  readonly object: THREE.Object3D;
  set(at: [number, number, number]): void;
  remove(): void;
}

/** All handles of a stage: of several under the hand only the nearest is taken. */
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
  /** Meters from the ball to what is under the hand; infinite where that is too far to take it. */
  const far = (event: PointerEvent) => {
    // A finger covers more than the tip of an arrow.
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
    // The camera must not turn with the hand.
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
  // Before the camera's listener, so that it sees the switch.
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
