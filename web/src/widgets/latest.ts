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
        // What fails has been told to the person; the next wish is tried all the same.
        await work().catch(() => undefined);
      } while (again);
    } finally {
      busy = false;
    }
  };
  return () => void go();
}
