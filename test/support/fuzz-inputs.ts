// What the classes of fuzz.ts share: broken inputs of every kind, and ways to read them.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { type Reading, read } from "../../src/crawl/read.ts";
import { HomepageLinks } from "../../src/discover/homepage-links.ts";
import { SitemapError } from "../../src/model/errors.ts";
import type { HeaderList } from "../../src/model/exchange.ts";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { type Problem, ProblemLog } from "../../src/model/problem.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { damagedDocument } from "./damaged-documents.ts";
import { type CheckOptions, expectEqual } from "./document-checks.ts";
import { mutateBytes, mutateText } from "./mutate.ts";
import type { Random } from "./random.ts";
import { repetitiveDocument, smallLimits } from "./repetitive.ts";
import { home, index, robots, site, urlset } from "./site.ts";
import { words } from "./words.ts";

const directory = path.join(import.meta.dirname, "../fixtures/seeds");
export const seeds = readdirSync(directory)
  .sort()
  .map((name) => ({ url: `https://example.org/maps/${name}`, text: readFileSync(path.join(directory, name), "utf8") }));
const texts = seeds.map((seed) => seed.text);

export const lenient = (url: string): CheckOptions => ({ url, limits: {}, strict: false });

export function isLenient({ limits, strict }: CheckOptions): boolean {
  return !strict && Object.keys(limits).length === 0;
}

export function limitsFor(random: Random) {
  return random.below(4) === 0 ? smallLimits(random) : {};
}

// Some have entries that are alike, or damaged ones between innocent ones: whole, or broken as well.
export function textOf(text: string, random: Random): string {
  const lot = random.below(7);
  if (lot < 2) return mutateText(text, texts, random);
  const other = lot < 6 ? repetitiveDocument(random, random.pick([8, 30])) : damagedDocument(random).text;
  return random.below(2) === 0 ? other : mutateText(other, texts, random);
}

export function bytesOf(text: string, random: Random): Uint8Array {
  const bytes = Buffer.from(text, random.pick(["utf8", "utf8", "utf16le", "latin1"] as const));
  switch (random.below(4)) {
    case 0:
      return mutateBytes(gzipSync(bytes), random);
    case 1:
      return gzipSync(mutateBytes(bytes, random));
    default:
      return mutateBytes(bytes, random);
  }
}

export async function readBytes(
  chunks: readonly Uint8Array[],
  headers: HeaderList,
  isRobots: boolean,
  url = `${home}${isRobots ? "robots.txt" : "sitemap.xml"}`,
  broken?: Problem,
) {
  const body = {
    end: { problem: broken },
    async *[Symbol.asyncIterator]() {
      yield* chunks;
    },
  };
  const reading = read({ url, headers, body, isRobots }, { limits: defaultLimits, strict: false });
  const urls: string[] = [];
  for (;;) {
    const step = await reading.next();
    if (step.done) return { urls, ...resultOf(step.value) };
    urls.push(...[...step.value.pages, ...step.value.sitemaps].map(({ url }) => url));
  }
}

function resultOf({ outcome, complete, problems }: Reading) {
  return { outcome, complete: complete && outcome.kind !== "invalid", problems };
}

/** A text, or bytes, cut at random. */
export function inPieces<Whole extends { length: number; slice(from: number, to: number): Whole }>(
  whole: Whole,
  random: Random,
): Whole[] {
  const pieces: Whole[] = [];
  const longest = random.pick([1, 7, 100, 5000]);
  for (let from = 0; from < whole.length; ) {
    const to = from + 1 + random.below(longest);
    pieces.push(whole.slice(from, to));
    from = to;
  }
  return pieces;
}

export function linksOf(pieces: string[]) {
  const problems = new ProblemLog();
  const links = new HomepageLinks(home, problems);
  const html = links.html();
  for (const piece of pieces) html.write(piece);
  html.end(false);
  return { links: links.candidates, problems: problems.toArray() };
}

export function expectHttp(url: string): void {
  if (!/^https?:$/.test(new URL(url).protocol)) throw new Error(`not an http URL: ${url}`);
}

export const htmlSeeds = [
  `<!doctype html><html><head><base href="/b/"><link rel="sitemap" href="a.xml"><script>"<link rel=sitemap href=/no>"</script></head>`,
  `<HEAD><!-- <link rel=sitemap href=/no.xml> --><LINK HREF='b.xml?a=1&amp;b=2' REL='alternate Sitemap' / ><style>x</style>`,
  `<template><link rel=sitemap href=/no></template><link\nrel = sitemap\n href=/c.xml><p title="<link rel=sitemap href=/d>">`,
];
export const headerSeeds = [
  '</a.xml>; rel="sitemap", <https://x.example/,;y>; title="a, \\"b\\""; rel=preload',
  "https://example.org/a?b=1#c",
  "//x.example/é",
  "../up/./down?x",
];

export const isoDate =
  /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-](?!00:00)\d\d:\d\d|\+00:00))?)?)?$/;
const dateParts = [
  ..."0123456789TZ+-:/., ()\t\n\u00a0é",
  ...words(`
    2024 2024-05-06 20240506 07:08:09 07:08 +0100 -00:00 -0000 +01 GMT EST AEST IST Mon Monday, May Mai Dec 31 6 th of at AM p.m.
    24:00:00 23:59:60 99 00 30 13 .123456789 1715000000 T07:08:09Z 2024-W05 2024-123 (CET)
  `),
  "   ",
];

export function dateLike(random: Random): string {
  return Array.from({ length: 1 + random.below(random.pick([4, 9, 40])) }, () => random.pick(dateParts)).join(
    random.pick(["", "", " ", "  "]),
  );
}

let archives: Promise<Uint8Array[]> | undefined;

// Plain and compressed.
async function makeArchives(): Promise<Uint8Array[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-fuzz-"));
  const routes = {
    "/robots.txt": robots("/i.xml"),
    "/i.xml": index("/a.xml", "/gone.xml", "/moved.xml"),
    "/a.xml": urlset("/1", "/2"),
    "/moved.xml": { to: "/a.xml" },
  };
  const options = { client: site(routes).client, retries: 0, knownPaths: "never" } as const;
  await using tree = await sitemapTreeForHomepage(home, options);
  const files = ["a.warc", "a.warc.gz"].map((name) => path.join(folder, name));
  for (const file of files) await tree.save(file);
  const made = files.map((file) => readFileSync(file));
  rmSync(folder, { recursive: true });
  return made;
}

// Opening any archive gives a tree, or an error that says it is not one.
export async function openChanged(random: Random, isCompressed: boolean): Promise<void> {
  archives ??= makeArchives();
  const bytes = mutateBytes((await archives)[isCompressed ? 1 : 0] as Uint8Array, random);
  const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-fuzz-"));
  try {
    const file = path.join(folder, "changed.warc");
    writeFileSync(file, bytes);
    await using tree = await openTree(file);
    for await (const { url } of tree.pages()) expectHttp(url);
    expectEqual("files beside it", readdirSync(folder), ["changed.warc"]);
  } catch (error) {
    if (!(error instanceof SitemapError)) throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
