/** Entry point of the studio's page: assembles the parts and handles keys. */
import { App } from "./app";
import { showResumedWork } from "./resumed_work";
import { arrangement } from "./arrangement";
import { borders } from "./borders";
import { Connection, type State } from "./connection";
import { keepCamera, restoreCamera } from "./camera_state";
import { button, byId, isOurs, releaseClicked } from "./dom";
import { fileMenu } from "./file_menu";
import { Files } from "./files";
import { historyButtons } from "./history_view";
import { saveTabState, saveChoice, tabState } from "./tab_state";
import type { FolderList, MotionInfo, Welcome } from "./messages";
import { panelbar } from "./panelbar";
import { findContacts } from "./panels/look";
import { isLeaving } from "./project";
import { losesAny, saveSelected } from "./saving";
import { shareButton } from "./share";
import { shortcuts } from "./shortcuts";
import { StartPage } from "./start_page";
import { timelineTools } from "./timeline_tools";
import { transport } from "./transport";
import { viewbar } from "./viewbar";

const STATES: Record<Exclude<State, "closed">, string> = {
  connecting: "Connecting…", open: "", lost: "Connection lost, reconnecting…",
};

/** Milliseconds to wait for the server's first replies before building the scene. */
const PATIENCE = 300;

/** Requests sent before the page was built. */
interface Early {
  /** Set when the page itself sends requests from now on. */
  over?: boolean;
  welcome?: Welcome;
  listing?: Promise<FolderList>;
  opening?: Promise<MotionInfo>;
}

/** Request the first character: a user who opens a folder wants to see something. */
async function askEarly(connection: Connection, early: Early): Promise<void> {
  const welcome = await new Promise<Welcome>((done) => connection.welcomed.on(done));
  if (early.over) return;
  early.welcome = welcome;
  early.listing = connection.ask("list", {});
  const [first] = (await early.listing).files;
  if (early.over || !first || welcome.motions.length) return;
  early.opening = connection.ask("open", { path: first.path });
  // The caller that awaits the promise reports an error.
  early.opening.catch(() => undefined);
}

async function start(): Promise<void> {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const connection = new Connection(`${scheme}://${location.host}/ws`, tabState().session);
  const early: Early = {};
  // Building the scene takes a while, in which the server can already work.
  const asked = askEarly(connection, early).catch(() => undefined);
  connection.connect();
  await Promise.race([asked, new Promise((done) => setTimeout(done, PATIENCE))]);
  early.over = true;
  const app = new App(connection);
  const files = new Files(app);
  transport(byId("transport"), app.playback);
  timelineTools(byId("transport"), app);
  borders();
  app.timeline.contactsWanted.on(() => void findContacts(app));
  const viewKey = viewbar(byId("viewbar"), app);
  const arrangeKey = arrangement(byId("viewbar"), app);
  const theme = button("◐", () => app.themes.toggle(), "Switch between light and dark theme", "quiet");
  theme.setAttribute("aria-label", "Switch between light and dark theme");
  theme.id = "theme";
  const help = shortcuts();
  const startPage = new StartPage(app);
  byId("state").before(fileMenu(app, startPage), shareButton(app));
  keepCamera(app);
  byId("topbar").append(...historyButtons(app), help.open, theme);

  const showState = (state: State) => {
    byId("state").textContent = state === "closed" ? connection.why : STATES[state];
    document.body.dataset["state"] = state;
  };
  connection.changed.on(showState);
  showState(connection.state);
  const enter = async (welcome: Welcome) => {
    const first = !app.welcome;
    await begin(app, files, welcome, early);
    if (first && !app.motions.size) await startPage.show();
  };
  connection.welcomed.on((welcome) => void enter(welcome));
  if (early.welcome) void enter(early.welcome);
  releaseClicked();
  window.addEventListener("pagehide", () => {
    saveTabState({ motion: app.selected?.info.motion ?? "", frame: app.playback.frame });
    saveChoice("hidden", [...app.motions].filter(([, { character }]) => !character.visible).map(([id]) => id));
  });
  window.addEventListener("beforeunload", (event) => {
    if (losesAny(app) && !isLeaving()) event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (commandKey(app, event) || (isOurs(event) && (help.key(event) || viewKey(event) || arrangeKey(event) || app.playback.key(event)))) event.preventDefault();
  });
  // For the browser console and for tests.
  Object.assign(window, { marey: app });
}

async function begin(app: App, files: Files, welcome: Welcome, early: Early): Promise<void> {
  const known = new Set(welcome.motions.map((info) => info.motion));
  const first = !app.welcome;
  app.welcome = welcome;
  // No panel shows a stream from before a reload, so stop it.
  if (first && welcome.resumed) void app.connection.ask("live_stop", {}).catch(() => undefined);
  if (first) for (const work of app.connection.resumedWork) void showResumedWork(app, work);
  if (first) panelbar(byId("right"), app, welcome.panels, welcome.resumed ? tabState().panel : "");
  if (first) app.history.restore(welcome.motions);
  for (const id of [...app.motions.keys()].filter((each) => !known.has(each))) {
    app.drop(id);
    app.history.forget(id);
  }
  for (const info of welcome.motions) app.add(info, false);
  const listing = files.load(first ? early.listing : undefined).catch(() => []);
  if (first) await showFirst(app, welcome, listing, early);
}

/** Show the motion that was selected before a reload, or the first file of the folder. */
async function showFirst(app: App, welcome: Welcome, listing: Promise<FolderList["files"]>, early: Early): Promise<void> {
  const { motion, frame, choices } = tabState();
  const hidden = welcome.resumed && Array.isArray(choices["hidden"]) ? (choices["hidden"] as unknown[]) : [];
  for (const [id, { character }] of app.motions) if (hidden.includes(id)) character.visible = false;
  if (welcome.motions.some((info) => info.motion === motion)) {
    app.select(motion);
    app.playback.seek(frame);
    if (app.selected) void app.bringIntoView(app.selected, true).then(() => restoreCamera(app), () => undefined);
  }
  // What a project could not open.
  const notes = Array.isArray(choices["notes"]) ? (choices["notes"] as unknown[]) : [];
  for (const note of notes) app.notices.error(String(note));
  if (notes.length) saveChoice("notes", []);
  const path = early.opening ? "" : (await listing)[0]?.path;
  if (early.opening || (path && !app.motions.size)) await app.open({ path: path ?? "" }, early.opening);
}

function commandKey(app: App, event: KeyboardEvent): boolean {
  if (!(event.ctrlKey || event.metaKey)) return false;
  const key = event.key.toLowerCase();
  if (key === "s") void saveSelected(app);
  else if (key === "z") void (event.shiftKey ? app.history.redo() : app.history.undo());
  else if (key === "y") void app.history.redo();
  else return false;
  return true;
}

void start();
