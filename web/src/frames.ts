/** The frames of a motion, fetched in blocks and cached. Scrubbing does not wait for frames that were seen before. */
import { Signal } from "./signal";
import type { Pose } from "./limbs";

export const BLOCK = 512;
const HEADER_BYTES = 16;
/** Maximum number of cached blocks, about 80 MB for 30 joints; the least recently used are removed first. */
const KEPT_BLOCKS = 192;

/**
 * One binary message. Its little-endian header: uint8 version, uint8 kind, uint16 joints, uint32 id, first frame,
 * count.
 */
export interface Block {
  version: number;
  kind: number;
  nJoints: number;
  id: number;
  first: number;
  nFrames: number;
  /** World positions (n, J, 3), meters. */
  positions: Float32Array;
  /** World rotations (n, J, 4), xyzw as in three.js. */
  rotations: Float32Array;
}

export function readBlock(data: ArrayBuffer): Block {
  const view = new DataView(data);
  const nJoints = view.getUint16(2, true);
  const nFrames = view.getUint32(12, true);
  const nPositions = nFrames * nJoints * 3;
  return {
    version: view.getUint8(0),
    kind: view.getUint8(1),
    nJoints,
    id: view.getUint32(4, true),
    first: view.getUint32(8, true),
    nFrames,
    positions: new Float32Array(data, HEADER_BYTES, nPositions),
    rotations: new Float32Array(data, HEADER_BYTES + 4 * nPositions, nFrames * nJoints * 4),
  };
}

export interface Frame extends Pose {
  rotations: Float32Array;
  rotationOffset: number;
}

export type Fetch = (start: number, stop: number) => Promise<Block>;

export class Frames {
  /** Emitted when a block has arrived. */
  readonly arrived = new Signal();
  private blocks = new Map<number, Block>();
  private asked = new Set<number>();
  private generation = 0;

  constructor(
    readonly nFrames: number,
    readonly nJoints: number,
    private readonly fetch: Fetch,
    private readonly block = BLOCK,
  ) {}

  /** The pose of a frame, or undefined while it is loading. */
  at(frame: number): Frame | undefined {
    const f = Math.max(0, Math.min(this.nFrames - 1, Math.round(frame)));
    const index = Math.floor(f / this.block);
    const found = this.blocks.get(index);
    if (!found) {
      this.want(index);
      return undefined;
    }
    // A Map keeps insertion order: a block that is used moves to the end, so the first is the least recently used.
    this.blocks.delete(index);
    this.blocks.set(index, found);
    const k = f - found.first;
    return {
      positions: found.positions,
      offset: k * this.nJoints * 3,
      rotations: found.rotations,
      rotationOffset: k * this.nJoints * 4,
    };
  }

  /** Request the frames needed soon: the block of `frame` and the next block. */
  prefetch(frame: number): void {
    const index = Math.floor(Math.max(0, Math.min(this.nFrames - 1, frame)) / this.block);
    this.want(index);
    if ((index + 1) * this.block < this.nFrames) this.want(index + 1);
  }

  /** Wait until all frames from `start` to `stop` have been loaded. */
  async load(start: number, stop: number): Promise<void> {
    const waiting: Promise<void>[] = [];
    for (let i = Math.floor(start / this.block); i * this.block < Math.min(stop, this.nFrames); i++) {
      if (!this.blocks.has(i)) waiting.push(this.get(i));
    }
    await Promise.all(waiting);
  }

  /** Discard all blocks, because the motion has changed. */
  clear(): void {
    this.generation++;
    this.blocks.clear();
    this.asked.clear();
  }

  /** Add the first block, which came with the motion's new description. */
  put(block: Block): void {
    if (block.first === 0 && block.nJoints === this.nJoints && block.nFrames === Math.min(this.block, this.nFrames)) this.blocks.set(0, block);
  }

  private want(index: number): void {
    if (this.blocks.has(index) || this.asked.has(index)) return;
    // A failed block is requested again when the frame is next shown; the connection has already reported the error.
    this.get(index).catch(() => undefined);
  }

  private async get(index: number): Promise<void> {
    const generation = this.generation;
    this.asked.add(index);
    try {
      const start = index * this.block;
      const block = await this.fetch(start, Math.min(this.nFrames, start + this.block));
      if (generation !== this.generation) return;
      this.blocks.set(index, block);
      for (const old of this.blocks.keys()) {
        if (this.blocks.size <= KEPT_BLOCKS) break;
        this.blocks.delete(old);
      }
    } finally {
      if (generation === this.generation) this.asked.delete(index);
    }
    this.arrived.emit();
  }
}
