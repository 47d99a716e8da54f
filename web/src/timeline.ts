/** The timeline: scrub bar, loop region, and contact and label lanes that are edited with the mouse. */
import { cssVariable, el } from "./dom";
import { clamp, hitTest, joined, labelsOf, lanesOf, moved, type Hit, type Lane, type Part, type Span } from "./lanes";
import type { LabelSpan, LaneEdit, MotionInfo } from "./messages";
import type { Playback } from "./playback";
import { oncePerPicture, Signal } from "./signal";
import { GUTTER, tickStep, type TimeScale } from "./timescale";

const RULER = 24;
/** Fingers need more room than a mouse: the height of a lane, and pixels within which an end is taken hold of. */
const COARSE = matchMedia("(pointer: coarse)").matches;
const ROW = COARSE ? 28 : 18;
const GRAB = COARSE ? 14 : 6;

type Drag =
  | { kind: "scrub" }
  | { kind: "region"; from: number }
  | { kind: "span"; hit: Hit; from: Span; at: number; part: Part; created: boolean };

export class Timeline {
  readonly contactsEdited = new Signal<LaneEdit[]>();
  readonly labelsEdited = new Signal<LabelSpan[]>();
  /** Another contact or label is selected, or none. */
  readonly spanSelected = new Signal();
  private readonly canvas = el("canvas", { tabIndex: 0, role: "slider", aria: { label: "Timeline" } });
  private readonly rename = el("input", { class: "rename", hidden: true, aria: { label: "Label's name" } });
  private lanes: Lane[] = [];
  private info: MotionInfo | null = null;
  private drag: Drag | null = null;
  private selected: { lane: number; span: number } | null = null;

  constructor(
    private readonly host: HTMLElement,
    private readonly playback: Playback,
    readonly scale: TimeScale,
    /** Whether lanes can be changed. */
    private readonly editable = true,
  ) {
    host.append(this.canvas, this.rename);
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", () => this.up());
    this.canvas.addEventListener("pointercancel", () => this.cancel());
    this.canvas.addEventListener("dblclick", (event) => this.doubleClick(event));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.rename.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.rename.blur();
      if (event.key === "Escape") this.endRename(false);
      event.stopPropagation();
    });
    this.rename.addEventListener("blur", () => this.endRename(true));
    playback.changed.on(() => {
      if (playback.playing) this.scale.reveal(playback.frame);
      this.draw();
    });
    scale.changed.on(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(host);
  }

  /** Show a motion's lanes; null for none. A drag that is going on stays as the person has it. */
  show(info: MotionInfo | null): void {
    const other = info?.motion !== this.info?.motion;
    if (other || info?.n_frames !== this.info?.n_frames) this.scale.fit(info?.n_frames ?? 1);
    if (other) this.pick(null);
    this.info = info;
    if (this.drag?.kind === "span") return;
    this.lanes = info ? lanesOf(info.contacts, info.labels) : [];
    this.draw();
  }

  /** Where a lane lies, for those who point at it from outside: pixels from the top of the timeline. */
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
    const { frames, text } = tickStep(70 * scale.perPixel, playback.fps);
    pen.strokeStyle = cssVariable("--line");
    pen.fillStyle = cssVariable("--dim");
    pen.beginPath();
    for (let f = Math.ceil(scale.from / frames) * frames; f <= scale.to; f += frames) {
      const x = Math.round(scale.x(f)) + 0.5;
      pen.moveTo(x, 14);
      pen.lineTo(x, height);
      pen.fillText(text(f), x + 4, 9);
    }
    pen.stroke();
  }

  private drawLane(pen: CanvasRenderingContext2D, lane: Lane, index: number, width: number): void {
    const top = RULER + index * ROW;
    pen.fillStyle = cssVariable("--dim");
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
      pen.fillStyle = cssVariable(lane.kind === "contact" ? "--contact" : "--label");
      pen.beginPath();
      pen.roundRect(x, top + 3, w, ROW - 6, 3);
      pen.fill();
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
    if (x < GUTTER - 1) return;
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
    const { frame, lane } = this.at(event);
    if (event.offsetX < GUTTER) return;
    this.canvas.setPointerCapture(event.pointerId);
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
      if (!this.editable) return;
      const hit = hitTest(this.lanes, lane, frame, GRAB * this.scale.perPixel);
      this.canvas.style.cursor = !hit ? "" : hit.part === "body" ? "grab" : "ew-resize";
    } else if (drag.kind === "scrub") {
      this.playback.seek(Math.floor(frame));
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
      // A click on an empty place is no edit.
      lane.spans.splice(drag.hit.span, 1);
      this.pick(null);
      this.draw();
    } else if (!unchanged) {
      this.commit(lane);
      if (drag.created && lane.kind === "label") this.startRename(drag.hit.lane, drag.hit.span);
    }
  }

  private cancel(): void {
    this.drag = null;
    this.show(this.info);
  }

  private commit(lane: Lane): void {
    if (lane.kind === "contact") this.contactsEdited.emit([{ name: lane.title, intervals: joined(lane.spans) }]);
    else this.labelsEdited.emit(labelsOf(this.lanes));
  }

  private doubleClick(event: MouseEvent): void {
    const { frame, lane } = this.at(event);
    if (lane < 0) {
      this.scale.fit(this.scale.nFrames);
      return;
    }
    const hit = this.editable ? hitTest(this.lanes, lane, frame, 0) : null;
    if (hit && this.lanes[lane]!.kind === "label") this.startRename(hit.lane, hit.span);
  }

  private startRename(lane: number, span: number): void {
    const now = this.lanes[lane]!.spans[span]!;
    this.pick({ lane, span });
    this.rename.value = now.name;
    this.rename.hidden = false;
    this.rename.style.left = `${Math.max(GUTTER, this.scale.x(now.start))}px`;
    this.rename.style.top = `${this.laneTop(lane)}px`;
    this.rename.focus();
    this.rename.select();
  }

  private endRename(keep: boolean): void {
    if (this.rename.hidden) return;
    this.rename.hidden = true;
    const name = this.rename.value.trim();
    const span = this.selected && this.lanes[this.selected.lane]?.spans[this.selected.span];
    if (keep && name && span && span.name !== name) {
      span.name = name;
      this.commit(this.lanes[this.selected!.lane]!);
    }
    this.canvas.focus();
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    if ((event.key !== "Delete" && event.key !== "Backspace") || !this.selection) return;
    event.preventDefault();
    this.removeSelected();
  }

  /** What is selected: a contact, a label, or nothing. */
  get selection(): Lane["kind"] | null {
    const lane = this.selected && this.lanes[this.selected.lane];
    return lane?.spans[this.selected!.span] ? lane.kind : null;
  }

  removeSelected(): void {
    const lane = this.selected && this.lanes[this.selected.lane];
    if (!lane) return;
    lane.spans.splice(this.selected!.span, 1);
    this.pick(null);
    this.commit(lane);
    this.draw();
  }

  renameSelected(): void {
    if (this.selection === "label") this.startRename(this.selected!.lane, this.selected!.span);
  }

  private pick(selected: { lane: number; span: number } | null): void {
    this.selected = selected;
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

/** `text`, shortened to `width` pixels. */
function fitText(pen: CanvasRenderingContext2D, text: string, width: number): string {
  if (text.length > 200) text = text.slice(0, 200);
  if (pen.measureText(text).width <= width) return text;
  while (text.length > 1 && pen.measureText(`${text}…`).width > width) text = text.slice(0, -1);
  return `${text}…`;
}
