// Where only the URLs of pages are wanted, a crawl gives the same URLs and reports the same problems.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { crawl, crawlWith } from "../../src/crawl/crawl.ts";
import type { Client } from "../../src/model/client.ts";
import type { CrawlEvent } from "../../src/model/event.ts";
import type { Limits } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { some } from "../support/long.ts";
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

async function listed(bodies: Bodies, size: number, urlsOnly: boolean, limits: Partial<Limits>) {
  const urls: string[] = [];
  const events: CrawlEvent[] = [];
  const options = { client: client(bodies, size), limits, useKnownPaths: false, useHomepage: false, concurrency: 1 };
  for await (const event of urlsOnly ? crawlWith(undefined, home, options, true) : crawl(home, options)) {
    // Requests come in any order.
    if (event.type === "request" || event.type === "response" || event.type === "retry") continue;
    if (event.type === "pages") urls.push(...event.pages.map(({ url }) => url));
    else events.push(withoutTimes(event));
  }
  return { urls, events };
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

test("of hostile documents, in chunks of any size, URLs and what is reported stay the same", async () => {
  const random = new Random(11);
  for (let round = 0; round < some(60, 4); round++) {
    const { bodies, limits, size } = hostileWebsite(random);
    expect(await listed(bodies, size, true, limits)).toEqual(await listed(bodies, size, false, limits));
  }
});

test("a tree that is built from URLs alone is the one whose pages are made then", async () => {
  const random = new Random(12);
  for (let round = 0; round < some(200, 6); round++) {
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
