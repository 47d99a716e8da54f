/** The row of buttons above the timeline: play, step, loop, speed, and the current time. */
import { button, el, toggle } from "./dom";
import type { Playback } from "./playback";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

export function transport(host: HTMLElement, playback: Playback): void {
  const icon = (label: string, text: string, press: () => void, title: string) => {
    const node = button(text, press, title, "icon");
    node.setAttribute("aria-label", label);
    return node;
  };
  const play = icon("Play", "▶", () => playback.toggle(), "Play or pause (Space)");
  play.id = "play";
  const loop = toggle("Loop", playback.loop, (on) => playback.setLoop(on), "Loop the clip or the marked range (L)");
  const both = toggle("⇄", playback.pingPong, (on) => playback.setPingPong(on), "Alternate between forward and backward play (P)");
  both.setAttribute("aria-label", "Ping-pong");
  const speed = el("select", { aria: { label: "Speed" }, title: "Speed", on: { change: () => playback.setSpeed(Number(speed.value)) } });
  for (const value of SPEEDS) speed.append(el("option", { value: String(value), text: `${value}×` }));
  speed.value = "1";
  const region = button("Whole clip", () => playback.setRegion(null), "Play the whole clip (\\); Shift+drag on the ruler to mark a range");
  const frame = el("input", { type: "number", min: "0", step: "1", aria: { label: "Frame" }, title: "Frame" });
  frame.id = "frame";
  frame.addEventListener("change", () => playback.seek(Math.round(frame.valueAsNumber) || 0));
  const total = el("span", { class: "dim" });
  const seconds = el("span", { class: "dim seconds" });
  host.append(
    icon("First frame", "|◂", () => playback.step(-playback.frame), "First frame (Home)"),
    icon("Previous frame", "◂", () => playback.step(-1), "Previous frame (←)"),
    play,
    icon("Next frame", "▸", () => playback.step(1), "Next frame (→)"),
    icon("Last frame", "▸|", () => playback.step(playback.nFrames), "Last frame (End)"),
    loop, both, speed,
    icon("Set in point", "[", () => playback.markStart(), "Set in point: the marked range starts here (I)"),
    icon("Set out point", "]", () => playback.markStop(), "Set out point: the marked range ends here (O)"),
    region, el("span", { class: "spacer" }), frame, total, seconds,
  );
  const show = () => {
    play.textContent = playback.playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", playback.playing ? "Pause" : "Play");
    loop.set(playback.loop);
    both.set(playback.pingPong);
    region.disabled = !playback.region;
    if (document.activeElement !== frame) frame.value = String(playback.frame);
    frame.max = String(playback.nFrames - 1);
    total.textContent = `/ ${playback.nFrames - 1}`;
    seconds.textContent = `${playback.seconds.toFixed(2)} s`;
  };
  playback.changed.on(show);
  show();
}
