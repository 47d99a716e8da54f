/**
 * One bar for each open clip below the timeline. Drag a bar to move its clip in time relative to the selected one, to
 * compare clips in sync; double-click it to move it back.
 */
import type { App, Shot } from "./app";
import { cssVariable, el, visible } from "./dom";
import { oncePerPicture } from "./signal";
import { fitText } from "./timeline";
import { GUTTER } from "./timescale";

const ROW = matchMedia("(pointer: coarse)").matches ? 28 : 18;

export class Tracks {
  private readonly canvas = el("canvas", { tabIndex: 0, role: "application", aria: { label: "Clips over time: Up and Down select a clip, Left and Right move it, Backspace resets it" } });
  private readonly said = el("span", { class: "unseen", aria: { live: "polite" } });
  private drag: { id: string; x: number; offset: number; moved: boolean } | null = null;
  private row = 0;

  constructor(private readonly host: HTMLElement, private readonly app: App) {
    host.append(this.canvas, this.said);
    host.hidden = true;
    app.history.registerState("offsets", { read: () => [...app.offsets], write: (state) => this.put(state as [string, number][]) });
    for (const signal of [app.motionsChanged, app.selectionChanged, app.scale.changed, app.playback.changed]) signal.on(() => this.draw());
    app.infoChanged.on(() => this.draw());
    app.themes.changed.on(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(host);
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", () => this.up());
    this.canvas.addEventListener("pointercancel", () => (this.drag = null));
    this.canvas.addEventListener("dblclick", (event) => this.shift(this.rowAt(event), 0));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  readonly draw = oncePerPicture(() => this.paint());

  set shown(on: boolean) {
    this.host.hidden = !on;
    this.draw();
  }

  private get shots(): Shot[] {
    return [...this.app.motions.values()];
  }

  /** First frame and end of a clip, in frames of the selected clip. */
  private span({ info }: Shot): [number, number] {
    const start = this.app.delayOf(info.motion) * this.app.playback.fps;
    return [start, start + (info.n_frames / info.fps) * this.app.playback.fps];
  }

  private paint(): void {
    const { app, shots } = this;
    if (this.host.hidden || !this.host.clientWidth) return;
    const [ratio, width, height] = [Math.min(2, devicePixelRatio), this.host.clientWidth, Math.max(ROW * shots.length + 4, 1)];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d")!;
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    shots.forEach((shot, i) => {
      const [start, stop] = this.span(shot).map((frame) => app.scale.x(frame)) as [number, number];
      const top = 2 + i * ROW;
      pen.fillStyle = cssVariable(shot === app.selected ? "--text" : "--dim");
      pen.textAlign = "right";
      pen.fillText(fitText(pen, shot.info.name, GUTTER - 16), GUTTER - 10, top + ROW / 2);
      pen.textAlign = "left";
      pen.save();
      pen.beginPath();
      pen.rect(GUTTER, top, width - GUTTER, ROW);
      pen.clip();
      pen.fillStyle = shot.character.color;
      pen.globalAlpha = shot.character.visible ? 1 : 0.4;
      pen.beginPath();
      pen.roundRect(start, top + 3, Math.max(2, stop - start), ROW - 6, 3);
      pen.fill();
      pen.globalAlpha = 1;
      if (shot === app.selected || (i === this.row && document.activeElement === this.canvas)) {
        pen.strokeStyle = cssVariable("--text");
        pen.stroke();
      }
      const delay = app.delayOf(shot.info.motion);
      if (delay) {
        pen.fillStyle = "#fff";
        pen.fillText(`${delay > 0 ? "+" : "−"}${Math.abs(delay).toFixed(2)} s`, Math.max(GUTTER, start) + 5, top + ROW / 2);
      }
      pen.restore();
    });
    const x = app.scale.x(app.playback.frame + 0.5);
    pen.fillStyle = cssVariable("--accent");
    if (x >= GUTTER - 1) pen.fillRect(x - 0.75, 0, 1.5, height);
  }

  private rowAt(event: MouseEvent): number {
    return Math.max(0, Math.min(this.shots.length - 1, Math.floor((event.offsetY - 2) / ROW)));
  }

  private down(event: PointerEvent): void {
    this.row = this.rowAt(event);
    const shot = this.shots[this.row];
    if (!shot || event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { id: shot.info.motion, x: event.offsetX, offset: this.app.offsets.get(shot.info.motion) ?? 0, moved: false };
  }

  private move(event: PointerEvent): void {
    const { drag, app } = this;
    if (!drag || (!drag.moved && Math.abs(event.offsetX - drag.x) < 4)) return;
    drag.moved = true;
    // The selected clip sets the time, so it stays where it is.
    if (drag.id === app.selected?.info.motion) return;
    const frames = Math.round((event.offsetX - drag.x) * app.scale.perPixel);
    this.set(drag.id, drag.offset + frames / app.playback.fps);
  }

  private up(): void {
    const { drag, app } = this;
    this.drag = null;
    if (drag?.moved) app.history.recordChange("Move clip in time");
    else if (drag && app.motions.has(drag.id)) app.select(drag.id);
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const shot = this.shots[this.row];
    if (event.key === "ArrowUp" || event.key === "ArrowDown") this.row = Math.max(0, Math.min(this.shots.length - 1, this.row + (event.key === "ArrowUp" ? -1 : 1)));
    else if (event.key === "Enter" && shot) this.app.select(shot.info.motion);
    else if (event.key === "Backspace") this.shift(this.row, 0);
    else if (step && shot) this.shift(this.row, (this.app.offsets.get(shot.info.motion) ?? 0) + (step * (event.shiftKey ? 10 : 1)) / this.app.playback.fps);
    else return;
    event.preventDefault();
    event.stopPropagation();
    const now = this.shots[this.row];
    const delay = now ? this.app.delayOf(now.info.motion) : 0;
    this.said.textContent = now ? `${visible(now.info.name)}, ${Math.abs(delay).toFixed(2)} s ${delay < 0 ? "earlier" : "later"} than the selected clip` : "";
    this.draw();
  }

  private shift(row: number, offset: number): void {
    const shot = this.shots[row];
    if (!shot || shot === this.app.selected) return;
    this.set(shot.info.motion, offset);
    this.app.history.recordChange("Move clip in time", `offset ${shot.info.motion}`);
  }

  private set(id: string, offset: number): void {
    if (Math.abs(offset) < 1e-6) this.app.offsets.delete(id);
    else this.app.offsets.set(id, offset);
    this.app.playback.changed.emit();
  }

  private put(offsets: [string, number][]): void {
    this.app.offsets.clear();
    for (const [id, offset] of offsets) this.app.offsets.set(id, offset);
    this.app.playback.changed.emit();
  }
}
