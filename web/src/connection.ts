/** The WebSocket connection to the server: commands with ids, progress, cancellation, and reconnection. */
import { readBlock, type Block } from "./frames";
import { saveTabState } from "./tab_state";
import { FRAMES_LIVE, type Commands, type StudioEvent, type RunningJob, type Welcome } from "./messages";
import { Signal } from "./signal";

export type Progress = (fraction: number, text: string) => void;
export type State = "connecting" | "open" | "lost" | "closed";

export interface AskOptions {
  progress?: Progress;
  /** Aborting this signal cancels the job on the server. */
  signal?: AbortSignal;
}

/** A command failed: `message` is one sentence for the user, `type` the kind of error, `parameter` the setting to change. */
export class Failed extends Error {
  constructor(readonly type: string, text: string, readonly parameter = "") {
    super(text);
  }
}

/** A live frame: its block, the time it was sent (seconds since 1970), and extra data from the stream. */
export interface LiveFrame {
  block: Block;
  sent: number;
  info: Record<string, unknown>;
}

/** A job that was started before this page was loaded: its reply, its progress, and a function to cancel it. */
export interface ResumedWork {
  work: RunningJob;
  answer: Promise<unknown>;
  progress: Signal<{ fraction: number; text: string }>;
  cancel: () => void;
}

interface Pending {
  text: string;
  readsFrames: boolean;
  /** Frames that came before the reply. */
  block?: Block;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  progress?: Progress | undefined;
}

type ServerMessage =
  | { n: number; id: number; kind: "done"; result: unknown }
  | { n: number; id: number; kind: "failed"; error: { type: string; text: string; parameter: string } }
  | { n: number; id: number; kind: "progress"; fraction: number; text: string }
  | ({ n: number; kind: "event" } & StudioEvent);

const RETRY_MS = [250, 500, 1000, 2000, 4000];
/** Close codes after which reconnecting is useless: access denied, or message not understood. */
const FINAL_CODES = [1008, 1002, 1003, 4001, 4003];
const TAKEN_OVER = 4001;
const FORBIDDEN = 403;
const HELLO_ID = 0;

export class Connection {
  readonly changed = new Signal<State>();
  /** Emitted after each hello: the session, new or resumed. */
  readonly welcomed = new Signal<Welcome>();
  readonly events = new Signal<StudioEvent>();
  readonly live = new Signal<LiveFrame>();
  state: State = "connecting";
  /** The reason why the state is "closed", for the user. */
  why = "";
  /** Unanswered requests from before the page was reloaded. */
  readonly resumedWork: ResumedWork[] = [];
  private socket: WebSocket | null = null;
  private pending = new Map<number, Pending>();
  private readonly blocks = new WeakMap<object, Block>();
  private nextId = 1;
  private greeted = false;
  /** Number of the last text message received; -1 if a newly loaded page has not received any. */
  private seen = -1;
  private tries = 0;
  private timer = 0;

  /** `session` is the id of this tab's session before a reload, or "". */
  constructor(private readonly url: string, private session = "") {}

  connect(): void {
    clearTimeout(this.timer);
    this.setState(this.greeted ? "lost" : "connecting");
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      const hello = { id: HELLO_ID, do: "hello", session: this.session, seen: this.seen };
      socket.send(JSON.stringify(hello));
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = (event) => void this.closed(event, opened);
  }

  /** Send a command. The promise rejects with `Failed`. While the connection is lost, commands are queued. */
  ask<K extends Exclude<keyof Commands, "frames" | "hello">>(
    name: K,
    fields: Commands[K]["fields"],
    options: AskOptions = {},
  ): Promise<Commands[K]["reply"]> {
    return this.send(name, fields, options) as Promise<Commands[K]["reply"]>;
  }

  /** Get frames `start` to `stop` of a motion. */
  frames(motion: string, start: number, stop: number, step: number | null = null): Promise<Block> {
    return this.send("frames", { motion, start, stop, step }, {}) as Promise<Block>;
  }

  /** The first frames of the motion that a reply describes, if they came with it. */
  blockOf(reply: object): Block | undefined {
    return this.blocks.get(reply);
  }

  /** Close the socket as if the network failed (for tests). */
  drop(): void {
    this.socket?.close();
  }

  private send(name: string, fields: object, options: AskOptions): Promise<unknown> {
    const id = this.nextId++;
    const text = JSON.stringify({ ...fields, id, do: name });
    const answer = new Promise<unknown>((resolve, reject) => {
      this.pending.set(id, { text, readsFrames: name === "frames", resolve, reject, progress: options.progress });
    });
    options.signal?.addEventListener("abort", () => {
      if (this.pending.has(id)) this.send("cancel", { job: id }, {}).catch(() => undefined);
    });
    // A closing socket sends nothing; the command is then sent after reconnecting.
    if (this.state === "open" && this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
    else if (this.state === "closed") this.fail(id, new Failed("Closed", "not connected to the studio; reload the page"));
    return answer;
  }

  private receive(data: string | ArrayBuffer): void {
    if (data instanceof ArrayBuffer) {
      this.receiveFrames(data);
      return;
    }
    const message = JSON.parse(data) as ServerMessage;
    if (message.n > this.seen) this.seen = message.n;
    if (message.kind === "event") {
      this.events.emit(message);
      return;
    }
    if (message.id === HELLO_ID) {
      if (message.kind === "done") this.welcome(message.result as Welcome);
      return;
    }
    const asked = this.pending.get(message.id);
    if (!asked) return;
    if (message.kind === "progress") {
      asked.progress?.(message.fraction, message.text);
      return;
    }
    this.pending.delete(message.id);
    if (message.kind === "done") {
      if (asked.block) this.blocks.set(message.result as object, asked.block);
      asked.resolve(message.result);
    } else asked.reject(new Failed(message.error.type, message.error.text, message.error.parameter));
  }

  private receiveFrames(data: ArrayBuffer): void {
    const block = readBlock(data);
    if (block.kind === FRAMES_LIVE) {
      const rest = new DataView(data, block.rotations.byteOffset + block.rotations.byteLength);
      const json = new TextDecoder().decode(new Uint8Array(data, rest.byteOffset + 8));
      const info = json ? (JSON.parse(json) as Record<string, unknown>) : {};
      this.live.emit({ block, sent: rest.getFloat64(0, true), info });
      return;
    }
    const asked = this.pending.get(block.id);
    if (asked && !asked.readsFrames) {
      asked.block = block;
      return;
    }
    this.pending.delete(block.id);
    asked?.resolve(block);
  }

  private welcome(welcome: Welcome): void {
    const fresh = welcome.session !== this.session || !welcome.resumed;
    this.tries = 0;
    if (fresh) this.seen = 0;
    if (fresh && this.greeted) {
      for (const id of [...this.pending.keys()]) {
        this.fail(id, new Failed("SessionLost", "the session has expired; open the files again"));
      }
    }
    if (!fresh && this.greeted && (welcome.lost || this.seen < 0)) this.failAnswered(welcome.received);
    // Ids up to `received` were already used, by this page or before the reload.
    if (!fresh) this.nextId = Math.max(this.nextId, welcome.received + 1);
    // Do this now, because replies may arrive before the page that shows them is built.
    if (!fresh && !this.greeted) this.adopt(welcome.work);
    this.greeted = true;
    this.session = welcome.session;
    saveTabState({ session: this.session });
    this.setState("open");
    for (const [id, asked] of this.pending) {
      if (fresh || id > welcome.received || asked.readsFrames) this.socket?.send(asked.text);
    }
    this.welcomed.emit(welcome);
  }

  private adopt(works: RunningJob[]): void {
    for (const work of works) {
      const progress = new Signal<{ fraction: number; text: string }>();
      const report = (fraction: number, text: string) => progress.emit(Object.assign(work, { fraction, text }));
      const answer = new Promise<unknown>((resolve, reject) => {
        this.pending.set(work.job, { text: "", readsFrames: false, resolve, reject, progress: report });
      });
      answer.catch(() => undefined);
      const cancel = () => void this.send("cancel", { job: work.job }, {}).catch(() => undefined);
      this.resumedWork.push({ work, answer, progress, cancel });
    }
  }

  /** The server dropped replies, and it is unknown which. Fail all requests that it has received. */
  private failAnswered(received: number): void {
    for (const [id, asked] of [...this.pending]) {
      if (id <= received && !asked.readsFrames) this.fail(id, new Failed("AnswerLost", "the reply was lost; try again"));
    }
  }

  private async closed(event: CloseEvent, opened: boolean): Promise<void> {
    this.socket = null;
    if (event.code === TAKEN_OVER) {
      // Otherwise a reload would take this session back instead of starting a new one.
      saveTabState({ session: "" });
      this.end("this session is open in another tab; reload the page to start a new one");
      return;
    }
    if (FINAL_CODES.includes(event.code)) {
      this.end("disconnected; reload the page");
      return;
    }
    this.setState(this.greeted ? "lost" : "connecting");
    if (!opened && (await isForbidden())) {
      this.end("the studio was restarted; open the new address it printed");
      return;
    }
    const wait = RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)]!;
    this.timer = window.setTimeout(() => this.connect(), wait);
  }

  private end(why: string): void {
    this.why = why;
    this.setState("closed");
    for (const id of [...this.pending.keys()]) this.fail(id, new Failed("Closed", "the connection to the server was lost; reload the page"));
  }

  private fail(id: number, error: Failed): void {
    const asked = this.pending.get(id);
    this.pending.delete(id);
    asked?.reject(error);
  }

  private setState(state: State): void {
    if (state === this.state) return;
    this.state = state;
    this.changed.emit(state);
  }
}

/** Whether the server rejects this page's token, because another server now runs at this address. */
async function isForbidden(): Promise<boolean> {
  try {
    return (await fetch("/", { cache: "no-store", credentials: "same-origin" })).status === FORBIDDEN;
  } catch {
    return false; // the server does not respond
  }
}
