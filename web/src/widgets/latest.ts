/**
 * Wrap work that is requested more often than it can be done: it runs once at a time, and the newest request always
 * runs last.
 */
export function latest(work: () => Promise<void>): () => void {
  let busy = false;
  let again = false;
  const go = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      do {
        again = false;
        // The error was already shown; the next request is tried anyway.
        await work().catch(() => undefined);
      } while (again);
    } finally {
      busy = false;
    }
  };
  return () => void go();
}
