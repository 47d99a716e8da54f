/** Work that is asked for more often than it can be done: one piece at a time, and at the end always the newest. */
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
