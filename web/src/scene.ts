/**
 * The stage: camera, lights and ground of the 3D view, and the render loop, which draws only when something has
 * changed.
 */
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { cameraKeys } from "./camera_keys";
import { cssVariable, el } from "./dom";
import { makeGround } from "./ground";
import { Signal } from "./signal";

export type Triple = [number, number, number];
export type View = "front" | "side" | "top" | "free";

/** A body that views are relative to: the direction that it faces (yaw in radians) and its middle. */
export interface Subject {
  readonly posed: boolean;
  facing(): number;
  center(): THREE.Vector3;
}

const SHADOW_REACH = 6;
// Shadows reach farther on the floor, because the sun shines at an angle.
const SHADOW_FLOOR = 1.2 * SHADOW_REACH;
// Pictures of `marey render` are drawn larger by this factor in both directions, and then reduced.
const SUPERSAMPLING = 2;
/** Distance in meters beyond which a character is too small to see. */
const FAR = 12;
/** A box counts as visible if more than this fraction of it is in view, or if it fills this fraction of the view. */
const BOX_FRACTION = 0.8;
const PICTURE_FRACTION = 0.4;
/** Lowest height in meters of the camera above the floor. */
const LOWEST = 0.05;
/** Rendered pixels per displayed pixel if there is no graphics card. */
const SOFTWARE_RATIO = 0.75;

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.05, 400);
  readonly controls: OrbitControls;
  readonly canvas: HTMLCanvasElement;
  /** Layer over the view for joint names; its children are positioned with `project`. */
  readonly overlay: HTMLElement;
  /** The character under live control; views are relative to it. */
  driven: Subject | null = null;
  /** Emitted before each redraw with the seconds since the last one: move things here. */
  readonly ticked = new Signal<number>();
  private readonly renderer: THREE.WebGLRenderer;
  private readonly ratio: number;
  private readonly sun = new THREE.DirectionalLight(0xffffff, 1.9);
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x888888, 1.5);
  private ground: THREE.Group | null = null;
  private groundLevel = 0;
  private dirty = true;
  private last = 0;
  private pictures = 0;
  private readonly reduced = document.createElement("canvas");

  /**
   * `fine` asks for shadows even without a graphics card, for pictures that are not watched live. They are drawn larger
   * and then reduced, so they need no antialiasing, which takes most of the time without a graphics card.
   */
  constructor(private readonly host: HTMLElement, fine = false) {
    const { renderer, software } = makeRenderer(fine);
    this.renderer = renderer;
    this.ratio = software ? SOFTWARE_RATIO : Math.min(2, devicePixelRatio);
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Scene: left-drag or Shift+arrows to orbit, right-drag or Ctrl+arrows to pan, scroll or + and - to zoom");
    this.overlay = el("div", { class: "overlay", aria: { hidden: "true" } });
    host.append(this.canvas, this.overlay);
    this.renderer.shadowMap.enabled = !software;
    this.sun.castShadow = !software;
    this.sun.shadow.mapSize.set(1024, 1024);
    const box = this.sun.shadow.camera;
    [box.left, box.right, box.top, box.bottom] = [-SHADOW_REACH / 2, SHADOW_REACH / 2, SHADOW_REACH / 2, -SHADOW_REACH / 2];
    this.scene.add(this.sun, this.sun.target, this.sky);
    this.camera.position.set(2.6, 1.7, 3.6);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.target.set(0, 0.9, 0);
    this.controls.maxDistance = 150;
    this.controls.minDistance = 0.2;
    this.controls.addEventListener("change", () => this.stayAboveFloor());
    this.controls.update();
    this.canvas.addEventListener("keydown", (event) => cameraKeys(this.camera, this.controls, event));
    this.applyTheme();
    new ResizeObserver(() => this.resize()).observe(host);
    requestAnimationFrame((now) => this.loop(now));
  }

  /** Request a redraw. */
  invalidate(): void {
    this.dirty = true;
  }

  /** Keep the camera above the floor, which would hide the characters. */
  private stayAboveFloor(): void {
    const { target } = this.controls;
    const reach = (this.groundLevel + LOWEST - target.y) / Math.max(1e-6, this.camera.position.distanceTo(target));
    this.controls.maxPolarAngle = Math.acos(THREE.MathUtils.clamp(reach, -1, 1));
    if (this.camera.position.y < this.groundLevel + LOWEST - 1e-3 && target.y > this.groundLevel + LOWEST) this.controls.update();
    this.invalidate();
  }

  /** Number of redraws so far. */
  get drawn(): number {
    return this.pictures;
  }

  /** Apply the colors of the current theme. */
  applyTheme(): void {
    this.scene.background = new THREE.Color(cssVariable("--stage") || "#e9ebee");
    this.ground?.removeFromParent();
    const shadows = this.renderer.shadowMap.enabled;
    this.ground = makeGround(cssVariable("--grid") || "#c4c8ce", cssVariable("--grid-strong") || "#9aa0a8", shadows ? SHADOW_FLOOR : 0);
    this.ground.position.y = this.groundLevel;
    this.scene.add(this.ground);
    this.invalidate();
  }

  /** Height of the floor in meters. */
  set floor(height: number) {
    this.groundLevel = height;
    if (this.ground) this.ground.position.y = height;
    this.invalidate();
  }

  get floor(): number {
    return this.groundLevel;
  }

  /** Center a sphere in the view, keeping the viewing direction. */
  focus(center: THREE.Vector3, radius: number): void {
    const away = this.camera.position.clone().sub(this.controls.target).normalize();
    const fit = Math.min(this.camera.aspect, 1);
    const distance = (1.15 * radius) / Math.sin(THREE.MathUtils.degToRad(this.camera.fov / 2)) / fit;
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(away, distance);
    this.controls.update();
    this.invalidate();
  }

  /**
   * Look from the front, the side or above, at the current distance from the target. `facing` is the angle by which the
   * character that is looked at has turned to the left of +Z; `center` becomes the target.
   */
  view(name: View, facing = 0, center?: THREE.Vector3): void {
    if (name === "free") return;
    const distance = this.camera.position.distanceTo(this.controls.target);
    const from = { front: [0, 0, 1], side: [1, 0, 0], top: [0, 1, 0.0001] }[name] as [number, number, number];
    const away = new THREE.Vector3(...from).applyAxisAngle(new THREE.Vector3(0, 1, 0), facing);
    if (center) this.controls.target.copy(center);
    this.camera.position.copy(this.controls.target).addScaledVector(away, distance);
    this.controls.update();
    this.invalidate();
  }

  /** Move the camera and its target together with the followed character. */
  follow(move: THREE.Vector3): void {
    this.controls.target.add(move);
    this.camera.position.add(move);
    this.controls.update();
    this.invalidate();
  }

  /** Draw a picture of this size in pixels, seen from `eye`, and return it as a data URL of a PNG file. */
  picture(width: number, height: number, eye: Triple, target: Triple): string {
    const [large, high] = [SUPERSAMPLING * width, SUPERSAMPLING * height];
    if (this.canvas.width !== large || this.canvas.height !== high) {
      this.renderer.setPixelRatio(1);
      this.renderer.setSize(large, high, false);
      [this.reduced.width, this.reduced.height] = [width, height];
    }
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.camera.position.set(...eye);
    this.controls.target.set(...target);
    this.controls.update();
    this.render();
    // Half as large in both directions, so each pixel is the mean of four.
    this.reduced.getContext("2d")!.drawImage(this.canvas, 0, 0, width, height);
    return this.reduced.toDataURL("image/png");
  }

  /** Draw the view in another size, in pixels, and return it as a data URL of a WebP file; the scene keeps its own size. */
  snapshot(width: number, height: number): string {
    const { aspect } = this.camera;
    this.renderer.setPixelRatio(1);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.render();
    const url = this.canvas.toDataURL("image/webp", 0.95);
    this.camera.aspect = aspect;
    this.resize();
    return url;
  }

  /** Project a world point to CSS pixels in the view; null if it is behind the camera. */
  project(point: THREE.Vector3): { x: number; y: number } | null {
    const p = point.clone().project(this.camera);
    if (p.z > 1 || !Number.isFinite(p.x)) return null;
    return { x: ((p.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - p.y) / 2) * this.canvas.clientHeight };
  }

  /** Whether a world point is well within the view and not far away. */
  sees(point: THREE.Vector3): boolean {
    const at = this.project(point);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!at || this.camera.position.distanceTo(point) > FAR) return false;
    return at.x > 0.1 * width && at.x < 0.9 * width && at.y > 0.1 * height && at.y < 0.9 * height;
  }

  /** Whether most of a box in the world is in view, or the box fills much of the view; and it is not far away. */
  seesBox(box: THREE.Box3): boolean {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (box.isEmpty() || box.distanceToPoint(this.camera.position) > FAR) return false;
    const shadow = new THREE.Box2();
    for (let k = 0; k < 8; k++) {
      const side = (bit: number) => (k & bit ? box.max : box.min);
      const at = this.project(new THREE.Vector3(side(1).x, side(2).y, side(4).z));
      if (!at) return false;
      shadow.expandByPoint(new THREE.Vector2(at.x, at.y));
    }
    const area = (each: THREE.Box2) => (each.isEmpty() ? 0 : (each.max.x - each.min.x) * (each.max.y - each.min.y));
    const seen = area(shadow.clone().intersect(new THREE.Box2(new THREE.Vector2(), new THREE.Vector2(width, height))));
    return seen > Math.min(BOX_FRACTION * area(shadow), PICTURE_FRACTION * width * height);
  }

  /** Return the ray under a pointer event. */
  ray(event: { clientX: number; clientY: number }): THREE.Raycaster {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((event.clientY - box.top) / box.height) * 2;
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(x, y), this.camera);
    return caster;
  }

  /** Return the point on the floor under a pointer event; null above the horizon. */
  onGround(event: { clientX: number; clientY: number }): THREE.Vector3 | null {
    const plane = new THREE.Plane(new THREE.Vector3(0, 1, 0), -this.groundLevel);
    return this.ray(event).ray.intersectPlane(plane, new THREE.Vector3());
  }

  private loop(now: number): void {
    requestAnimationFrame((next) => this.loop(next));
    const seconds = this.last ? Math.min(0.1, (now - this.last) / 1000) : 0;
    this.last = now;
    this.ticked.emit(seconds);
    if (this.dirty) this.render();
  }

  private render(): void {
    this.dirty = false;
    const { x, z } = this.controls.target;
    this.sun.target.position.set(x, this.groundLevel, z);
    this.sun.position.set(x + 1.2, this.groundLevel + 5, z + 1.8);
    // The ground plane follows the camera. Its lines are drawn at world coordinates, so they stay in place.
    this.ground?.position.set(x, this.groundLevel, z);
    this.renderer.render(this.scene, this.camera);
    this.pictures++;
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    // Resizing clears the canvas; without an immediate redraw, it would flash.
    this.render();
  }
}

/**
 * Create the renderer. Without a graphics card, antialiasing and shadows would be too slow for smooth motion, so they
 * are off.
 */
function makeRenderer(fine: boolean): { renderer: THREE.WebGLRenderer; software: boolean } {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2", { antialias: !fine, powerPreference: "high-performance" });
  const about = context?.getExtension("WEBGL_debug_renderer_info");
  const name = about ? String(context!.getParameter(about.UNMASKED_RENDERER_WEBGL)) : "";
  // The settings of a WebGL context cannot be changed, and a renderer is expensive to create, so decide first.
  if (context && (fine || !/swiftshader|llvmpipe|software/i.test(name))) {
    return { renderer: new THREE.WebGLRenderer({ canvas, context }), software: false };
  }
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return { renderer: new THREE.WebGLRenderer({ antialias: false }), software: true };
}
