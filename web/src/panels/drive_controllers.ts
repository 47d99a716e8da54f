/** Controllers of the Drive panel: their names, settings and response times. */
import { el } from "../dom";
import { FORMS, type BlendTreeSettings, type ControllerStatistics, type GoToSettings, type GraphStreamSettings, type MatchingSettings, type StartDrive } from "../messages";
import { settingsForm, type Form } from "../widgets/form";
import { metricText } from "../widgets/measures";

export type ControllerKind = StartDrive["way"];

export const CONTROLLERS: [ControllerKind, string][] = [
  ["character", "Parametric graph"], ["graph", "Direction table"], ["matching", "Motion matching"], ["tree", "Blend tree"],
];
export const COLORS: Record<ControllerKind, string> = { character: "#7f9bc0", graph: "#79a884", matching: "#c98a5e", tree: "#a98bbd" };
export const FEET: [string, string][] = [["lock", "instantly"], ["clean", "best quality (adds delay)"], ["free", "off"]];
const MEANING = "Time from your input until the character has stayed within 15° of the new direction for 0.25 s. Includes display latency.";

export function controllerName(way: string): string {
  return CONTROLLERS.find(([each]) => each === way)?.[1] ?? way;
}

export interface ControllerForms {
  character: Form<GoToSettings>;
  graph: Form<GraphStreamSettings>;
  matching: Form<MatchingSettings>;
  tree: Form<BlendTreeSettings>;
}

/** Build the forms of all controllers. Direction and speed are requests; feet have a choice for all controllers. */
export function controllerForms(changed: () => void): ControllerForms {
  return {
    character: settingsForm<GoToSettings>(FORMS.GoToSettings, { skip: ["heading"], changed }),
    graph: settingsForm<GraphStreamSettings>(FORMS.GraphStreamSettings, { skip: ["direction", "speed", "feet", "label"], changed }),
    matching: settingsForm<MatchingSettings>(FORMS.MatchingSettings, { skip: ["direction", "speed", "feet"], changed }),
    tree: settingsForm<BlendTreeSettings>(FORMS.BlendTreeSettings, { skip: ["direction", "feet"], changed }),
  };
}

/** Read the settings of all controllers. */
export function readForms({ character, graph, matching, tree }: ControllerForms): Pick<StartDrive, keyof ControllerForms> {
  return { character: character.value, graph: graph.value, matching: matching.value, tree: tree.value };
}

export function responseTable(ways: ControllerStatistics[]): HTMLElement {
  const head = el("tr", {}, el("td"), ...["turns", "median", "slowest"].map((text) => el("th", { text })));
  // Only controllers of the same character at the same rate can be compared: they stand together.
  const groups = new Map<string, ControllerStatistics[]>();
  for (const each of ways) {
    const name = `${each.character}, ${metricText(each.rate)} Hz`;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const rows = [...groups].flatMap(([name, members]) => [
    el("tr", { class: "group" }, Object.assign(el("th", { text: name }), { colSpan: 4 })),
    ...members.map((each) => el("tr", {},
      el("th", { text: controllerName(each.way) }),
      el("td", { text: `${each.answered}/${each.answered + each.unanswered}` }),
      el("td", { text: seconds(each.median) }), el("td", { text: seconds(each.slowest) }))),
  ]);
  return el("div", { class: "table-box", title: MEANING }, el("table", { class: "measures" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

function seconds(value: number | null): string {
  return value === null ? "–" : `${value.toFixed(2)} s`;
}
