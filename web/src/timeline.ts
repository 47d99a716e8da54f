/** The timeline: scrub bar, loop region, and contact and label lanes, which can be edited with mouse or keyboard. */
import { button, cssVariable, el, visible } from "./dom";
import { slideColor } from "./footprints";
import { clamp, describe, findSpan, type Hit, hitTest, joined, labelsOf, type Lane, lanesOf, moved, type Part, type Place, type Span } from "./lanes";
import type { LabelSpan, LaneEdit, MotionInfo } from "./messages";
import type { Playback } from "./playback";
import { oncePerPicture, Signal } from "./signal";
import { laneKeys } from "./timeline_keys";
import { GUTTER, tickStep, type TimeScale } from "./timescale";

const RULER = 24;
/** Width in pixels of the handles of the in and out points. */
const EDGE = 7;
/**
 * Touch needs more room than a mouse: the height of a lane, and the pixels within which the end of a span can be
 * grabbed.
 */
const COARSE = matchMedia("(pointer: coarse)").matches;
const ROW = COARSE ? 28 : 18;
const GRAB = COARSE ? 14 : 6;
/** Length in frames of a contact or label that is added by keyboard if no range is marked. */
const ADDED = 10;

type Drag =
  | { kind: "scrub" }
  | { kind: "region"; from: number }
  | { kind: "edge"; stop: boolean }
  | { kind: "span"; hit: Hit; from: Span; at: number; part: Part; created: boolean };

export class Timeline {
  readonly contactsEdited = new Signal<LaneEdit[]>();
  /** Emitted with all labels; the name of a new label belongs to the edit that made it. */
  readonly labelsEdited = new Signal<{ labels: LabelSpan[]; merge_undo: boolean }>();
  /** Emitted when the user asks for the contacts of a clip that has none. */
  readonly contactsWanted = new Signal();
  /** Emitted when another contact or label is selected, or none. */
  readonly spanSelected = new Signal();
  private readonly canvas = el("canvas", { tabIndex: 0, role: "slider", aria: { label: "Timeline" } });
  private readonly rename = el("input", { class: "rename", hidden: true, aria: { label: "Label name" } });
  /** Takes the keyboard focus for the lanes, over which it lies. Mouse events pass through it. */
  private readonly keyboard = el("div", { class: "lane-keys", tabIndex: 0, role: "application", aria: { label: "Contacts and labels", describedby: "lane-said" } });
  private readonly said = el("span", { class: "unseen", aria: { live: "polite" } });
  private readonly noContacts = el("div", { class: "no-contacts", hidden: true }, el("span", { text: "No foot contacts yet." }), button("Detect contacts", () => this.contactsWanted.emit(), "Detect the floor height and foot contacts"));
  private info: MotionInfo | null = null;
  private drag: Drag | null = null;
  /** The label that is being renamed. */
  private renaming: { lane: Lane; span: Span; isNew: boolean } | null = null;
  /** Whether the lanes were last edited by keyboard. */
  private byKeys = false;
  lanes: Lane[] = [];
  selected: Place | null = null;
  /** Index of the lane that keys act on. */
  lane = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly playback: Playback,
    readonly scale: TimeScale,
    /** Whether lanes can be changed. */
    private readonly editable = true,
  ) {
    host.append(this.canvas, this.noContacts, this.rename);
    if (editable) this.takeKeys();
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", () => this.up());
    this.canvas.addEventListener("pointercancel", () => this.cancel());
    this.canvas.addEventListener("dblclick", (event) => this.doubleClick(event));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.rename.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.rename.blur();
      if (event.key === "Escape") this.endRename(false);
      event.stopPropagation();
    });
    this.rename.addEventListener("blur", (event) => this.endRename(true, event.relatedTarget === null));
    playback.changed.on(() => {
      if (playback.playing) this.scale.reveal(playback.frame);
      this.draw();
    });
    scale.changed.on(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(host);
  }

  /** Show the lanes of a motion; null for none. A drag in progress is not disturbed. */
  show(info: MotionInfo | null): void {
    const other = info?.motion !== this.info?.motion;
    if (other || info?.n_frames !== this.info?.n_frames) this.scale.fit(info?.n_frames ?? 1);
    if (other) {
      this.pick(null);
      this.endRename(false);
      this.drag = null;
      this.lane = 0;
    }
    this.info = info;
    this.noContacts.hidden = !this.editable || info?.kind !== "motion" || info.contacts !== null;
    if (this.drag?.kind === "span") return;
    this.rebuild(info ? lanesOf(info.contacts, info.labels) : []);
    this.draw();
  }

  /** Replace the lanes. The selected span stays selected, even if it is now in another lane. */
  private rebuild(lanes: Lane[]): void {
    const before = this.selected && this.lanes[this.selected.lane];
    const span = before?.spans[this.selected!.span];
    const now = before && span ? findSpan(lanes, before, span) : null;
    this.lanes = lanes;
    this.lane = clamp(now?.lane ?? this.lane, 0, Math.max(0, lanes.length - 1));
    if (this.selected) this.pick(now);
    if (this.renaming) this.placeRename();
  }

  /** Top of a lane, in pixels from the top of the timeline. */
  laneTop(index: number): number {
    return RULER + index * ROW;
  }

  get laneNames(): string[] {
    return this.lanes.map((lane) => lane.title);
  }

  readonly draw = oncePerPicture(() => this.paint());

  private paint(): void {
    const ratio = Math.min(2, devicePixelRatio);
    const width = this.host.clientWidth;
    const height = Math.max(RULER + ROW * this.lanes.length + 6, 1);
    if (!width) return;
    this.scale.width = width;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
    }
    const pen = this.canvas.getContext("2d")!;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.drawRuler(pen, width, height);
    this.lanes.forEach((lane, i) => this.drawLane(pen, lane, i, width));
    this.drawHead(pen, height);
    this.keyboard.style.top = `${RULER}px`;
    this.keyboard.style.height = `${height - RULER}px`;
    this.canvas.setAttribute("aria-valuemin", "0");
    this.canvas.setAttribute("aria-valuemax", String(this.playback.nFrames - 1));
    this.canvas.setAttribute("aria-valuenow", String(this.playback.frame));
  }

  private drawRuler(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const { scale, playback } = this;
    pen.fillStyle = cssVariable("--sunken");
    pen.fillRect(GUTTER, 0, width - GUTTER, RULER);
    if (playback.region) {
      const [start, stop] = playback.region.map((f) => scale.x(f)) as [number, number];
      pen.fillStyle = cssVariable("--accent-soft");
      pen.fillRect(Math.max(GUTTER, start), 0, Math.max(1, stop - Math.max(GUTTER, start)), height);
    }
    if (!this.info) return;
    const { frames, text } = tickStep(70 * scale.perPixel, playback.fps, scale.frames);
    pen.strokeStyle = cssVariable("--line");
    pen.fillStyle = cssVariable("--dim");
    pen.beginPath();
    for (let f = Math.ceil(scale.from / frames) * frames; f <= scale.to; f += frames) {
      // A frame is drawn with its full width; its time is at the middle, where the playhead and the curves are drawn.
      const x = Math.round(scale.x(f + 0.5)) + 0.5;
      pen.moveTo(x, 14);
      pen.lineTo(x, height);
      const label = text(f);
      if (x + 4 + pen.measureText(label).width <= width) pen.fillText(label, x + 4, 9);
    }
    pen.stroke();
    this.drawEdges(pen);
  }

  /** Draw the handles of the in and out points, in the lower half of the ruler. */
  private drawEdges(pen: CanvasRenderingContext2D): void {
    if (!this.info) return;
    pen.fillStyle = cssVariable(this.playback.region ? "--accent" : "--grid-strong");
    this.playback.range.forEach((frame, k) => {
      const x = this.scale.x(frame);
      if (x < GUTTER - 1) return;
      pen.beginPath();
      pen.roundRect(k ? x - EDGE : x, RULER / 2, EDGE, RULER / 2, k ? [0, 4, 4, 0] : [4, 0, 0, 4]);
      pen.fill();
    });
  }

  /** The handle at a pointer: 0 for the in point, 1 for the out point, -1 for none. */
  private edgeAt(event: MouseEvent): number {
    if (!this.info || event.offsetY < RULER / 2 || event.offsetY >= RULER) return -1;
    const away = this.playback.range.map((frame, k) => Math.abs(this.scale.x(frame) + (k ? -EDGE / 2 : EDGE / 2) - event.offsetX));
    const nearest = away[0]! <= away[1]! ? 0 : 1;
    return away[nearest]! <= GRAB + EDGE / 2 ? nearest : -1;
  }

  private drawLane(pen: CanvasRenderingContext2D, lane: Lane, index: number, width: number): void {
    const top = RULER + index * ROW;
    const here = index === this.lane && document.activeElement === this.keyboard;
    pen.fillStyle = cssVariable(here ? "--text" : "--dim");
    pen.textAlign = "right";
    pen.fillText(fitText(pen, lane.title.replaceAll("_", " "), GUTTER - 16), GUTTER - 10, top + ROW / 2);
    pen.textAlign = "left";
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER, top, width - GUTTER, ROW);
    pen.clip();
    lane.spans.forEach((span, i) => {
      const x = this.scale.x(span.start);
      const w = Math.max(2, this.scale.x(span.stop) - x);
      pen.fillStyle = lane.kind === "contact" ? slideColor(span.slide) : cssVariable("--label");
      pen.beginPath();
      pen.roundRect(x, top + 3, w, ROW - 6, 3);
      pen.fill();
      if (lane.kind === "contact" && span.slideBefore != null) {
        // A strip above shows how the foot slid before the edit.
        pen.fillStyle = slideColor(span.slideBefore);
        pen.fillRect(x, top + 1, w, 4);
      }
      if (this.selected?.lane === index && this.selected.span === i) {
        pen.strokeStyle = cssVariable("--text");
        pen.lineWidth = 1.5;
        pen.stroke();
        pen.lineWidth = 1;
      }
      if (lane.kind === "label" && w > 16) {
        pen.fillStyle = cssVariable("--label-text");
        pen.fillText(fitText(pen, span.name, w - 10), x + 5, top + ROW / 2);
      }
    });
    pen.restore();
  }

  private drawHead(pen: CanvasRenderingContext2D, height: number): void {
    const x = this.scale.x(this.playback.frame + 0.5);
    if (x < GUTTER - 1 || !this.info) return;
    pen.fillStyle = cssVariable("--accent");
    pen.fillRect(x - 0.75, 0, 1.5, height);
    pen.beginPath();
    pen.moveTo(x - 6, 0);
    pen.lineTo(x + 6, 0);
    pen.lineTo(x, 9);
    pen.fill();
  }

  private down(event: PointerEvent): void {
    if (!this.info || event.button !== 0) return;
    this.canvas.focus();
    this.byKeys = false;
    const { frame, lane } = this.at(event);
    if (event.offsetX < GUTTER) return;
    this.canvas.setPointerCapture(event.pointerId);
    const edge = this.edgeAt(event);
    if (edge >= 0) {
      this.drag = { kind: "edge", stop: edge === 1 };
      return;
    }
    if (lane < 0 || lane >= this.lanes.length || !this.editable) {
      this.drag = event.shiftKey ? { kind: "region", from: Math.round(frame) } : { kind: "scrub" };
      if (this.drag.kind === "scrub") this.playback.seek(Math.floor(frame));
      return;
    }
    const found = hitTest(this.lanes, lane, frame, GRAB * this.scale.perPixel);
    const hit = found ?? this.create(lane, frame);
    const from = { ...this.lanes[hit.lane]!.spans[hit.span]! };
    this.pick({ lane: hit.lane, span: hit.span });
    this.drag = { kind: "span", hit, from, at: frame, part: hit.part, created: !found };
    this.draw();
  }

  private create(lane: number, frame: number): Hit {
    const row = this.lanes[lane]!;
    const start = clamp(Math.floor(frame), 0, this.scale.nFrames - 1);
    row.spans.push({ start, stop: start + 1, name: row.kind === "label" ? "label" : "" });
    return { lane, span: row.spans.length - 1, part: "stop" };
  }

  private move(event: PointerEvent): void {
    const { frame, lane } = this.at(event);
    const { drag } = this;
    if (!drag) {
      const edge = this.edgeAt(event) >= 0;
      this.canvas.style.cursor = edge ? "ew-resize" : "";
      if (!this.editable || edge) return;
      const hit = hitTest(this.lanes, lane, frame, GRAB * this.scale.perPixel);
      this.canvas.style.cursor = !hit ? "" : hit.part === "body" ? "grab" : "ew-resize";
      this.canvas.title = hit ? describe(this.lanes[hit.lane]!, this.lanes[hit.lane]!.spans[hit.span]!) : "";
    } else if (drag.kind === "scrub") {
      this.playback.seek(Math.floor(frame));
    } else if (drag.kind === "edge") {
      const [start, stop] = this.playback.range;
      const { nFrames } = this.playback;
      const at = clamp(Math.round(frame), drag.stop ? start + 2 : 0, drag.stop ? nFrames : stop - 2);
      const range: [number, number] = drag.stop ? [start, at] : [at, stop];
      // A range of all frames is the same as no range.
      this.playback.setRegion(range[0] === 0 && range[1] === nFrames ? null : range);
    } else if (drag.kind === "region") {
      this.playback.setRegion([drag.from, Math.round(frame)]);
    } else {
      const by = Math.round(frame - drag.at);
      this.lanes[drag.hit.lane]!.spans[drag.hit.span] = moved(drag.from, drag.part, by, this.scale.nFrames);
      this.draw();
    }
  }

  private up(): void {
    const { drag } = this;
    this.drag = null;
    if (drag?.kind !== "span") return;
    const lane = this.lanes[drag.hit.lane]!;
    const span = lane.spans[drag.hit.span]!;
    const unchanged = span.start === drag.from.start && span.stop === drag.from.stop;
    if (drag.created && unchanged) {
      // A click on an empty spot does not add a span.
      lane.spans.splice(drag.hit.span, 1);
      this.pick(null);
      this.draw();
    } else if (!unchanged) {
      this.commit(lane);
      if (drag.created && lane.kind === "label") this.startRename(drag.hit, true);
    }
  }

  private cancel(): void {
    this.drag = null;
    this.show(this.info);
  }

  private commit(lane: Lane, merge_undo = false): void {
    if (lane.kind === "contact") this.contactsEdited.emit([{ name: lane.title, intervals: joined(lane.spans) }]);
    else this.labelsEdited.emit({ labels: labelsOf(this.lanes), merge_undo });
  }

  private doubleClick(event: MouseEvent): void {
    const { frame, lane } = this.at(event);
    if (lane < 0) {
      this.scale.fit(this.scale.nFrames);
      return;
    }
    const hit = this.editable ? hitTest(this.lanes, lane, frame, 0) : null;
    if (hit && this.lanes[lane]!.kind === "label") this.startRename(hit);
  }

  private startRename({ lane, span }: Place, isNew = false): void {
    const of = this.lanes[lane]!;
    this.pick({ lane, span });
    this.renaming = { lane: of, span: { ...of.spans[span]! }, isNew };
    this.rename.value = this.renaming.span.name;
    this.rename.hidden = false;
    this.placeRename();
    this.rename.focus();
    this.rename.select();
  }

  /** Position the text field over the label that is being renamed. */
  private placeRename(): void {
    const at = this.renaming && findSpan(this.lanes, this.renaming.lane, this.renaming.span);
    if (!at) return;
    this.rename.style.left = `${Math.max(GUTTER, this.scale.x(this.renaming!.span.start))}px`;
    this.rename.style.top = `${this.laneTop(at.lane)}px`;
  }

  private endRename(keep: boolean, back = document.activeElement === this.rename): void {
    const { renaming } = this;
    if (!renaming) return;
    this.renaming = null;
    this.rename.hidden = true;
    const name = this.rename.value.trim();
    const at = findSpan(this.lanes, renaming.lane, renaming.span);
    if (keep && name && at && renaming.span.name !== name) {
      this.lanes[at.lane]!.spans[at.span]!.name = name;
      this.pick(at);
      this.commit(this.lanes[at.lane]!, renaming.isNew);
    }
    if (back) (this.byKeys ? this.keyboard : this.canvas).focus();
    this.draw();
  }

  /**
   * Handle keys. Those that change the selection work anywhere in the timeline; arrow keys select spans only in the
   * lanes.
   */
  private takeKeys(): void {
    this.said.id = "lane-said";
    this.host.append(this.keyboard, this.said);
    this.canvas.addEventListener("keydown", (event) => laneKeys(this, event, false));
    this.keyboard.addEventListener("keydown", (event) => laneKeys(this, event, true));
    this.keyboard.addEventListener("focus", () => {
      this.byKeys = true;
      this.announce();
      this.draw();
    });
    this.keyboard.addEventListener("blur", () => this.draw());
  }

  /** The kind of the selected span: contact, label, or null. */
  get selection(): Lane["kind"] | null {
    const lane = this.selected && this.lanes[this.selected.lane];
    return lane?.spans[this.selected!.span] ? lane.kind : null;
  }

  removeSelected(): void {
    const lane = this.selected && this.lanes[this.selected.lane];
    if (!lane?.spans[this.selected!.span]) return;
    lane.spans.splice(this.selected!.span, 1);
    this.pick(null);
    this.commit(lane);
    this.draw();
  }

  renameSelected(): void {
    if (this.selection === "label") this.startRename(this.selected!);
  }

  /** Make `lane` the lane that keys act on, and select one of its spans, or none. */
  choose(lane: number, span: number | null): void {
    this.lane = clamp(lane, 0, this.lanes.length - 1);
    this.pick(span === null ? null : { lane: this.lane, span });
    if (span !== null) this.scale.reveal(this.lanes[this.lane]!.spans[span]!.start);
    this.announce();
    this.draw();
  }

  /** Add a contact or label over the marked range, or a few frames from the current frame. */
  addSpan(): void {
    const lane = this.lanes[this.lane];
    if (!lane) return;
    const { frame, region, nFrames } = this.playback;
    const [start, stop] = region ?? [frame, Math.min(nFrames, frame + ADDED)];
    lane.spans.push({ start, stop, name: lane.kind === "label" ? "label" : "" });
    this.choose(this.lane, lane.spans.length - 1);
    this.commit(lane);
    if (lane.kind === "label") this.startRename(this.selected!, true);
  }

  /** Move the selected span, or one end of it, by a number of frames. */
  shift(part: Part, by: number): void {
    const lane = this.selected && this.lanes[this.selected.lane];
    const span = lane?.spans[this.selected!.span];
    if (!lane || !span) return;
    const now = moved(span, part, by, this.scale.nFrames);
    if (now.start === span.start && now.stop === span.stop) return;
    lane.spans[this.selected!.span] = now;
    this.announce();
    this.commit(lane);
    this.draw();
  }

  private announce(): void {
    const lane = this.lanes[this.lane];
    const span = this.selected && lane?.spans[this.selected.span];
    const title = visible(lane?.title || "labels").replaceAll("_", " ");
    if (!lane) this.said.textContent = "no clip selected";
    else if (!span) this.said.textContent = `${title}: ${lane.spans.length} in this lane, none selected`;
    else {
      const place = lane.kind === "label" ? `label ${visible(span.name)}` : `${title} in contact`;
      this.said.textContent = `${place}, frames ${span.start} to ${span.stop - 1}`;
    }
  }

  private pick(selected: Place | null): void {
    this.selected = selected;
    if (selected) this.lane = selected.lane;
    this.spanSelected.emit();
  }

  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.shiftKey && !event.altKey && Math.abs(event.deltaX) < Math.abs(event.deltaY)) {
      if (this.host.scrollHeight > this.host.clientHeight + 1 && this.at(event).lane >= 0) return;
    }
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.scale.pan((event.deltaX || event.deltaY) * this.scale.perPixel);
    } else {
      this.scale.zoom(Math.exp(event.deltaY * 0.0015), this.at(event).frame);
    }
  }

  private at(event: MouseEvent): { frame: number; lane: number } {
    return { frame: this.scale.frame(event.offsetX), lane: Math.floor((event.offsetY - RULER) / ROW) };
  }
}

/** Shorten a text to fit `width` pixels. */
export function fitText(pen: CanvasRenderingContext2D, name: string, width: number): string {
  let text = visible(name.slice(0, 200));
  if (pen.measureText(text).width <= width) return text;
  while (text.length > 1 && pen.measureText(`${text}…`).width > width) text = text.slice(0, -1);
  return `${text}…`;
}
