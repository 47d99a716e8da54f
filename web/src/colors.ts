/** Colors of clips. */
const COLORS = ["#7f9bc0", "#c98a5e", "#79a884", "#a98bbd", "#b9a24f", "#6fa7ad", "#c07f92", "#8d94a0"];
/** The golden angle: any number of hues are far apart. */
const TURN = 137.508;

/** Return the first color that is not used. */
export function freeColor(used: ReadonlySet<string>): string {
  for (let k = 0; ; k++) {
    const color = COLORS[k] ?? `hsl(${Math.round(TURN * k) % 360}, ${k % 2 ? 42 : 30}%, ${k % 3 ? 58 : 68}%)`;
    if (!used.has(color) || k > 1000) return color;
  }
}
