// From a document to its entries: what is lost if a body breaks, and how reading stops early.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { read, readSitemap } from "../../src/crawl/read.ts";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { type Problem, problem } from "../../src/model/problem.ts";
import { inPieces } from "../support/cuts.ts";
import { home, urlset } from "../support/site.ts";

function body(text: string, broken?: Problem) {
  return {
    end: { problem: broken },
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text);
    },
  };
}

async function readAll(text: string, broken?: Problem, url = `${home}x`) {
  const reading = read({ url, headers: [], body: body(text, broken) }, { limits: defaultLimits, strict: false });
  const urls: string[] = [];
  for (;;) {
    const step = await reading.next();
    if (step.done) return { urls, ...step.value };
    urls.push(...step.value.pages.map(({ url }) => url), ...step.value.sitemaps.map(({ url }) => url));
  }
}

test("the last line of a text is a page, unless the body ended inside it", async () => {
  const text = `${home}1\n${home}2`;
  expect((await readAll(text)).urls).toEqual([`${home}1`, `${home}2`]);
  for (const code of ["body-reset", "timeout-idle", "limit-time"] as const) {
    const cut = await readAll(text, problem(code));
    expect(cut.urls, code).toEqual([`${home}1`]);
    expect(cut).toMatchObject({ complete: false, problems: [{ code }] });
  }
});

test("a sitemap that exceeds a limit is not reported as cut off", async () => {
  const text = urlset("/1", "/2");
  const limits = { documentBytes: text.length - 20 };
  expect(await readSitemap(Buffer.from(text), { limits })).toMatchObject({
    problems: [{ code: "limit-document-bytes" }],
  });
  for (const code of ["limit-document-bytes", "limit-time"] as const) {
    const cut = await readAll(text.slice(0, -20), problem(code, { limit: 1 }));
    expect(cut).toMatchObject({ complete: false, urls: [`${home}1`], problems: [{ code }] });
    expect(cut.problems).toHaveLength(1);
  }
});

test("if nothing was received, the reason is the one that ended the body", async () => {
  const invalid = (code: string) => ({ kind: "invalid", reason: { code } });
  const idle = problem("timeout-idle", { limit: 1 });
  expect((await readAll("", idle)).outcome).toMatchObject(invalid("timeout-idle"));
  expect((await readAll("")).outcome).toMatchObject(invalid("empty"));
  expect(await readSitemap(gzipSync(home).subarray(0, 12))).toMatchObject(invalid("coding-truncated"));
  expect(await readSitemap(gzipSync(""))).toMatchObject(invalid("empty"));
  const none = { limits: { documentBytes: 0 } };
  expect(await readSitemap(Buffer.from(home), none)).toMatchObject(invalid("limit-document-bytes"));
});

test("reading can stop early, which is not a problem of the document", async () => {
  const text = urlset(...Array.from({ length: 20_000 }, (_, at) => `/${at}`));
  const reading = read({ url: home, headers: [], body: body(text) }, { limits: defaultLimits, strict: false });
  const first = await reading.next();
  expect(first.done).toBe(false);
  const last = await reading.next(false);
  expect(last).toMatchObject({
    done: true,
    value: { complete: true, problems: [], outcome: { kind: "pages", format: "xml" } },
  });
});

test("problems have the same order, however the bytes arrive", async () => {
  const entries = Array.from({ length: 1500 }, (_, n) => `${home}${n}`);
  // A problem at the start, and bytes at the end that cannot be decoded.
  const bytes = Buffer.from(urlset(`${home}0`, ...entries, `${home}last?`));
  bytes[bytes.lastIndexOf("?")] = 0xff;
  const whole = await readSitemap(bytes);
  expect(whole).toMatchObject({
    problems: [{ code: "charset-invalid" }, { code: "url-repeated" }, { code: "url-damaged" }],
  });
  expect(await readSitemap(inPieces(new Uint8Array(bytes), 20_000))).toEqual(whole);
});
