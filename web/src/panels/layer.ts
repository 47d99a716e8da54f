/** Layer: an upper body or an arm of one motion on another, and a gaze that follows what is dragged. */
import type { App, Panel } from "../app";
import { button, choice, el, setOptions } from "../dom";
import type { SpliceMotions, TransplantLimb } from "../messages";
import { figureText } from "../widgets/measures";
import { slider } from "../widgets/slider";
import { LookSection } from "./layer_look";

type What = "splice" | TransplantLimb["part"];

const WHAT: [What, string][] = [
  ["splice", "upper body, in sync"], ["upper_body", "upper body, as is"], ["arms", "both arms"],
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
  const donor = choice("From", [], "", () => undefined);
  const base = choice("Apply to", [], "", () => undefined);
  const postures = choice("Posture", POSTURES, posture, (value) => (posture = value as typeof posture));
  const aligns = choice("Timing", ALIGNS, align, (value) => (align = value as typeof align));
  const at = slider({ label: "Starts at", unit: "s", min: 0, max: 10, step: 0.05, value: 0 });
  const ease = slider({ label: "Fade-in", unit: "s", min: 0, max: 2, step: 0.05, value: 0.3 });
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
    go.title = ids.length < 2 ? "Open two motions first" : "Create the combined motion and play it";
  };
  const splice = async () => {
    const [lower, upper] = [base.select.value, donor.select.value];
    const done = await app.run("Splicing", "layer_splice", { lower, upper, posture, align });
    const looped = done.looped ? ", looped" : "";
    said.textContent = `Step difference ${(100 * done.distance).toFixed(1)} cm; source used from ${done.start.toFixed(2)} to ${done.stop.toFixed(2)} s`
      + `${looped}; upper body rotated by ${figureText(Number(done.leaned.toFixed(1)))}° overall.`;
    return done.motion;
  };
  const transplant = async (part: TransplantLimb["part"]) => {
    const fields = { base: base.select.value, donor: donor.select.value, part, at: at.value, ease: ease.value };
    const done = await app.run("Combining", "layer_transplant", fields);
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
    }),
    donor, base, postures, aligns, at.element, ease.element, el("div", { class: "row" }, go), said);
}
