/** Settings and state of the Blend panel. */
import { FORMS, type BlendSettings, type ComparisonSettings, type RegisterSettings, type TransitionSettings } from "../messages";
import type { Point } from "../widgets/curve_editor";
import type { Mode } from "./blend_modes";

export type Method = NonNullable<BlendSettings["method"]>;

/** Names of the settings that only the methods along a path have. */
type PathName = Exclude<keyof BlendSettings & keyof TransitionSettings, "method" | "feet" | "name">;
export const isOfPath = (name: string): name is PathName => /^path_|^whole_costs$|^n_frames$/.test(name);
export const PATH = FORMS.BlendSettings.map(({ name }) => name).filter(isOfPath);
export const METHODS: [Method, string][] = [
  ["registered", "synchronized (best)"], ["linear", "linear"], ["discrete", "discrete path"], ["cubic", "cubic spline"],
];

/** State that survives a page reload, and that can be undone. */
export interface Choices {
  chosen: string[];
  method: Method;
  mode: Mode;
  weights: [string, number][];
  curves: [string, Point[]][];
  at: [number, number] | null;
  settings: Partial<BlendSettings & RegisterSettings>;
  transition: Partial<TransitionSettings>;
  path: Partial<BlendSettings>;
  comparison: Partial<ComparisonSettings>;
  result: string | null;
}

/** Return whether a method matches times along a path, which needs two clips. */
export function alongPath(method: string): boolean {
  return method === "discrete" || method === "cubic";
}

/** Return the settings of the path that apply to a method. */
export function pathSettings(method: Method, value: Partial<BlendSettings>): Partial<BlendSettings> {
  if (!alongPath(method)) return {};
  const { n_frames, ...rest } = value;
  return method === "cubic" ? value : rest;
}

/** Return the settings that these controls belong to. */
export function pick<T>(value: Partial<T>, controls: readonly { name: string }[]): Partial<T> {
  const names = new Set(controls.map(({ name }) => name));
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name))) as Partial<T>;
}
