/** Drive panel: a character controlled by keys, mouse or gamepad. The controller can be changed while it moves. */
import * as THREE from "three";
import { messageOf, type App, type Panel } from "../app";
import { freeColor } from "../colors";
import { button, check, choice, el, setOptions } from "../dom";
import { LiveCharacter } from "../live";
import type { ControllerStatistics, DriveNode, DriveRequest, DriveStarted, StartDrive } from "../messages";
import type { Target } from "../pointer";
import { DRIVEN_RADIUS } from "../viewbar";
import { latest } from "../widgets/latest";
import { metricText } from "../widgets/measures";
import type { Slider } from "../widgets/slider";
import { Cast } from "./drive_cast";
import { BALL, CANNOT_STOP, commandControls, NEWER, NOTHING, speedRange } from "./drive_commands";
import { DriveInput, handsFree } from "./drive_input";
import { Keep } from "./drive_keep";
import { DriveScene } from "./drive_scene";
import { COLORS, CONTROLLERS, controllerForms, controllerName, FEET, readForms, responseTable, type ControllerKind } from "./drive_controllers";

type Place = [number, number, number];

const STATISTICS_MS = 1000;

export function mount(app: App): Panel {
  const driving = new Driving(app);
  return { element: driving.element, shown: () => void driving.list(), hidden: () => driving.stop(), use: (what) => void driving.use(what) };
}

class Driving {
  readonly element: HTMLElement;
  private readonly cast = new Cast((stream) => this.control(stream));
  private follow = true;
  private started: DriveStarted | null = null;
  private liveCharacter: LiveCharacter | null = null;
  private scene: DriveScene | null = null;
  private target: Target | null = null;
  private request: Required<DriveRequest> = NOTHING;
  private place: Place | null = null;
  private timer = 0;
  private reach: [number, number][][] | null = null;
  private unlisten: () => void = () => undefined;
  /** Whether the user has chosen a character. */
  private picked = false;
  /** Whether the user was told that this character cannot stop. */
  private told = false;
  /** Whether a stream is wanted: it is being prepared or already plays. */
  private wanted = false;
  private starting: AbortController | null = null;
  /** Whether the character that is being prepared starts beside the present one. */
  private beside = false;
  /** The choices with which the current stream was started, in the order of `choices`. */
  private played: string[] = [];
  private speed: Slider | null = null;
  private hiddenCharacters: { visible: boolean }[] = [];
  private readonly input: DriveInput;
  private readonly startNewest = latest(() => this.start());
  private readonly wayChoice = choice("Controller", CONTROLLERS, "character", () => {
    this.listClips();
    this.restart();
  }, "How the motion is made: by a character from the Characters panel, a motion graph with a table of the best transition for each direction, motion matching, or a blend tree");
  private readonly character = choice("Character", [["recipe:stopping", "stopping"]], "recipe:stopping", () => {
    this.picked = true;
    this.showChoices();
    this.prepare();
    this.restart();
  });
  private readonly clips = choice("Clips", [], "walks", () => {
    this.showChoices();
    this.restart();
  });
  private readonly forms = controllerForms(() => this.restart());
  /** Whether the Graph panel has a graph. */
  private hasGraph = false;
  private readonly feet = choice("Foot cleanup", FEET, "lock", () => this.restart(), "How feet are kept from sliding");
  private readonly go = button("Start", () => (this.started ? this.stop() : this.play()), "Start live control of the character", "primary");
  private readonly another = button("Add another", () => this.play(true), "Start another character with these settings. The current one keeps running, and you can switch between them.");
  private readonly compare = button("Compare controllers", () => void this.measure(), "Build every controller from the same clips, let each make the same seven turns, and list their response times");
  private readonly failed = el("ul", { class: "dim", hidden: true });
  private readonly keep: Keep;
  private readonly commands = el("section", { hidden: true });
  private readonly answer = el("output", { class: "drive-answer", aria: { label: "Response time of the last turn, seconds" } });
  private readonly doing = el("p", { class: "dim drive-doing" });
  private readonly about = el("p", { class: "dim drive-about", hidden: true });
  private readonly abouts = new Map<string, string>();
  /** What the character cannot do after some of its clips. */
  private readonly limits = el("ul", { class: "dim sentences", hidden: true, aria: { label: "What this character cannot do" } });
  private look = false;
  private readonly carry = choice("Upper body", [["", "its own"]], "", () => this.restart(), "Arms and trunk of another clip, such as one that carries a box");
  private readonly choices = [this.wayChoice, this.character, this.clips, this.feet, this.carry];
  private readonly table = el("div");
  private readonly compared = el("div");
  private readonly stream = el("p", { class: "dim" });
  private readonly pad = el("p", { class: "dim", hidden: true, aria: { live: "polite" } });

  constructor(private readonly app: App) {
    this.input = new DriveInput(app.stage);
    this.input.pushed.on(({ direction, fraction }) => this.push(direction, fraction));
    this.input.released.on(() => {
      this.ask({ stop: true });
      if (this.started && !this.started.can_stop && !this.told) this.app.notices.info(CANNOT_STOP);
      this.told = true;
    });
    this.input.clicked.on((point) => this.goTo(point));
    this.input.numbered.on((number) => this.choose(this.started?.nodes[number - 1]?.name ?? null));
    this.input.stopped.on(() => this.stop());
    this.input.taken = (event) => !!this.target && app.stage.ray(event).ray.distanceToPoint(this.target.object.position) < BALL;
    this.input.pads.changed.on((name) => this.showPad(name));
    app.themes.changed.on(() => this.scene?.repaint());
    app.events.on((event) => {
      if (event.event !== "live_ended") return;
      this.cast.drop(event.stream);
      this.another.disabled = !this.cast.hasRoom;
      if (event.stream !== this.started?.started.stream) return;
      if (event.error) app.notices.error(event.error);
      this.wanted = this.starting !== null;
      this.end();
    });
    app.motionsChanged.on(() => this.listClips());
    this.another.disabled = true;
    this.keep = new Keep(app, () => this.started !== null, (motion) => this.hide(app.motions.get(motion)?.character));
    this.answer.textContent = "–";
    this.element = el("div", { class: "panel" },
      el("section", {}, el("h3", { text: "Character" }), this.wayChoice, this.character, this.clips, this.about, this.feet, ...Object.values(this.forms).map(({ element }) => element),
        el("div", { class: "row" }, this.go, this.another, this.keep.element), this.cast.element,
        el("div", { class: "row" }, check("Camera follows", this.follow, (on) => (this.follow = on), "The camera follows the character"),
          check("Head turns first", this.look, (on) => { this.look = on; this.restart(); }, "The head turns toward a new direction before the body does")),
        this.carry, this.limits),
      this.commands,
      el("section", {}, el("h3", { text: "Response time" }), el("div", { class: "drive-now" }, this.answer, this.doing), this.table, el("div", { class: "row" }, this.compare), this.compared, this.failed, this.stream,
        el("p", { class: "dim", text: "Move with WASD, the arrow keys or a gamepad. Click the floor to walk there. Drag from the character to make it follow the pointer. While no key is pressed, a character that can stop stands still. Keys 1 to 9 choose an action; Escape ends live control. You can change the controller while the character moves." }),
        this.pad),
    );
    handsFree(this.element);
    this.listClips();
    this.showChoices();
  }

  /** List the characters that can be driven. */
  async list(): Promise<void> {
    const found = await this.app.ask("drive_list", {}).catch(() => null);
    if (!found) return;
    const why = found.stuck && `: not playable yet (${found.stuck})`;
    const options: [string, string][] = [
      ...(found.draft ? [["draft:", `${found.draft} (from Characters)${why}`] as [string, string]] : []),
      ...found.recipes.map(({ name }): [string, string] => [`recipe:${name}`, name]),
      ...found.files.map((path): [string, string] => [`file:${path}`, path]),
    ];
    const { select } = this.character;
    const can = (value: string) => options.some(([each]) => each === value) && !(value === "draft:" && why);
    // After the Characters panel was used, drive the character made there, unless another was chosen here.
    const first = can("draft:") ? "draft:" : "recipe:stopping";
    setOptions(select, options, this.picked && can(select.value) ? select.value : first);
    for (const option of select.options) option.disabled = !can(option.value);
    this.abouts.clear();
    for (const { name, about, is_built } of found.recipes) this.abouts.set(`recipe:${name}`, is_built ? about : `${about}. It is built when it is first started; after that, it starts at once.`);
    this.hasGraph = found.graph;
    this.listClips();
    this.prepare();
  }

  /** Load the chosen built-in character in advance, so that it starts at once. */
  private prepare(): void {
    const [source, name = ""] = this.character.select.value.split(":");
    if (this.way === "character" && source === "recipe" && !this.wanted) this.app.connection.ask("drive_prepare", { name }).catch(() => undefined);
  }

  /** Choose what another panel wants to drive: the graph of the Graph panel. */
  async use(what: string): Promise<void> {
    await this.list();
    if (what !== "graph" || !this.hasGraph) return;
    this.wayChoice.select.value = "graph";
    this.listClips("built");
  }

  /** Stop the stream, and one that is being prepared, because the panel is no longer visible. */
  stop(): void {
    this.wanted = false;
    this.starting?.abort();
    this.end();
  }

  private end(): void {
    if (!this.started) return;
    this.clear();
    this.scene?.dispose();
    this.scene = null;
    clearInterval(this.timer);
    document.body.classList.remove("driving");
    this.input.detach();
    this.input.character = null;
    for (const character of this.hiddenCharacters.splice(0)) character.visible = true;
    this.app.motionsChanged.emit();
    const streams = this.cast.clear();
    this.another.disabled = true;
    const { selected } = this.app;
    this.app.stage.floor = selected?.info.floor ?? 0;
    // The camera has followed the driven character; turn it back to the selected motion.
    if (selected) void this.app.bringIntoView(selected).catch(() => undefined);
    this.started = this.place = null;
    this.go.textContent = "Start";
    this.go.disabled = this.starting !== null;
    this.commands.hidden = true;
    this.answer.textContent = "–";
    this.doing.textContent = this.doing.title = this.stream.textContent = "";
    for (const stream of streams) this.stopStream(stream);
  }

  /** Control another character. The present one goes on with its last request. */
  private control(stream: number): void {
    const other = this.cast.find(stream);
    if (!other || !this.setAside()) return;
    this.cast.set(stream, null);
    this.liveCharacter = other.character;
    [this.started, this.request, this.played, this.place] = [other.started, other.request, other.played, null];
    this.keepPlaying();
    this.showStarted(other.started);
  }

  /** Let the controlled character go on by itself. Returns whether there was one. */
  private setAside(): boolean {
    const { started, liveCharacter, request, played } = this;
    if (!started || !liveCharacter) return false;
    this.cast.set(started.started.stream, { started, character: liveCharacter, request, played });
    this.liveCharacter = null; // `clear` must not remove it
    this.clear();
    return true;
  }

  /** Measure all controllers with the chosen clips. */
  private async measure(): Promise<void> {
    this.compare.disabled = true;
    const found = await this.app.run("Comparing controllers", "drive_compare", { motions: this.motions(), feet: this.feet.select.value as StartDrive["feet"] }).catch(() => null);
    this.compare.disabled = false;
    if (!found) return;
    this.showComparison(found.compared);
    this.compare.scrollIntoView({ block: "nearest" });
    this.failed.hidden = !Object.keys(found.failed).length;
    this.failed.replaceChildren(...Object.entries(found.failed).map(([way, why]) => el("li", { text: `${controllerName(way)}: ${why}.` })));
  }

  /** Stop this panel's stream; streams of other panels continue. */
  private stopStream(stream: number): void {
    this.app.connection.ask("live_stop", { stream }).catch(() => undefined);
  }

  private play(beside = false): void {
    this.wanted = true;
    this.beside = beside;
    this.starting?.abort(NEWER);
    this.startNewest();
  }

  /** Start a stream. Starts run one after the other, because the server plays the stream that was prepared last. */
  private async start(): Promise<void> {
    if (!this.wanted) return;
    const stop = (this.starting = new AbortController());
    // The current stream can be stopped, and the one being prepared with it.
    this.go.disabled = !this.started;
    const chosen = this.choices.map(({ select }) => select.value);
    const [source, ...name] = this.character.select.value.split(":");
    const motions = this.motions();
    try {
      const { way, beside } = this;
      const fields = { way, beside, stream: this.started?.started.stream ?? null, source: source as StartDrive["source"], name: name.join(":"), motions: way === "character" ? [] : motions, built: this.clips.select.value === "built", ...readForms(this.forms), look: this.look, carry: this.carry.select.value, feet: this.feet.select.value as StartDrive["feet"] };
      const started = await this.app.run("Preparing live control", "drive_start", fields, stop);
      if (this.wanted) {
        this.begin(started, beside);
        this.played = chosen;
      } else this.stopStream(started.started.stream);
    } catch {
      // The error was already shown.
      if (stop.signal.reason !== NEWER) this.keepPlaying();
    } finally {
      this.starting = null;
      this.go.disabled = false;
    }
  }

  /** Restore the controls to the current stream, after another choice has failed. */
  private keepPlaying(): void {
    this.wanted = this.started !== null;
    if (!this.started) return;
    this.choices.forEach(({ select }, k) => (select.value = this.played[k]!));
    this.showChoices();
  }

  /** Apply a new choice at once while a stream plays. The character continues from where it stands. */
  private restart(): void {
    if (this.wanted) this.play();
  }

  /** Ids of the clips from which controllers are built; none for generated ones. */
  private motions(): string[] {
    const own = this.clips.select.value === "open";
    return own ? [...this.app.motions.values()].filter(({ info }) => info.kind === "motion").map(({ info }) => info.motion) : [];
  }

  private begin(started: DriveStarted, beside: boolean): void {
    const fresh = !this.started;
    const { stage } = this.app;
    if (beside && this.setAside()) [this.request, this.place] = [NOTHING, null];
    this.cast.replaceControlled(started.started.stream);
    this.clear();
    this.started = started;
    if (fresh) {
      this.told = false;
      for (const { character } of this.app.motions.values()) this.hide(character);
      this.app.motionsChanged.emit();
      if (this.app.playback.playing) this.app.playback.toggle();
      stage.floor = 0;
      this.scene = new DriveScene(stage);
      document.body.classList.add("driving");
      this.input.attach();
      this.timer = window.setInterval(() => void this.showStatistics(), STATISTICS_MS);
    }
    if (!started.nodes.some(({ name }) => name === this.request.node)) this.request = { ...this.request, node: null, values: null };
    this.liveCharacter = this.newCharacter(started);
    this.showStarted(started);
    // The server may still have a request from before a reload.
    if (fresh) this.ask({});
  }

  /** Hide a character until driving ends. */
  private hide(character: { visible: boolean } | undefined): void {
    if (character?.visible) this.hiddenCharacters.push(character);
    if (character) character.visible = false;
  }

  private newCharacter(started: DriveStarted): LiveCharacter {
    const used = this.cast.colors();
    const color = used.has(COLORS[started.way]) ? freeColor(used) : COLORS[started.way];
    const character = new LiveCharacter(this.app.stage, this.app.connection, started.started, color, started.roles);
    character.drawn.on(({ info }) => character === this.liveCharacter && this.showState(info));
    return character;
  }

  /** Show what the controlled character can do. */
  private showStarted(started: DriveStarted): void {
    this.scene?.showGoal(this.request.point);
    const limits = [...(started.can_stop ? [] : [CANNOT_STOP]), ...started.limits];
    this.limits.hidden = !limits.length;
    this.limits.replaceChildren(...limits.map((text) => el("li", { text })));
    // Not every frame is drawn, but every update of the reachable area must be received.
    this.unlisten = this.app.connection.live.on(({ block, info }) => {
      if (block.id === started.started.stream && info["reach"]) this.reach = info["reach"] as [number, number][][];
    });
    this.go.textContent = "Stop";
    this.go.disabled = false;
    this.another.disabled = !this.cast.hasRoom;
    this.cast.show();
    this.showCommands();
  }

  private clear(): void {
    this.unlisten();
    this.reach = null;
    this.liveCharacter?.dispose();
    this.scene?.clearReach();
    this.target?.remove();
    this.liveCharacter = this.target = null;
  }

  private showState(info: Record<string, unknown>): void {
    // A gamepad may have stopped the stream while a frame was being drawn.
    if (!this.liveCharacter) return;
    const { stage } = this.app;
    const place = info["place"] as Place;
    if (!this.place) stage.focus(new THREE.Vector3(place[1], 0.9, place[2]), DRIVEN_RADIUS);
    else if (this.follow) stage.follow(new THREE.Vector3(place[1] - this.place[1], 0, place[2] - this.place[2]));
    this.place = place;
    this.keep.show(this.started?.started.stream ?? null, info["kept"] as number);
    this.scene?.stand(place);
    this.input.character = [place[1], place[2]];
    if (this.reach) this.scene?.showReach(this.reach);
    this.reach = null;
    const reached = info["reached"] as number | null;
    if (reached !== null && this.request.point) {
      this.request = { ...this.request, point: null, direction: place[0], stop: true };
      this.scene?.showGoal(null);
    }
    const { point, direction, stop } = this.request;
    this.scene?.showRequest(place, point ? Math.atan2(point[0] - place[1], point[1] - place[2]) : stop && this.started?.can_stop ? null : direction);
    this.scene?.showBox(this.node(), place);
    const [answer, waiting] = [info["answer"] as number | null, info["waiting"] as number | null];
    this.answer.textContent = waiting !== null ? `turning, ${waiting.toFixed(1)} s` : answer !== null ? `turned in ${answer.toFixed(1)} s` : "–";
    this.doing.textContent = this.doing.title = reached === null ? String(info["doing"]) : `Arrived after ${reached.toFixed(1)} s`;
  }

  private node(): DriveNode | null {
    return this.started?.nodes.find(({ name }) => name === this.request.node) ?? null;
  }

  private push(direction: number, fraction: number | null): void {
    const range = speedRange(this.started, this.node());
    const speed = range && fraction !== null ? Math.round(100 * (range[0] + fraction * (range[1] - range[0]))) / 100 : this.request.speed;
    if (this.speed && speed !== null && speed !== this.request.speed) this.speed.value = speed;
    this.ask({ direction, point: null, speed, stop: false, ...this.steerable() });
    this.scene?.showGoal(null);
  }

  private goTo(point: [number, number]): void {
    this.ask({ point, stop: false, ...this.steerable() });
    this.scene?.showGoal(point);
  }

  /** Cancel a chosen action that cannot turn, such as sitting, because the user wants to move. */
  private steerable(): Partial<DriveRequest> {
    const node = this.node();
    if (!node || node.ranges.some(({ name }) => name === "turn")) return {};
    this.request = { ...this.request, node: null, values: null };
    this.showCommands();
    return { node: null, values: null };
  }

  private choose(node: string | null): void {
    if (node !== null && !this.started?.nodes.some(({ name }) => name === node)) return;
    if (node !== null && node === this.request.node) this.ask({ node: null }); // play it again
    this.ask({ node, values: null });
    this.showCommands();
  }

  private ask(change: Partial<DriveRequest>): void {
    const values = change.values ? { ...this.request.values, ...change.values } : change.values;
    this.request = { ...this.request, ...change, ...(values ? { values } : {}), stream: this.started?.started.stream ?? null };
    this.app.connection.ask("drive_request", this.request).catch((error: unknown) => this.app.notices.error(messageOf(error)));
  }

  /** Show sliders and buttons for the commands of this character, apart from directions. */
  private showCommands(): void {
    this.target?.remove();
    this.target = null;
    const node = this.node();
    const { rows, speed } = commandControls(this.started, node, this.request, (change) => this.ask(change), (name) => this.choose(name));
    this.speed = speed;
    if (node?.at_point && this.place) this.aim();
    this.commands.hidden = !rows.length;
    this.commands.replaceChildren(el("h3", { text: "Command" }), ...rows,
      ...(node?.at_point ? [el("p", { class: "dim", text: "Drag the target. The box shows where the character can reach it." })] : []));
  }

  /** Show a ball in front of the character, which is its target. */
  private aim(): void {
    const [yaw, x, z] = this.place!;
    const at: [number, number, number] = this.request.target ?? [x + 0.6 * Math.sin(yaw), 1.4, z + 0.6 * Math.cos(yaw)];
    const moved = (target: [number, number, number]) => this.ask({ target });
    this.target = this.app.dragTarget({ at, plane: "view", moved, dropped: moved });
    this.ask({ target: at });
  }

  private showPad(name: string): void {
    this.pad.hidden = !name;
    this.pad.textContent = `${name} connected. Left stick: direction and speed. D-pad: direction. Face buttons: the first four actions. Start or Back: stop.`;
  }

  /** Show the last comparison apart from the turns that the user has driven. */
  private showComparison(ways: ControllerStatistics[]): void {
    this.compared.replaceChildren(...(ways.length ? [el("h3", { text: "Comparison" }), responseTable(ways)] : []));
  }

  private async showStatistics(): Promise<void> {
    const { connection } = this.app;
    try {
      const [{ ways, compared }, live] = await Promise.all([connection.ask("drive_statistics", {}), connection.ask("live_statistics", {})]);
      this.table.replaceChildren(responseTable(ways));
      this.showComparison(compared);
      const trip = live.round_trip_ms === null ? "" : `, latency ${metricText(live.round_trip_ms)} ms`;
      this.stream.textContent = this.started ? `${this.started.started.rate} Hz, ${live.sent} frames, ${live.dropped} dropped${trip}` : "";
    } catch {
      // It is tried again after a second.
    }
  }

  private listClips(wanted = this.clips.select.value): void {
    const { select } = this.clips;
    const n = [...this.app.motions.values()].filter(({ info }) => info.kind === "motion").length;
    const options: [string, string][] = [["walks", "generated walks"], ...(n ? [["open", n === 1 ? "the open clip" : `${n} open clips`] as [string, string]] : [])];
    if (this.hasGraph && this.way === "graph") options.push(["built", "the built graph"]);
    setOptions(select, options, options.some(([value]) => value === wanted) ? wanted : "walks");
    const upper: [string, string][] = [["", "its own"], ["sample", "carrying a box (generated)"], ...[...this.app.motions.values()].filter(({ info }) => info.kind === "motion").map(({ info }): [string, string] => [info.motion, info.name])];
    const carried = this.carry.select.value;
    setOptions(this.carry.select, upper, upper.some(([value]) => value === carried) ? carried : "");
    this.showChoices();
  }

  private get way(): ControllerKind {
    return this.wayChoice.select.value as ControllerKind;
  }

  private showChoices(): void {
    this.character.hidden = this.way !== "character";
    this.clips.hidden = this.way === "character";
    for (const [way, { element }] of Object.entries(this.forms)) element.hidden = way !== this.way;
    const { value } = this.clips.select;
    const text = this.clips.hidden ? this.abouts.get(this.character.select.value) ?? "" : value === "open" ? "The clips and their mirror images." : "";
    this.about.textContent = text && text[0]!.toUpperCase() + text.slice(1);
    this.about.hidden = !text;
    this.character.title = this.clips.title = text;
  }
}
