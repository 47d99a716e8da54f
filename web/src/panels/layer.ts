/** Layers & gaze panel: the upper body or an arm of one motion on another, and a gaze that follows dragged points. */
import type { App, Panel } from "../app";
import { button, choice, el, setOptions } from "../dom";
import type { SpliceMotions, TransplantLimb } from "../messages";
import { metricText } from "../widgets/measures";
import { slider } from "../widgets/slider";
import { LookSection } from "./layer_look";

type What = "splice" | TransplantLimb["part"];

const WHAT: [What, string][] = [
  ["splice", "upper body, in sync"], ["upper_body", "upper body, own timing"], ["arms", "both arms"],
  ["left_arm", "left arm"], ["right_arm", "right arm"], ["head", "head"],
];
const POSTURES: [NonNullable<SpliceMotions["posture"]>, string][] = [
  ["pitch", "keep source lean"], ["full", "keep source posture"], ["none", "match the legs"],
];
const ALIGNS: [NonNullable<SpliceMotions["align"]>, string][] = [["loop", "loop source"], ["first_minimum", "start at first match"]];

export function mount(app: App): Panel {
  const looks = new LookSection(app);
  const element = el("div", { class: "panel" }, spliceSection(app), looks.element);
  return { element, shown: () => looks.shown(), hidden: () => looks.hidden() };
}

function spliceSection(app: App): HTMLElement {
  let what: What = "splice";
  let posture = POSTURES[0]![0];
  let align = ALIGNS[0]![0];
  const said = el("p", { class: "dim", aria: { live: "polite" } });
  const donor = choice("From", [], "", () => undefined, "Source: the clip that the body part is taken from");
  const base = choice("Apply to", [], "", () => undefined, "The clip that gets the body part and keeps its legs and path");
  const postures = choice("Posture", POSTURES, posture, (value) => (posture = value as typeof posture), "How the upper body stands on the legs: with the source's lean forward or back, with its whole posture, or as the legs' own clip does");
  const aligns = choice("Timing", ALIGNS, align, (value) => (align = value as typeof align), "Which part of the source is used: a cycle of it, looped, or all of it from the first step that matches");
  const at = slider({ label: "Start at", title: "Time in the result at which the body part starts", unit: "s", min: 0, max: 10, step: 0.05, value: 0 });
  const ease = slider({ label: "Fade-in", title: "How long the body part fades in", unit: "s", min: 0, max: 2, step: 0.05, value: 0.3 });
  const fit = () => {
    postures.hidden = aligns.hidden = what !== "splice";
    at.element.hidden = ease.element.hidden = what === "splice";
  };

  const list = () => {
    const options = [...app.motions.values()].filter(({ info }) => info.kind === "motion").map(({ info }): [string, string] => [info.motion, info.name]);
    const ids = options.map(([id]) => id);
    const keep = (value: string, other: number) => (ids.includes(value) ? value : (ids.at(other) ?? ""));
    setOptions(base.select, options, keep(base.select.value, 0));
    setOptions(donor.select, options, keep(donor.select.value, -1));
    go.disabled = ids.length < 2;
    go.title = ids.length < 2 ? "Open two clips first." : "Create the combined clip and play it";
  };
  const splice = async () => {
    const [lower, upper] = [base.select.value, donor.select.value];
    const done = await app.run("Combining clips", "layer_splice", { lower, upper, posture, align });
    const looped = done.looped ? ", looped" : "";
    said.textContent = `Step difference ${(100 * done.distance).toFixed(1)} cm; source used from ${done.start.toFixed(2)} to ${done.stop.toFixed(2)} s`
      + `${looped}; upper body rotated by ${metricText(Number(done.leaned.toFixed(1)))}° overall.`;
    return done.motion;
  };
  const transplant = async (part: TransplantLimb["part"]) => {
    const fields = { base: base.select.value, donor: donor.select.value, part, at: at.value, ease: ease.value };
    const done = await app.run("Combining clips", "layer_transplant", fields);
    said.textContent = done.notes.join(" ");
    return done.motion;
  };
  const go = button("Combine", () => {
    void (what === "splice" ? splice() : transplant(what)).then((info) => app.present(info), () => undefined);
  }, "", "primary");
  app.motionsChanged.on(list);
  app.infoChanged.on(list);
  list();
  fit();
  return el("section", {}, el("h3", { text: "Combine body parts" }),
    choice("Take", WHAT, what, (value) => {
      what = value as What;
      fit();
    }, "The body part to take from the source; in sync: aligned in time with the steps of the other clip"),
    donor, base, postures, aligns, at.element, ease.element, el("div", { class: "row" }, go), said);
}
