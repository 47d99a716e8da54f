/** The examples of a gaze map: their directions, the region they span, and the cost of each. */
import type { App } from "../app";
import { button, check, choice, el, setOptions } from "../dom";
import { FORMS, type AuthoredFile, type GazeChart, type GazeExampleSettings } from "../messages";
import { settingsForm } from "../widgets/form";
import { operationSection } from "../widgets/operations";
import { slider } from "../widgets/slider";
import { ink, shown, sketch, type Pen } from "./author_canvas";

export interface GazeSection {
  element: HTMLElement;
  show(files: AuthoredFile[]): void;
}

const DEGREE = Math.PI / 180;
const HEIGHT = 170;

export function gazeSection(app: App, save: (kind: "gaze", name: string, replace: boolean) => Promise<void>): GazeSection {
  let chart: GazeChart | null = null;
  let chosen = -1;
  let result: string | null = null;
  let replace = false;
  const map = choice("Gaze map", [], "", (value) => void load(value), "Example clips, each looking in a known direction; they are blended to reach gaze targets");
  const note = el("p", { class: "dim", aria: { live: "polite" } });
  const summary = el("p", { class: "dim" });
  const warned = el("p", { class: "missed", aria: { live: "polite" } });
  const view = sketch("Gaze directions of the examples in the map; larger dots have larger errors", HEIGHT, (pen, width, height) => chart && draw(pen, width, height, chart, chosen));
  const remove = button("Remove", () => void change(() => app.ask("author_gaze_remove", { example: chosen }), true), "Remove the selected example from the map");
  const costs = button("Test accuracy", () => void change(() => app.run("Testing accuracy", "author_gaze_costs", {})), "For each example: the error of a map that is built without it");
  const yaw = slider({ label: "Yaw, left is +", unit: "°", min: -170, max: 170, step: 1, value: 30, input: () => warn("") });
  const pitch = slider({ label: "Pitch, up is +", unit: "°", min: -60, max: 60, step: 1, value: 0, input: () => warn("") });
  const form = settingsForm<GazeExampleSettings>(FORMS.GazeExampleSettings, { skip: ["start", "stop"] });
  const warn = (text: string) => (warned.textContent = text);
  const goal = () => ({ yaw: yaw.value * DEGREE, pitch: pitch.value * DEGREE });
  const selected = () => (app.selected?.info.kind === "motion" ? app.selected.info.motion : null);
  const add = button("Add example", () => {
    const motion = selected();
    if (!motion) return;
    const [start, stop] = app.playback.region ?? [null, null];
    void change(() => app.ask("author_gaze_add", { motion, ...goal(), settings: { ...form.value, start, stop } }));
  }, "Use the selected clip (or its marked range) as an example of looking in the direction above. The character must stand still before and after the look.");
  const aim = button("Test gaze", () => void look(), "Use this map to make the selected clip look in the direction above, starting at its midpoint");
  const name = el("input", { type: "text", value: "gaze", aria: { label: "Gaze map name" } });
  const keep = button("Save", () => void save("gaze", name.value, replace), "Save to the open folder as NAME.json");

  const take = (next: GazeChart) => {
    chart = next;
    if (chosen >= next.examples.length) chosen = -1;
    const known = next.examples.filter(({ cost }) => cost !== null);
    const worst = known.reduce<(typeof known)[number] | null>((most, each) => (!most || each.cost! > most.cost! ? each : most), null);
    note.textContent = `${next.examples.length} examples. ${worst ? `Most important: ${where(worst)}; without it, the head is off by ${shown(worst.cost!, "rad")}. ` : ""}${next.note}`;
    body.hidden = false;
    mark(chosen);
  };
  const mark = (index: number) => {
    chosen = index;
    warn("");
    const example = chart?.examples[index];
    summary.textContent = example
      ? `${example.name || "example"} at ${where(example)}: ${example.seconds.toFixed(2)} s, eyes rotated by ${shown(example.eyes, "rad")}${example.cost === null ? "" : `, error without it ${shown(example.cost, "rad")}`}`
      : "Click a dot to see the example.";
    remove.disabled = index < 1;
    if (example) {
      yaw.value = Math.round(example.yaw / DEGREE);
      pitch.value = Math.round(example.pitch / DEGREE);
    }
    view.draw();
  };
  const change = async (ask: () => Promise<GazeChart>, fewer = false) => {
    const next = await ask().catch(() => null);
    if (next && fewer) chosen = -1;
    if (next) take(next);
  };
  const load = async (value: string) => {
    if (!value) return;
    chosen = -1;
    await change(() => app.ask("author_gaze", value === "shipped" ? { shipped: true } : { path: value }));
    if (chart) await change(() => app.run("Testing accuracy", "author_gaze_costs", {}));
  };
  const look = async () => {
    const motion = selected();
    if (!motion) return;
    // Another look of the same motion replaces the previous result.
    const from = motion === result ? source : motion;
    const reply = await app.ask("author_gaze_aim", { motion: from, result, ...goal() }).catch(() => null);
    if (!reply) return;
    source = from;
    result = reply.motion.motion;
    warn(reply.note);
    if (app.motions.has(result)) app.add(reply.motion);
    else app.present(reply.motion);
  };
  let source = "";
  view.canvas.addEventListener("click", (event) => {
    if (!chart) return;
    const spots = places(chart, view.canvas.clientWidth, HEIGHT);
    const near = spots.map(([x, y], k) => ({ k, far: Math.hypot(x - event.offsetX, y - event.offsetY) })).sort((a, b) => a.far - b.far)[0];
    mark(near && near.far < 12 ? near.k : -1);
  });
  app.themes.changed.on(() => view.draw());
  const body = el("div", { class: "stack", hidden: true }, view.canvas, note, summary, el("div", { class: "row" }, costs, remove),
    yaw.element, pitch.element, form.element, el("div", { class: "row" }, add, aim), warned, operationSection(app, "gaze_map"),
    el("label", { class: "field" }, el("span", { text: "Name" }), name), el("div", { class: "row" }, keep, check("Overwrite", false, (on) => (replace = on), "Overwrite an existing file of this name")));
  return {
    element: el("section", {}, el("h3", { text: "Gaze map" }), map, body),
    show(files) {
      const options: [string, string][] = [["", "choose…"], ["shipped", "built-in"]];
      for (const { path, kind } of files) if (kind === "gaze") options.push([path, path]);
      setOptions(map.select, options, options.some(([value]) => value === map.select.value) ? map.select.value : "");
    },
  };
}

function where({ yaw, pitch }: { yaw: number; pitch: number }): string {
  return `yaw ${shown(yaw, "rad")}, pitch ${shown(pitch, "rad")}`;
}

/** Positions of the examples in the chart. Yaw increases to the left, as seen by the character. */
function places({ examples, region }: GazeChart, width: number, height: number): [number, number][] {
  return examples.map((each) => project([each.yaw, each.pitch], region, width, height));
}

function project([yaw, pitch]: [number, number], region: [number, number][], width: number, height: number): [number, number] {
  const wide = Math.max(...region.map(([y]) => Math.abs(y)), 0.1);
  const tall = Math.max(...region.map(([, p]) => Math.abs(p)), 0.1);
  return [width / 2 - (yaw / wide) * (width / 2 - 18), height / 2 - (pitch / tall) * (height / 2 - 22)];
}

function draw(pen: Pen, width: number, height: number, chart: GazeChart, chosen: number): void {
  pen.strokeStyle = ink.line;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(0, height / 2);
  pen.lineTo(width, height / 2);
  pen.moveTo(width / 2, 0);
  pen.lineTo(width / 2, height);
  pen.stroke();
  pen.beginPath();
  for (const corner of chart.region) pen.lineTo(...project(corner, chart.region, width, height));
  pen.closePath();
  pen.fillStyle = pen.strokeStyle = ink.accent;
  pen.globalAlpha = 0.1;
  pen.fill();
  pen.globalAlpha = 0.6;
  pen.stroke();
  pen.globalAlpha = 1;
  const most = Math.max(...chart.examples.map(({ cost }) => cost ?? 0), 1e-6);
  places(chart, width, height).forEach(([x, y], k) => {
    const cost = chart.examples[k]!.cost;
    pen.beginPath();
    pen.arc(x, y, cost === null ? 3 : 3 + 7 * (cost / most), 0, 2 * Math.PI);
    pen.fillStyle = k === chosen ? ink.bad : ink.accent;
    pen.globalAlpha = 0.65;
    pen.fill();
    pen.globalAlpha = 1;
  });
  pen.fillStyle = ink.dim;
  pen.textAlign = "left";
  pen.fillText("left", 4, height / 2 - 4);
  pen.textAlign = "right";
  pen.fillText("right", width - 4, height / 2 - 4);
  pen.textAlign = "center";
  pen.fillText("up", width / 2 + 12, 12);
}
