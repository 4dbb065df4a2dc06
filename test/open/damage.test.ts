// Compressed data that is cut off, damaged or followed by something else gives all that can be saved.
import { constants, deflateRawSync, deflateSync, gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ByteReader } from "../../src/open/byte-reader.ts";
import { createRawInflater, decompress } from "../../src/open/zlib-stage.ts";
import { isLong, some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { brotli, opened, openedInEveryCut, sitemap } from "./opened.ts";

const text = sitemap(4000);
const plain = Buffer.from(text);
const gzip = gzipSync(plain);

const codings = [
  ["gzip", gzip],
  ["deflate", deflateSync(plain)],
  ["deflate", deflateRawSync(plain)],
  ["br", brotli(plain)],
] as const;
const incomplete = { complete: false, refusal: undefined };

describe("compressed data that is cut off", () => {
  test("lenient: a .gz file that is cut off gives everything before the cut", async () => {
    for (const length of [20, 1000, 16_394, 30_000, gzip.length - 9, gzip.length - 8, gzip.length - 1]) {
      const cutOff = gzip.subarray(0, length);
      const saved = gunzipSync(cutOff, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
      const result = await openedInEveryCut(cutOff);
      expect(result).toMatchObject({ ...incomplete, text: saved, codes: ["coding-truncated"] });
    }
  });

  test("lenient: a body in any Content-Encoding that is cut off gives everything before the cut", async () => {
    for (const [contentEncoding, whole] of codings) {
      const result = await openedInEveryCut(whole.subarray(0, whole.length - 200), { contentEncoding });
      expect(result).toMatchObject({ ...incomplete, codes: ["coding-truncated"] });
      expect(text.startsWith(result.text)).toBe(true);
      expect(result.text.length).toBeGreaterThan(text.length * 0.9);
    }
  });

  test("gives a prefix of the document wherever it is cut off, and more of it if the cut comes later", async () => {
    const small = gzipSync(sitemap(30));
    let before = "";
    for (let length = 3; length <= small.length; length += 1) {
      const { text: read, codes } = await opened(small.subarray(0, length));
      expect(read.startsWith(before)).toBe(true);
      expect(codes).toEqual(length < small.length ? ["coding-truncated"] : []);
      before = read;
    }
    expect(before).toBe(sitemap(30));
  });

  test("in an inner layer is read up to the cut", async () => {
    const result = await openedInEveryCut(gzipSync(gzip.subarray(0, 20_000)));
    expect(result).toMatchObject({ ...incomplete, codes: ["coding-truncated"] });
    expect(result.text.length).toBeGreaterThan(50_000);
  });
});

describe("compressed data that is followed by other data", () => {
  test.each([
    ["garbage", Buffer.from("garbage")],
    ["a line break", Buffer.from("\n")],
    ["zeros", Buffer.alloc(512)],
    ["a megabyte of zeros", Buffer.alloc(1024 * 1024)],
    ["HTML", Buffer.from("<!-- cached -->")],
  ])("lenient: gzip and then %s is complete", async (_, trailing) => {
    const result = await openedInEveryCut(Buffer.concat([gzip, trailing]));
    expect(result).toMatchObject({ text, codes: ["coding-trailing"], complete: true });
  });

  test("gzip followed by bytes that are not text is incomplete, because they may be another member without its magic number", async () => {
    const list = gzipSync("https://example.org/\n");
    for (const rest of [list.subarray(1), list.subarray(0, 1), Buffer.concat([Buffer.alloc(8), list.subarray(2)])]) {
      const result = await openedInEveryCut(Buffer.concat([list, rest]));
      expect(result).toMatchObject({ ...incomplete, text: "https://example.org/\n", codes: ["coding-damaged"] });
    }
  });

  test("lenient: data after the end of any coding is ignored", async () => {
    for (const [contentEncoding, whole] of codings) {
      const result = await openedInEveryCut(Buffer.concat([whole, Buffer.from("garbage")]), { contentEncoding });
      expect(result).toMatchObject({ text, codes: ["coding-trailing"], complete: true });
    }
  });
});

describe("compressed data that is followed by more of the document", () => {
  const [one, two] = ["https://example.org/1\n", "https://example.org/2\n"];
  const comment = "<!-- Cached by https://plugin.example/ -->";

  test.each([
    ["another zlib stream", deflateSync(one), deflateSync(two)],
    ["a URL after gzip", gzipSync(one), Buffer.from(two)],
    ["a URL after zlib", deflateSync(one), Buffer.from(two)],
    ["a URL after zeros", gzipSync(one), Buffer.from(`\0\0${two}`)],
    ["a URL after a comment", gzipSync(one), Buffer.from(comment + two)],
  ])("is incomplete: %s", async (_, first, rest) => {
    const result = await openedInEveryCut(Buffer.concat([first, rest]));
    expect(result).toMatchObject({ ...incomplete, text: one, codes: ["coding-damaged"] });
  });

  test.each([gzipSync(one), deflateSync(one)])(
    "is complete if only a comment has a URL, or only zeros follow",
    async (first) => {
      for (const rest of [comment, `${comment.slice(0, -3)}\n${"x".repeat(100)}`, "\0".repeat(600)]) {
        const result = await openedInEveryCut(Buffer.concat([first, Buffer.from(rest)]));
        expect(result).toMatchObject({ text: one, codes: ["coding-trailing"], complete: true });
      }
    },
  );
});

describe("members padded with zeros", () => {
  const small = ["<a/>", "<b/>", "<c/>"].map((each) => gzipSync(each));
  const zeros = (count: number) => Buffer.alloc(count);

  test("lenient: gzip members after zeros are read", async () => {
    for (const count of [1, 2, 300, 100_000]) {
      const padded = Buffer.concat(small.flatMap((member) => [member, zeros(count)]));
      expect(await openedInEveryCut(padded)).toMatchObject({
        text: "<a/><b/><c/>",
        codes: ["coding-trailing"],
        complete: true,
      });
    }
    const large = Buffer.concat([gzip, zeros(512 - (gzip.length % 512)), gzip]);
    expect(await openedInEveryCut(large)).toMatchObject({ text: text + text, codes: ["coding-trailing"] });
  });

  test("anything after zeros that is not a member is ignored, and a member that is cut off is a loss", async () => {
    const [first = gzip, second = gzip] = small;
    const garbage = await openedInEveryCut(Buffer.concat([first, zeros(8), Buffer.from("garbage")]));
    expect(garbage).toMatchObject({ text: "<a/>", codes: ["coding-trailing"], complete: true });
    const cutOff = await openedInEveryCut(Buffer.concat([first, zeros(8), second.subarray(0, -3)]));
    expect(cutOff).toMatchObject({ ...incomplete, text: "<a/><b/>" });
    expect(cutOff.codes).toContain("coding-truncated");
  });
});

describe("checksums", () => {
  const changed = (bytes: Uint8Array, at: number) => {
    const copy = Buffer.from(bytes);
    copy[copy.length + at]! ^= 1;
    return copy;
  };

  test.each([
    ["CRC", -8],
    ["length", -4],
  ])("lenient: a wrong %s loses nothing, but the document is not complete", async (_, at) => {
    const result = await openedInEveryCut(changed(gzip, at));
    expect(result).toMatchObject({ ...incomplete, text, codes: ["coding-checksum"] });
    const small = gzipSync("<a/>");
    expect(await openedInEveryCut(changed(small, at))).toMatchObject({ text: "<a/>", codes: ["coding-checksum"] });
  });

  test("lenient: the members after a wrong checksum are read", async () => {
    const result = await opened(Buffer.concat([changed(gzip, -8), gzip]));
    expect(result).toMatchObject({ text: text + text, codes: ["coding-checksum"] });
  });
});

describe("damaged compressed data", () => {
  // The member is valid up to a block of a type that does not exist.
  const broken = (content: Uint8Array) => {
    const blocks = deflateRawSync(content, { level: 1, finishFlush: constants.Z_SYNC_FLUSH });
    return Buffer.concat([gzip.subarray(0, 10), blocks, Buffer.alloc(20_000, 0x07)]);
  };

  test("lenient: in a large file loses little, and the same however it is split", async () => {
    // Random letters hardly get smaller when they are compressed.
    const random = new Random(1);
    const letters = Buffer.from(Array.from({ length: 1_300_000 }, () => random.below(256))).toString("base64");
    const content = isLong ? sitemap(250_000) : `<!-- ${letters} -->`;
    const bytes = broken(Buffer.from(content));
    expect(bytes.length).toBeGreaterThan(1.2 * 1024 * 1024);
    const result = await openedInEveryCut(bytes, {}, 3);
    expect(result.codes).toEqual(["coding-damaged"]);
    expect(content.startsWith(result.text)).toBe(true);
    expect(content.length - result.text.length).toBeLessThan(128 * 1024);
  });

  test("lenient: with reserved flags in its header is reported, and read", async () => {
    const flagged = Buffer.from(gzip);
    flagged[3] = 0x20;
    expect(await openedInEveryCut(flagged)).toMatchObject({ text, codes: ["coding-damaged"], complete: false });
  });

  test("never throws, and what is kept does not depend on how the data is split", async () => {
    const seeds = [gzip, gzipSync(sitemap(20)), Buffer.concat([gzipSync("<a>"), gzipSync("</a>")]), deflateSync(plain)];
    const change = fc.record({ at: fc.nat(), to: fc.nat({ max: 255 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...seeds),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        async (seed, changes) => {
          const bytes = Buffer.from(seed);
          for (const { at, to } of changes) bytes[at % bytes.length] = to;
          const whole = await opened(bytes, { maxBytes: 4_000_000 });
          expect(await opened([bytes.subarray(0, 999), bytes.subarray(999)], { maxBytes: 4_000_000 })).toEqual(whole);
        },
      ),
      { numRuns: some(60, 20) },
    );
  });

  test("lenient: in Brotli keeps what came before the damage", async () => {
    const compressed = brotli(plain);
    const damaged = Buffer.concat([compressed.subarray(0, 20_000), Buffer.alloc(2000, 0xff)]);
    const result = await openedInEveryCut(damaged, { contentEncoding: "br" });
    expect(result).toMatchObject(incomplete);
    expect(result.text.slice(0, 50_000)).toBe(text.slice(0, 50_000));
  });
});

describe("compressed streams", () => {
  test("bytes that only look like an empty Brotli stream are a loss", async () => {
    const gzipWithoutItsFirstByte = Buffer.from("P4sIJwAAAAA=", "base64");
    const result = await openedInEveryCut(gzipWithoutItsFirstByte, { contentEncoding: "br" });
    expect(result.codes).toContain("coding-damaged");
    expect(result.complete).toBe(false);
  });

  test("zlib is released when the reader leaves", async () => {
    const streams: ReturnType<typeof createRawInflater>[] = [];
    const input = new ByteReader([gzip.subarray(10)]);
    const create = () => {
      const stream = createRawInflater();
      streams.push(stream);
      return stream;
    };
    for await (const chunk of decompress(input, create)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(streams.map((stream) => stream.destroyed)).toEqual([true]);
  });
});
