// An archive may come from anybody, and may have been cut anywhere: it opens, or it is refused with a clear error.
import { readFile, truncate, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { type Archive, openArchive } from "../../src/archive/reader.ts";
import { createStore } from "../../src/archive/store.ts";
import { SitemapError } from "../../src/model/errors.ts";
import { openTree } from "../../src/tree/build.ts";
import { isLong } from "../support/long.ts";
import { membersOf } from "../support/members.ts";
import { testFolder } from "../support/test-folder.ts";
import { contentOf, documentAt, failedAt } from "./exchanges.ts";
import { opened } from "./opened.ts";

const inFolder = testFolder();
let name: string;
beforeEach(() => {
  name = inFolder("site.warc");
});

const urls = ["https://example.org/a.xml", "https://example.org/b.xml"];

async function smallArchive(file: string): Promise<Buffer> {
  const store = await createStore({ kind: "memory", save: file, info: { settings: {} } });
  const { status: _, headers: __, ...failed } = failedAt(urls[0]!);
  await store.keep(failed);
  await store.keep(documentAt(urls[1]!, "<sitemapindex/>"));
  await store.finish();
  await store.close();
  return readFile(file);
}

describe.each(["whole.warc", "whole.warc.gz"])("%s", (file) => {
  test("cut off anywhere, it is read up to its last complete exchange, or refused", async () => {
    const whole = inFolder(file);
    const bytes = await smallArchive(whole);
    const exchangesOf = async (name: string) => {
      const archive = await openArchive(name).catch((error: unknown) => error);
      if (archive instanceof SitemapError) return archive.code;
      const open = archive as Archive;
      const contents = await Promise.all(
        open.urls.map(async (url) => contentOf(await open.fetch({ url, role: "sitemap" }))),
      );
      await open.close();
      return contents;
    };
    const expected = await exchangesOf(whole);
    // Cuts at every byte near the ends of records, elsewhere at some. Compressed bytes depend on each other, so fewer cuts are enough.
    const step = isLong ? 1 : file.endsWith(".gz") ? 101 : 61;
    const start = file.endsWith(".gz") ? "\x1f\x8b\x08" : "WARC/1.1";
    const isNearEnd = (length: number) =>
      bytes.subarray(Math.max(0, length - 12), length + 12).includes(start, 0, "latin1");
    const lengths = Array.from(bytes.keys()).filter((length) => length % step === 0 || isNearEnd(length));
    const seen: Awaited<ReturnType<typeof exchangesOf>>[] = [];
    for (const length of lengths) {
      await writeFile(name, bytes.subarray(0, length));
      seen.push(await exchangesOf(name));
    }
    const firstOpen = seen.findIndex((result) => result !== "invalid-archive");
    expect(firstOpen).toBeGreaterThan(0);
    let count = 0;
    for (const result of seen.slice(firstOpen)) {
      if (result.length > count) expect(result).toEqual(expected.slice(0, result.length));
      expect(result.length).toBeGreaterThanOrEqual(count);
      expect(typeof result).toBe("object");
      count = result.length;
    }
    expect(count).toBe(urls.length);
  });
});

test("an archive that is cut off reports it, and can be saved without its incomplete end", async () => {
  const bytes = await smallArchive(inFolder("whole.warc"));
  await writeFile(name, bytes.subarray(0, bytes.lastIndexOf("WARC/1.1") - 10));
  const cut = await opened(name);
  expect(cut).toMatchObject({ truncated: true, finished: false });
  await cut.save(inFolder("mended.warc.gz"));
  const mended = await opened(inFolder("mended.warc.gz"));
  expect(mended).toMatchObject({ truncated: false, finished: false, urls });
});

test.each<[string, boolean, (whole: Buffer) => Buffer]>([
  ["other data after its end", true, (whole) => Buffer.concat([whole, Buffer.alloc(1000)])],
  [
    "damaged compression",
    false,
    (whole) => {
      const records = whole.toString("latin1").split(/(?=WARC\/1\.1\r\n)/);
      const members = records.map((record) => gzipSync(Buffer.from(record, "latin1")));
      // No data begins like this: https://www.rfc-editor.org/rfc/rfc1951#page-10, a block of the reserved type.
      for (const member of members.slice(-2)) member[10] = 0b111;
      const filler = gzipSync("WARC/1.1\r\nWARC-Type: conversion\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
      return Buffer.concat([...members.slice(0, -2), ...Array(100).fill(filler), ...members.slice(-2)]);
    },
  ],
])("an archive with %s is read up to there, and reported as truncated", async (_, finished, change) => {
  await writeFile(name, change(await smallArchive(inFolder("whole.warc"))));
  const archive = await opened(name);
  expect(archive).toMatchObject({ truncated: true, finished, urls });
});

describe("openArchive says why it refuses", () => {
  const packed = gzipSync("WARC/1.1\r\nContent-Length: 9\r\n\r\n123456789\r\n\r\n");
  test.each<[string, string | Uint8Array, RegExp]>([
    ["an empty file", "", /it is empty/],
    ["text", "<urlset/>", /has no records/],
    ["a page of HTML, compressed", gzipSync("<html></html>"), /has no records/],
    ["a zip file", "PK\x03\x04...", /WACZ/],
    ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), /zstd/],
    ["half a magic number", "WAR", /cut off inside its first record/],
    ["a record, compressed and cut off in its content", packed.subarray(0, -9), /cut off inside its first record/],
    ["a record, compressed and cut off in its first bytes", packed.subarray(0, 12), /cut off inside its first record/],
    ["a page of HTML, compressed and cut off", gzipSync("<html>".repeat(99)).subarray(0, -9), /has no records/],
    ["line ends only", "\r\n".repeat(100_000), /has no records/],
    ["a record without a length", "WARC/1.1\r\nWARC-Type: response\r\n\r\n", /has no records/],
    ["a negative length", "WARC/1.1\r\nContent-Length: -1\r\n\r\n", /has no records/],
    ["a huge length", "WARC/1.1\r\nContent-Length: 999999999999999\r\n\r\nx", /cut off/],
    ["a length beyond numbers", `WARC/1.1\r\nContent-Length: ${"9".repeat(400)}\r\n\r\nx`, /has no records/],
  ])("%s", async (_, content, message) => {
    await writeFile(name, content);
    const error = await openArchive(name).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "invalid-archive", message: expect.stringMatching(message) });
    expect((error as Error).message).toContain(name);
  });

  test("a directory, and a file that does not exist", async () => {
    await expect(openArchive(inFolder())).rejects.toThrow("it is not a file");
    await expect(openArchive(name)).rejects.toThrow("no such file");
  });

  test("a record header of 128 MB, which is not kept in memory", async () => {
    await writeFile(name, "WARC/1.1\r\nX: ");
    await truncate(name, 128 * 1024 * 1024);
    const before = process.memoryUsage().rss;
    await expect(openArchive(name)).rejects.toMatchObject({ code: "invalid-archive" });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("a small file that decompresses to far too much", async () => {
    const body = Buffer.alloc(32 * 1024 * 1024);
    const head = `WARC/1.1\r\nWARC-Type: response\r\nContent-Length: ${body.length}\r\n\r\n`;
    const megabytes = gzipSync(Buffer.concat([Buffer.from(head), body]), { level: 1 });
    await writeFile(name, Buffer.concat(Array(5).fill(megabytes)));
    await expect(openArchive(name)).rejects.toMatchObject({
      code: "invalid-archive",
      message: expect.stringContaining("decompresses to more than"),
    });
  });
});

describe("a description that was tampered with", () => {
  /** Rewrites the JSON of the last description only. */
  async function tampered(change: (json: string) => string): Promise<void> {
    const text = (await smallArchive(inFolder("whole.warc"))).toString("latin1");
    const place = text.lastIndexOf('{"outcome"');
    const end = text.indexOf("\r\n\r\n", place);
    const json = change(text.slice(place, end));
    const head = text
      .slice(0, place)
      .replace(/WARC-Block-Digest: .*\r\nContent-Length: \d+\r\n\r\n$/, `Content-Length: ${json.length}\r\n\r\n`);
    await writeFile(name, Buffer.from(head + json + text.slice(end), "latin1"));
  }

  test.each<[string, (json: string) => string]>([
    ["no JSON", (json) => json.slice(1)],
    ["a list", () => "[]"],
    ["null", () => "null"],
    ["nothing", () => ""],
    ["a number for a URL", (json) => json.replace(/"url":"[^"]*"/, '"url":5')],
    ["an unknown role", (json) => json.replace('"role":"sitemap"', '"role":"guest"')],
    ["an unknown outcome", (json) => json.replace('"found"', '"lost"')],
    ["headers that are not pairs", (json) => json.replace(/"headers":\[\[.*?\]\]/, '"headers":[["a"]]')],
    ["a text for the status", (json) => json.replace('"status":200', '"status":"200"')],
    ["an invalid problem", (json) => json.replace('"body":{}', '"body":{"problem":{"code":1}}')],
  ])("loses only its own document if it contains %s", async (_, change) => {
    await tampered(change);
    const archive = await opened(name);
    expect(archive.altered).toBe(true);
    expect(await archive.fetch({ url: urls[0]!, role: "sitemap" })).toMatchObject({ outcome: "absent" });
    expect(await archive.fetch({ url: urls[1]!, role: "sitemap" })).toMatchObject({ outcome: "failed" });
  });

  test("keeps its document, without unknown fields and prototypes", async () => {
    await tampered((json) =>
      json.replace("{", '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"extra":[],'),
    );
    const archive = await opened(name);
    const fetched = await archive.fetch({ url: urls[1]!, role: "sitemap" });
    expect(await contentOf(fetched)).toMatchObject({ url: urls[1], body: { bytes: "<sitemapindex/>" } });
    expect(Object.hasOwn(fetched, "extra")).toBe(false);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("is archive-digest if its response is missing from the file", async () => {
    const text = (await smallArchive(inFolder("whole.warc"))).toString("latin1");
    const records = text.split(/(?=WARC\/1\.1\r\n)/).filter((record) => !record.includes("<sitemapindex/>"));
    await writeFile(name, Buffer.from(records.join(""), "latin1"));
    const archive = await opened(name);
    const fetched = await archive.fetch({ url: urls[1]!, role: "sitemap" });
    expect(await contentOf(fetched)).toMatchObject({ body: { bytes: "", problem: { code: "archive-digest" } } });
  });
});

test.each([
  ['{"version":4,"settings":{}}', /written by a newer version of sitegrove; update sitegrove/],
  ['{"version":2,"settings":{}}', /written by an older version of sitegrove; crawl the website again/],
  ['{"version":"3","settings":{}}', /damaged/],
  ['{"version":3,"settings":[]}', /damaged/],
  ['{"version":3,"settings":{},"homepage":1}', /damaged/],
  ['{"version":3,"settings":{},"sitemaps":[1]}', /damaged/],
  ["{", /damaged/],
])("an archive with the description %s is refused", async (json, message) => {
  const content = `sitegrove: ${json}\r\n`;
  const head = `WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: ${content.length}\r\n\r\n`;
  await writeFile(name, `${head}${content}\r\n\r\n`);
  await expect(openArchive(name)).rejects.toThrow(message);
});

test("a compressed archive has one gzip member per record", async () => {
  const bytes = await smallArchive(inFolder("whole.warc.gz"));
  const members = membersOf(bytes).map(({ content }) => content.toString("latin1").split("WARC/1.1\r\n").length - 1);
  expect(members).toEqual(Array(6).fill(1));
});

describe("opening an archive of very many small records", () => {
  const response = "HTTP/1.1 200 OK\r\n\r\nx";
  const record = (number: number) =>
    `WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/${number}\r\nContent-Length: ${response.length}\r\n\r\n${response}\r\n\r\n`;

  test("fails if it has more documents than a tree may have", async () => {
    const file = inFolder("many.warc");
    await writeFile(file, Array.from({ length: 200 }, (_, number) => record(number)).join(""));
    await expect(openArchive(file, { mostAnswers: 100 })).rejects.toThrow("it contains more than 100 documents");
    await smallArchive(name);
    await expect(openArchive(name, { mostAnswers: 1 })).rejects.toThrow("it contains more than 1 documents");
  });

  test.each(["many.warc", "many.warc.gz"])("ends when its signal aborts: %s", async (name) => {
    const file = inFolder(name);
    const records = Array.from({ length: 20_000 }, (_, number) => record(number));
    // Repeats a thousand members, because compressing all of them takes longer than the rest of this test.
    const packed = () => records.slice(0, 1000).map((text) => gzipSync(text));
    await writeFile(file, name.endsWith(".gz") ? Buffer.concat(Array(20).fill(packed()).flat()) : records.join(""));
    const abort = new AbortController();
    // Aborts long before everything is read.
    setImmediate(() => abort.abort(new Error("enough")));
    await expect(openTree(file, { signal: abort.signal })).rejects.toThrow("enough");
  });
});
