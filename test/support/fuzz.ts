// Runs broken documents, bytes, dates, headers, archives and websites through the library and looks at what must hold for any of them.
// Each case is made from its number alone: a number that failed fails again.
import { redirectTarget } from "../../src/crawl/redirects.ts";
import { HomepageLinks } from "../../src/discover/homepage-links.ts";
import { ProblemLog, problem } from "../../src/model/problem.ts";
import { parseDate } from "../../src/parse/dates.ts";
import { checkWebsite } from "./any-order.ts";
import { damagedDocument } from "./damaged-documents.ts";
import { checkBytes, checkDate, checkText, expectEqual } from "./document-checks.ts";
import {
  bytesOf,
  dateLike,
  expectHttp,
  headerSeeds,
  htmlSeeds,
  inPieces,
  isLenient,
  isoDate,
  lenient,
  limitsFor,
  linksOf,
  openChanged,
  readBytes,
  seeds,
  textOf,
} from "./fuzz-inputs.ts";
import { checkTurns, turnsOf } from "./in-turns.ts";
import { mutateText } from "./mutate.ts";
import { checkOddServer } from "./odd-server.ts";
import { packedDocument } from "./packed-documents.ts";
import { Random } from "./random.ts";
import { home, urlset } from "./site.ts";

/** What a case checks; `shown` is what to look at if it fails. */
interface Case {
  readonly shown: unknown;
  run(): void | Promise<void>;
}

type MakeCase = (random: Random, number: number) => Case;

/** How many cases of each class were run. */
export type Counts = Record<string, number>;

/** Throws at the first of `count` cases, from number `first` on, in which a check fails. */
export async function fuzz(count: number, first: number, counts: Counts = {}): Promise<void> {
  for (let number = first; number < first + count; number++) {
    const random = new Random(number);
    const name = nameOf(random);
    const made = classes[name](random, number);
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

// Shares of a thousand cases. Websites and archives are slow.
const odds = {
  ...{ websites: 1, servers: 1, archives: 4, bytes: 60, packed: 60, dates: 80, headers: 40, homepages: 40 },
  ...{ broken: 80, damaged: 250, turns: 60, documents: 324 },
};

function nameOf(random: Random): keyof typeof odds {
  let lot = random.below(1000);
  const found = Object.entries(odds).find(([, share]) => (lot -= share) < 0);
  return (found?.[0] ?? "documents") as keyof typeof odds;
}

const classes: Record<keyof typeof odds, MakeCase> = {
  // The document is changed in any way, so what is read does not matter.
  documents(random, number) {
    const seed = random.pick(seeds);
    const options = { url: seed.url, limits: limitsFor(random), strict: random.below(8) === 0 };
    const text = textOf(seed.text, random);
    return { shown: { text, options }, run: () => void checkText(text, options, number) };
  },

  // Undamaged entries between damaged ones are all read, and nothing is invented.
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
        // One of our limits, or `strict`, may lose an entry, but not silently.
        const isSaid = !isLenient(options) && (!complete || outcome.kind === "invalid");
        if (lost.length > 0 && !isSaid) throw new Error(`lost ${lost.join(" ")}`);
        // A base that exceeds one of our limits is not used.
        const invented = isLenient(options) ? [...urls].filter((one) => !isDeclared(one)) : [];
        if (invented.length > 0) throw new Error(`invented ${invented.join(" ")}`);
      },
    };
  },

  // A body that breaks has no entries that the whole one lacks, and is not complete.
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

  // Documents that are read at the same time do not disturb one another.
  turns(random) {
    const turns = turnsOf(random);
    return { shown: turns, run: () => checkTurns(turns, random) };
  },

  bytes(random) {
    const { text, url } = random.pick(seeds);
    const bytes = bytesOf(text, random);
    return { shown: bytes, run: () => checkBytes(bytes, url) };
  },

  // Intact data is read, damage is reported, and a refused robots.txt does not count as empty.
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
        // Nothing at all is an empty document, whatever is announced, and a letter is a text.
        if (isChecked && bytes.length > 2 && !isAll && whole.complete)
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
        const links = new HomepageLinks(home, new ProblemLog());
        links.addHeaders([["link", value]]);
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
        expectEqual("cut into pieces", linksOf(inPieces(html, random)), whole);
      },
    };
  },

  archives(random) {
    const at = random.below(4);
    return { shown: `the archive, changed by case (${at})`, run: () => openChanged(random, at === 0) };
  },

  // The response to one URL is never taken for that to another.
  servers: (_, number) => ({ shown: number, run: () => checkOddServer(number) }),

  websites: (_, number) => ({ shown: number, run: () => checkWebsite(number) }),
};

// A busy machine may pause for a second, but not three times at the same case.
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
