// How much the spools of a crawl count as unread.
import { afterEach, expect, test, vi } from "vitest";
import { Spool, SpoolRoom } from "../../src/crawl/spool.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("a spool that is closed while its file is made leaves no count behind", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const room = new SpoolRoom();
  // No room in memory: what comes waits, then goes to a file.
  room.take(Number.MAX_SAFE_INTEGER);
  const bytes = new Uint8Array(1000);
  const spool = new Spool(Object.assign(chunks(bytes, bytes), { problem: undefined }), room);
  // The file is asked for once the wait is over; making it takes a turn of the event loop at least.
  await vi.advanceTimersByTimeAsync(5000);
  spool.close();
  await spool.filled;
  await room.scratch.close();
  expect(room.unread).toBe(0);
});

async function* chunks(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
