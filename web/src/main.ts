/** The studio's page: puts the parts together and answers keys. */
import { App } from "./app";
import type { State } from "./connection";
import { button, byId, isOurs, releaseClicked } from "./dom";
import { Files } from "./files";
import { historyButtons, step } from "./history";
import type { Welcome } from "./messages";
import { panelbar } from "./panelbar";
import { saveSidecar } from "./panels/look";
import { transport } from "./transport";
import { viewbar } from "./viewbar";

const STATES: Record<State, string> = {
  connecting: "connecting…", open: "", lost: "connection lost, trying again…", closed: "disconnected; reload the page",
};

function start(): void {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const app = new App(`${scheme}://${location.host}/ws`);
  const files = new Files(app);
  transport(byId("transport"), app.playback);
  const viewKey = viewbar(byId("viewbar"), app);
  const theme = button("◐", () => app.themes.toggle(), "Light or dark", "quiet");
  theme.setAttribute("aria-label", "Light or dark");
  theme.id = "theme";
  byId("topbar").append(...historyButtons(app), theme);

  app.connection.changed.on((state) => {
    byId("state").textContent = STATES[state];
    document.body.dataset["state"] = state;
  });
  app.connection.welcomed.on((welcome) => void begin(app, files, welcome));
  releaseClicked();
  document.addEventListener("keydown", (event) => {
    if (commandKey(app, event) || (isOurs(event) && (viewKey(event) || app.playback.key(event)))) event.preventDefault();
  });
  // For people at the console, and for the tests.
  Object.assign(window, { marey: app });
}

async function begin(app: App, files: Files, welcome: Welcome): Promise<void> {
  const known = new Set(welcome.motions.map((info) => info.motion));
  const first = !app.welcome;
  app.welcome = welcome;
  if (first) panelbar(byId("right"), app, welcome.panels);
  for (const id of [...app.motions.keys()]) if (!known.has(id)) app.drop(id);
  for (const info of welcome.motions) app.add(info, false);
  const listed = await files.load().catch(() => []);
  // A person who opens a folder wants to see something.
  const opener = listed[0];
  if (first && opener && !app.motions.size) await files.open(opener.path);
}

function commandKey(app: App, event: KeyboardEvent): boolean {
  if (!(event.ctrlKey || event.metaKey)) return false;
  const key = event.key.toLowerCase();
  if (key === "s") void saveSidecar(app);
  else if (key === "z") void step(app, event.shiftKey ? "redo" : "undo");
  else if (key === "y") void step(app, "redo");
  else return false;
  return true;
}


start();
