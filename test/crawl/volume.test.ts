// Much of everything: indexes and texts with very many entries, and an index of which a budget allows little. The website is
// made up while it is read, so that the memory that is measured is ours.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { streamPages } from "../../src/crawl/crawl.ts";
import type { Client } from "../../src/model/client.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { some } from "../support/long.ts";
import { home, index, site, urlset } from "../support/site.ts";

const count = some(1_000_000, 60_000);
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** A client whose documents are generated while they are read. */
function generated(documents: Record<string, () => Generator<string>>): Client {
  return {
    async request({ url }) {
      const document = documents[url.slice(home.length - 1)];
      return { status: document === undefined ? 404 : 200, headers: [], body: bytesOf(document?.() ?? []) };
    },
  };
}

async function* bytesOf(parts: Iterable<string>): AsyncGenerator<Uint8Array> {
  let piece = "";
  for (const part of parts) {
    piece += part;
    if (piece.length < 64 * 1024) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  if (piece !== "") yield Buffer.from(piece);
}

function* lines(count: number): Generator<string> {
  for (let at = 0; at < count; at += 1) yield `${home}${at}\n`;
}

test("a limit of 50 sitemaps allows 49 children of an index; one node stands for the others, which are not requested", async () => {
  const children = Array.from({ length: 1000 }, (_, at) => `/s${at}.xml`);
  const { client, hits } = site((path) => {
    if (path === "/sitemap.xml") return index(...children);
    return /^\/s\d+\.xml$/.test(path) ? urlset(`${path}/page`) : undefined;
  });
  await using tree = await sitemapTreeForHomepage(home, { client, retries: 0, limits: { sitemaps: 50 } });
  const found = tree.root.children[0];
  expect(found).toMatchObject({ kind: "index", url: `${home}sitemap.xml` });
  const nodes = found?.kind === "index" ? found.children : [];
  expect(nodes.map(({ url }) => url)).toEqual(children.slice(0, 50).map((path) => home + path.slice(1)));
  expect(nodes.slice(0, 49).every(({ kind }) => kind === "pages")).toBe(true);
  expect(nodes[49]).toMatchObject({ kind: "invalid", reason: { code: "limit-sitemaps", limit: 50, count: 951 } });
  expect(tree.complete).toBe(false);
  expect(hits.filter((path) => path.startsWith("/s") && path !== "/sitemap.xml").length).toBeLessThan(75);
});

test("a text sitemap with very many URLs is streamed in flat memory", async () => {
  const client = generated({ "/t.txt": () => lines(count) });
  let seen = 0;
  let last = "";
  let early = 0;
  let late = 0;
  for await (const { url } of streamPages({ sitemaps: [`${home}t.txt`] }, { client })) {
    seen += 1;
    last = url;
    if (seen === 0.1 * count) early = await memoryInUse();
    if (seen === 0.9 * count) late = await memoryInUse();
  }
  expect(seen).toBe(count);
  expect(last).toBe(`${home}${count - 1}`);
  // What has to be remembered of 800,000 URLs, to know them again, is 10 MB. The URLs alone would be 30 MB more, and pages that
  // are kept more than 100 MB.
  expect(late - early).toBeLessThan(20 * count);
});

/** Returns the memory still in use after garbage collection. */
async function memoryInUse(): Promise<number> {
  // Collects twice, because what is released asynchronously becomes garbage only after a turn.
  collectGarbage();
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
