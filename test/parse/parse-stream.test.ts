// `parseStream`, for the bodies of responses in workers and browsers.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type ParsedPages, parseSitemap, parseStream } from "../../src/parse/parse-sitemap.ts";
import { urlset } from "../support/documents.ts";

const sitemap = (count: number): string => urlset(...Array.from({ length: count }, (_, at) => `/ä${at}`));
const text = sitemap(150);

const version = "https://jsonfeed.org/version/1.1";
const members = Buffer.concat((text.match(/.{1,1500}/gs) ?? []).map((part) => gzipSync(part)));

// With an extra field (https://www.rfc-editor.org/rfc/rfc1952#page-5) that looks like the start of another member.
function withSignatures(gzip: Buffer, count: number): Buffer {
  const signature = Buffer.from([0x1f, 0x8b, 8, 0]);
  const extra = Buffer.alloc(count * signature.length, signature);
  const length = Buffer.from([extra.length & 0xff, extra.length >> 8]);
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 4]), gzip.subarray(4, 10), length, extra, gzip.subarray(10)]);
}

function streamOf(bytes: Uint8Array, size = 1000, error?: Error): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at < bytes.length) return controller.enqueue(new Uint8Array(bytes.subarray(at, (at += size))));
      return error === undefined ? controller.close() : controller.error(error);
    },
  });
}

test.each([
  ["plain", Buffer.from(text)],
  ["gzip", gzipSync(text)],
  ["gzip twice", gzipSync(gzipSync(text))],
  ["several gzip members", members],
  ["a gzip member with the signature of one in its header", withSignatures(members, 1)],
  ["a gzip member with many signatures in its header", withSignatures(gzipSync(text), 100)],
  ["UTF-16 with a byte order mark", Buffer.from(`\ufeff${text}`, "utf16le")],
  ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${text}`)],
  ["ISO-8859-1, as declared", Buffer.from(text.replace('"1.0"', '"1.0" encoding="ISO-8859-1"'), "latin1")],
])("%s gives the same pages as its text, in chunks of any size", async (_, bytes) => {
  const { pages } = parseSitemap(text) as ParsedPages;
  for (const size of [3, 1000, 1e6]) {
    expect(await parseStream(streamOf(bytes, size))).toMatchObject({ complete: true, pages });
  }
});

test("lenient: a UTF-16 declaration that is readable as ASCII is ignored, as .NET writes it", async () => {
  const { pages } = parseSitemap(text) as ParsedPages;
  for (const label of ["utf-16", "UTF-16LE", "unicode"]) {
    const bytes = Buffer.from(text.replace('"1.0"', `"1.0" encoding="${label}"`));
    const value = `XML declaration: ${label}; read as utf-8`;
    expect(await parseStream(streamOf(bytes))).toMatchObject({
      ...{ complete: true, pages },
      problems: [{ code: "charset-conflict", value }],
    });
  }
});

test("a loss is reported, and the part before it is kept", async () => {
  const whole = gzipSync(sitemap(1000));
  const half = whole.length >> 1;
  const damaged = Buffer.from(whole);
  damaged.fill(0xff, half, half + 50);
  for (const bytes of [whole.subarray(0, half), damaged]) {
    const { problems, complete } = (await parseStream(streamOf(bytes))) as ParsedPages;
    expect(complete).toBe(false);
    expect(problems.map(({ code }) => code)).toContain("coding-damaged");
  }
  const nothing = await parseStream(streamOf(Buffer.from([0x1f, 0x8b, 1, 2, 3])));
  expect(nothing).toMatchObject({ kind: "invalid", reason: { code: "coding-damaged" } });
  const invalid = await parseStream(streamOf(Buffer.from(text, "latin1")));
  expect(invalid).toMatchObject({
    problems: expect.arrayContaining([expect.objectContaining({ code: "charset-invalid" })]),
  });
});

test.each([
  ["XML", (urls: readonly string[]) => urlset(...urls), 90],
  ["text", (urls: readonly string[]) => urls.join("\n"), 200],
  ["JSON", (urls: readonly string[]) => JSON.stringify({ version, items: urls.map((url) => ({ url })) }), 0],
])("%s beyond the byte limit is a loss, and complete entries before it are kept", async (_, document, least) => {
  const urls = Array.from({ length: 1000 }, (_, at) => `https://example.org/${at}`);
  const cut = (await parseStream(streamOf(Buffer.from(document(urls))), {
    limits: { documentBytes: 5000 },
  })) as ParsedPages;
  expect(cut).toMatchObject({ kind: "pages", complete: false });
  expect(cut.problems).toMatchObject([{ code: "limit-document-bytes", limit: 5000 }]);
  expect(cut.pages.length).toBeGreaterThanOrEqual(least);
  expect(cut.pages.map(({ url }) => url)).toEqual(urls.slice(0, cut.pages.length));
});

test("errors of the stream are thrown, also with gzip, and a stream that is no longer needed is canceled", async () => {
  const error = new Error("The connection is gone");
  for (const bytes of [Buffer.from(text), gzipSync(text).subarray(0, 500)]) {
    await expect(parseStream(streamOf(bytes, 1000, error))).rejects.toBe(error);
  }
  await expect(parseStream("text" as never)).rejects.toMatchObject({ code: "invalid-option" });
  let isCanceled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.from("https://example.org/a\n")),
    cancel: () => void (isCanceled = true),
  });
  await parseStream(endless, { limits: { documentBytes: 5000 } });
  expect(isCanceled).toBe(true);
});
