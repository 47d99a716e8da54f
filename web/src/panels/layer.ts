/** Layers & gaze panel: the upper body or an arm of one motion on another, and a gaze that follows dragged points. */
import type { App, Panel } from "../app";
import { button, choice, el, setOptions } from "../dom";
import { FORMS, type SpliceSettings, type TransplantLimb, type TransplantSettings } from "../messages";
import { settingsForm } from "../widgets/form";
import { metricText } from "../widgets/measures";
import { LookSection } from "./layer_look";

type What = "splice" | TransplantLimb["part"];

const WHAT: [What, string][] = [
  ["splice", "upper body, in sync"], ["upper_body", "upper body, own timing"], ["arms", "both arms"],
  ["left_arm", "left arm"], ["right_arm", "right arm"], ["head", "head"],
];
const TEXTS: Record<string, [string, string][]> = {
  posture: [["pitch", "keep source lean"], ["full", "keep source posture"], ["", "match the legs"]],
  align: [["loop", "loop source"], ["first_minimum", "start at first match"]],
};

export function mount(app: App): Panel {
  const looks = new LookSection(app);
  const element = el("div", { class: "panel" }, spliceSection(app), looks.element);
  return { element, shown: () => looks.shown(), hidden: () => looks.hidden() };
}

function spliceSection(app: App): HTMLElement {
  let what: What = "splice";
  const said = el("p", { class: "dim", aria: { live: "polite" } });
  const donor = choice("From", [], "", () => undefined, "Source: the clip that the body part is taken from");
  const base = choice("Apply to", [], "", () => undefined, "The clip that gets the body part and keeps its legs and path");
  const synced = settingsForm<SpliceSettings>(FORMS.SpliceSettings, { choices: TEXTS });
  const timed = settingsForm<TransplantSettings>(FORMS.TransplantSettings);
  const fit = () => {
    synced.element.hidden = what !== "splice";
    timed.element.hidden = what === "splice";
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
    const done = await app.run("Combining clips", "layer_splice", { lower, upper, settings: synced.value });
    const looped = done.looped ? ", looped" : "";
    said.textContent = `Step difference ${(100 * done.distance).toFixed(1)} cm; source used from ${done.start.toFixed(2)} to ${done.stop.toFixed(2)} s`
      + `${looped}; upper body rotated by ${metricText(Number(done.leaned.toFixed(1)))}° overall.`
      + (done.warning ? ` Note: ${done.warning}.` : "");
    return done.motion;
  };
  const transplant = async (part: TransplantLimb["part"]) => {
    const fields = { base: base.select.value, donor: donor.select.value, part, settings: timed.value };
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
    donor, base, synced.element, timed.element, el("div", { class: "row" }, go), said);
}
