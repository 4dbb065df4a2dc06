// The limit on decoded bytes holds for bombs, and memory does not follow what a website sends.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ProblemLog } from "../../src/model/problem.ts";
import { OpenedDocument } from "../../src/open/open-document.ts";
import { some } from "../support/long.ts";
import { brotli, opened, openedInEveryCut } from "./opened.ts";

const zeros = Buffer.alloc(some(12_000_000, 3_000_000), "0");
const maxBytes = 1_000_000;

test.each([
  ["gzip", gzipSync(zeros)],
  ["deflate", deflateSync(zeros)],
  ["deflate", deflateRawSync(zeros)],
  ["br", brotli(zeros)],
  ["gzip, gzip", gzipSync(gzipSync(zeros))],
  ["gzip, br", brotli(gzipSync(zeros))],
  ["identity", zeros],
])("%s is read exactly up to the limit", async (contentEncoding, bomb) => {
  const result = await openedInEveryCut(bomb, { contentEncoding, maxBytes });
  expect(result).toMatchObject({ codes: ["limit-document-bytes"], complete: false, decodedBytes: maxBytes });
  expect(result.problems[0]).toMatchObject({ limit: maxBytes });
  expect(result.text).toBe("0".repeat(maxBytes));
});

test("a document of exactly the limit is complete", async () => {
  const exact = zeros.subarray(0, maxBytes);
  for (const body of [exact, gzipSync(exact), gzipSync(gzipSync(exact))]) {
    expect(await opened(body, { maxBytes })).toMatchObject({ codes: [], decodedBytes: maxBytes });
  }
});

test("a limit of zero reads nothing", async () => {
  expect(await opened(Buffer.from("<a/>"), { maxBytes: 0 })).toMatchObject({
    text: "",
    codes: ["limit-document-bytes"],
  });
  expect(await opened([], { maxBytes: 0 })).toMatchObject({ text: "", codes: [] });
});

test("an inner layer of nothing but empty members ends at the limit", async () => {
  const maxBytes = some(1_000_000, 200_000);
  const members = Buffer.concat(Array<Buffer>(maxBytes / 16).fill(gzipSync("")));
  expect(await opened(gzipSync(members), { maxBytes })).toMatchObject({ text: "", codes: ["limit-document-bytes"] });
});

test("spec: above 52,428,800 bytes a document is larger than the protocol allows", async () => {
  const chunk = Buffer.alloc(1024 * 1024, "x");
  const chunks = Array<Buffer>(50).fill(chunk);
  expect((await opened(chunks)).codes).toEqual([]);
  const over = await opened([...chunks, Buffer.from("x")]);
  expect(over).toMatchObject({ codes: ["protocol-size"], complete: true, decodedBytes: 52_428_801 });
});

test("a decompression bomb of ten gigabytes takes little memory", async () => {
  const script = path.join(import.meta.dirname, "bomb.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script]);
  const { read, codes, grownBy } = JSON.parse(stdout);
  // Of 640 blocks, those up to the limit of 100 megabytes, and a few that were read ahead.
  expect(read).toBeLessThan(20);
  expect(codes).toEqual(["limit-document-bytes", "protocol-size", "xml-namespace"]);
  // On a busy machine garbage is collected later. A reader that kept the text would need all of its 100 megabytes.
  expect(grownBy).toBeLessThan(80 * 1024 * 1024);
});

describe("reading on demand", () => {
  const options = () => ({ maxBytes, encodingLayers: 3, problems: new ProblemLog() });

  test("the source is read only as needed, and closed when the reader leaves", async () => {
    const log: string[] = [];
    async function* source() {
      try {
        for (let chunk = 0; chunk < 100; chunk += 1) {
          log.push(`chunk ${chunk}`);
          yield Buffer.alloc(32 * 1024, "x");
        }
      } finally {
        log.push("closed");
      }
    }
    const document = new OpenedDocument(source(), options());
    expect(log).toEqual([]);
    for await (const text of document) {
      expect(String(text).length).toBeGreaterThan(0);
      break;
    }
    expect(log).toEqual(["chunk 0", "closed"]);
  });

  test("a compressed source is closed, too, even if it is refused or too large", async () => {
    const random = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index * 31) % 251));
    for (const [body, contentEncoding] of [
      [gzipSync(random, { level: 0 }), "gzip"],
      [gzipSync(Buffer.alloc(4_000_000)), "gzip"],
      [gzipSync(random, { level: 0 }), "gzip, gzip, gzip, gzip"],
      [brotli(random), "foo"],
    ] as const) {
      let opens = 0;
      async function* source() {
        opens += 1;
        try {
          for (let at = 0; at < body.length; at += 1000) yield body.subarray(at, at + 1000);
        } finally {
          opens -= 1;
        }
      }
      for await (const text of new OpenedDocument(source(), {
        ...options(),
        headers: [["content-encoding", contentEncoding ?? ""]],
      }))
        if (text !== "") break;
      expect(opens).toBe(0);
    }
  });

  test.each([
    ["a small text", Buffer.from("<a>b</a>"), Buffer.from("<a>b</a>")],
    ["a large text", zeros.subarray(0, 900_000), zeros.subarray(0, 900_000)],
    ["small gzip", Buffer.from("<a>b</a>"), gzipSync("<a>b</a>").subarray(0, -9)],
    ["large gzip", zeros.subarray(0, 900_000), gzipSync(zeros.subarray(0, 900_000)).subarray(0, -8)],
    [
      "gzip without its end",
      zeros.subarray(0, 900_000),
      gzipSync(zeros.subarray(0, 900_000), { level: 0 }).subarray(0, -5),
    ],
  ])("an error of the source is thrown after all the text before it: %s", async (_, content, body) => {
    for (const size of [1000, 16 * 1024, 64 * 1024, 2_000_000]) {
      const failure = new Error("aborted");
      async function* source() {
        for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
        throw failure;
      }
      const settings = options();
      let read = "";
      const reading = (async () => {
        for await (const text of new OpenedDocument(source(), settings)) read += text;
      })();
      await expect(reading).rejects.toBe(failure);
      expect(read).toBe(content.toString());
      expect(settings.problems.toArray()).toEqual([]);
    }
  });

  test("a source that fails immediately is reported immediately", async () => {
    const failure = new Error("aborted");
    // biome-ignore lint/correctness/useYield: it never comes to that
    async function* source(): AsyncGenerator<Uint8Array> {
      throw failure;
    }
    for (const contentEncoding of ["gzip", undefined]) {
      const iterator = new OpenedDocument(source(), {
        ...options(),
        headers: [["content-encoding", contentEncoding ?? ""]],
      })[Symbol.asyncIterator]();
      await expect(iterator.next()).rejects.toBe(failure);
    }
  });
});
