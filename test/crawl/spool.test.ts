// Prefetched bodies that wait to be read, if there is no room for them in memory.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Spool, SpoolRoom } from "../../src/crawl/spool.ts";
import { listOf } from "../support/collected.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const turn = () => new Promise((resolve) => setImmediate(resolve));

function fullRoom(): SpoolRoom {
  const room = new SpoolRoom();
  room.memory = Number.MAX_SAFE_INTEGER;
  return room;
}

/** A body of five chunks, and how many of them were taken. */
function fiveChunks() {
  const seen = { taken: 0 };
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (; seen.taken < 5; ) yield new Uint8Array(1000).fill(seen.taken++);
  }
  return { body: Object.assign(chunks(), { end: {} }), seen };
}

async function firstBytes(spool: Spool): Promise<(number | undefined)[]> {
  return (await listOf(spool)).map(([first]) => first);
}

/** A spool that has paused. */
async function paused() {
  const { body, seen } = fiveChunks();
  const room = fullRoom();
  const spool = new Spool(body, room);
  await turn();
  return { seen, room, spool };
}

test("a download pauses until its document is being read", async () => {
  const { seen, room, spool } = await paused();
  expect(seen.taken).toBe(1);
  expect(room.unread).toBe(0);
  expect(await firstBytes(spool)).toEqual([0, 1, 2, 3, 4]);
  expect(room.unread).toBe(0);
  await room.scratch.close();
});

test("a download that has paused for a second is moved to a file", async () => {
  const { seen, room, spool } = await paused();
  vi.advanceTimersByTime(1000);
  await spool.filled;
  expect(seen.taken).toBe(5);
  expect(room.unread).toBe(5000);
  expect(await firstBytes(spool)).toEqual([0, 1, 2, 3, 4]);
  expect(room.unread).toBe(0);
  await room.scratch.close();
});

test("closing a spool during its pause releases its memory count", async () => {
  const { room, spool } = await paused();
  spool.close();
  await spool.filled;
  expect(room.unread).toBe(0);
  await room.scratch.close();
});

test("closing a spool while its file is being created releases its memory count", async () => {
  const { room, spool } = await paused();
  vi.advanceTimersByTime(1000);
  // Creating the file takes at least one more turn of the event loop.
  await turn();
  spool.close();
  await spool.filled;
  await room.scratch.close();
  expect(room.unread).toBe(0);
});
