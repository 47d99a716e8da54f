/** The camera and what is drawn, kept over a reload of the page and in projects. */
import type { App } from "./app";
import { SHOWN } from "./character_view";
import { saveChoice, tabState } from "./tab_state";

interface CameraState {
  eye: [number, number, number];
  target: [number, number, number];
  following: boolean;
  shown: Record<string, unknown>;
}

export function keepCamera(app: App): void {
  window.addEventListener("pagehide", () => {
    const { camera, controls } = app.stage;
    const state: CameraState = {
      eye: camera.position.toArray() as [number, number, number], target: controls.target.toArray() as [number, number, number],
      following: app.following, shown: { ...app.shown },
    };
    saveChoice("camera", state);
  });
}

/** Restore the camera from before a reload, if it was saved and is valid. */
export function restoreCamera(app: App): void {
  const { eye, target, following, shown } = (tabState().choices["camera"] ?? {}) as Partial<CameraState>;
  const isPlace = (place: unknown): place is [number, number, number] => Array.isArray(place) && place.length === 3 && place.every((each) => Number.isFinite(each));
  if (isPlace(eye) && isPlace(target)) {
    const { camera, controls } = app.stage;
    controls.target.set(...target);
    camera.position.set(...eye);
    controls.update();
    app.stage.invalidate();
  }
  if (typeof following === "boolean") app.following = following;
  // The skin depends on the file, so the body is drawn as usual.
  const known = Object.entries(shown ?? {}).filter(([key, value]) => key !== "style" && key in SHOWN && typeof value === typeof SHOWN[key as keyof typeof SHOWN]);
  if (known.length) app.show(Object.fromEntries(known));
}
