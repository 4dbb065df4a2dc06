// Places that hold no sitemap, and everything that leads to them: asked for once, and nobody waits for them a second time.
import { expect, test } from "vitest";
import { crawl } from "../../src/crawl/crawl.ts";
import type { CrawlEvent } from "../../src/model/event.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { home, outline, type Route, robots, site, urlset } from "../support/site.ts";

const html: Route = { headers: { "content-type": "text/html" }, body: "<html><body>Welcome</body></html>" };

async function discover(routes: Parameters<typeof site>[0], concurrency: number) {
  const { client, hits } = site(routes);
  await using tree = await sitemapTreeForHomepage(home, { client, retries: 0, concurrency });
  return { tree, hits, lines: await outline(tree) };
}

const concurrencies = [1, 16];

test.each(concurrencies)(
  "a website that redirects everything to one missing page (%i at a time)",
  async (concurrency) => {
    const { tree, lines, hits } = await discover(
      (path) => (path === "/404" ? { status: 404 } : { to: "/404" }),
      concurrency,
    );
    expect(lines).toEqual(["index/website /"]);
    expect(tree.complete).toBe(true);
    expect(new Set(tree.discovery.map(({ outcome, finalUrl }) => `${outcome} ${finalUrl}`))).toEqual(
      new Set([`absent ${home}404`]),
    );
    // Once as robots.txt, once as the homepage, once for all the others.
    expect(hits.filter((path) => path === "/404").length).toBeLessThanOrEqual(3);
  },
);

test.each(concurrencies)("a website that redirects everything to its homepage (%i at a time)", async (concurrency) => {
  const { tree, lines } = await discover((path) => (path === "/" ? html : { to: "/" }), concurrency);
  expect(lines).toEqual(["index/website /"]);
  expect(tree.complete).toBe(true);
  expect(new Set(tree.discovery.map(({ outcome, finalUrl }) => `${outcome} ${finalUrl}`))).toEqual(
    new Set([`not-a-sitemap ${home}`]),
  );
});

test.each(concurrencies)(
  "what a guess did not find is invalid where it is declared, from the one request (%i at a time)",
  async (concurrency) => {
    const links = ["/sitemap.xml", "/sitemap.txt", "/to-sitemap", "/"].map(
      (href) => `<link rel="sitemap" href="${href}">`,
    );
    const { lines, hits } = await discover(
      {
        "/": { headers: { "content-type": "text/html" }, body: links.join("") },
        "/sitemap.txt": "Sorry",
        "/to-sitemap": { to: "/sitemap.xml" },
      },
      concurrency,
    );
    expect(lines).toEqual([
      "index/website /",
      "  invalid /sitemap.xml (http-404)",
      "  invalid /sitemap.txt (not-a-sitemap)",
    ]);
    expect(hits.filter((path) => path === "/sitemap.xml")).toHaveLength(1);
    expect(hits.filter((path) => path === "/sitemap.txt")).toHaveLength(1);
  },
);

test.each(concurrencies)(
  "a declared sitemap that leads to a missing well-known path is requested once (%i at a time)",
  async (concurrency) => {
    const { lines, hits, tree } = await discover(
      { "/robots.txt": robots("/old.xml", "/a.xml"), "/old.xml": { to: "/sitemap.xml" }, "/a.xml": urlset("/1") },
      concurrency,
    );
    expect(lines).toEqual([
      "index/website /",
      "  index/robots /robots.txt",
      "    invalid /old.xml (http-404)",
      "    pages/xml /a.xml",
      "      /1",
    ]);
    expect(hits.filter((path) => path === "/sitemap.xml")).toHaveLength(1);
    expect(tree.discovery[1]).toMatchObject({ url: `${home}sitemap.xml`, outcome: "duplicate" });
  },
);

test("a sitemap in place of robots.txt is not used; nothing is reported about it", async () => {
  const events: CrawlEvent[] = [];
  const { client } = site({ "/robots.txt": urlset("/1") });
  for await (const event of crawl(home, { client, retries: 0 })) events.push(event);
  expect(events.filter(({ type }) => type === "start" || type === "pages")).toEqual([
    { type: "start", url: home, depth: 0 },
  ]);
});

test("a sitemap in place of robots.txt is found at its own path", async () => {
  const { lines } = await discover({ "/robots.txt": { to: "/sitemap.xml" }, "/sitemap.xml": urlset("/1") }, 4);
  expect(lines).toEqual(["index/website /", "  pages/xml /sitemap.xml", "    /1"]);
});
