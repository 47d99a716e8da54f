/** The Share button: files, a page, a video of the view, and code, from one place. */
import { messageOf, type App } from "./app";
import { button, check, choice, download, el, visible } from "./dom";
import { recordView, type Extras, type VideoFormat } from "./recorder";

const FILES: [string, string, string][] = [
  ["glb", "GLB", "Game engines, Blender, web viewers"],
  ["fbx", "FBX", "MotionBuilder, Maya, Unreal, Unity"],
  ["bvh", "BVH", "Motion capture tools"],
  ["usda", "USD", "Omniverse, Houdini, Maya"],
  ["npz", "NPZ", "marey and NumPy, without rounding"],
];
const VIDEOS: [VideoFormat, string][] = [["gif", "GIF"], ["webp", "WebP"], ["mp4", "MP4"], ["png", "Picture"]];
const SIZES: [string, string][] = [["640", "640 × 360"], ["960", "960 × 540"], ["1280", "1280 × 720"], ["1920", "1920 × 1080"]];
/** What a video can also show; the labels are those of the View panel. */
const EXTRAS: [keyof Extras, string, string][] = [
  ["trail", "Path", "Also record the paths on the floor"], ["contacts", "Contacts", "Also record contact points and footprints"],
  ["before", "Before edit", "Also record the clip as it was before the last edit, in gray"],
];

export function shareButton(app: App): HTMLButtonElement {
  const about = el("p", { class: "dim" });
  const failure = el("p", { class: "missed", role: "alert", hidden: true });
  const code = el("textarea", { class: "code", aria: { label: "Python code" } });
  code.readOnly = true;
  code.spellcheck = false;
  const codeBox = el("div", { class: "stack", hidden: true });
  const size = choice("Size", SIZES, "960", () => undefined, "Width and height of the video in pixels");
  const extras: Extras = { trail: false, contacts: false, before: false };
  const checks = EXTRAS.map(([name, label, title]) => check(label, extras[name], (on) => (extras[name] = on), title));
  const fail = (text: string) => {
    failure.textContent = text;
    failure.hidden = !text;
  };
  /** Run something for the selected clip, and show its error in the dialog. */
  const run = (act: (motion: string) => Promise<void>) => async () => {
    const motion = app.selected?.info.motion;
    fail("");
    if (motion) await act(motion).catch((error: unknown) => fail(messageOf(error)));
  };
  const press = (label: string, title: string, act: (motion: string) => Promise<void>) => button(label, () => void run(act)(), title);

  const files = FILES.map(([format, label, title]) => press(label, title, async (motion) => {
    const done = await app.ask("operate", { operation: "save", motion, settings: { format, target: "download" } }, {}, fail);
    for (const { url, name } of done.files) download(url, name);
  }));
  const page = press("Save as web page", "One HTML file that plays the visible clips anywhere, without marey and without a network", async () => {
    const shown = [...app.motions.values()].filter(({ character }) => character.visible).map(({ info }) => info.motion);
    const { url, name } = await app.ask("share_page", { motions: shown }, {}, fail);
    download(url, name);
  });
  const videos = VIDEOS.map(([format, label]) => press(label, `Record the view as it is now: ${label}`, async () => {
    dialog.close();
    await recordView(app, format, Number(size.select.value), extras);
  }));
  const copy = button("Copy", () => {
    code.select();
    void navigator.clipboard?.writeText(code.value).catch(() => document.execCommand("copy"));
    copy.textContent = "Copied";
  }, "Copy the code", "primary");
  const show = press("Show as code", "Python code that recreates this exact clip", async (motion) => {
    code.value = (await app.ask("share_code", { motion }, {}, fail)).code;
    codeBox.hidden = false;
    copy.textContent = "Copy";
    code.rows = Math.min(18, code.value.split("\n").length + 1);
    codeBox.scrollIntoView({ block: "nearest" });
  });
  codeBox.append(code, el("div", { class: "row" }, copy));
  const row = (...nodes: HTMLElement[]) => el("div", { class: "row" }, ...nodes);
  const close = button("Close", () => dialog.close());
  const dialog = el("dialog", { class: "shortcuts share", aria: { label: "Share and export" } },
    el("h2", { text: "Share and export" }), about,
    el("h3", { text: "File" }), row(...files),
    el("h3", { text: "Page" }), row(page),
    el("h3", { text: "Video of this view" }), row(size, ...videos), row(...checks),
    el("h3", { text: "Python" }), row(show), codeBox, failure,
    el("div", { class: "row" }, el("span", { class: "spacer" }), close));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  const open = button("Share", () => {
    const info = app.selected?.info;
    about.textContent = info ? `Clip: ${visible(info.name)}` : "";
    for (const each of [...files, show]) each.disabled = info?.kind !== "motion";
    codeBox.hidden = true;
    fail("");
    dialog.showModal();
  }, "Export the selected clip: files, a page, a video or code");
  const draw = () => (open.disabled = !app.selected);
  app.selectionChanged.on(draw);
  draw();
  return open;
}
