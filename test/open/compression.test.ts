// Compression is found by its magic bytes, whatever names and headers say, and what can be read is read.

import * as zlib from "node:zlib";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createZstdDecoder } from "../../src/open/decompress.ts";
import { some } from "../support/long.ts";
import { brotli, cut, opened, openedInEveryCut, sitemap } from "./opened.ts";

const text = sitemap(40);
const plain = Buffer.from(text);
const gzip = gzipSync(plain);

const complete = { text, codes: [], complete: true, decodedBytes: plain.length, refusal: undefined };

describe("spec: gzip (RFC 1952)", () => {
  test.each([
    ["compressed", gzip, "application/xml"],
    ["not compressed", plain, "application/gzip"],
  ])("a body that is %s is recognized by its bytes, whatever its type", async (_, body, contentType) => {
    expect(await openedInEveryCut(body, { contentType })).toMatchObject(complete);
  });

  // "A gzip file consists of a series of 'members' (compressed data sets). [...] The members simply appear one after
  // another in the file, with no additional information before, between, or after them."
  test("several gzip members are read one after another", async () => {
    const members = Buffer.concat([gzipSync(plain.subarray(0, 300)), gzipSync(""), gzipSync(plain.subarray(300))]);
    expect(await openedInEveryCut(members)).toMatchObject(complete);
  });

  test("many empty members use no stack and little time", async () => {
    const count = some(100_000, 20_000);
    const members = Buffer.concat([...Array<Buffer>(count).fill(gzipSync("")), gzip]);
    expect(await opened(members)).toMatchObject(complete);
    expect(await opened(cut(members, [1, 65_536, 65_540, 1_000_003]))).toMatchObject(complete);
  });

  test("every optional field of the header is skipped", async () => {
    const fields = ["\x05\0extra", "a-name.xml\0", "a comment\0", "xx"].map((field) => Buffer.from(field));
    const header = Buffer.from([0x1f, 0x8b, 8, 0x1f, 0, 0, 0, 0, 0, 3]);
    const file = Buffer.concat([header, ...fields, gzip.subarray(10)]);
    expect(await openedInEveryCut(file)).toMatchObject(complete);
    // If the data ends inside the header, there is nothing to read.
    for (let length = 3; length < 10 + 2 + 5 + 11 + 10 + 2; length += 1) {
      expect(await opened(file.subarray(0, length))).toMatchObject({ text: "", codes: ["coding-truncated"] });
    }
  });

  test("a name of 10 MB is skipped", async () => {
    const header = Buffer.from([0x1f, 0x8b, 8, 0x08, 0, 0, 0, 0, 0, 3]);
    const file = Buffer.concat([header, Buffer.alloc(10_000_000, "n"), Buffer.from([0]), gzip.subarray(10)]);
    expect(await opened(file)).toMatchObject(complete);
  });

  test("valid input is read as node:zlib reads it, however it is split, with any members and levels", async () => {
    const member = fc.record({
      data: fc.oneof(
        fc.string({ unit: fc.constantFrom(..."aZ é漢😀"), maxLength: 200 }),
        fc.nat({ max: some(6000, 1500) }).map((entries) => sitemap(entries)),
      ),
      level: fc.integer({ min: 0, max: 9 }),
      strategy: fc.integer({ min: 0, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(member, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        async (members, places) => {
          const file = Buffer.concat(members.map(({ data, ...options }) => gzipSync(data, options)));
          const cuts = places.map((place) => place % file.length);
          const { text: read, codes } = await opened(cut(file, cuts));
          expect(read).toBe(members.map(({ data }) => data).join(""));
          expect(codes).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("spec: Content-Encoding (RFC 9110)", () => {
  test.each([
    ["gzip", gzip],
    ["x-gzip", gzip],
    ["GZIP", gzip],
    ["br", brotli(plain)],
    ["deflate", deflateSync(plain)],
    ["deflate", deflateRawSync(plain)],
    ["identity", plain],
    ["", plain],
    [" , identity ,", plain],
    ["gzip, identity", gzip],
    ["gzip, gzip", gzipSync(gzip)],
    // A .gz file that is sent compressed.
    ["gzip", gzipSync(gzip)],
    ["gzip, br", brotli(gzip)],
    ["br, deflate", deflateSync(brotli(plain))],
    ["gzip, deflate, gzip", gzipSync(deflateSync(gzip))],
  ])("%j is decoded", async (contentEncoding, body) => {
    expect(await openedInEveryCut(body, { contentEncoding })).toMatchObject(complete);
  });

  test("an empty body is empty, whatever was announced", async () => {
    expect(await opened([], { contentEncoding: "gzip" })).toMatchObject({ text: "", codes: [], refusal: undefined });
    expect(await opened(brotli(""), { contentEncoding: "br" })).toMatchObject({ text: "", codes: [] });
  });

  test("a document of one letter is read through every coding", async () => {
    for (const [contentEncoding, body] of [
      ["gzip", gzipSync("x")],
      ["deflate", deflateSync("x")],
      ["deflate", deflateRawSync("x")],
      ["br", brotli("x")],
    ] as const) {
      expect(await openedInEveryCut(body, { contentEncoding })).toMatchObject({ text: "x", codes: [] });
    }
  });

  test.skipIf(createZstdDecoder !== undefined)("zstd is refused if Node.js does not have it", async () => {
    const body = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]);
    for (const contentEncoding of ["zstd", undefined]) {
      const { text: read, refusal } = await opened(body, { contentEncoding });
      expect(read).toBe("");
      expect(refusal).toMatchObject({ code: "coding-unknown", value: "zstd" });
    }
  });

  test.skipIf(createZstdDecoder === undefined)("zstd is read if Node.js has it", async () => {
    // "<a/>" in a frame of one raw block.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x04, 0x21, 0, 0, 0x3c, 0x61, 0x2f, 0x3e]);
    expect(await openedInEveryCut(frame, { contentEncoding: "zstd" })).toMatchObject({ text: "<a/>", codes: [] });
    expect(await openedInEveryCut(Buffer.concat([frame, frame]))).toMatchObject({ text: "<a/><a/>", codes: [] });
  });
});

describe.skipIf(createZstdDecoder === undefined)("zstd", () => {
  const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as Record<
    "zstdCompressSync" | "zstdDecompressSync",
    (text: string | Uint8Array) => Buffer
  >;
  const raw = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x04, 0x21, 0, 0, 0x3c, 0x61, 0x2f, 0x3e]);
  const skippable = (size: number, kind = 0) => {
    const frame = Buffer.alloc(8 + size, 0x28);
    frame.writeUInt32LE(0x184d2a50 + kind, 0);
    frame.writeUInt32LE(size, 4);
    return frame;
  };
  // The frames have no content size, a window, a checksum, a size of eight bytes, or two blocks.
  const empties = [
    [0x20, 0x00, 0x01, 0, 0],
    [0x00, 0x00, 0x01, 0, 0],
    [0x24, 0x00, 0x01, 0, 0, 0x99, 0xe9, 0xd8, 0x51],
    [0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0, 0],
    [0x20, 0x00, 0x00, 0, 0, 0x03, 0, 0, 0x41],
  ].map((rest) => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...rest]));

  test("empty frames are skipped, wherever they are and however they are written", async () => {
    for (const empty of empties) {
      const body = Buffer.concat([empty, raw, empty, empty, raw, empty]);
      expect(await openedInEveryCut(body, { contentEncoding: "zstd" })).toMatchObject({ text: "<a/><a/>", codes: [] });
    }
  });

  test("skippable frames are skipped, also at the start and without a header that says zstd", async () => {
    for (const size of [0, 1, 4, 20_000, 70_000]) {
      const body = Buffer.concat([skippable(size), skippable(3, 15), raw, skippable(size, 7), raw, skippable(size)]);
      for (const contentEncoding of ["zstd", undefined]) {
        expect(await openedInEveryCut(body, { contentEncoding })).toMatchObject({ text: "<a/><a/>", codes: [] });
      }
    }
  });

  test("a skippable frame that is cut off is reported", async () => {
    const body = Buffer.concat([raw, skippable(1000).subarray(0, 500)]);
    expect(await openedInEveryCut(body)).toMatchObject({ text: "<a/>", codes: ["coding-truncated"] });
  });

  test("small and large frames in turn are all read", async () => {
    const texts = [1, 100, 30_000, 5, 200_000, 0, 300].map((size, at) => randomText(size, at));
    const body = Buffer.concat(texts.map((text) => zstdCompressSync(text)));
    expect(await openedInEveryCut(body)).toMatchObject({ text: texts.join(""), codes: [] });
  });

  // Node.js 26 reads all frames of a piece with one decoder. If one is damaged, it drops the whole piece.
  const readsFramesAtOnce = () => zstdDecompressSync(Buffer.concat([raw, raw])).length === 8;

  test("damage in a small frame is reported, and what came before is kept", async () => {
    const good = zstdCompressSync(randomText(3000, 1));
    const bad = Buffer.from(zstdCompressSync(randomText(3000, 2)));
    bad.fill(0xff, 30, 90);
    const { text, complete, codes } = await openedInEveryCut(Buffer.concat([good, bad]));
    if (!readsFramesAtOnce()) expect(text.startsWith(randomText(3000, 1))).toBe(true);
    expect({ complete, codes }).toEqual({ complete: false, codes: ["coding-damaged"] });
  });

  test("data after the last frame is ignored, and reported", async () => {
    expect(await openedInEveryCut(Buffer.concat([raw, Buffer.from("junk")]))).toMatchObject({
      text: "<a/>",
      codes: ["coding-trailing"],
    });
  });

  test("more than ten thousand frames count as damage, because each costs a decoder", async () => {
    const { codes } = await opened(Buffer.concat(Array.from({ length: 10_001 }, () => raw)));
    expect(codes).toEqual(readsFramesAtOnce() ? [] : ["coding-damaged"]);
  });

  function randomText(size: number, seed: number): string {
    let state = seed + 1;
    return Array.from({ length: size }, () => {
      state = (state * 48271) % 2147483647;
      return "abcdefgh<>/ \n"[state % 13];
    }).join("");
  }
});

describe("wrong Content-Encoding headers", () => {
  test.each([
    ...["gzip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip", "foo"].map((each) => [
      each,
      "text",
      plain,
    ]),
    ...["deflate", "br", "gzip, gzip", "foo"].map((each) => [each, "gzip", gzip]),
    ["gzip", "deflate", deflateSync(plain)],
  ] as [string, string, Buffer][])("lenient: %s is ignored for %s", async (contentEncoding, _, body) => {
    const result = await openedInEveryCut(body, { contentEncoding });
    expect(result).toMatchObject({ ...complete, codes: ["coding-mismatch"] });
    if (!contentEncoding.includes(",")) expect(result.problems[0]).toMatchObject({ value: contentEncoding });
  });

  test("lenient: text in an old character set or in UTF-16 is recognized as text, too", async () => {
    const latin1 = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>caf\u00E9</a>', "latin1");
    const utf16 = Buffer.from("\uFEFF<a>caf\u00E9</a>", "utf16le");
    expect(await opened(latin1, { contentEncoding: "br" })).toMatchObject({ codes: ["coding-mismatch"] });
    expect((await opened(latin1, { contentEncoding: "deflate" })).text).toContain("<a>caf\u00E9</a>");
    expect((await opened(utf16, { contentEncoding: "br" })).text).toBe("<a>caf\u00E9</a>");
  });

  test("bytes that are neither the announced coding nor text are damage", async () => {
    for (const body of [gzip.subarray(0, 2), gzip.subarray(1), Buffer.from([0x1f, 0x8b, 7, 1, 2]), gzip.subarray(5)]) {
      const result = await openedInEveryCut(body, { contentEncoding: "gzip" });
      expect(result).toMatchObject({ text: "", refusal: { code: "coding-damaged" } });
    }
  });

  test("an unknown coding of anything but text is refused", async () => {
    const result = await openedInEveryCut(brotli(plain), { contentEncoding: "foo" });
    expect(result).toMatchObject({ text: "", codes: [], refusal: { code: "coding-unknown", value: "foo" } });
  });

  test("zlib data is recognized by its magic bytes", async () => {
    for (const level of [1, 6, 9]) expect(await opened(deflateSync(plain, { level }))).toMatchObject(complete);
    // Announced, also with the mark that could be text.
    const fast = Buffer.concat([Buffer.from([0x78, 0x5e]), deflateSync(plain).subarray(2)]);
    expect(await opened(fast, { contentEncoding: "deflate" })).toMatchObject(complete);
    expect(await opened(Buffer.from("x^2\n"))).toMatchObject({ text: "x^2\n", codes: [] });
  });
});

describe("layers of compression", () => {
  const layers = (count: number) => {
    let body: Buffer = plain;
    for (let layer = 0; layer < count; layer += 1) body = gzipSync(body);
    return body;
  };

  test.each([1, 2, 3])("%i layers are removed", async (count) => {
    const contentEncoding = Array(count).fill("gzip").join(", ");
    expect(await opened(layers(count), { contentEncoding })).toMatchObject(complete);
    expect(await openedInEveryCut(layers(count))).toMatchObject(complete);
  });

  test("more layers are refused, announced or not", async () => {
    const refused = { text: "", codes: [], refusal: { code: "limit-encoding-layers", limit: 3 } };
    expect(await opened(layers(4), { contentEncoding: "gzip, gzip, gzip, gzip" })).toMatchObject(refused);
    expect(await opened(layers(4), { contentEncoding: "gzip" })).toMatchObject(refused);
    expect(await openedInEveryCut(layers(4))).toMatchObject(refused);
    expect(await openedInEveryCut(layers(9))).toMatchObject(refused);
  });

  test("a limit of zero removes no layer", async () => {
    expect(await opened(plain, { encodingLayers: 0 })).toMatchObject(complete);
    expect(await opened(gzip, { encodingLayers: 0 })).toMatchObject({
      refusal: { code: "limit-encoding-layers", limit: 0 },
    });
  });
});
