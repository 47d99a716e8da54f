/** A list of listeners: parts of the page notify each other of changes through them. */
export class Signal<T = void> {
  private listeners = new Set<(value: T) => void>();

  /** Listen; the returned function stops it. */
  on(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }
}

/** `draw`, at most once per picture however often it is called for. */
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
