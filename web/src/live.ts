/** A character streamed by the server: draws the newest live frame before each redraw, and echoes every tenth frame. */
import { bodyOf, Limbs } from "./limbs";
import type { Connection, LiveFrame } from "./connection";
import type { LiveStarted } from "./messages";
import type { Stage } from "./scene";
import { Signal } from "./signal";

const ECHO_EACH = 10;

export class LiveCharacter {
  /** Emitted after each drawn frame, with the extra data from the stream, such as requests or costs. */
  readonly drawn = new Signal<LiveFrame>();
  private limbs: Limbs | null = null;
  private newest: LiveFrame | null = null;
  private shown: LiveFrame | null = null;
  private readonly stops: (() => void)[];

  /** @param roles as in MotionInfo, if known: adds thicker limbs and a head */
  constructor(
    private readonly stage: Stage,
    private readonly connection: Connection,
    private readonly started: LiveStarted,
    readonly color: string,
    private readonly roles: Record<string, number> = {},
  ) {
    this.stops = [
      connection.live.on((frame) => {
        if (frame.block.id === started.stream) this.take(frame);
      }),
      stage.ticked.on(() => this.draw()),
    ];
  }

  /** World position of a joint as last drawn. */
  joint(index: number): [number, number, number] | null {
    const at = this.newest?.block.positions.subarray(3 * index, 3 * index + 3);
    return at ? [at[0]!, at[1]!, at[2]!] : null;
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.limbs?.dispose();
    this.stage.invalidate();
  }

  private take(frame: LiveFrame): void {
    this.newest = frame;
    if (frame.block.first % ECHO_EACH) return;
    const { stream } = this.started;
    this.connection.ask("live_echo", { stream, frame: frame.block.first, sent: frame.sent }).catch(() => undefined);
  }

  private draw(): void {
    if (!this.newest || this.newest === this.shown) return;
    this.shown = this.newest;
    const { positions, rotations } = this.newest.block;
    this.limbs ??= this.build(positions);
    this.limbs.draw([{ positions, offset: 0, rotations, rotationOffset: 0 }]);
    this.stage.invalidate();
    this.drawn.emit(this.newest);
  }

  /** Build limbs with the bone lengths of the first frame. */
  private build(positions: Float32Array): Limbs {
    const { joints, parents } = this.started;
    const lengths = parents.map((parent, joint) => {
      const [a, b] = [3 * joint, 3 * parent];
      return parent < 0 ? 0 : Math.hypot(positions[a]! - positions[b]!, positions[a + 1]! - positions[b + 1]!, positions[a + 2]! - positions[b + 2]!);
    });
    const info = { parents, bone_lengths: lengths, end_sites: [], roles: this.roles, stature: 0, kind: "motion" as const };
    const limbs = new Limbs(bodyOf(info), joints.length, 1, this.color, 1, "limbs");
    this.stage.scene.add(limbs.group);
    return limbs;
  }
}
