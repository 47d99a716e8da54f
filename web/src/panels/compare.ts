/** Compare panel: two motions side by side or overlaid, and cleanup with metrics before and after. */
import type { App, Panel, Shot } from "../app";
import { button, choice, el, setOptions } from "../dom";
import type { Placed } from "../messages";
import { metricText } from "../widgets/measures";
import { operationSection, resultParts } from "../widgets/operations";
import { slider } from "../widgets/slider";

type Layout = "apart" | "beside" | "over";

/** Distance in meters from which a motion counts as traveling. */
const MIN_TRAVEL = 0.5;

const LAYOUTS: [Layout, string][] = [["apart", "as in the scene"], ["beside", "side by side"], ["over", "aligned at this frame"]];

export function mount(app: App): Panel {
  let layout: Layout = "apart";
  let asked = 0;
  let open = true;
  const first = choice("A", [], "", () => {
    list();
    void arrange();
  });
  const second = choice("B", [], "", () => void arrange());
  const arrangement = choice("Position of B", LAYOUTS, layout, (value) => {
    layout = value as Layout;
    void arrange();
  });
  const distance = el("p", { class: "dim", aria: { live: "polite" } });
  const results = el("div", { aria: { live: "polite" } });
  let measured: string[] = [];
  const gap = slider({ label: "Spacing", title: "Distance between A and B", unit: "m", min: 0.5, max: 4, step: 0.1, value: 1.2, input: () => void arrange() });

  const shot = (id: string): Shot | undefined => app.motions.get(id);
  const arrange = async () => {
    const turn = ++asked;
    const [a, b] = [shot(first.select.value), shot(second.select.value)];
    gap.element.hidden = layout !== "beside";
    distance.textContent = "";
    const placing = open && a && b && layout !== "apart";
    if (!placing) {
      if (!app.held) return;
      reset();
      app.held = false;
      app.motionsChanged.emit();
      return;
    }
    app.held = true;
    if (layout === "beside") {
      await Promise.all([pose(a), pose(b)]);
      if (turn !== asked) return;
      reset();
      const [to, from] = [a.character.center(), b.character.center()];
      const [x, z] = across(a);
      place(b, { theta: 0, x: to.x - from.x + gap.value * x, z: to.z - from.z + gap.value * z });
      await bring(b);
      return;
    }
    const fields = { motion: b.info.motion, frame: app.frameOf(b), to: a.info.motion, to_frame: app.frameOf(a) };
    const found = await app.ask("align", fields).catch(() => null);
    // Another pair may have been chosen in the meantime. Until the reply arrives, everything stays in place.
    if (turn !== asked) return;
    reset();
    if (!found) return;
    place(b, found);
    void bring(b);
    distance.textContent = `The two frames differ by ${metricText(found.distance)} m when aligned.`;
  };
  const bring = (each: Shot) => app.bringIntoView(each).catch(() => undefined);
  /** Load the current frame of a clip that was just made. */
  const pose = async (each: Shot) => {
    const frame = app.frameOf(each);
    if (!each.character.posed) await each.frames.load(frame, frame + 1).catch(() => undefined);
    if (!each.character.posed) each.character.show(frame);
  };
  /** Turn the camera to A and B together. */
  const frameBoth = () => {
    const [a, b] = [shot(first.select.value), shot(second.select.value)];
    if (!a?.character.posed || !b?.character.posed) return;
    const middle = a.character.center().add(b.character.center()).multiplyScalar(0.5);
    app.stage.focus(middle, 0.62 * Math.max(a.info.stature, b.info.stature, 1) + 0.35 * a.character.center().distanceTo(b.character.center()));
  };
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
    // B is never the same clip as A.
    const others = options.filter(([id]) => id !== first.select.value);
    const b = others.some(([id]) => id === second.select.value) ? second.select.value : (others.at(-1)?.[0] ?? "");
    setOptions(second.select, others.length ? others : [["", "open another clip"]], b);
  };
  app.motionsChanged.on(() => {
    // Results of clips that were closed would be taken for those of A and B.
    if (!measured.every((id) => app.motions.has(id))) results.replaceChildren();
    list();
    void arrange();
  });
  list();
  gap.element.hidden = true;

  const measure = button("Measure quality", () => {
    const [a, b] = [shot(first.select.value), shot(second.select.value)];
    if (!a) return;
    measured = [a, b ?? a].map(({ info }) => info.motion);
    const fields = { operation: "measure", motion: (b ?? a).info.motion, other: b ? a.info.motion : null, settings: {} };
    app.run("Measuring quality", "operate", fields).then((done) => results.replaceChildren(...resultParts(app, done)), () => undefined);
  }, "Compare the quality metrics of A and B");

  const broken = repairHint(app);
  const element = el("div", { class: "panel" },
    el("section", {}, el("h3", { text: "Two clips" }), first, second, arrangement, gap.element, distance, el("div", { class: "row" }, measure)),
    results, broken.element,
    operationSection(app, "clean", ({ motions: [made] }, before) => {
      if (!made || !before || before === made.motion) return;
      first.select.value = before;
      list();
      second.select.value = made.motion;
      // Two bodies in the same place look like one: the difference is seen side by side.
      if (layout === "apart") arrangement.select.value = layout = "beside";
      for (const { info, character } of app.motions.values()) character.visible = info.motion === before || info.motion === made.motion;
      app.motionsChanged.emit();
      void arrange().then(() => frameBoth());
    }, true),
    operationSection(app, "grid"),
  );
  // Reset placements when leaving the panel; they would be misleading in other panels.
  const turnTo = (shown: boolean) => {
    open = shown;
    broken.draw();
    void arrange();
  };
  return { element, shown: () => turnTo(true), hidden: () => turnTo(false) };
}

/** Says that a clip has broken frames, which the cleanup leaves as they are. */
function repairHint(app: App): { element: HTMLElement; draw(): void } {
  const text = el("span");
  const link = button("Repair", () => app.openPanel.emit("edit:Repair"), "Open Edit › Repair", "link");
  const element = el("p", { class: "missed", hidden: true, aria: { live: "polite" } }, text, link, " them first, because the cleanup leaves them as they are.");
  let checked = "";
  const check = async () => {
    const info = app.selected?.info;
    const key = info?.kind === "motion" ? `${info.motion} ${info.revision}` : "";
    if (key === checked || !element.isConnected) return;
    checked = key;
    element.hidden = true;
    if (!info || !key) return;
    const { rows } = await app.connection.ask("operate", { operation: "check", motion: info.motion, settings: {} });
    const severe = rows.filter(([severity]) => severity === "severe").length;
    if (key !== checked || !severe) return;
    text.textContent = `Check finds ${severe} severe ${severe === 1 ? "problem" : "problems"} in ${info.name}, such as broken frames. `;
    element.hidden = false;
  };
  const draw = () => void check().catch(() => undefined);
  app.selectionChanged.on(draw);
  app.infoChanged.on(draw);
  return { element, draw };
}

/** The direction x, z perpendicular to a motion's travel; world X if it does not travel. */
function across({ character }: Shot): [number, number] {
  const travel = character.travel();
  const length = Math.hypot(...travel);
  return length < MIN_TRAVEL ? [1, 0] : [travel[1] / length, -travel[0] / length];
}
