/** The page of `marey pmg export`: drive a sampled character with keys, touch or gamepad, offline. */
import * as THREE from "three";
import { Player, readCharacter, type Character, type CharacterFile } from "../player/player";
import { compose, movePoint } from "../player/maths";
import { button, byId, el, releaseClicked } from "./dom";
import { Joystick } from "./joystick";
import { bodyOf, Limbs } from "./limbs";
import { DriveInput, seenFrom } from "./panels/drive_input";
import { DriveScene } from "./panels/drive_scene";
import { Stage } from "./scene";
import { Themes } from "./theme";

/** Both files of the character, compressed, as base64. */
interface PageData {
  title: string;
  character: string;
  clips: string;
}

const COLOR = "#7f9bc0";
const BALL = 0.09;
/** Height at which the camera looks, as a fraction of the stature. */
const LOOK_AT = 0.52;

class DrivePage {
  readonly stage = new Stage(byId("stage"));
  readonly player: Player;
  /** Milliseconds of script for each picture, without drawing. */
  readonly times: number[] = [];
  private readonly input = new DriveInput(this.stage);
  private readonly marks = new DriveScene(this.stage);
  private readonly limbs: Limbs;
  private readonly shade: THREE.Mesh;
  private readonly ball: THREE.Mesh | null;
  private readonly stature: number;
  private readonly hips: number;
  private readonly positions: Float32Array;
  private fast = false;
  private ballPressed = 0;

  constructor(private readonly character: Character, private readonly actions: HTMLElement, private readonly status: HTMLElement) {
    this.player = new Player(character);
    const { file, parents } = character;
    const world = this.player.world({ ...character.clips[0]!.poses[0]!, rotations: identity(parents.length) });
    const heights = world.positions.filter((_, i) => i % 3 === 1);
    this.stature = Math.max(...heights) - Math.min(...heights);
    const offsets = character.clips[0]!.poses[0]!.translations;
    const lengths = parents.map((_, j) => Math.hypot(...offsets.subarray(3 * j, 3 * j + 3)));
    const roles = Object.fromEntries(Object.entries(file.roles).map(([role, joint]) => [role, file.joints.indexOf(joint)]));
    this.hips = roles["hips"] ?? 0;
    const info = { parents, bone_lengths: lengths, end_sites: [], roles, stature: this.stature, kind: "motion" as const };
    this.limbs = new Limbs(bodyOf(info), parents.length, 1, COLOR, 1, "limbs");
    this.positions = new Float32Array(3 * parents.length);
    this.shade = makeShade();
    this.stage.scene.add(this.limbs.group, this.shade);
    this.ball = character.clips.some((clip) => clip.hit) ? this.addBall() : null;
    this.listen();
    this.tick(0);
    this.stage.focus(new THREE.Vector3(0, LOOK_AT * this.stature, 0), 0.8 * this.stature);
    this.placeBall();
  }

  get hasBall(): boolean {
    return this.ball !== null;
  }

  /** Go in a direction as seen by the camera, or come to rest; `fraction` is the deflection of a stick. */
  steer(direction: number | null, fraction: number | null = null): void {
    const { speeds } = this.character.file.values;
    const level = fraction === null ? (this.fast ? speeds.length - 1 : speeds.length >> 1) : Math.round(fraction * (speeds.length - 1));
    this.player.request(direction === null ? {} : { direction, speed: speeds[level] });
  }

  act(node: string): void {
    this.player.request({ node });
  }

  hitBall(): void {
    if (this.ball) this.player.request({ target: this.ball.position.toArray() });
  }

  private listen(): void {
    const { input, stage } = this;
    const names = this.actionNames();
    names.forEach((name, i) => this.actions.append(button(name, () => this.act(name), i < 9 ? `Key ${i + 1}` : "")));
    if (this.ball) this.actions.append(button("Hit the ball", () => this.hitBall(), "Space bar, or click the ball"));
    input.pushed.on(({ direction, fraction }) => this.steer(direction, fraction));
    input.released.on(() => this.steer(null));
    input.stopped.on(() => this.steer(null));
    input.numbered.on((number) => names[number - 1] !== undefined && this.act(names[number - 1]!));
    input.clicked.on((point) => this.ballPressed || this.player.request({ point }));
    input.taken = (event) => this.onBall(event);
    stage.canvas.addEventListener("pointerdown", (event) => (this.ballPressed = this.onBall(event) ? event.timeStamp : 0), true);
    stage.canvas.addEventListener("pointerup", (event) => this.ballPressed && event.timeStamp - this.ballPressed < 500 && this.hitBall());
    document.addEventListener("keydown", (event) => {
      if (event.code === "Space" && !(event.target instanceof HTMLButtonElement)) this.hitBall();
      if (event.key === "Shift") this.hurry(true);
    });
    document.addEventListener("keyup", (event) => event.key === "Shift" && this.hurry(false));
    window.addEventListener("blur", () => this.hurry(false));
    input.attach();
    const stick = new Joystick(byId("stage"));
    stick.moved.on((at) => this.steer(at && seenFrom(stage.camera, at.ahead, at.right), at && at.fraction));
    stage.ticked.on((seconds) => this.tick(seconds));
  }

  private hurry(on: boolean): void {
    this.fast = on;
    const { direction } = this.player.steering;
    if (direction !== undefined) this.steer(direction);
  }

  /** Nodes that get a button: those that steering does not play by itself. */
  private actionNames(): string[] {
    const { nodes } = this.character.file;
    return nodes.length > 1 ? nodes.filter((node) => !node.parameters.includes("speed")).map((node) => node.name) : [];
  }

  private tick(seconds: number): void {
    const begun = performance.now();
    const wasPending = this.player.pending;
    const { positions, rotations } = this.player.world(this.player.advance(seconds));
    const before = new THREE.Vector3().fromArray(this.positions, 3 * this.hips);
    this.positions.set(positions);
    const hips = new THREE.Vector3().fromArray(this.positions, 3 * this.hips);
    this.limbs.draw([{ positions: this.positions, offset: 0, rotations: Float32Array.from(rotations), rotationOffset: 0 }]);
    this.shade.position.set(hips.x, 0.003, hips.z);
    this.input.character = [hips.x, hips.z];
    const { direction, point } = this.player.steering;
    this.marks.showRequest([0, hips.x, hips.z], direction ?? null);
    this.marks.showGoal(point ?? null);
    this.status.textContent = this.player.node;
    if (wasPending && !this.player.pending && this.ball) setTimeout(() => this.placeBall(), 900);
    this.times.push(performance.now() - begun);
    if (this.times.length > 600) this.times.shift();
    this.stage.follow(hips.sub(before).setY(0));
  }

  // --- The ball that actions hit

  private addBall(): THREE.Mesh {
    const ball = new THREE.Mesh(new THREE.SphereGeometry(BALL, 24, 16), new THREE.MeshLambertMaterial({ color: "#e0703a" }));
    ball.castShadow = true;
    this.stage.scene.add(ball);
    return ball;
  }

  /** Put the ball where an action can hit it from here. */
  private placeBall(): void {
    if (!this.ball) return;
    const { clip, place } = this.player.state;
    const options = this.character.clips[clip]!.transitions.filter(({ target }) => this.character.clips[target]!.hit);
    const next = options[Math.floor(Math.random() * options.length)];
    if (next) this.ball.position.fromArray(movePoint(compose(place, next.move), this.character.clips[next.target]!.hit!));
  }

  private onBall(event: PointerEvent): boolean {
    return this.ball !== null && this.stage.ray(event).ray.distanceToPoint(this.ball.position) < 1.5 * BALL;
  }
}

function identity(nJoints: number): Float64Array {
  return new Float64Array(4 * nJoints).map((_, i) => (i % 4 === 3 ? 1 : 0));
}

/** A soft round shadow, which also shows where the character stands if real shadows are too slow. */
function makeShade(): THREE.Mesh {
  const material = new THREE.ShaderMaterial({
    vertexShader: "varying vec2 at; void main() { at = position.xz; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: "varying vec2 at; void main() { float r = length(at) / 0.45; gl_FragColor = vec4(0.0, 0.0, 0.0, 0.34 * exp(-4.0 * r * r) * (1.0 - smoothstep(0.8, 1.0, r))); }",
    transparent: true,
    depthWrite: false,
  });
  const shade = new THREE.Mesh(new THREE.PlaneGeometry(0.9, 0.9).rotateX(-Math.PI / 2), material);
  shade.renderOrder = -1;
  return shade;
}

async function unpack(base64: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function start(): Promise<void> {
  const data = JSON.parse(byId("marey-data").textContent ?? "") as PageData;
  const themes = new Themes();
  const [stage, actions, status] = [el("main"), el("div", { class: "actions", role: "toolbar", aria: { label: "Actions" } }), el("span", { class: "dim" })];
  stage.id = "stage";
  const dark = button("◐", () => themes.toggle(), "Switch between light and dark theme", "quiet");
  dark.setAttribute("aria-label", "Switch between light and dark theme");
  const touch = matchMedia("(pointer: coarse)").matches;
  const help = touch
    ? "Move with the stick, or tap the floor to go there. Drag to look around."
    : "Move with WASD, arrow keys or a gamepad; hold Shift to go faster. Click the floor to go there. Drag to look around.";
  const line = el("p", { class: "help", text: help });
  line.id = "help";
  document.body.append(
    el("header", {}, el("h1", { text: data.title }), status, el("span", { class: "spacer" }), dark),
    stage,
    el("footer", {}, actions, line),
  );
  const file = JSON.parse(new TextDecoder().decode(await unpack(data.character))) as CharacterFile;
  const character = readCharacter(file, await unpack(data.clips));
  const page = new DrivePage(character, actions, status);
  if (page.hasBall) byId("help").textContent += touch ? " Tap the ball to hit it." : " Click the ball, or press the space bar, to hit it.";
  themes.changed.on(() => page.stage.applyTheme());
  releaseClicked();
  // The second player is for programs that play commands without the picture.
  Object.assign(window, { marey: page, mareyPlayer: (seed: number) => new Player(character, { seed }) });
}

void start();
