/** Connect two nodes: shows the transition costs, the thresholds, and which motions can follow which. */
import type { App } from "../app";
import { button, choice, el, setOptions } from "../dom";
import { FORMS, type Character, type CharacterNode, type CompareSettings, type CostChart, type TriedEdge } from "../messages";
import { settingsForm } from "../widgets/form";
import { slider } from "../widgets/slider";
import { centimeters, ink, shown, sketch, type Pen } from "./author_canvas";

export interface EdgeSection {
  element: HTMLElement;
  show(character: Character): void;
  choose(source: string, target: string): void;
  /** Find the transitions from a node to itself; the user connects it then. */
  startLoop(node: string): void;
}

/** `changed` is called after nodes were connected; `preview` plays the character. */
export function edgeSection(app: App, changed: (character: Character, edge: { source: string; target: string }) => void, preview: () => void): EdgeSection {
  let character: Character | null = null;
  let chart: CostChart | null = null;
  let tried: TriedEdge | null = null;
  let asked = 0;
  const from = choice("From node", [], "", () => forget());
  const to = choice("To node", [], "", () => forget());
  const compare = button("Find transitions", () => void run(), "Sample motions of both nodes and find the best transition for each pair", "primary");
  const form = settingsForm<CompareSettings>(FORMS.CompareSettings);
  const note = el("p", { class: "dim", aria: { live: "polite" } });
  /** Says that nodes were connected, below the buttons that did it. */
  const done = el("p", { hidden: true, aria: { live: "polite" } });
  const next = el("p", { aria: { live: "polite" } });
  const connect = button("Connect", () => void join(null), "Add the transition to the character with the thresholds above", "primary");
  const part = button("Connect a sub-range", () => void join(`${from.select.value} part`), "Make a separate node of the source motions that have a transition, and connect only that node");
  const good = slider({ label: "Accept costs below", title: "Transitions that cost less are accepted; lower = stricter. A motion with a cost between the two limits can follow only if its parameters lie within the range of the accepted motions.", unit: "cm", min: 0.5, max: 30, step: 0.01, value: 10, input: () => keepOrder("good") });
  const bad = slider({ label: "Reject costs above", title: "Transitions that cost more are never used; lower = stricter", unit: "cm", min: 0.5, max: 30, step: 0.01, value: 15, input: () => keepOrder("bad") });
  const sample = slider({ label: "Source motion to preview", title: "Number of the source motion whose possible successors are shown", min: 0, max: 59, step: 1, value: 0, input: () => void attempt() });
  const histogram = sketch("Histogram: number of motion pairs by transition cost", 120, (pen, width, height) => chart && drawCosts(pen, width, height, chart, good.value / 100, bad.value / 100));
  const boxes = sketch("Target motions that can follow the previewed source motion, and their range", 150, (pen, width, height) => {
    const target = nodeOf(to.select.value);
    if (tried && target) drawBox(pen, width, height, target, tried, good.value / 100, bad.value / 100);
  });
  const caption = el("p", { class: "dim" });
  const costs = el("div", { class: "stack", hidden: true }, histogram.canvas, good.element, bad.element, note, next,
    el("div", { class: "row" }, connect, part), done, sample.element, boxes.canvas, caption);

  const nodeOf = (name: string): CharacterNode | undefined => character?.nodes.find((node) => node.name === name);
  const forget = () => {
    chart = tried = null;
    costs.hidden = true;
  };
  const say = (text: string) => {
    done.textContent = text;
    done.hidden = !text;
  };
  const keepOrder = (moved: "good" | "bad") => {
    if (good.value > bad.value) (moved === "good" ? bad : good).value = (moved === "good" ? good : bad).value;
    histogram.draw();
    void attempt();
  };
  const run = async () => {
    const ends = { source: from.select.value, target: to.select.value };
    const found = await app.run("Finding transitions", "author_compare", { ...ends, settings: form.value }).catch(() => null);
    if (!found) return;
    say("");
    chart = found;
    good.value = roundedUp(found.good);
    bad.value = roundedUp(found.bad);
    costs.hidden = false;
    histogram.draw();
    await attempt();
    next.hidden = false;
    connect.scrollIntoView({ block: "center" });
  };
  /** Preview the thresholds. Replies to older requests are ignored. */
  const attempt = async () => {
    if (!chart) return;
    const turn = ++asked;
    const fields = { source: chart.source, target: chart.target, good: good.value / 100, bad: bad.value / 100, sample: sample.value };
    const found = await app.connection.ask("author_try", fields).catch((error: Error) => {
      note.textContent = error.message;
      return null;
    });
    if (!found || turn !== asked) return;
    tried = found;
    const fractions = `${Math.round(100 * found.accepted)} % of all pairs accepted, ${Math.round(100 * found.rejected)} % rejected. `;
    note.textContent = fractions + (found.stuck ? found.note : "All source motions can transition to the target.");
    connect.disabled = found.stuck > 0;
    next.textContent = found.stuck ? "Next: raise the limits until Connect can be pressed, or connect a sub-range." : "Next: press Connect. The nodes are not connected until then.";
    part.hidden = !found.stuck;
    const source = nodeOf(chart.source);
    const at = found.at.map((value, k) => `${source?.ranges[k]?.name} ${shown(value, source?.ranges[k]?.unit ?? "")}`).join(", ");
    caption.textContent = `Each dot is a motion of ${chart.target} after ${chart.source} with ${at} (filled: accepted, crossed out: rejected). Motions inside the box can follow.`;
    boxes.draw();
  };
  const join = async (partName: string | null) => {
    if (!chart) return;
    const fields = { source: chart.source, target: chart.target, good: good.value / 100, bad: bad.value / 100, part: partName };
    say("");
    connect.disabled = part.disabled = true;
    const connected = await app.run("Connecting the nodes", "author_connect", fields).catch(() => null);
    connect.disabled = (tried?.stuck ?? 0) > 0;
    part.disabled = false;
    if (!connected) return;
    next.hidden = true;
    changed(connected, { source: fields.source, target: fields.target });
    const stuck = connected.nodes.some((node) => node.stuck);
    say(`${connected.note} ${stuck ? "Some nodes are still dead ends; see Character above." : "The character can move now: preview it, or start it in Drive."}`);
    if (!stuck) done.append(" ", button("Next: Preview", preview, "Create a random walk through the nodes of the character", "primary"));
    done.scrollIntoView({ block: "nearest" });
  };

  app.themes.changed.on(() => {
    histogram.draw();
    boxes.draw();
  });
  const element = el("section", {}, el("h3", { text: "Connect" }), from, to, form.element, el("div", { class: "row" }, compare), costs);
  const choose = (source: string, target: string) => {
    if (from.select.value === source && to.select.value === target) return;
    from.select.value = source;
    to.select.value = target;
    forget();
  };
  return {
    element, choose,
    startLoop(node) {
      choose(node, node);
      element.scrollIntoView({ block: "start" });
      void run();
    },
    show(next) {
      character = next;
      const options = next.nodes.map(({ name }): [string, string] => [name, name]);
      const keep = (value: string) => (options.some(([name]) => name === value) ? value : (options[0]?.[0] ?? ""));
      const before = `${from.select.value}\n${to.select.value}`;
      setOptions(from.select, options, keep(from.select.value));
      setOptions(to.select, options, keep(to.select.value));
      compare.disabled = !options.length;
      if (before !== `${from.select.value}\n${to.select.value}`) forget();
    },
  };
}

/** Convert meters to centimeters, rounded up to hundredths: a threshold must not become too low by rounding. */
function roundedUp(meters: number): number {
  return Math.ceil(1e4 * meters - 1e-6) / 100;
}

function drawCosts(pen: Pen, width: number, height: number, chart: CostChart, good: number, bad: number): void {
  const [left, bottom] = [8, height - 18];
  const across = (cost: number) => left + ((width - 2 * left) * Math.min(cost, chart.top)) / chart.top;
  const most = Math.max(1, ...chart.counts);
  const step = chart.top / chart.counts.length;
  chart.counts.forEach((count, k) => {
    const middle = (k + 0.5) * step;
    pen.fillStyle = middle <= good ? ink.accent : middle > bad ? ink.bad : ink.dim;
    pen.globalAlpha = 0.75;
    const tall = ((bottom - 16) * count) / most;
    pen.fillRect(across(k * step), bottom - tall, Math.max(1, across((k + 1) * step) - across(k * step) - 1), tall);
  });
  pen.globalAlpha = 1;
  // The cost of each source sample's best transition; `good` must be at least the largest.
  pen.fillStyle = ink.text;
  for (const cost of chart.best) pen.fillRect(across(cost), bottom, 1, 4);
  for (const [value, color, text] of [[good, ink.accent, "accept"], [bad, ink.bad, "reject"]] as const) {
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(across(value), 12);
    pen.lineTo(across(value), bottom);
    pen.stroke();
    pen.textAlign = text === "accept" ? "right" : "left";
    pen.textBaseline = "top";
    pen.fillText(text, across(value) + (text === "accept" ? -3 : 3), 2);
  }
  pen.fillStyle = ink.dim;
  pen.textBaseline = "alphabetic";
  pen.textAlign = "left";
  pen.fillText("0", left, height - 3);
  pen.textAlign = "right";
  pen.fillText(centimeters(chart.top), width - left, height - 3);
}

/** Plot the target's samples by their first two parameters; if there is only one parameter, by that and the cost. */
function drawBox(pen: Pen, width: number, height: number, target: CharacterNode, tried: TriedEdge, good: number, bad: number): void {
  const [first, second] = target.ranges;
  if (!first) return;
  const top = Math.max(...tried.costs, bad);
  const spot = (low: number, high: number, value: number, size: number) => 12 + ((size - 24) * (value - low)) / Math.max(high - low, 1e-9);
  const x = (value: number) => spot(first.low, first.high, value, width);
  const y = (value: number) => height - (second ? spot(second.low, second.high, value, height) : spot(0, top, value, height));
  if (tried.low && tried.high) {
    const [a, b] = second ? [y(tried.high[1]!), y(tried.low[1]!)] : [y(good), y(0)];
    pen.fillStyle = pen.strokeStyle = ink.accent;
    pen.globalAlpha = 0.14;
    pen.fillRect(x(tried.low[0]!), a, Math.max(1, x(tried.high[0]!) - x(tried.low[0]!)), Math.max(1, b - a));
    pen.globalAlpha = 1;
    pen.strokeRect(x(tried.low[0]!), a, Math.max(1, x(tried.high[0]!) - x(tried.low[0]!)), Math.max(1, b - a));
  }
  tried.points.forEach((point, k) => {
    const cost = tried.costs[k]!;
    const [px, py] = [x(point[0]!), y(second ? point[1]! : cost)];
    pen.fillStyle = pen.strokeStyle = cost <= good ? ink.accent : cost > bad ? ink.bad : ink.dim;
    pen.lineWidth = 1;
    pen.beginPath();
    if (cost > bad) {
      pen.moveTo(px - 2, py - 2);
      pen.lineTo(px + 2, py + 2);
      pen.moveTo(px - 2, py + 2);
      pen.lineTo(px + 2, py - 2);
      pen.stroke();
    } else {
      pen.arc(px, py, 2, 0, 2 * Math.PI);
      if (cost <= good) pen.fill();
      else pen.stroke();
    }
  });
  pen.fillStyle = ink.dim;
  pen.textBaseline = "alphabetic";
  pen.textAlign = "right";
  pen.fillText(`${first.name} →`, width - 4, height - 3);
  pen.textAlign = "left";
  pen.fillText(`↑ ${second ? second.name : "cost"}`, 4, 11);
}
