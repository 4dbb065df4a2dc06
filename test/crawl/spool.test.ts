// How much the spools of a crawl count as unread.
import { expect, test } from "vitest";
import { Spool, SpoolRoom } from "../../src/crawl/spool.ts";

test("a spool that is closed while its file is made leaves no count behind", async () => {
  const room = new SpoolRoom();
  // No room in memory: what comes goes to a file, and making that takes a turn of the event loop at least.
  room.memory = Number.MAX_SAFE_INTEGER;
  const bytes = new Uint8Array(1000);
  const spool = new Spool(Object.assign(chunks(bytes, bytes), { end: {} }), room);
  await new Promise((resolve) => setImmediate(resolve));
  spool.close();
  await spool.filled;
  await room.scratch.close();
  expect(room.unread).toBe(0);
});

async function* chunks(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
