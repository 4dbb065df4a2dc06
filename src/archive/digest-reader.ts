// Reads content for its digest alone. Nobody keeps the pieces, so the buffers are used again; and few documents are read at a time,
// however many are waiting, because each takes memory.
import { type Block, lengthOf, readPieces } from "./kept-body.ts";

const pieceSize = 512 * 1024;
// As many as Node.js reads at a time, unless it is told otherwise.
const mostAtOnce = 4;

let running = 0;
const waiting: (() => void)[] = [];
const idle: (readonly [Buffer, Buffer])[] = [];

/** Calls `see` with the content, piece by piece: a piece is gone when the next one comes. */
export async function readForDigest(blocks: readonly Block[], see: (piece: Uint8Array) => void): Promise<void> {
  if (blocks.every((block) => block instanceof Uint8Array)) {
    for (const block of blocks) see(block);
    return;
  }
  if (running < mostAtOnce) running += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  const size = Math.min(pieceSize, lengthOf(blocks));
  const buffers = (size === pieceSize ? idle.pop() : undefined) ?? [newBuffer(size), newBuffer(size)];
  try {
    // The next piece is read into the other one while this one is seen.
    let turn: 0 | 1 = 0;
    const nextBuffer = () => {
      turn = turn === 0 ? 1 : 0;
      return buffers[turn];
    };
    for await (const piece of readPieces(blocks, size, nextBuffer)) see(piece);
    // A reading that failed may still be writing to them.
    if (size === pieceSize && waiting.length > 0) idle.push(buffers);
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
    if (running === 0) idle.length = 0;
  }
}

function newBuffer(size: number): Buffer {
  return Buffer.allocUnsafeSlow(size);
}
