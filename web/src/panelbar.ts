/** The tabs on the right. A panel is built when its tab is opened for the first time. */
import { messageOf, type App, type Panel } from "./app";
import { EXAMPLES } from "./demos";
import { button, el } from "./dom";
import { saveTabState } from "./tab_state";
import { PANELS, type PanelEntry } from "./panels";

/** What a panel is for, and an example that a press of a button does. */
function introduction(app: App, { name, intro, example }: PanelEntry): HTMLElement {
  const run = EXAMPLES[name];
  const go = run && button("Try it", () => void run(app).catch((error: unknown) => app.notices.error(messageOf(error))), "Try this with generated clips", "link");
  return el("div", { class: "intro" }, el("p", { text: intro }), el("p", {}, example, " ", go));
}

/** `first` is the name of the panel to show first, if it exists. */
export function panelbar(host: HTMLElement, app: App, known: readonly string[], first = ""): void {
  const tabs = el("div", { class: "tabs", role: "tablist", aria: { label: "Panels" } });
  const body = el("div", { class: "tab-body" });
  const built = new Map<string, Panel>();
  let current = "";
  const open = (name: string, focus: boolean) => {
    const entry = PANELS.find((each) => each.name === name);
    if (!entry || name === current) return;
    built.get(current)?.hidden?.();
    let panel = built.get(name);
    if (!panel) {
      panel = entry.mount(app);
      panel.element.setAttribute("role", "tabpanel");
      panel.element.prepend(introduction(app, entry));
      panel.element.setAttribute("aria-label", entry.title);
      built.set(name, panel);
    }
    current = name;
    saveTabState({ panel: name });
    body.replaceChildren(panel.element);
    host.scrollTop = body.scrollTop = 0;
    for (const tab of tabs.querySelectorAll<HTMLElement>("[role=tab]")) {
      const here = tab.dataset["panel"] === name;
      tab.setAttribute("aria-selected", String(here));
      tab.tabIndex = here ? 0 : -1;
      if (here && focus) tab.focus();
    }
    panel.shown?.();
    app.keys.refresh();
  };
  const entries = PANELS.filter(({ name }) => known.includes(name));
  for (const { name, title, about } of entries) {
    tabs.append(el("button", { type: "button", role: "tab", text: title, title: about, data: { panel: name }, on: { click: () => open(name, false) } }));
  }
  tabs.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.stopPropagation();
    event.preventDefault();
    const at = entries.findIndex(({ name }) => name === current);
    open(entries[(at + by + entries.length) % entries.length]!.name, true);
  });
  app.openPanel.on((wanted) => {
    const [name, what] = wanted.split(":");
    open(name!, true);
    built.get(name!)?.use?.(what ?? "");
  });
  app.clipsSent.on(({ panel, clips }) => {
    open(panel, true);
    built.get(panel)?.take?.(clips);
  });
  app.workEnded.on(() => built.get(current)?.shown?.());
  host.append(tabs, body);
  const start = entries.find(({ name }) => name === first) ?? entries[0];
  if (start) open(start.name, false);
}
