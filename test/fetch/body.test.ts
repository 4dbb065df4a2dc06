// Bodies: counted, capped, held back while nobody reads, and never throwing.
import { describe, expect, test } from "vitest";
import type { Fault } from "../support/fault-server.ts";
import { fetchOnly, pause, tenPages, testFetcher, testServer, until } from "../support/fetching.ts";

const megabyte = "x".repeat(1_000_000);

/** Sends this many megabytes, no faster than they are read. */
function megabytes(count: number): Fault {
  return async ({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${count * 1_000_000}\r\n\r\n`);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    for (let left = count; left > 0 && !socket.destroyed; left--) {
      const drained = new Promise((resolve) => socket.once("drain", resolve));
      if (!socket.write(megabyte)) await Promise.race([closed, drained]);
    }
  };
}

async function lengthOf(body: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const piece of body) length += piece.length;
  return length;
}

describe("size limits", () => {
  test.each([
    [10, 10, undefined],
    [11, 10, "limit-document-bytes"],
    [1, 0, "limit-document-bytes"],
    [0, 0, undefined],
  ])("apply to a body of %i bytes with a limit of %i", async (length, limit, expected) => {
    const { bytes, broken } = await fetchOnly("x".repeat(length), { limits: { documentBytes: limit } });
    expect({ bytes, broken }).toEqual({ bytes: Math.min(length, limit), broken: expected });
  });

  test.each([
    [512_000, undefined],
    [512_001, "limit-robots-bytes"],
    [5_000_000, "limit-robots-bytes"],
  ])("apply to a robots.txt of %i bytes, of which 512,000 are read", async (length, expected) => {
    const server = await testServer({ "/robots.txt": "x".repeat(length) });
    const { bytes, broken } = await testFetcher({ start: server.origin }).read("/robots.txt", {
      role: "robots",
    });
    expect({ bytes, broken }).toEqual({ bytes: 512_000, broken: expected });
  });

  test("close the connection when they are exceeded", async () => {
    const server = await testServer({ "/a": megabytes(50) });
    await testFetcher({ start: server.origin, limits: { documentBytes: 1000 } }).read("/a");
    await until(() => server.open === 0);
  });
});

describe("a slow reader", () => {
  test("does not cause timeouts", async () => {
    const server = await testServer({ "/a": megabytes(16) });
    const fetcher = testFetcher({ start: server.origin, timeout: { idle: 300, total: 3000 } });
    const { body } = await fetcher.open("/a");
    let bytes = 0;
    let pauses = 3;
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > 3_000_000 && pauses-- > 0) await pause(400);
    }
    expect({ bytes, problem: body.end.problem }).toEqual({ bytes: 16_000_000, problem: undefined });
  });

  test("does not block queued documents", async () => {
    const server = await testServer({ "/large": megabytes(16), "/small": tenPages });
    const options = { start: server.origin, concurrency: { perHost: 1, total: 1 } };
    const fetcher = testFetcher(options, { lendAfter: 20 });
    const large = await fetcher.open("/large");
    // Nobody reads the large document, but all of these still arrive.
    const others = await Promise.all([1, 2, 3].map(() => fetcher.read("/small")));
    expect(others.map(({ text }) => text)).toEqual([tenPages, tenPages, tenPages]);
    expect(await lengthOf(large.body)).toBe(16_000_000);
  });

  test("of small documents blocks nothing", async () => {
    const server = await testServer({ "/small": tenPages });
    const fetcher = testFetcher({ start: server.origin, concurrency: { perHost: 1, total: 1 } });
    const documents = await Promise.all(Array.from({ length: 50 }, () => fetcher.open("/small")));
    expect(server.mostAtOnce).toBe(1);
    expect(documents).toHaveLength(50);
  });
});

describe.each(["", "content-length: 10000000\r\n", "transfer-encoding: chunked\r\n"])(
  "a body that nobody reads (%j)",
  (framing) => {
    const pieceBytes = 16 * 1024;
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
    };

    test.each(["end", "resetAndDestroy"] as const)(
      "survives the end of the connection at any time: %s",
      async (end) => {
        for (let pieces = 1; pieces <= 10; pieces++) {
          const fault: Fault = async ({ socket }) => {
            socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n`);
            const piece = "x".repeat(pieceBytes);
            for (let sent = 0; sent < pieces; sent++) {
              socket.write(framing.includes("chunked") ? `${pieceBytes.toString(16)}\r\n${piece}\r\n` : piece);
              await turns(10);
            }
            socket[end]();
          };
          const server = await testServer({ "/a": fault });
          const { body } = await testFetcher({ start: server.origin }).open("/a");
          while (server.open > 0 && end === "resetAndDestroy") await turns(10);
          await turns(100);
          const bytes = await lengthOf(body);
          const broken = body.end.problem?.code;
          if (end === "end") {
            expect([bytes, broken]).toEqual([pieces * pieceBytes, framing === "" ? undefined : "body-short"]);
          } else expect(broken).toBe("body-reset");
        }
      },
    );
  },
);

describe.each(["end", "resetAndDestroy"] as const)(
  "a response cut off at any byte (%s) is never taken for a complete one",
  (end) => {
    const list = "https://example.org/1\n";
    const half = list.length / 2;
    const chunks = [list.slice(0, half), list.slice(half), ""].map(
      (text) => `${text.length.toString(16)}\r\n${text}\r\n`,
    );
    test.each([
      ["with a length", `content-length: ${list.length}\r\n\r\n${list}`],
      ["in chunks", `transfer-encoding: chunked\r\n\r\n${chunks.join("")}`],
    ])("%s", async (_, rest) => {
      const response = `HTTP/1.1 200 OK\r\n${rest}`;
      let length = 0;
      const cut: Fault = ({ socket }) => void socket.write(response.slice(0, length), () => socket[end]());
      const server = await testServer({ "/whole": list, "/cut": cut });
      const fetcher = testFetcher({ start: server.origin, retries: 0 });
      for (; length < response.length; length++) {
        // On a kept connection, a request without a response is sent again.
        await fetcher.read("/whole");
        const { result, text, broken } = await fetcher.read("/cut");
        expect(list.startsWith(text)).toBe(true);
        expect([length, result === "found" && broken === undefined]).toEqual([length, false]);
      }
    });
  },
);
