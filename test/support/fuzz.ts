// Runs broken documents, bytes, dates, headers, archives and websites through the library and looks at what must hold for any of them.
// Each case is made from its number alone: a number that failed fails again.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { type Reading, read } from "../../src/crawl/read.ts";
import { redirectTarget } from "../../src/crawl/redirect-target.ts";
import { HomepageLinks } from "../../src/discover/homepage-links.ts";
import { HtmlLinks } from "../../src/discover/html-links.ts";
import { addLinksInHeaders } from "../../src/discover/link-header.ts";
import { SitemapError } from "../../src/errors.ts";
import type { HeaderList } from "../../src/exchange.ts";
import { defaultLimits } from "../../src/options.ts";
import { parseDate } from "../../src/parse/date.ts";
import { type Problem, ProblemLog, problem } from "../../src/problem.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { damagedDocument } from "./damaged-documents.ts";
import { type CheckOptions, checkBytes, checkDate, checkText, expectEqual } from "./document-checks.ts";
import { mutateBytes, mutateText } from "./mutate.ts";
import { checkOddServer } from "./odd-server.ts";
import { packedDocument } from "./packed-documents.ts";
import { Random } from "./random.ts";
import { checkWebsite } from "./random-website.ts";
import { repetitiveDocument, smallLimits } from "./repetitive.ts";
import { home, index, robots, site, urlset } from "./site.ts";

/** What a case checks; `shown` is what to look at where it fails. */
interface Case {
  readonly shown: unknown;
  run(): void | Promise<void>;
}

type MakeCase = (random: Random, number: number) => Case;

/** How many cases of each class were run. */
export type Counts = Record<string, number>;

/** Throws at the first case, of `count` from the number `first` on, in which something does not hold. */
export async function fuzz(count: number, first: number, counts: Counts = {}): Promise<void> {
  for (let number = first; number < first + count; number++) {
    const random = new Random(number);
    const name = nameOf(random);
    const made = (classes[name] as MakeCase)(random, number);
    try {
      if (name === "websites" || name === "servers") await made.run();
      else await withinASecond(() => made.run());
    } catch (cause) {
      const text = made.shown instanceof Uint8Array ? base64(made.shown) : JSON.stringify(made.shown);
      throw new Error(`case ${number} (${name}): ${cause instanceof Error ? cause.message : cause}\n${text}`, {
        cause,
      });
    }
    counts[name] = (counts[name] ?? 0) + 1;
  }
}

// Of a thousand cases. Websites and archives take their time.
const odds: readonly (readonly [name: string, odds: number])[] = [
  ["websites", 1],
  ["servers", 1],
  ["archives", 4],
  ["bytes", 60],
  ["packed", 60],
  ["dates", 80],
  ["headers", 40],
  ["homepages", 40],
  ["broken", 80],
  ["damaged", 250],
  ["documents", 384],
];

function nameOf(random: Random): string {
  let lot = random.below(1000);
  for (const [name, share] of odds) {
    lot -= share;
    if (lot < 0) return name;
  }
  return "documents";
}

const classes: Record<string, MakeCase> = {
  // Changed in any way: it does not matter how it is read.
  documents(random, number) {
    const seed = random.pick(seeds);
    const options = { url: seed.url, limits: limitsFor(random), strict: random.below(8) === 0 };
    const text = textOf(seed.text, random);
    return { shown: { text, options }, run: () => void checkText(text, options, number) };
  },

  // Innocent entries between damaged ones are all read, and nothing is invented.
  damaged(random, number) {
    const { url, text, innocent, isDeclared } = damagedDocument(random);
    const options =
      random.below(6) > 0 ? lenient(url) : { url, limits: limitsFor(random), strict: random.below(2) === 0 };
    return {
      shown: { url, text, options },
      run() {
        const { pages, sitemaps, complete, outcome } = checkText(text, options, number);
        const urls = new Set([...pages, ...sitemaps].map((entry) => entry.url));
        const lost = innocent.filter((one) => !urls.has(one));
        // A limit of ours, or that the document has to be well-formed, may cost an entry, but not in silence.
        const isSaid = !isLenient(options) && (!complete || outcome.kind === "invalid");
        if (lost.length > 0 && !isSaid) throw new Error(`lost ${lost.join(" ")}`);
        const invented = [...urls].filter((one) => !isDeclared(one));
        if (invented.length > 0) throw new Error(`invented ${invented.join(" ")}`);
      },
    };
  },

  // A body that breaks has no other entries than the whole one, and is not complete.
  broken(random, number) {
    const { url, text } = random.below(2) === 0 ? damagedDocument(random) : random.pick(seeds);
    const bytes = Buffer.from(text);
    const length = random.below(bytes.length + 1);
    return {
      shown: { url, text, length },
      async run() {
        const { pages, sitemaps } = checkText(text, lenient(url), number);
        const whole = new Set([...pages, ...sitemaps].map((entry) => entry.url));
        const isRobots = url.endsWith("/robots.txt");
        const part = await readBytes([bytes.subarray(0, length)], [], isRobots, url, problem("body-reset"));
        if (part.complete) throw new Error("taken for complete");
        const invented = part.urls.filter((one) => !whole.has(one));
        if (invented.length > 0) throw new Error(`invented ${invented.join(" ")}`);
      },
    };
  },

  bytes(random) {
    const { text, url } = random.pick(seeds);
    const bytes = bytesOf(text, random);
    return { shown: bytes, run: () => checkBytes(bytes, url) };
  },

  // What is sound is read, what is not is said, and robots.txt that is refused is not an empty one.
  packed(random) {
    const isRobots = random.below(4) === 0;
    const urls = Array.from({ length: 1 + random.below(20) }, (_, at) => `${home}é/${at}`);
    const text = isRobots ? urls.map((url) => `Sitemap: ${url}\n`).join("") : urlset(...urls);
    const { bytes, headers, isSound, isChecked, label } = packedDocument(text, random);
    return {
      shown: { label, bytes: base64(bytes) },
      async run() {
        const whole = await readBytes([bytes], headers, isRobots);
        expectEqual("cut into pieces", await readBytes(inPieces(bytes, random), headers, isRobots), whole);
        const isAll = JSON.stringify(whole.urls) === JSON.stringify(urls);
        if (isSound && !(isAll && whole.complete)) throw new Error(`not all of it is read: ${JSON.stringify(whole)}`);
        // Nothing at all is an empty document, whatever is announced.
        if (isChecked && bytes.length > 0 && !isAll && whole.complete)
          throw new Error(`something is missing: ${JSON.stringify(whole)}`);
      },
    };
  },

  dates(random) {
    const text = dateLike(random);
    return {
      shown: text,
      run() {
        const date = parseDate(text);
        if (date === undefined) return;
        checkDate(date);
        if (!isoDate.test(date)) throw new Error(`not ISO 8601: ${date}`);
        expectEqual("its own result reads otherwise", parseDate(date), date);
      },
    };
  },

  headers(random) {
    const value = mutateText(random.pick(headerSeeds), headerSeeds, random).replaceAll(/[\r\n]/g, " ");
    return {
      shown: value,
      run() {
        const links = new HomepageLinks(new ProblemLog());
        addLinksInHeaders([["link", value]], home, links);
        for (const { url } of links.candidates) expectHttp(url);
        const redirect = redirectTarget([["location", value]], home, 8192);
        if ("target" in redirect) expectHttp(redirect.target.href);
      },
    };
  },

  homepages(random) {
    const html = mutateText(random.pick(htmlSeeds), htmlSeeds, random);
    return {
      shown: html,
      run() {
        const whole = linksOf([html]);
        for (const { url } of whole.links) expectHttp(url);
        expectEqual("cut into pieces", linksOf([...piecesOf(html, random)]), whole);
      },
    };
  },

  archives(random) {
    const at = random.below(4);
    return { shown: `the archive, changed by case (${at})`, run: () => openChanged(random, at === 0) };
  },

  // What came in answer to one URL is never taken for another.
  servers: (_, number) => ({ shown: number, run: () => checkOddServer(number) }),

  websites: (_, number) => ({ shown: number, run: () => checkWebsite(number) }),
};

const directory = path.join(import.meta.dirname, "../fixtures/seeds");
const seeds = readdirSync(directory)
  .sort()
  .map((name) => ({ url: `https://example.org/maps/${name}`, text: readFileSync(path.join(directory, name), "utf8") }));
const texts = seeds.map((seed) => seed.text);

const lenient = (url: string): CheckOptions => ({ url, limits: {}, strict: false });

function isLenient({ limits, strict }: CheckOptions): boolean {
  return !strict && Object.keys(limits).length === 0;
}

function limitsFor(random: Random) {
  return random.below(4) === 0 ? smallLimits(random) : {};
}

// Some have entries that are alike, or damaged ones between innocent ones: whole, or broken as well.
function textOf(text: string, random: Random): string {
  const lot = random.below(5);
  if (lot < 2) return mutateText(text, texts, random);
  const other = lot < 4 ? repetitiveDocument(random) : damagedDocument(random).text;
  return random.below(2) === 0 ? other : mutateText(other, texts, random);
}

function bytesOf(text: string, random: Random): Uint8Array {
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

async function readBytes(
  chunks: readonly Uint8Array[],
  headers: HeaderList,
  isRobots: boolean,
  url = `${home}${isRobots ? "robots.txt" : "sitemap.xml"}`,
  broken?: Problem,
) {
  const body = {
    problem: broken,
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

function inPieces(bytes: Uint8Array, random: Random): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const longest = random.pick([1, 7, 100, 5000]);
  for (let from = 0; from < bytes.length; ) {
    const to = from + 1 + random.below(longest);
    pieces.push(bytes.subarray(from, to));
    from = to;
  }
  return pieces;
}

function* piecesOf(text: string, random: Random): Generator<string> {
  const longest = random.pick([1, 7, 100, 5000]);
  for (let from = 0; from < text.length; ) {
    const to = from + 1 + random.below(longest);
    yield text.slice(from, to);
    from = to;
  }
}

function linksOf(pieces: string[]) {
  const problems = new ProblemLog();
  const links = new HomepageLinks(problems);
  const html = new HtmlLinks(home, links);
  for (const piece of pieces) html.write(piece);
  html.end(false);
  return { links: links.candidates, problems: problems.toArray() };
}

function expectHttp(url: string): void {
  if (!/^https?:$/.test(new URL(url).protocol)) throw new Error(`not an http URL: ${url}`);
}

const htmlSeeds = [
  `<!doctype html><html><head><base href="/b/"><link rel="sitemap" href="a.xml"><script>"<link rel=sitemap href=/no>"</script></head>`,
  `<HEAD><!-- <link rel=sitemap href=/no.xml> --><LINK HREF='b.xml?a=1&amp;b=2' REL='alternate Sitemap' / ><style>x</style>`,
  `<template><link rel=sitemap href=/no></template><link\nrel = sitemap\n href=/c.xml><p title="<link rel=sitemap href=/d>">`,
];
const headerSeeds = [
  '</a.xml>; rel="sitemap", <https://x.example/,;y>; title="a, \\"b\\""; rel=preload',
  "https://example.org/a?b=1#c",
  "//x.example/é",
  "../up/./down?x",
];

const isoDate = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-](?!00:00)\d\d:\d\d|\+00:00))?)?)?$/;
const dateParts = [
  ..."0123456789TZ+-:/., ()",
  ...[
    "2024",
    "2024-05-06",
    "20240506",
    "07:08:09",
    "07:08",
    "+0100",
    "-00:00",
    "-0000",
    "+01",
    "GMT",
    "EST",
    "AEST",
    "IST",
  ],
  ...[
    "Mon",
    "Monday,",
    "May",
    "Mai",
    "Dec",
    "31",
    "6",
    "th",
    "of",
    "at",
    "AM",
    "p.m.",
    "24:00:00",
    "23:59:60",
    "   ",
    "\t",
  ],
  ...[
    "\n",
    "\u00a0",
    "é",
    "99",
    "00",
    "30",
    "13",
    ".123456789",
    "1715000000",
    "T07:08:09Z",
    "2024-W05",
    "2024-123",
    "(CET)",
  ],
];

function dateLike(random: Random): string {
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
  const options = { client: site(routes).client, retries: 0, useKnownPaths: false };
  await using tree = await sitemapTreeForHomepage(home, options);
  const files = ["a.warc", "a.warc.gz"].map((name) => path.join(folder, name));
  for (const file of files) await tree.save(file);
  const made = files.map((file) => readFileSync(file));
  rmSync(folder, { recursive: true });
  return made;
}

// Whatever an archive holds, opening it gives a tree or says that it is none.
async function openChanged(random: Random, isCompressed: boolean): Promise<void> {
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

// A busy machine may stop for a second; it does not do so three times at the same case.
async function withinASecond(run: () => void | Promise<void>): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const start = performance.now();
    await run();
    if (performance.now() - start < 1000) return;
  }
  throw new Error("took longer than a second");
}

function base64(bytes: Uint8Array): string {
  return `base64 ${Buffer.from(bytes).toString("base64")}`;
}
