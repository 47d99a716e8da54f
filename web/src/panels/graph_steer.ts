/** Steer a graph live with the keyboard: WASD or arrow keys, relative to the camera; 1 to 9 choose an action. */
import * as THREE from "three";
import type { App } from "../app";
import { choice, cssVariable, el, setOptions, toggle } from "../dom";
import { bonesOf, Limbs } from "../limbs";
import { FORMS, type GraphSteered, type GraphStreamSettings } from "../messages";
import { settingsForm } from "../widgets/form";
import { handsFree, meant, typesInto } from "./drive_keys";
import { leavePath } from "./graph_camera";
import { labelColor, Ribbons, type Place } from "./graph_lines";

const KEYS: Record<string, Place> = {
  w: [0, 1], arrowup: [0, 1], s: [0, -1], arrowdown: [0, -1], a: [-1, 0], arrowleft: [-1, 0], d: [1, 0], arrowright: [1, 0],
};
/** Number of frames between points of the trail, and between echoes to the server. */
const TRAIL_EVERY = 5;
const ECHO_EVERY = 10;
const MOST_TRAIL = 400;
const LEAST_TURN = 0.05;
/** Number of labels that have a key: 1 to 9. */
const N_KEYS = 9;

interface Playing {
  stream: number;
  hips: number;
  limbs: Limbs;
  arrow: THREE.ArrowHelper;
  trail: Ribbons;
  points: Place[];
  last: THREE.Vector3 | null;
  hidden: Set<string>;
}

export class SteerSection {
  readonly element: HTMLElement;
  private labels: string[] = [];
  private label: string | null = null;
  private direction = 0;
  // Keys set the direction and the action.
  private readonly settings = settingsForm<GraphStreamSettings>(FORMS.GraphStreamSettings, {
    initial: { feet: null }, skip: ["direction", "label"], changed: () => this.sendRequest(),
  });
  private playing: Playing | null = null;
  /** Cancels the start in progress, if there is one. */
  private starting: AbortController | null = null;
  private readonly held = new Set<string>();
  private readonly said = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly does = choice("Action", [], "", (value) => {
    this.label = value || null;
    this.sendRequest();
  });
  private readonly run = toggle("Start steering", false, (on) => void (on ? this.start() : this.stop()), "Steer with WASD or the arrow keys, relative to the camera");

  /** `begin` asks the server to start the stream. */
  constructor(
    private readonly app: App,
    private readonly begin: (settings: Partial<GraphStreamSettings>, stop: AbortController) => Promise<GraphSteered | null>,
  ) {
    this.element = el("section", {}, el("h3", { text: "Keyboard control" }), this.does, this.settings.element, el("div", { class: "row" }, this.run), this.said);
    handsFree(this.element);
    app.connection.live.on(({ block, sent, info }) => this.show(block.id, block.first, block.positions, sent, info["note"]));
    app.events.on((event) => {
      if (event.event !== "live_ended" || event.stream !== this.playing?.stream) return;
      if (event.error) app.notices.error(event.error);
      this.end();
    });
    // Listen before the page's own keys, which step through time.
    window.addEventListener("keydown", (event) => this.key(event, true), true);
    window.addEventListener("keyup", (event) => this.key(event, false), true);
    window.addEventListener("blur", () => this.held.clear());
    document.addEventListener("visibilitychange", () => this.held.clear());
    document.addEventListener("focusin", ({ target }) => typesInto(target) && this.held.clear());
  }

  set choices(labels: string[]) {
    this.labels = labels;
    this.label = null;
    this.does.hidden = labels.length < 2;
    setOptions(this.does.select, [["", "anything"], ...labels.map((label, i): [string, string] => [label, i < N_KEYS ? `${label} (${i + 1})` : label])], "");
  }

  async stop(): Promise<void> {
    this.starting?.abort();
    this.starting = null;
    this.run.set(false);
    if (!this.playing) return;
    const { stream } = this.playing;
    this.end();
    await this.app.ask("live_stop", { stream }).catch(() => undefined);
  }

  private async start(): Promise<void> {
    const stop = (this.starting = new AbortController());
    const begun = await this.begin({ ...this.settings.value, direction: this.direction, label: this.label }, stop);
    if (this.starting !== stop) {
      // Steering was ended in the meantime, so stop the stream that the server has started.
      if (begun) await this.app.ask("live_stop", { stream: begun.stream }).catch(() => undefined);
      return;
    }
    this.starting = null;
    if (!begun) {
      this.run.set(false);
      return;
    }
    this.end();
    this.run.set(true);
    const { app } = this;
    app.playback.step(0);
    leavePath(app);
    const { body } = begun;
    const limbs = new Limbs(bonesOf(body), body.joints.length, 1, "#c98a5e", 1, app.shown.style);
    const arrow = new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), 0.9, cssVariable("--accent"), 0.22, 0.16);
    app.stage.scene.add(limbs.group, arrow);
    const hidden = new Set([...app.motions].filter(([, { character }]) => character.visible).map(([id]) => id));
    for (const id of hidden) app.motions.get(id)!.character.visible = false;
    const hips = body.roles["hips"] ?? 0;
    this.playing = { stream: begun.stream, hips, limbs, arrow, trail: new Ribbons(app.stage), points: [], last: null, hidden };
    this.point();
    const late = begun.delay > 0 ? `, delayed by ${begun.delay.toFixed(1)} s to lock the feet` : "";
    this.said.textContent = `Playing at ${begun.rate.toFixed(0)} Hz${late}. The character turns at the next transition that allows it. Escape stops.`;
  }

  private end(): void {
    const { playing, app } = this;
    this.run.set(false);
    this.playing = null;
    this.held.clear();
    if (!playing) return;
    playing.limbs.dispose();
    playing.limbs.group.removeFromParent();
    playing.arrow.removeFromParent();
    playing.arrow.dispose();
    playing.trail.clear();
    for (const id of playing.hidden) {
      const shot = app.motions.get(id);
      if (!shot) continue;
      shot.character.visible = true;
      shot.character.show(app.frameOf(shot));
    }
    this.said.textContent = "";
    // The camera has followed the steered character; turn it back to the selected motion.
    if (app.selected && playing.hidden.has(app.selected.info.motion)) void app.bringIntoView(app.selected).catch(() => undefined);
    app.stage.invalidate();
  }

  private show(stream: number, frame: number, positions: Float32Array, sent: number, note: unknown): void {
    const { playing, app } = this;
    if (!playing || stream !== playing.stream) return;
    playing.limbs.draw([{ positions, offset: 0 }]);
    const hips = new THREE.Vector3().fromArray(positions, 3 * playing.hips);
    if (playing.last) app.stage.follow(hips.clone().sub(playing.last).setY(0));
    else app.stage.focus(hips, 1.4);
    playing.last = hips;
    playing.arrow.position.set(hips.x, app.stage.floor + 0.02, hips.z);
    if (frame % TRAIL_EVERY === 0) {
      playing.points.push([hips.x, hips.z]);
      if (playing.points.length > MOST_TRAIL) playing.points.shift();
      playing.trail.redraw(playing.points, labelColor(this.labels, this.label), 0.02, 0.8);
    }
    if (frame % ECHO_EVERY === 0) app.connection.ask("live_echo", { stream, frame, sent }).catch(() => undefined);
    if (typeof note === "string") app.notices.info(note);
    // The camera may have rotated while a key is held.
    if (this.held.size) this.aim();
    app.stage.invalidate();
  }

  private key(event: KeyboardEvent, down: boolean): void {
    const name = event.key.toLowerCase();
    // Keys may be released while the focus is elsewhere, and released keys send no event while the Command key is down.
    if (event.metaKey) this.held.clear();
    else if (!down) this.held.delete(name);
    if (!this.playing || !meant(event)) return;
    const label = /^[1-9]$/.test(name) ? this.labels[Number(name) - 1] : undefined;
    if (name in KEYS) {
      if (down) this.held.add(name);
      this.aim();
    } else if (label !== undefined && down) {
      this.label = label;
      this.does.select.value = label;
      this.sendRequest();
    } else if (name === "escape" && down) void this.stop();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Request the direction of the held keys, relative to the camera; without keys, the direction stays. */
  private aim(): void {
    let [right, ahead] = [0, 0];
    for (const key of this.held) {
      right += KEYS[key]![0];
      ahead += KEYS[key]![1];
    }
    if (!right && !ahead) return;
    const look = this.app.stage.camera.getWorldDirection(new THREE.Vector3());
    // When looking straight down, ahead is the top of the view.
    const flat = Math.hypot(look.x, look.z) > 0.05 ? look : new THREE.Vector3(0, 1, 0).applyQuaternion(this.app.stage.camera.quaternion);
    const camera = Math.atan2(flat.x, flat.z);
    const direction = camera - Math.atan2(right, ahead);
    const turned = Math.abs(Math.atan2(Math.sin(direction - this.direction), Math.cos(direction - this.direction)));
    if (turned < LEAST_TURN) return;
    this.direction = direction;
    this.sendRequest();
  }

  private point(): void {
    this.playing?.arrow.setDirection(new THREE.Vector3(Math.sin(this.direction), 0, Math.cos(this.direction)));
  }

  private sendRequest(): void {
    if (!this.playing) return;
    this.point();
    this.app.ask("graph_request", { direction: this.direction, label: this.label, speed: this.settings.value.speed ?? null }).catch(() => undefined);
  }
}
