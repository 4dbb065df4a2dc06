// `ls -f pages` gets the URLs of pages as lines of bytes, from the matcher straight to the output. What comes of a website must be the
// same, byte for byte, as where each page is made and written by itself; so must everything that is reported.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { crawlUrls } from "../../src/crawl/crawl.ts";
import type { Client } from "../../src/model/client.ts";
import type { CrawlEvent } from "../../src/model/event.ts";
import type { Limits } from "../../src/model/options.ts";
import { UrlLines } from "../../src/model/url-lines.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { writeBatches } from "../../src/write/batch.ts";
import { pagesWriter } from "../../src/write/pages.ts";
import { printable } from "../../src/write/printable.ts";
import { isLong, some } from "../support/long.ts";
import { entry, urlset } from "../support/parsed.ts";
import { Random } from "../support/random.ts";
import { repetitiveDocument } from "../support/repetitive.ts";
import { home } from "../support/site.ts";

type Bodies = Readonly<Record<string, Uint8Array>>;

// Sends bodies in chunks of this many bytes.
function client(bodies: Bodies, size: number): Client {
  return {
    async request({ url }) {
      const bytes = bodies[url.slice(home.length)];
      return {
        status: bytes === undefined ? 404 : 200,
        headers: [],
        body: (async function* () {
          for (let at = 0; at < (bytes?.length ?? 0); at += size) yield bytes!.subarray(at, at + size);
        })(),
      };
    },
  };
}

async function listed(bodies: Bodies, size: number, asLines: boolean, limits: Partial<Limits> = {}) {
  const pieces: (string | Uint8Array)[] = [];
  const events: CrawlEvent[] = [];
  let count = 0;
  const options = { client: client(bodies, size), limits, useKnownPaths: false, useHomepage: false, concurrency: 1 };
  for await (const event of crawlUrls(home, options, asLines ? printable : undefined)) {
    // Requests come in any order.
    if (event.type === "request" || event.type === "response" || event.type === "retry") continue;
    if (event.type !== "pages") {
      events.push(withoutTimes(event));
      continue;
    }
    const lines = "lines" in event ? (event.lines as UrlLines) : undefined;
    count += lines?.count ?? event.pages.length;
    const batch = { sitemap: event.url, pages: event.pages, lines };
    for await (const piece of writeBatches([batch], pagesWriter())) pieces.push(piece);
  }
  return { text: Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString("latin1"), count, events };
}

function withoutTimes(event: CrawlEvent): CrawlEvent {
  if (event.type === "finished") return { ...event, totals: { ...event.totals, duration: 0 } };
  if (event.type !== "sitemap") return event;
  const { response: _, ...rest } = event;
  return rest;
}

function website(...documents: Uint8Array[]): Bodies {
  const names = documents.map((_, n) => `map-${n}.xml`);
  const index = `<sitemapindex>${names.map((name) => `<sitemap><loc>${home}${name}</loc></sitemap>`).join("")}</sitemapindex>`;
  return {
    "robots.txt": Buffer.from(`Sitemap: ${home}index.xml`),
    "index.xml": Buffer.from(index),
    ...Object.fromEntries(documents.map((document, n) => [names[n], document])),
  };
}

// Three documents, and limits.
function hostileWebsite(random: Random): {
  readonly bodies: Bodies;
  readonly limits: Partial<Limits>;
  readonly size: number;
} {
  const documents = Array.from({ length: 3 }, () => {
    const bytes = Buffer.from(repetitiveDocument(random, 30));
    // Bytes that are no UTF-8, and a document that ends anywhere.
    for (let damage = random.below(3); damage > 0; damage--)
      bytes[random.below(bytes.length)] = 128 + random.below(128);
    const cut = random.below(5) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes;
    return random.below(4) === 0 ? gzipSync(cut) : cut;
  });
  const limits = random.below(4) === 0 ? { pages: random.below(40) } : {};
  return { bodies: website(...documents), limits, size: 1 + random.below(random.below(3) === 0 ? 30 : 3000) };
}

test("of hostile documents, in chunks of any size, lines and what is reported are those of pages", async () => {
  const random = new Random(11);
  for (let round = 0; round < some(60, 8); round++) {
    const { bodies, limits, size } = hostileWebsite(random);
    expect(await listed(bodies, size, true, limits)).toEqual(await listed(bodies, size, false, limits));
  }
});

test("a tree whose pages are only counted while it is built is the one whose pages are made then", async () => {
  const random = new Random(12);
  for (let round = 0; round < some(200, 20); round++) {
    const { bodies, limits, size } = hostileWebsite(random);
    const options = { client: client(bodies, size), limits, useKnownPaths: false, useHomepage: false };
    await using counted = await sitemapTreeForHomepage(home, options);
    // Pages are made for the caller's events.
    await using made = await sitemapTreeForHomepage(home, { ...options, onEvent: () => {} });
    expect(counted.toJSON()).toEqual(made.toJSON());
    let pages = 0;
    for await (const _ of counted.pages()) pages++;
    expect(pages).toBe(counted.pageCount);
    expect(counted.toJSON()).toEqual(made.toJSON());
  }
});

test("wherever a document is cut, lines are those of pages", async () => {
  const special = [entry("/é"), entry("https://example.org/0"), entry("https://example.org/a&lt;b"), "<!-- c -->"];
  const entries = Array.from({ length: 12 }, (_, n) => entry(`https://example.org/${n}?a&amp;b`, "\r\n"));
  const bodies = website(Buffer.from(urlset(...entries, ...special, ...entries.reverse(), entry("//other.example/"))));
  const whole = await listed(bodies, 100_000, false);
  expect(whole.count).toBe(16);
  // All small ones, and a few of the others.
  for (let size = 1; size < 200; size += isLong || size < 24 ? 1 : 7)
    expect(await listed(bodies, size, true)).toEqual(whole);
});

test("a limit of pages cuts lines", async () => {
  const entries = Array.from({ length: 500 }, (_, n) => entry(`https://example.org/${n}`));
  const bodies = website(Buffer.from(urlset(...entries)), Buffer.from(urlset(...entries)));
  for (const pages of [0, 1, 499, 500, 501, 999, 1000]) {
    const { text, count, events } = await listed(bodies, 1e6, true, { pages });
    expect(count).toBe(pages);
    expect(text.split("\n").length - 1).toBe(pages);
    expect(events).toEqual((await listed(bodies, 1e6, false, { pages })).events);
  }
});

test("the first of some lines are taken whole, as many as there are", () => {
  const lines = new UrlLines(Buffer.from("a\nbc\nd\n"), 3);
  const first = (count: number) => [Buffer.from(lines.first(count).bytes).toString(), lines.first(count).count];
  expect([0, 1, 2, 3, 4].map(first)).toEqual([
    ["", 0],
    ["a\n", 1],
    ["a\nbc\n", 2],
    ["a\nbc\nd\n", 3],
    ["a\nbc\nd\n", 3],
  ]);
});
