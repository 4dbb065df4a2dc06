// Any website that changes from day to day, run after run, each built on the one before: the tree is the one that a run without gives,
// and the archive alone gives it, too.
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Client, ClientResponse } from "../../src/model/client.ts";
import type { HeaderList } from "../../src/model/exchange.ts";
import type { Options } from "../../src/model/options.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { listOf } from "../support/collected.ts";
import { some } from "../support/long.ts";
import { home, type Route, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const { SITEGROVE_TEST_RUNS = some(25, 2) } = process.env;
const runs = { numRuns: Number(SITEGROVE_TEST_RUNS) };
const folder = newFolder();

const names = ["/sitemap.xml", "/a.xml", "/b.xml", "/c.xml", "/guess.xml"];
const places = fc.array(fc.constantFrom(...names), { maxLength: 3 });
const lastmod = fc.constantFrom("", "<lastmod>2026-01-01</lastmod>", "<lastmod>2026-01-02</lastmod>");
const pages = fc.array(fc.constantFrom("/1", "/2", "/3"), { minLength: 1, maxLength: 3 });
const html = { "content-type": "text/html" };

const route: fc.Arbitrary<Route | undefined> = fc.oneof(
  { weight: 5, arbitrary: pages.map((locations): Route => urlset(...locations)) },
  {
    weight: 3,
    arbitrary: fc.array(fc.tuple(fc.constantFrom(...names), lastmod), { maxLength: 4 }).map((children): Route => {
      const entries = children.map(([name, date]) => `<sitemap><loc>${home}${name.slice(1)}</loc>${date}</sitemap>`);
      return `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join("")}</sitemapindex>`;
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(...names).map((to): Route => ({ to })) },
  { weight: 1, arbitrary: fc.constantFrom(403, 404, 500).map((status): Route => ({ status })) },
  { weight: 1, arbitrary: fc.constant<Route>({ headers: html, body: "<html>No</html>" }) },
  { weight: 1, arbitrary: fc.constant<Route>("<urlset><url><loc>https://example.org/cut</loc></url><url><lo") },
  { weight: 2, arbitrary: fc.constant(undefined) },
);
const homepage = fc.oneof(
  fc.constant<Route | undefined>(undefined),
  places.map((links): Route => ({ headers: html, body: links.map((to) => `<link rel=sitemap href=${to}>`).join("") })),
);
const robots = fc.oneof(
  fc.constant<Route | undefined>(undefined),
  places.map((sitemaps): Route => sitemaps.map((name) => `Sitemap: ${home}${name.slice(1)}\n`).join("")),
);
type Website = Readonly<Record<string, Route | undefined>>;
const website: fc.Arbitrary<Website> = fc
  .tuple(robots, homepage, ...names.map(() => route))
  .map(([rules, start, ...documents]) => ({
    "/robots.txt": rules,
    "/": start,
    ...Object.fromEntries(names.map((name, at) => [name, documents[at]])),
  }));
/** Each day some documents are as they were. */
const days = fc
  .array(fc.tuple(website, fc.array(fc.boolean(), { minLength: 7, maxLength: 7 })), { minLength: 2, maxLength: 4 })
  .map((editions) => {
    const all: Website[] = [];
    for (const [edition, changes] of editions) {
      const before = all.at(-1) ?? edition;
      const paths = Object.keys(edition);
      all.push(Object.fromEntries(paths.map((name, at) => [name, (changes[at] ? edition : before)[name]])));
    }
    return all;
  });

/** Whether a server knows ETags, sends them and ignores them, or has none. */
const manners = fc.constantFrom("knows", "ignores", "none");

function clientOf(routes: Website, manner: string): Client {
  const plain = site((name) => routes[name]).client;
  return {
    async request(request) {
      const response = (await plain.request(request)) as ClientResponse;
      if (response.status !== 200 || manner === "none") return response;
      const pieces = await listOf(response.body);
      const etag = `W/"${createHash("md5").update(Buffer.concat(pieces)).digest("hex")}"`;
      const isSame = manner === "knows" && request.headers["if-none-match"] === etag;
      const body = (async function* () {
        if (!isSame) yield* pieces;
      })();
      return {
        status: isSame ? 304 : 200,
        headers: [...(isSame ? [] : (response.headers as HeaderList)), ["etag", etag]],
        body,
      };
    },
  };
}

async function contentOf(tree: SitemapTree): Promise<string> {
  const found = await listOf(tree.pages());
  await tree.close();
  return JSON.stringify([tree, found], undefined, 1);
}

let count = 0;
describe.each<[string, Options, boolean]>([
  ["as without", { useKnownPaths: false }, true],
  ["with many guesses", { extraKnownPaths: ["guess.xml"] }, false],
  ["with dates that are trusted", { useKnownPaths: false, extraKnownPaths: ["guess.xml"], trustLastmod: true }, false],
])("%s", (_, options, isSame) => {
  test("run after run", async () => {
    await fc.assert(
      fc.asyncProperty(days, manners, fc.boolean(), async (editions, manner, compressed) => {
        let previous: string | undefined;
        for (const routes of editions) {
          const save = path.join(folder, `${count++}.warc${compressed ? ".gz" : ""}`);
          const run = { ...options, retries: 0, client: clientOf(routes, manner) };
          const online = await contentOf(await sitemapTreeForHomepage(home, { ...run, previous, save }));
          if (isSame) expect(online).toBe(await contentOf(await sitemapTreeForHomepage(home, run)));
          if (previous !== undefined) rmSync(previous);
          expect(await contentOf(await openTree(save))).toBe(online);
          previous = save;
        }
        if (previous !== undefined) rmSync(previous);
      }),
      runs,
    );
  });
});
