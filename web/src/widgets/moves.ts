/** Counts the user actions on some controls: a drag is one action, and so are keys pressed in quick succession. */
export interface Moves {
  count: number;
}

/** Pause in milliseconds after which the next key is a new action. */
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
