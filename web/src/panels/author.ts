/**
 * Characters panel: a character of nodes and edges, built from clips or recipes, with the costs of its transitions; and
 * gaze maps.
 */
import type { App, Panel } from "../app";
import { button, check, choice, download, el, setOptions } from "../dom";
import { FORMS, type Character, type CharacterNode, type Commands, type GaitSettings, type SampleSettings, type SeamSettings, type StreamSettings } from "../messages";
import { CheckedClips } from "../skeleton";
import { settingsForm } from "../widgets/form";
import { countMoves } from "../widgets/moves";
import { operationSection } from "../widgets/operations";
import { centimeters, shown } from "./author_canvas";
import { edgeSection, type EdgeSection } from "./author_edge";
import { gazeSection, type GazeSection } from "./author_gaze";
import { graphView, type Chosen, type GraphView } from "./author_graph";
import { factorOf, knob } from "./author_knob";
import { FEATURES, MOMENTS } from "./find_aim";

type Changing = "author_new" | "author_recipe" | "author_open_recipe" | "author_add" | "author_action" | "author_part" | "author_remove" | "author_disconnect" | "author_load";

/** Names of the changes in the history. */
const TITLES: Record<Changing, string> = {
  author_new: "New character", author_recipe: "Copy from a built-in character", author_open_recipe: "Build from a recipe", author_add: "Add node",
  author_action: "Add node", author_part: "Add sub-range", author_remove: "Remove node", author_disconnect: "Remove transition", author_load: "Load character",
};
const WALK_SECONDS = 20;
/** Descriptions of how a node is controlled in Drive, keyed by the server's name of its request function. */
const DRIVEN: Record<string, string> = { "by name": "controlled by these values", "at a point": "controlled by a target point" };

export function mount(app: App): Panel {
  const author = new Author(app);
  return { element: author.element, shown: () => void author.refresh(), take: (clips) => author.takeClips(clips) };
}

class Author {
  readonly element: HTMLElement;
  private character: Character = { name: "", nodes: [], edges: [], version: 0, note: "" };
  private chosen: Chosen = null;
  private replace = false;
  private readonly checked: CheckedClips;
  /** The motion that shows the chosen node. It is replaced when the node's sliders move. */
  private preview: { node: string; motion: string } | null = null;
  private asking = false;
  private readonly view: GraphView;
  private readonly edges: EdgeSection;
  private readonly gaze: GazeSection;
  private readonly begin = choice("Start from", [], "", (value) => void this.take(value), "Load a built-in character, a file or a recipe, add one node, or start with an empty character");
  private readonly name = el("input", { type: "text", value: "character", aria: { label: "Character name" } });
  private readonly note = el("p", { class: "dim", aria: { live: "polite" } });
  private readonly list = el("div", { class: "stack" });
  private readonly play = button("Preview", () => void this.walk(), `Create a ${WALK_SECONDS} s random walk through the character's nodes as a new clip`, "primary");
  private readonly detail = el("section", { hidden: true });
  private readonly clips = el("div", { class: "stack" });
  private readonly joint = choice("Joint", [], "", () => undefined, "The joint that reaches the target");
  /** The sliders of the node, and the number of the user action that produced the last motion. */
  private readonly knobs = el("div", { class: "stack" });
  private readonly moves = countMoves(this.knobs);
  private lastMove = -1;
  private readonly seams = settingsForm<SeamSettings>(FORMS.SeamSettings);
  private readonly sampling = settingsForm<SampleSettings>(FORMS.SampleSettings);
  private readonly playing = settingsForm<StreamSettings>(FORMS.StreamSettings);

  constructor(private readonly app: App) {
    this.checked = new CheckedClips(app, "author clips");
    this.view = graphView((chosen) => this.choose(chosen));
    this.edges = edgeSection(app, (character, edge) => {
      this.chosen = edge;
      this.edited(character, "Connect nodes");
    }, () => void this.walk());
    this.gaze = gazeSection(app, (kind, name, replace) => this.save(kind, name, replace));
    const save = button("Save", () => void this.save("character", this.name.value, this.replace), "Save to the open folder as NAME.json, with the motion data in a second file");
    this.element = el("div", { class: "panel" },
      el("section", {}, el("h3", { text: "Character" }), this.begin,
        el("details", { class: "folded" }, el("summary", { class: "dim", text: "Options for a new, empty character" }), this.seams.element),
        el("label", { class: "field" }, el("span", { text: "Name" }), this.name),
        this.view.canvas, this.note, this.list,
        el("details", { class: "folded" }, el("summary", { class: "dim", text: "Preview options" }), this.playing.element),
        el("div", { class: "row" }, this.play, save, button("Save recipe", () => void this.saveRecipe(), "Save the character's recipe as NAME.toml for editing"), check("Overwrite", false, (on) => (this.replace = on), "Overwrite existing files of this name")),
        el("details", { class: "folded" }, el("summary", { class: "dim", text: "Export for use without marey" }), this.sampling.element,
          el("div", { class: "row" },
            button("Export page", () => void this.exportAs("html"), "Download a standalone page where anyone can drive the character offline"),
            button("Export clips", () => void this.exportAs("glb"), "Download the clips (.glb) and the transition table (.json), for games and other programs")))),
      this.detail,
      this.addSection(),
      operationSection(app, "add_node", () => void this.refresh("Add node")),
      this.edges.element,
      this.gaze.element,
    );
    app.history.registerState("character", { read: () => this.character.version, write: (version) => this.restore(version as number) });
    app.themes.changed.on(() => this.view.draw());
    app.motionsChanged.on(() => this.listClips());
    app.selectionChanged.on(() => this.listClips());
    this.listClips();
  }

  /** Get the current state from the server, and the available recipes and files. */
  async refresh(title = ""): Promise<void> {
    const [character, sources] = await Promise.all([
      this.app.ask("author_show", {}).catch(() => null), this.app.ask("author_sources", {}).catch(() => null),
    ]);
    if (character) this.show(character);
    if (title) this.app.history.recordChange(title);
    else this.app.history.resetBaseline();
    if (!sources) return;
    const options: [string, string][] = [["", "choose…"], ["new", "empty character"]];
    for (const { name, nodes } of sources.recipes) {
      options.push([`recipe:${name}`, `built-in: ${name}`]);
      for (const node of nodes.length > 1 ? nodes : []) options.push([`node:${name}:${node}`, `   add "${node}" from ${name}`]);
    }
    for (const { path, kind } of sources.files) if (kind === "character") options.push([`file:${path}`, path]);
    for (const path of sources.recipe_files) options.push([`toml:${path}`, `recipe: ${path}`]);
    for (const path of sources.spaces) options.push([`space:${path}`, `add target control ${path}`]);
    setOptions(this.begin.select, options, "");
    this.gaze.show(sources.files);
  }

  private async take(value: string): Promise<void> {
    const [kind, name = "", node = ""] = value.split(":");
    this.begin.select.value = "";
    if (kind === "new") await this.change("author_new", { name: this.name.value || "character", settings: this.seams.value });
    else if (kind === "recipe") await this.change("author_recipe", { recipe: name }, "Building the character");
    else if (kind === "node") await this.change("author_recipe", { recipe: name, nodes: [node] }, "Building the node");
    else if (kind === "file") await this.change("author_load", { path: value.slice("file:".length) });
    else if (kind === "toml") await this.change("author_open_recipe", { path: value.slice("toml:".length) }, "Building the character");
    else if (kind === "space") await this.addSpace(value.slice("space:".length));
  }

  /** Add a target control that was saved in Find as a node. One that reaches places is aimed at a point. */
  private async addSpace(path: string): Promise<void> {
    const name = path.split("/").pop()!.replace(/\.npz$/, "").replaceAll("_", " ");
    await this.change("author_action", { name, path }, "Building the node");
  }

  private async saveRecipe(): Promise<void> {
    const saved = await this.app.ask("author_save_recipe", { name: this.name.value, replace: this.replace }).catch(() => null);
    if (!saved) return;
    this.app.notices.info(`Saved ${saved.files.join(", ")}`);
    await this.refresh();
  }

  private async change<K extends Changing>(command: K, fields: Commands[K]["fields"], work = "", report?: ReturnType<App["offerRetarget"]>): Promise<boolean> {
    const asked = work ? this.app.run(work, command, fields, undefined, report) : this.app.ask(command, fields);
    this.play.disabled = true;
    const next = (await asked.catch(() => null)) as Character | null;
    this.play.disabled = !(next ?? this.character).nodes.length;
    if (next) this.edited(next, TITLES[command]);
    return next !== null;
  }

  private edited(character: Character, title: string): void {
    this.show(character);
    this.app.history.recordChange(title);
  }

  /** Go back or forth to another state of the character. */
  private async restore(version: number): Promise<void> {
    // Before the first change, there was no character.
    if (version > 0) this.show(await this.app.ask("author_restore", { version }));
  }

  private show(character: Character): void {
    const fresh = character.name !== this.character.name;
    this.character = character;
    this.play.disabled = !character.nodes.length;
    if (fresh) this.name.value = character.name;
    if (this.chosen && !this.isThere(this.chosen)) this.chosen = null;
    const stuck = character.nodes.filter((node) => node.stuck).map((node) => node.name);
    this.note.textContent = [
      character.note,
      stuck.length ? `Dead end: ${stuck.join(", ")}. Add a transition out of ${stuck.length > 1 ? "each" : "it"} so that the character can keep moving.` : "",
    ].join(" ").trim();
    this.edges.show(character);
    this.choose(this.chosen);
  }

  private isThere(chosen: NonNullable<Chosen>): boolean {
    if ("node" in chosen) return this.character.nodes.some(({ name }) => name === chosen.node);
    return this.character.edges.some(({ source, target }) => source === chosen.source && target === chosen.target);
  }

  private choose(chosen: Chosen): void {
    this.chosen = chosen;
    this.view.show(this.character, chosen);
    const item = (text: string, which: NonNullable<Chosen>) => {
      const node = button(text, () => this.choose(which), "", "item");
      node.setAttribute("aria-current", String(JSON.stringify(which) === JSON.stringify(chosen)));
      return node;
    };
    this.list.replaceChildren(
      ...this.character.nodes.map(({ name }) => item(name, { node: name })),
      ...this.character.edges.map(({ source, target }) => item(`${source} → ${target}`, { source, target })),
    );
    if (chosen && "source" in chosen) this.edges.choose(chosen.source, chosen.target);
    this.showDetail();
  }

  private showDetail(): void {
    const { chosen } = this;
    this.detail.hidden = !chosen;
    if (!chosen) return;
    if ("node" in chosen) {
      const node = this.character.nodes.find(({ name }) => name === chosen.node);
      if (node) this.detail.replaceChildren(...this.nodeDetail(node));
      return;
    }
    const edge = this.character.edges.find(({ source, target }) => source === chosen.source && target === chosen.target)!;
    const rows: [string, string][] = [
      ["Thresholds", `accept costs below ${centimeters(edge.good)}, reject above ${centimeters(edge.bad)}`],
      ["Cost (lower is better)", `median ${centimeters(edge.median)}; every source motion has a transition that costs at most ${centimeters(edge.worst)}`],
      ["Reachable", `${Math.round(100 * edge.reachable)} % of the motions of ${edge.target} can follow (average of ${edge.samples} samples)`],
    ];
    this.detail.replaceChildren(
      el("h3", { text: `${edge.source} → ${edge.target}` }),
      el("dl", { class: "facts" }, ...rows.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })])),
      el("div", { class: "row" }, button("Remove", () => void this.change("author_disconnect", { source: edge.source, target: edge.target }), "Remove this transition")),
    );
  }

  private nodeDetail(node: CharacterNode): HTMLElement[] {
    const knobs = node.ranges.map((range) => knob(range, (range.low + range.high) / 2, () => void this.make(node, values())));
    const values = () => knobs.map((each) => each.value);
    this.knobs.replaceChildren(...knobs.map((each) => each.element));
    const partName = el("input", { type: "text", value: `${node.name} part`, aria: { label: "Sub-range name" } });
    const ends = node.ranges.map((range) => ({ range, low: end(range.low, range.unit, `${range.name} from`), high: end(range.high, range.unit, `${range.name} to`) }));
    const addPart = button("Add sub-range", () => {
      const low = ends.map(({ range, low: input }) => read(input, range.unit));
      const high = ends.map(({ range, high: input }) => read(input, range.unit));
      void this.change("author_part", { name: partName.value, of: node.name, low, high });
    }, "Add a node with the same motions but narrower parameter ranges");
    return [
      el("h3", { text: node.name }),
      el("p", { class: "dim", text: `${node.ranges.map((each) => `${each.name} ${shown(each.low, each.unit)} to ${shown(each.high, each.unit)}`).join(", ")}; about ${node.seconds.toFixed(2)} s; ${DRIVEN[node.request] ?? "custom control"}${node.of ? `; sub-range of ${node.of}` : ""}.` }),
      this.knobs,
      el("div", { class: "row" },
        button("Show motion", () => void this.make(node, values(), true), "Show the motion with these values"),
        button("Remove", () => void this.change("author_remove", { name: node.name }), "Remove this node and its transitions")),
      el("details", {}, el("summary", { text: "Sub-range" }), el("div", { class: "stack" }, partName,
        ...ends.map(({ range, low, high }) => el("div", { class: "field" }, el("span", { text: range.name }), low, high)),
        el("div", { class: "row" }, addPart))),
    ];
  }

  /** Generate the node's motion for these parameters. While one is being generated, only the newest values wait. */
  private async make(node: CharacterNode, parameters: number[], present = false): Promise<void> {
    this.waiting = { node, parameters, present };
    if (this.asking) return;
    this.asking = true;
    while (this.waiting) {
      const { node: which, parameters: values, present: isNew } = this.waiting;
      this.waiting = null;
      const result = this.preview?.node === which.name ? this.preview.motion : null;
      const move = this.moves.count;
      const fields = { node: which.name, parameters: values, result, merge_undo: move === this.lastMove };
      const info = await this.app.ask("author_motion", fields).catch(() => null);
      if (!info) break;
      this.lastMove = move;
      this.preview = { node: which.name, motion: info.motion };
      if (isNew || !this.app.motions.has(info.motion)) this.app.present(info);
      else this.app.add(info);
    }
    this.asking = false;
  }

  private waiting: { node: CharacterNode; parameters: number[]; present: boolean } | null = null;

  private addSection(): HTMLElement {
    const name = el("input", { type: "text", value: "walk", aria: { label: "Node name" } });
    const [said, gait, actions] = [el("div", { class: "stack", aria: { live: "polite" } }), el("div", { class: "stack" }), el("div", { class: "stack", hidden: true })];
    const form = settingsForm<GaitSettings>(FORMS.GaitSettings, { initial: { mirror: true } });
    let [speed, isAction, feature, moment] = [false, false, "position", "farthest"];
    const at = choice("At", MOMENTS, moment, (value) => (moment = value), "When the joint reaches the target");
    gait.append(check("Vary speed", speed, (on) => (speed = on), "Make speed a second parameter of the node, besides the turn"), form.element);
    actions.append(
      choice("Control", FEATURES, feature, (value) => {
        feature = value;
        this.joint.hidden = at.hidden = value !== "position";
      }, "What is controlled: where a joint ends up, or a property of the whole motion"), this.joint, at);
    const kind = choice("Type of clips", [["gait", "walks or runs"], ["action", "examples of one action"]], "gait", (value) => {
      isAction = value === "action";
      [gait.hidden, actions.hidden] = [isAction, !isAction];
    }, "Walks and runs are cut into gait cycles; examples of an action, such as punches, are used whole");
    const addNode = () => {
      const motions = [...this.clips.querySelectorAll<HTMLInputElement>("input:checked")].map((box) => box.value);
      const isPosition = feature === "position";
      const which = isPosition ? `position:${this.joint.select.value}@${moment}` : feature;
      said.replaceChildren();
      const done = isAction
        ? this.change("author_action", { name: name.value, motions, feature: which, at_point: isPosition }, "Registering the clips")
        : this.change("author_add", { name: name.value, motions, speed, settings: form.value }, "Cutting gait cycles", this.app.offerRetarget(() => {
          form.set({ ...form.value, retarget: true });
          addNode();
        }));
      void done.then((added) => {
        if (!added) return;
        const made = this.character.nodes.at(-1)!.name;
        const next = button(`Next: connect ${made} to itself`, () => this.edges.startLoop(made), "Find transitions from the node to itself, so that the character can keep moving");
        said.replaceChildren(el("p", { text: this.character.note }), el("div", { class: "row" }, next));
        said.scrollIntoView({ block: "center" });
      });
    };
    const add = button("Add node", addNode, "Make a node from the checked clips", "primary");
    return el("section", {}, el("h3", { text: "Add a node from clips" }),
      el("label", { class: "field" }, el("span", { text: "Name" }), name), this.clips, kind, gait, actions,
      el("div", { class: "row" }, add), said);
  }

  private listClips(): void {
    const motions = [...this.app.motions.values()].filter(({ info }) => info.kind === "motion");
    this.clips.replaceChildren(...motions.map(({ info }) => {
      const row = check(info.name, this.checked.has(info), (on) => this.checked.set(info.motion, on));
      row.querySelector("input")!.value = info.motion;
      return row;
    }));
    const roles = [...new Set(motions.flatMap(({ info }) => Object.keys(info.roles)))];
    const hand = this.joint.select.value || roles.find((role) => role === "right_hand") || roles[0] || "";
    setOptions(this.joint.select, roles.map((role): [string, string] => [role, role.replaceAll("_", " ")]), hand);
    if (!motions.length) this.clips.replaceChildren(el("p", { class: "dim", text: "First open clips of walking or running along curves." }));
    Object.assign(this.clips.style, { maxHeight: "160px", overflowY: "auto", gap: "0" });
  }

  /** Use these open clips and no others. */
  takeClips(motions: readonly string[]): void {
    this.checked.choose(motions);
    this.listClips();
  }

  private async walk(): Promise<void> {
    const stuck = this.character.nodes.find((node) => node.stuck)?.name;
    const report = (text: string) => (stuck ? this.app.notices.ask(text, [[`Connect ${stuck} to itself`, () => this.edges.startLoop(stuck)]], true) : this.app.notices.error(text));
    const info = await this.app.run("Building the preview", "author_walk", { seconds: WALK_SECONDS, seed: Math.floor(Math.random() * 1e6), settings: this.playing.value }, undefined, report).catch(() => null);
    if (info) this.app.present(info);
  }

  private async exportAs(format: "html" | "glb"): Promise<void> {
    const name = this.name.value || "character";
    const exported = await this.app.run("Exporting the character", "author_export", { format, name, settings: this.sampling.value }).catch(() => null);
    if (!exported) return;
    for (const { url, name } of exported.files) download(url, name);
    this.app.notices.info(`Exported ${exported.files.map((file) => file.name).join(", ")} with ${exported.clips} clips`);
  }

  private async save(kind: "character" | "gaze", name: string, replace: boolean): Promise<void> {
    const saved = await this.app.ask("author_save", { kind, name, replace }).catch(() => null);
    if (!saved) return;
    this.app.notices.info(`Saved ${saved.files.join(", ")}`);
    await this.refresh();
  }
}

/** Create a number field for one end of a range; angles are in degrees. */
function end(value: number, unit: string, label: string): HTMLInputElement {
  return el("input", { type: "number", value: String(Number((value * factorOf({ unit })).toPrecision(4))), step: "any", aria: { label } });
}

function read(input: HTMLInputElement, unit: string): number {
  return (Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : 0) / factorOf({ unit });
}
