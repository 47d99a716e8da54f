/** A list of listeners, with which parts of the page notify each other of changes. */
export class Signal<T = void> {
  private listeners = new Set<(value: T) => void>();

  /** Add a listener. Call the returned function to remove it. */
  on(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }
}

/** Wrap `draw` to run at most once per animation frame, however often it is called. */
export function oncePerPicture(draw: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}
