/** The start page, over the scene while nothing is open: demos, samples, folders and recent projects. */
import { messageOf, type App } from "./app";
import { button, byId, choice, el, setOptions, visible } from "./dom";
import { DEMOS, type Demo } from "./demos";
import { openFolder, openFolderDialog } from "./folder_dialog";
import { openProject } from "./project";

export class StartPage {
  private readonly samples = choice("Sample", [], "walk", () => undefined, "A generated clip; free to use");
  private readonly recent = el("ul", { class: "recent", aria: { label: "Recent folders and projects" } });
  private readonly recentBox = el("section", { hidden: true }, el("h3", { text: "Recent" }), this.recent);
  private readonly browse = button("Open folder…", () => openFolderDialog(this.app), "Choose a folder on this computer", "primary");
  private readonly element: HTMLElement;

  constructor(private readonly app: App) {
    const close = button("×", () => this.hide(), "Close", "quiet close");
    close.setAttribute("aria-label", "Close");
    const demos = DEMOS.map((demo) => {
      const card = el("button", { type: "button", class: "demo", on: { click: () => void this.run(demo) } }, el("strong", { text: demo.title }), el("span", { text: demo.about }));
      return card;
    });
    const openSample = button("Open sample", () => void this.openSample());
    this.element = el("section", { class: "start-page", aria: { label: "Start" }, hidden: true },
      el("div", { class: "row" }, el("h2", { text: "Start" }), el("span", { class: "spacer" }), close),
      el("p", { class: "dim", text: "Try it in one click. Each demo uses the panels on the right, so you can continue from there." }),
      el("div", { class: "demos" }, ...demos),
      el("div", { class: "start-columns" },
        el("section", {}, el("h3", { text: "Your motion" }), el("div", { class: "row" }, this.browse, button("Add files…", () => byId("left").querySelector<HTMLInputElement>("input[type=file]")?.click(), "Add files from this computer")),
          el("p", { class: "dim", text: "Or drop BVH, FBX, GLB, AMC, C3D, TRC or NPZ files anywhere on the page." })),
        el("section", {}, el("h3", { text: "Samples" }), el("div", { class: "row" }, this.samples, openSample)),
        this.recentBox,
      ),
    );
    byId("stage").append(this.element);
    app.motionsChanged.on(() => app.motions.size && this.hide());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.element.hidden || event.defaultPrevented) return;
      this.hide();
      event.preventDefault();
    });
  }

  /** Show the page; the server lists samples and recent folders. */
  async show(): Promise<void> {
    this.element.hidden = false;
    const found = await this.app.ask("start_page", {}).catch(() => null);
    if (!found) return;
    this.browse.disabled = !found.can_browse;
    setOptions(this.samples.select, found.samples.map(({ name }): [string, string] => [name, name.replaceAll("_", " ")]), this.samples.select.value || "walk");
    for (const option of this.samples.select.options) option.title = found.samples.find(({ name }) => name === option.value)?.about ?? "";
    this.recentBox.hidden = !found.recent.length;
    this.recent.replaceChildren(...found.recent.map(({ kind, name, path }) => el("li", {}, el("button", {
      type: "button", class: "item", title: visible(path),
      on: { click: () => void (kind === "project" ? openProject(this.app, path) : openFolder(this.app, path).catch(() => undefined)) },
    }, el("span", { class: "name", text: name }), el("span", { class: "dim size", text: kind })))));
  }

  hide(): void {
    this.element.hidden = true;
  }

  private async run(demo: Demo): Promise<void> {
    this.hide();
    try {
      await demo.run(this.app);
    } catch (error) {
      this.app.notices.error(`${demo.title}: ${messageOf(error)}`);
    }
  }

  private async openSample(): Promise<void> {
    const info = await this.app.ask("open_sample", { sample: this.samples.select.value, options: {} }).catch(() => null);
    if (info) this.app.present(info);
  }
}
