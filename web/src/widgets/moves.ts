/** Counts the moves of a hand on some controls: a drag is one, and so are keys that follow each other quickly. */
export interface Moves {
  count: number;
}

/** Milliseconds without a key after which the next one is another move. */
const PAUSE = 1000;

export function countMoves(element: HTMLElement): Moves {
  const moves = { count: 0 };
  let last = -Infinity;
  element.addEventListener("pointerdown", () => moves.count++, { capture: true });
  element.addEventListener("keydown", ({ timeStamp }) => {
    if (timeStamp - last > PAUSE) moves.count++;
    last = timeStamp;
  }, { capture: true });
  return moves;
}
