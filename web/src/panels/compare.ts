/** Compare panel: two motions side by side or overlaid, and cleanup with metrics before and after. */
import type { App, Panel, Shot } from "../app";
import { button, check, choice, el, setOptions, visible } from "../dom";
import { FORMS, type CleanDone, type CleanSettings, type Placed } from "../messages";
import { settingsForm } from "../widgets/form";
import { metricText, measureTable } from "../widgets/measures";
import { slider } from "../widgets/slider";
import { step } from "../history";

type Layout = "apart" | "beside" | "over";

/** Distance in meters from which a motion counts as traveling. */
const MIN_TRAVEL = 0.5;

const LAYOUTS: [Layout, string][] = [["apart", "as recorded"], ["beside", "side by side"], ["over", "aligned at this frame"]];

export function mount(app: App): Panel {
  let layout: Layout = "apart";
  let asked = 0;
  let open = true;
  const first = choice("A", [], "", () => arrange());
  let chosen = false;
  const second = choice("B", [], "", () => {
    chosen = true;
    void arrange();
  });
  const arrangement = choice("Position of B", LAYOUTS, layout, (value) => {
    layout = value as Layout;
    void arrange();
  });
  const distance = el("p", { class: "dim", aria: { live: "polite" } });
  const results = el("div", { aria: { live: "polite" } });
  const gap = slider({ label: "Spacing", title: "Distance between A and B", unit: "m", min: 0.5, max: 4, step: 0.1, value: 1.2, input: () => void arrange() });

  const shot = (id: string): Shot | undefined => app.motions.get(id);
  const arrange = async () => {
    const turn = ++asked;
    const [a, b] = [shot(first.select.value), shot(second.select.value)];
    gap.element.hidden = layout !== "beside";
    distance.textContent = "";
    if (!open || !a || !b || a === b || layout === "apart") {
      reset();
      return;
    }
    if (layout === "beside") {
      reset();
      const [to, from] = [a.character.center(), b.character.center()];
      const [x, z] = across(a);
      place(b, { theta: 0, x: to.x - from.x + gap.value * x, z: to.z - from.z + gap.value * z });
      bring(b);
      return;
    }
    const fields = { motion: b.info.motion, frame: app.frameOf(b), to: a.info.motion, to_frame: app.frameOf(a) };
    const found = await app.ask("align", fields).catch(() => null);
    // Another pair may have been chosen in the meantime. Until the reply arrives, everything stays in place.
    if (turn !== asked) return;
    reset();
    if (!found) return;
    place(b, found);
    bring(b);
    distance.textContent = `The two frames are ${metricText(found.distance)} m apart.`;
  };
  const bring = (each: Shot) => void app.bringIntoView(each).catch(() => undefined);
  const reset = () => {
    for (const each of app.motions.values()) place(each, { theta: 0, x: 0, z: 0 });
  };
  const place = (each: Shot, { theta, x, z }: Omit<Placed, "distance">) => {
    each.character.group.rotation.y = theta;
    each.character.group.position.set(x, 0, z);
    app.stage.invalidate();
  };

  const list = () => {
    const options = [...app.motions.values()].map(({ info }): [string, string] => [info.motion, info.name]);
    const ids = options.map(([id]) => id);
    const keep = (value: string, other: number) => (ids.includes(value) ? value : (ids.at(other) ?? ""));
    setOptions(first.select, options, keep(first.select.value, 0));
    const [a, b] = [first.select.value, keep(second.select.value, -1)];
    // By default choose two different motions, if there are two.
    setOptions(second.select, options, a === b && !chosen ? (ids.at(-1) ?? "") : b);
  };
  app.motionsChanged.on(() => {
    list();
    void arrange();
  });
  list();
  gap.element.hidden = true;

  const measure = button("Measure quality", () => {
    const [a, b] = [shot(first.select.value), shot(second.select.value)];
    if (!a || !b) return;
    const against = a === b ? null : a.info.motion;
    app.run("Measuring quality", "measure", { motion: b.info.motion, against }).then(({ measures }) => {
      const headings = { value: against ? "B" : "value", against: against ? "A" : null };
      results.replaceChildren(measureTable(measures, headings));
    }, () => undefined);
  }, "Compare the quality metrics of A and B");

  const element = el("div", { class: "panel" },
    el("section", {}, el("h3", { text: "Two clips" }), first, second, arrangement, gap.element, distance, el("div", { class: "row" }, measure)),
    cleanSection(app, results, (a, b) => {
      first.select.value = a;
      second.select.value = b;
      void arrange();
    }),
    results,
  );
  // Reset placements when leaving the panel; they would be misleading in other panels.
  const turnTo = (shown: boolean) => {
    open = shown;
    void arrange();
  };
  return { element, shown: () => turnTo(true), hidden: () => turnTo(false) };
}

/** The direction x, z perpendicular to a motion's travel; world X if it does not travel. */
function across({ character }: Shot): [number, number] {
  const travel = character.travel();
  const length = Math.hypot(...travel);
  return length < MIN_TRAVEL ? [1, 0] : [travel[1] / length, -travel[0] / length];
}

function cleanSection(app: App, results: HTMLElement, compare: (a: string, b: string) => void): HTMLElement {
  const options = { as_new: true };
  const undo = button("Undo cleanup", () => void step(app, "undo"), "Undo the last change to the selected clip (Ctrl+Z)");
  const form = settingsForm<CleanSettings>(FORMS.CleanSettings);
  const clean = button("Clean up", () => {
    const before = app.selected;
    if (!before) return;
    const { motion } = before.info;
    app.run("Cleaning up contacts", "clean", { motion, ...options, settings: form.value }).then((done) => {
      const added = done.motion.motion !== motion;
      if (added) app.add(done.motion);
      else app.update(done.motion);
      results.replaceChildren(summary(done), measureTable(done.measures, { value: "after", against: "before" }));
      if (added) compare(motion, done.motion.motion);
    }, () => undefined);
  }, "Remove foot sliding: lock the feet to their contacts", "primary");
  const which = el("p", { class: "dim" });
  const draw = () => {
    const name = app.selected?.info.name;
    which.textContent = name === undefined ? "Select a clip to clean up." : `Selected clip: ${visible(name)}`;
    clean.disabled = app.selected?.info.kind !== "motion";
    undo.disabled = !app.selected?.info.undo;
  };
  app.selectionChanged.on(draw);
  app.infoChanged.on(draw);
  draw();
  return el("section", {}, el("h3", { text: "Clean up contacts" }), which,
    check("As a new clip", options.as_new, (on) => (options.as_new = on), "Keep the original and add the result to the clips"),
    form.element,
    el("div", { class: "row" }, clean, undo),
  );
}

function summary(done: CleanDone): HTMLElement {
  const text = `${done.plants} foot plants locked; max residual ${metricText(1000 * done.residue_max)} mm, `
    + `max limb stretch ${metricText(100 * done.limb_scaling_max)} %, max body shift ${metricText(100 * done.shift_max)} cm.`;
  return el("p", { text });
}
