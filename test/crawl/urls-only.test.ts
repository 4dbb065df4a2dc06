// If only URLs are needed, a tree is the same, with the same problems. test/parse/urls-only.test.ts tests single documents.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Client } from "../../src/model/client.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { repetitiveDocument } from "../support/repetitive.ts";
import { home } from "../support/site.ts";

function hostileDocument(random: Random): Uint8Array {
  const bytes = Buffer.from(repetitiveDocument(random, 30));
  // Some bytes are not UTF-8, and documents may end anywhere.
  for (let damage = random.below(3); damage > 0; damage--) bytes[random.below(bytes.length)] = 128 + random.below(128);
  const cut = random.below(5) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes;
  return random.below(4) === 0 ? gzipSync(cut) : cut;
}

test("a tree built from URLs alone equals one built from whole pages", async () => {
  const random = new Random(12);
  for (let round = 0; round < some(200, 6); round++) {
    const documents = Array.from({ length: 3 }, () => hostileDocument(random));
    const size = 1 + random.below(random.below(3) === 0 ? 30 : 3000);
    const client: Client = {
      async request({ url }) {
        const bytes = documents[Number(url.slice(home.length))] as Uint8Array;
        async function* body() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        return { status: 200, headers: [], body: body() };
      },
    };
    const options = { client, limits: random.below(4) === 0 ? { pages: random.below(40) } : {} };
    const urls = documents.map((_, at) => home + at);
    await using counted = await sitemapTreeForHomepage({ sitemaps: urls }, options);
    // Pages are built for the caller's events.
    await using made = await sitemapTreeForHomepage({ sitemaps: urls }, { ...options, onEvent: () => {} });
    expect(counted.toJSON()).toEqual(made.toJSON());
    let pages = 0;
    for await (const _ of counted.pages()) pages++;
    expect(pages).toBe(counted.pageCount);
    expect(counted.toJSON()).toEqual(made.toJSON());
  }
});
