// A sample of pages, from a real server: what they answer, what is asked and what is not, and pages that want to do harm.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkTree } from "../../src/check/check-tree.ts";
import { readPageHead } from "../../src/check/page-head.ts";
import type { CheckResult } from "../../src/check/result.ts";
import { upperBound } from "../../src/check/sample.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { sitegrove } from "../cli/program.ts";
import { type Answer, serve, type Website } from "../cli/website.ts";
import { newFolder } from "../support/test-folder.ts";

let website: Website;
let home = "";
const routes: Record<string, Answer> = {};

const html =
  (text: string, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers }).end(text);
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end();
const meta = (content: string, name = "robots") => html(`<head><meta name="${name}" content="${content}"></head>`);

const sitemap = (entries: readonly string[]) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">${entries
    .map((entry) => `<url>${entry.startsWith("<") ? entry : `<loc>${home}${entry.slice(1)}</loc>`}</url>\n`)
    .join("")}</urlset>`;

beforeAll(async () => {
  website = await serve(routes);
  home = website.homepage;
});
afterAll(() => website.close());

/** Serves these pages, of which the sitemap lists these, and a robots.txt that begins with these lines. */
function host(pages: Record<string, Answer>, entries = Object.keys(pages), robots = ""): void {
  for (const name of Object.keys(routes)) delete routes[name];
  Object.assign(routes, pages, {
    "/robots.txt": `${robots}\nSitemap: ${home}sitemap.xml\n`,
    "/sitemap.xml": sitemap(entries),
  });
}

async function treeOf(...given: Parameters<typeof host>): Promise<SitemapTree> {
  host(...given);
  const tree = await sitemapTreeForHomepage(home, { knownPaths: "never", useHomepage: false });
  website.requests.length = 0;
  return tree;
}

async function sampled(size: number, ...given: Parameters<typeof host>): Promise<CheckResult> {
  await using tree = await treeOf(...given);
  return await checkTree(tree, { sample: size, crawl: { retries: 0, delay: 0 } });
}

const found = ({ findings }: CheckResult) =>
  findings
    .filter(({ rule }) => rule.startsWith("page-"))
    .flatMap(({ rule, severity, examples }) =>
      examples.map(({ url, value }) => [rule, severity, url?.replace(home, "/"), value?.replaceAll(home, "/")]),
    );

test("pages that should not be listed are found, and those that should are not", async () => {
  let method: string | undefined;
  const result = await sampled(100, {
    "/ok": html(`<head><link rel="canonical" href="/ok#top"><meta name="robots" content="index, nofollow"></head>`),
    "/comment": html(
      `<!-- <meta name="robots" content="noindex"> --><script>"<meta name=robots content=noindex>"</script>`,
    ),
    "/other-bot": meta("noindex", "otherbot"),
    "/pdf": (request, response) => {
      method = request.method;
      response.writeHead(200, { "content-type": "application/pdf" }).end('<meta name="robots" content="none">');
    },
    "/gone": status(404),
    "/broken": status(500),
    "/moved": status(301, { location: "/ok" }),
    "/meta": meta("NOARCHIVE, NoIndex"),
    "/none": html("<META CONTENT=none NAME='googlebot'>"),
    "/header": html("", { "x-robots-tag": "max-snippet:20, googlebot: noindex" }),
    "/bing": html("", { "x-robots-tag": "bingbot: noindex, nofollow" }),
    "/copy": html(`<base href="/deep/"><link href="../ok?a=1&amp;b=2" rel="nofollow Canonical">`),
    "/link": html("", { link: `</style.css>; rel=preload, <${home}ok>; rel="canonical"` }),
    "/forbidden": status(403),
  });
  expect(found(result)).toEqual([
    ["page-unreachable", "error", "/gone", "Not found (404)"],
    ["page-unreachable", "error", "/broken", expect.stringContaining("500")],
    ["page-unreachable", "error", "/forbidden", expect.stringContaining("403")],
    ["page-noindex", "error", "/meta", "Googlebot, bingbot, YandexBot"],
    ["page-noindex", "error", "/none", "Googlebot"],
    ["page-noindex", "error", "/header", "Googlebot"],
    ["page-redirect", "warning", "/moved", "301 to /ok"],
    ["page-noindex", "warning", "/bing", "bingbot"],
    ["page-canonical-other", "warning", "/copy", "/ok?a=1&b=2"],
    ["page-canonical-other", "warning", "/link", "/ok"],
  ]);
  expect(result.sample).toEqual({ pages: 14, judged: 14, bad: 10, atMost: 10 / 14, disallowed: 0, unanswered: 0 });
  expect(method).toBe("GET");
});

test("alternate pages and dates of a page are compared with its sitemap", async () => {
  const page = (head: string, modified: string) => html(head, { "last-modified": modified });
  const entry = (path: string, rest: string) => `<loc>${home}${path}</loc>${rest}`;
  const links = (path: string) =>
    `<xhtml:link rel="alternate" hreflang="de" href="${home}de"/><xhtml:link rel="alternate" hreflang="en" href="${home}${path}"/>`;
  const result = await sampled(
    10,
    {
      "/same": page(
        `<link rel=alternate hreflang=DE href="/de"><link rel=alternate hreflang=en href=/same>`,
        "Mon, 01 Jun 2026 10:00:00 GMT",
      ),
      "/differs": page(`<link rel=alternate hreflang=fr href="/fr">`, "Mon, 01 Jun 2026 10:00:00 GMT"),
      "/older": page("", "Fri, 01 May 2026 09:00:00 GMT"),
      "/recent": page("", "Sat, 02 May 2026 10:00:00 GMT"),
    },
    [
      entry("same", links("same")),
      entry("differs", links("differs")),
      entry("older", "<lastmod>2026-05-31T10:00:00Z</lastmod>"),
      entry("recent", "<lastmod>2026-05-31T10:00:00Z</lastmod>"),
    ],
  );
  expect(found(result)).toEqual([
    ["page-hreflang-differs", "info", "/differs", "de"],
    ["page-lastmod-older", "info", "/older", expect.stringContaining("2026-05-01")],
  ]);
  expect(result.sample?.bad).toBe(0);
});

test("redirects of robots.txt are followed as those of sitemaps: other hosts choose nothing that a login opens", async () => {
  const logins: string[] = [];
  const elsewhere = createServer((_, response) => response.writeHead(302, { location: `${home}rules` }).end());
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.2", resolve));
  const other = `http://127.0.0.2:${(elsewhere.address() as AddressInfo).port}/`;
  await using tree = await treeOf({ "/a": html(""), "/private/b": html("") });
  try {
    routes["/rules"] = ({ headers }, response) => {
      logins.push(String(headers.authorization));
      response.end("User-agent: *\nDisallow: /private");
    };
    const options = {
      sample: 10,
      crawl: { headers: { authorization: "secret" }, network: "allow-private", retries: 0 },
    } as const;
    routes["/robots.txt"] = status(301, { location: other });
    expect((await checkTree(tree, options)).sample).toMatchObject({ judged: 1, disallowed: 1 });
    expect(logins).toEqual(["undefined"]);
    // A robots.txt that is never reached says nothing about what is allowed.
    routes["/robots.txt"] = status(301, { location: "/robots.txt" });
    expect((await checkTree(tree, options)).sample).toMatchObject({ judged: 0, disallowed: 2 });
  } finally {
    elsewhere.close();
  }
});

test("robots.txt is obeyed, by the name of the program", async () => {
  const robots = "User-agent: *\nDisallow: /private\n\nUser-agent: Googlebot\nAllow: /";
  const result = await sampled(10, { "/private/a": html(""), "/b": html("") }, undefined, robots);
  expect(website.requests).toEqual(["/robots.txt", "/b"]);
  expect(result.sample).toMatchObject({ pages: 2, judged: 1, disallowed: 1 });
});

test("where everything is blocked, nothing is claimed", async () => {
  const result = await sampled(10, { "/a": status(403), "/b": status(403, { "cf-mitigated": "challenge" }) });
  expect(found(result)).toEqual([]);
  expect(result.sample).toMatchObject({ judged: 0, unanswered: 2, atMost: 1 });
});

test("a sample has the requested size, is the same each time, and takes its share from each sitemap", async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, number) => [`/${number}`, html("")]));
  const choices = [];
  for (let run = 0; run < 2; run++) {
    const { sample } = await sampled(12, many);
    expect(sample).toMatchObject({ pages: 60, judged: 12, bad: 0 });
    choices.push(website.requests.filter((url) => url !== "/robots.txt").sort());
  }
  expect(choices[0]).toHaveLength(12);
  expect(choices[1]).toEqual(choices[0]);
});

test("pages that never end, unpack to much or are full of open tags cost little", async () => {
  let sent = 0;
  const endless: Answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    const more = () => {
      while (!response.destroyed && response.write("<p>".repeat(10_000))) sent += 30_000;
      sent += 30_000;
    };
    response.on("drain", more);
    more();
  };
  const bomb = gzipSync(Buffer.alloc(50_000_000, "<meta "));
  const result = await sampled(10, {
    "/endless": endless,
    "/bomb": (_, response) =>
      response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" }).end(bomb),
    "/quotes": html('<meta "'.repeat(70_000)),
    "/comments": html("<!--".repeat(100_000)),
    "/scripts": html("<script>".repeat(60_000)),
    "/attributes": html(`<meta ${"a=b ".repeat(100_000)}>`),
    "/wrong": html(`<link rel=canonical href="http://[::1"><base href="data:x"><link rel=canonical href="//">`),
  });
  expect(found(result)).toEqual([]);
  expect(result.sample).toMatchObject({ judged: 7, bad: 0 });
  expect(sent).toBeLessThan(20_000_000);
});

test("pages that never answer are given up when time is up", async () => {
  await using tree = await treeOf({ "/a": html(""), "/b": () => undefined, "/c": () => undefined });
  const { sample, complete } = await checkTree(tree, { sample: 3, crawl: { retries: 0, limits: { time: 1000 } } });
  expect(sample).toMatchObject({ judged: 1, unanswered: 2 });
  expect(complete).toBe(true);
});

test("rules that would take hours are given up, and the check can be stopped and has an end", async () => {
  const rules = `Disallow: /${"*a".repeat(2000)}*0\n`;
  const entries = Array.from({ length: 1000 }, (_, n) => `/0${"a".repeat(2000)}${n}`);
  await using tree = await treeOf({}, entries, `User-agent: *\n${rules.repeat(120)}`);
  const reason = "robots.txt has too many rules";
  expect((await checkTree(tree)).notChecked).toContainEqual({ rule: "url-robots-disallowed", reason });
  const stop = new AbortController();
  const checking = checkTree(tree, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("stopped")), 1);
  await expect(checking).rejects.toThrow("stopped");
  const late = await checkTree(tree, { time: 0 });
  expect(late.complete).toBe(false);
  expect(late.notChecked).toContainEqual({ rule: "url-fragment", reason: "the time limit was reached" });
});

test.each([
  [0, 300, 0.01],
  [0, 59, 0.05],
  [3, 100, 0.076],
  [50, 100, 0.586],
  [0, 1, 0.95],
  [5, 5, 1],
  [0, 0, 1],
])("%d bad of %d: at most %d", (bad, judged, share) => {
  expect(upperBound(bad, judged)).toBeCloseTo(share, 2);
});

test("headers that name several crawlers", () => {
  const noindex = (value: string) => [...readPageHead(home, [["x-robots-tag", value]], "").noindex];
  expect(noindex("noindex")).toEqual(["robots"]);
  expect(noindex("googlebot: nofollow, otherbot: noindex, nofollow")).toEqual(["otherbot"]);
  expect(noindex("unavailable_after: 25 Jun 2030 15:00:00 PST, max-snippet:-1")).toEqual([]);
});

test("the program prints the bound, and takes websites only", async () => {
  host({ "/a": html(""), "/b": html(""), "/c": html("") });
  const { stdout } = await sitegrove(`check ${home} --sample 2 --fail-on never --no-known --no-homepage`);
  expect(stdout).toContain(
    "Sample: 0 of 2 pages should not be listed as is; at most 78% of all 3 pages, at 95% confidence.",
  );
  const local = await sitegrove(["check", "-", "--sample", "2"], { input: sitemap(["/a"]) });
  expect([local.code, local.stderr]).toEqual([2, expect.stringContaining("--sample needs a website")]);
});

test("a website that only an archive names gets no headers, and is not asked at a private address", async () => {
  const sent: unknown[] = [];
  host({
    "/a": ({ headers }, response) => {
      sent.push(headers["x-secret"]);
      response.setHeader("content-type", "text/html").end("<title>A</title>");
    },
  });
  const file = path.join(newFolder(), "site.warc");
  await (await sitemapTreeForHomepage(home, { save: file })).close();
  await using tree = await openTree(file);
  website.requests.length = 0;
  const headers = { "x-secret": "1" };
  const { sample } = await checkTree(tree, { sample: 1, crawl: { headers } });
  expect([sample?.judged, website.requests]).toEqual([0, []]);
  const again = await checkTree(tree, { sample: 1, crawl: { headers, network: "allow-private" } });
  expect([again.sample?.judged, sent]).toEqual([1, [undefined]]);
});
