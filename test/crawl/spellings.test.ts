// One website has many spellings: http and https, with and without www, with a port, a dot at the end of its host, percent-encoding.
// Each document is fetched once and listed once, with and without the caller's headers. Over sockets and TLS.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { knownPaths } from "../../src/discover/known-paths.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { contentOf, urlsOf } from "../support/collected.ts";
import { type Answer, type NamedWebsite, namedWebsite } from "../support/named-website.ts";
import { index, robots, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const names = ["example.org", "www.example.org", "example.net"];

/** The documents by their paths on https://www.example.org; every other spelling leads there. */
function website(
  documents: Readonly<Record<string, Answer>>,
  allows: (url: string, token: unknown) => boolean = () => true,
): Promise<NamedWebsite> {
  return namedWebsite(names, (url, headers) => {
    const { origin, pathname } = new URL(url);
    if (!allows(url, headers["x-token"])) return 401;
    return origin === "https://www.example.org" ? documents[decodeURI(pathname)] : { to: home + pathname.slice(1) };
  });
}

function times(asked: readonly string[], url: string): number {
  return asked.filter((each) => decodeURI(each) === url).length;
}

/** The sitemaps as they were declared, and all pages. */
async function listed(tree: SitemapTree): Promise<string[]> {
  const sitemaps = [...tree.sitemaps()].map(({ url, declaredUrl }) => declaredUrl ?? url);
  return [...sitemaps, ...(await urlsOf(tree.pages()))];
}

const home = "https://www.example.org/";
const pages = urlset(`${home}1`, `${home}2`);

describe.each([
  ["without headers", {}],
  ["with a header", { headers: { "x-token": "secret" } }],
])("%s", (_, options) => {
  const spellings = [
    "http://www.example.org/sitemap.xml",
    "https://example.org/sitemap.xml",
    "http://example.org/sitemap.xml",
    "https://WWW.EXAMPLE.ORG/sitemap.xml",
    "https://www.example.org:443/sitemap.xml",
    "http://www.example.org:80/sitemap.xml",
    "https://www.example.org./sitemap.xml",
    "http://example.org./sitemap.xml",
    "https://www.example.org/site%6Dap.xml",
    "http://example.org/%73itemap.xml#top",
  ];
  test.each([
    ["all", spellings],
    ["all, from the last to the first,", spellings.toReversed()],
    ["one", spellings.slice(7, 8)],
  ])("a sitemap is listed under every spelling if robots.txt names %s", async (_, named) => {
    const { options: way, asked } = await website({ "/robots.txt": robots(...named), "/sitemap.xml": pages });
    const save = path.join(newFolder(), "site.warc");
    await using tree = await sitemapTreeForHomepage(home, { ...way, ...options, save });
    const twice = named.flatMap(() => [`${home}1`, `${home}2`]);
    expect(await listed(tree)).toEqual([home, `${home}robots.txt`, ...named, ...twice]);
    await using archive = await openTree(save);
    expect(await contentOf(archive)).toBe(await contentOf(tree));
    expect(tree.complete).toBe(true);
    expect(times(asked, `${home}sitemap.xml`)).toBe(1);
  });

  test("guesses and homepage links that lead to a sitemap of the tree add no copy", async () => {
    const { options: way, asked } = await website({
      "/": `<html><link rel="sitemap" href="http://example.org/moved.xml"></html>`,
      "/robots.txt": "Sitemap: https://example.org/index.xml\n",
      "/index.xml": index("http://www.example.org/a.xml"),
      "/a.xml": pages,
      "/sitemap.xml": { to: "http://example.org/index.xml" },
      "/sitemap.txt": { to: "https://example.org/a.xml" },
      "/moved.xml": { to: "/a.xml" },
    });
    await using tree = await sitemapTreeForHomepage(home, { ...way, ...options });
    const sitemaps = [...tree.sitemaps()].map(({ url }) => url.slice(home.length));
    expect(sitemaps).toEqual(["", "robots.txt", "index.xml", "a.xml"]);
    expect([times(asked, `${home}a.xml`), times(asked, `${home}index.xml`)]).toEqual([1, 1]);
  });
});

describe("the caller's headers", () => {
  const documents = { "/robots.txt": "Sitemap: http://example.org/sitemap.xml\n", "/sitemap.xml": pages };
  const headers = { "x-token": "secret" };
  const isHome = (url: string) => url.startsWith(home);

  test("go only to the origin of the start URL, even if another spelling of the website redirects there", async () => {
    const { options } = await website(documents, (url, token) => (token === "secret") === isHome(url));
    await using tree = await sitemapTreeForHomepage(home, { ...options, headers });
    expect([tree.complete, tree.pageCount]).toEqual([true, 2]);
  });

  test("follow the website from http to https, but not back", async () => {
    const isWww = (url: string) => /^https?:\/\/www\./.test(url);
    const { options } = await website(documents, (url, token) => (token === "secret") === isWww(url));
    await using tree = await sitemapTreeForHomepage(home.replace("https", "http"), { ...options, headers });
    expect([tree.complete, tree.pageCount]).toEqual([true, 2]);
  });

  test("are not sent if another website redirects there, and the response is not requested again with them", async () => {
    const elsewhere = { ...documents, "/robots.txt": robots("https://example.net/sitemap.xml") };
    const { options, asked } = await website(elsewhere);
    await using tree = await sitemapTreeForHomepage(home, { ...options, headers, knownPaths: "if-needed" });
    const sitemaps = [home, `${home}robots.txt`, "https://example.net/sitemap.xml"];
    expect(await listed(tree)).toEqual([...sitemaps, `${home}1`, `${home}2`]);
    expect(times(asked, `${home}sitemap.xml`)).toBe(1);
    const closed = await website(elsewhere, (url, token) => !isHome(url) || token === "secret");
    await using other = await sitemapTreeForHomepage(home, { ...closed.options, headers });
    expect([...other.sitemaps()].map(({ kind }) => kind)).toEqual(["index", "index", "invalid", "pages"]);
  });
});

test.each(["http", "https"])(
  "a private website given with %s may redirect to itself with the other scheme",
  async (scheme) => {
    const other = scheme === "http" ? "https" : "http";
    const there = `${other}://staging.internal`;
    const { options, asked } = await namedWebsite(["staging.internal"], (url) => {
      if (!url.startsWith(there)) return { to: there + new URL(url).pathname };
      if (url.endsWith("/robots.txt"))
        return robots(
          `${scheme}://staging.internal/a.xml`,
          `${there}/b.xml`,
          `${there}:8443/c.xml`,
          `${other}://db.internal/`,
        );
      return /\/[ab]\.xml$/.test(url) ? urlset(`${url}/page`) : undefined;
    });
    await using tree = await sitemapTreeForHomepage(`${scheme}://staging.internal/`, options);
    const [, , ...sitemaps] = tree.sitemaps();
    const found = sitemaps.map((sitemap) => (sitemap.kind === "invalid" ? sitemap.reason.code : sitemap.url));
    expect(found).toEqual([`${there}/a.xml`, `${there}/b.xml`, "address-blocked", "address-blocked"]);
    expect(asked.filter((url) => !/^https?:\/\/staging\.internal\//.test(url))).toEqual([]);
  },
);

describe("well-known paths are requested on the host that the website redirects to", () => {
  const start = "http://example.org/";
  const count = async (answer: (url: string) => Answer, options = {}) => {
    const served = await namedWebsite(names, answer);
    await using tree = await sitemapTreeForHomepage(start, { ...served.options, ...options });
    return { tree: await listed(tree), asked: served.asked };
  };
  // http, then https, then www.
  const moved = (url: string) => {
    const { protocol, hostname, pathname } = new URL(url);
    if (protocol === "http:") return { to: `https://${hostname}${pathname}` };
    return hostname.startsWith("www.") ? undefined : { to: `https://www.${hostname}${pathname}` };
  };

  test("if robots.txt redirects", async () => {
    const { asked } = await count(moved);
    // Three for robots.txt, one for the homepage, and the well-known paths.
    expect(asked).toHaveLength(4 + knownPaths.length);
    expect(asked.filter((url) => !url.startsWith(home))).toHaveLength(2);
  });

  test("if the homepage redirects, but robots.txt does not", async () => {
    const { tree, asked } = await count((url) => {
      if (url.endsWith("/robots.txt")) return "User-agent: *\n";
      return moved(url) ?? (url.endsWith("/sitemap.xml") ? pages : undefined);
    });
    // Three for the homepage, two for robots.txt.
    expect(asked).toHaveLength(5 + knownPaths.length);
    const both = [`${start}robots.txt`, `${home}robots.txt`];
    expect(tree).toEqual([start, ...both, `${home}sitemap.xml`, `${home}1`, `${home}2`]);
  });

  test.each<[string, (url: string) => Answer]>([
    ["the homepage alone leads there", (url) => (url === start ? { to: home } : undefined)],
    ["every path leads to its homepage", () => ({ to: home })],
    ["robots.txt is empty", (url) => (url.endsWith("robots.txt") ? "" : { to: home })],
  ])("and so is robots.txt: %s", async (_, elsewhere) => {
    const documents: Record<string, Answer> = {
      "/": `<html><link rel="sitemap" href="/linked.xml"></html>`,
      "/robots.txt": robots(`${home}maps/all.xml`),
      "/maps/all.xml": pages,
      "/linked.xml": urlset(`${home}3`),
    };
    const served = await namedWebsite(names, (url) =>
      url.startsWith(home) ? documents[new URL(url).pathname] : elsewhere(url),
    );
    const save = path.join(newFolder(), "site.warc");
    await using tree = await sitemapTreeForHomepage(start, { ...served.options, save });
    expect(await urlsOf(tree.pages())).toEqual([`${home}1`, `${home}2`, `${home}3`]);
    expect(tree.complete).toBe(true);
    expect(times(served.asked, `${home}robots.txt`)).toBe(1);
    await using archive = await openTree(save);
    expect(await contentOf(archive)).toBe(await contentOf(tree));
  });

  test("but not on another website, nor on a host that does not respond", async () => {
    const other = "https://example.net/";
    const { asked } = await count((url) =>
      url.startsWith(start) ? { to: other + url.slice(start.length) } : undefined,
    );
    expect(asked.filter((url) => url.startsWith(start))).toHaveLength(2 + knownPaths.length);
    const refused = { "/robots.txt": { to: "https://nobody.example.org/robots.txt" }, "/sitemap.xml": pages };
    expect((await count((url) => refused[new URL(url).pathname as never])).tree).toContain(`${start}sitemap.xml`);
  });
});
