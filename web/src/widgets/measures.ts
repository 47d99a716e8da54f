/** Texts of measured values. */
/** Format a value with three significant digits, without rounding noise; a dash if there is no value. */
export function metricText(value: number | null): string {
  if (value === null) return "–";
  if (Math.abs(value) < 1e-6) return "0";
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) < 1e-3) return value.toExponential(1);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
