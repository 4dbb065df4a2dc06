// Requests pages from a real server: how responses are judged, which pages are requested, and hostile pages.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { checkTree } from "../../src/check/check-tree.ts";
import type { CheckResult } from "../../src/check/findings/result.ts";
import { readPageHead } from "../../src/check/pages/page-head.ts";
import { missingPath } from "../../src/pages/error-pages.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { sitegrove } from "../cli/program.ts";
import { type Answer, serve } from "../cli/website.ts";
import { newFolder } from "../support/test-folder.ts";

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

const website = await serve(routes);
home = website.homepage;

/** Serves `pages`, a sitemap of `entries`, a robots.txt that starts with the lines `robots`, and `files` instead of these. */
function host(
  pages: Record<string, Answer>,
  entries = Object.keys(pages),
  robots = "",
  files: Record<string, string> = {},
): void {
  for (const name of Object.keys(routes)) delete routes[name];
  const own = { "/robots.txt": `${robots}\nSitemap: ${home}sitemap.xml\n`, "/sitemap.xml": sitemap(entries) };
  Object.assign(routes, pages, own, files);
}

async function treeOf(...given: Parameters<typeof host>): Promise<SitemapTree> {
  host(...given);
  const tree = await sitemapTreeForHomepage(home, { knownPaths: "never", useHomepage: false });
  website.requests.length = 0;
  return tree;
}

async function requested(size: number | "all", ...given: Parameters<typeof host>): Promise<CheckResult> {
  await using tree = await treeOf(...given);
  return await checkTree(tree, { pages: size, retries: 0, delay: 0 });
}

const found = ({ findings }: CheckResult) =>
  findings
    .filter(({ rule }) => rule.startsWith("page-"))
    .flatMap(({ rule, severity, examples }) =>
      examples.map(({ url, value }) => [rule, severity, url?.replace(home, "/"), value?.replaceAll(home, "/")]),
    );

test("pages that should not be listed are reported, and no others", async () => {
  let method: string | undefined;
  const result = await requested(100, {
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
    "/body": html(`<body><link rel="canonical" href="/ok">`),
    "/busy": status(429),
  });
  expect(found(result)).toEqual([
    ["page-unreachable", "error", "/gone", "Not found (404)"],
    ["page-unreachable", "error", "/broken", expect.stringContaining("500")],
    ["page-unreachable", "error", "/forbidden", expect.stringContaining("403")],
    ["page-noindex", "error", "/meta", "Googlebot, bingbot, YandexBot"],
    ["page-noindex", "error", "/none", "Googlebot"],
    ["page-noindex", "error", "/header", "Googlebot"],
    ["page-canonical-other", "warning", "/copy", "/ok?a=1&b=2"],
    ["page-canonical-other", "warning", "/link", "/ok"],
    ["page-redirect", "warning", "/moved", "301 to /ok (listed)"],
    ["page-noindex", "warning", "/bing", "bingbot"],
  ]);
  expect(result.pages).toEqual({ listed: 16, requested: 16, checked: 15, bad: 10, disallowed: 0, unanswered: 1 });
  expect(method).toBe("GET");
});

test("a page that was cut off, or cannot be decoded, is not answered", async () => {
  const whole = `<head>${"<meta>".repeat(1000)}</head><meta name="robots" content="noindex">`;
  const packed = gzipSync(whole);
  const text = { "content-type": "text/html" };
  const zipped = { ...text, "content-encoding": "gzip" };
  const sent =
    (headers: object, body: string | Buffer): Answer =>
    (_, response) =>
      response.writeHead(200, { ...headers }).end(body);
  const result = await requested(10, {
    "/short": (_, response) => {
      response.writeHead(200, { ...text, "content-length": "9999" }).write(whole, () => response.destroy());
    },
    "/damaged": sent(zipped, Buffer.concat([packed.subarray(0, 10), Buffer.from("no deflate data")])),
    "/half": sent(zipped, packed.subarray(0, packed.length / 2)),
    "/long": sent(text, whole + " ".repeat(1_000_000)),
    "/packed": sent(zipped, packed),
  });
  expect(found(result).map(([rule, , url]) => [rule, url])).toEqual([
    ["page-noindex", "/long"],
    ["page-noindex", "/packed"],
  ]);
  expect(result.pages).toMatchObject({ requested: 5, checked: 2, unanswered: 3 });
});

test("the alternate pages and dates in a page are compared with those in its sitemap", async () => {
  const page = (head: string, modified: string) => html(head, { "last-modified": modified });
  const entry = (path: string, rest: string) => `<loc>${home}${path}</loc>${rest}`;
  const links = (path: string) =>
    `<xhtml:link rel="alternate" hreflang="de" href="${home}de"/><xhtml:link rel="alternate" hreflang="en" href="${home}${path}"/>`;
  const result = await requested(
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
  expect(result.pages?.bad).toBe(0);
});

test("robots.txt is followed to other hosts like a sitemap, but never with credentials", async () => {
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
      pages: 10,
      headers: { authorization: "secret" },
      network: "allow-private",
      retries: 0,
    } as const;
    routes["/robots.txt"] = status(301, { location: other });
    expect((await checkTree(tree, options)).pages).toMatchObject({ checked: 1, disallowed: 1 });
    expect(logins).toEqual(["undefined"]);
    // If robots.txt cannot be reached, it is unknown what it allows.
    routes["/robots.txt"] = status(301, { location: "/robots.txt" });
    expect((await checkTree(tree, options)).pages).toMatchObject({ checked: 0, disallowed: 2 });
  } finally {
    elsewhere.close();
  }
});

test("pages are requested only if robots.txt allows our user agent", async () => {
  const robots = "User-agent: *\nDisallow: /private\n\nUser-agent: Googlebot\nAllow: /";
  const result = await requested(10, { "/private/a": html(""), "/b": html("") }, undefined, robots);
  expect(website.requests).not.toContain("/private/a");
  expect(website.requests).toContain("/b");
  expect(result.pages).toMatchObject({ listed: 2, checked: 1, disallowed: 1 });
});

test("if every page is blocked, none is reported", async () => {
  const result = await requested(10, { "/a": status(403), "/b": status(403, { "cf-mitigated": "challenge" }) });
  expect(found(result)).toEqual([]);
  expect(result.pages).toMatchObject({ checked: 0, unanswered: 2 });
});

test("as many pages are fetched as requested, and the same ones each time", async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, number) => [`/${number}`, html("")]));
  const choices = [];
  for (let run = 0; run < 2; run++) {
    const { pages } = await requested(12, many);
    expect(pages).toMatchObject({ listed: 60, checked: 12, bad: 0 });
    choices.push(website.requests.filter((url) => /^\/\d/.test(url)).sort());
  }
  expect(choices[0]).toHaveLength(12);
  expect(choices[1]).toEqual(choices[0]);
});

test("endless pages, compression bombs and pages full of unclosed tags cost little", async () => {
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
  const result = await requested(10, {
    "/endless": endless,
    "/bomb": (_, response) =>
      response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" }).end(bomb),
    "/crawlers": html(Array.from({ length: 15_000 }, (_, at) => `<meta name=x${at} content=noindex>\n`).join("")),
    "/quotes": html('<meta "'.repeat(70_000)),
    "/comments": html("<!--".repeat(100_000)),
    "/scripts": html("<script>".repeat(60_000)),
    "/attributes": html(`<meta ${"a=b ".repeat(100_000)}>`),
    "/wrong": html(`<link rel=canonical href="http://[::1"><base href="data:x"><link rel=canonical href="//">`),
  });
  expect(found(result)).toEqual([]);
  expect(result.pages).toMatchObject({ checked: 8, bad: 0 });
  expect(sent).toBeLessThan(20_000_000);
});

test("pages that never answer are abandoned when time runs out", async () => {
  await using tree = await treeOf({ "/a": html(""), "/b": () => undefined, "/c": () => undefined });
  const { pages, complete } = await checkTree(tree, { pages: 3, retries: 0, limits: { time: 1000 } });
  expect(pages).toMatchObject({ checked: 1, unanswered: 2 });
  expect(complete).toBe(true);
});

test("rules that would take hours are abandoned, and the check ends, also if it is aborted", async () => {
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

test("an X-Robots-Tag header that names several crawlers applies to each of them separately", () => {
  const noindex = (value: string) => [...readPageHead(home, [["x-robots-tag", value]], "").noindex.keys()];
  expect(noindex("noindex")).toEqual(["robots"]);
  expect(noindex("googlebot: nofollow, otherbot: noindex, nofollow")).toEqual(["otherbot"]);
  expect(noindex("unavailable_after: 25 Jun 2030 15:00:00 PST, max-snippet:-1")).toEqual([]);
});

test("a finding about a redirect has its target, and says whether a sitemap lists it", async () => {
  const result = await requested(10, {
    "/a": status(301, { location: "/b" }),
    "/b": html(""),
    "/c": status(302, { location: "/d" }),
  });
  expect(found(result)).toEqual([
    ["page-redirect", "warning", "/a", "301 to /b (listed)"],
    ["page-redirect", "warning", "/c", "302 to /d (not listed)"],
  ]);
});

const text = (title: string, words: string) =>
  html(
    `<title>${title}</title><nav>Home Hats Coats Shoes About Contact Imprint</nav><p>${words}</p><script>x</script>`,
  );

test("a soft 404 is recognized by its title, or because it looks like the response to a path that does not exist", async () => {
  const pages = {
    "/": text("Shop", "Welcome to a shop for people outside"),
    "/title": text("Page not found | Shop", "Anything"),
    "/404": text("404", "Anything"),
    "/alike": text("Shop", "Sorry, we looked everywhere without success"),
    "/hat": text("A hat | Shop", "Wool"),
    "/thin": text("Shop", ""),
    "/errors": text("How to fix 404 errors", "Read this"),
    "/car": text("Peugeot | 404 | Shop", "A car"),
    "/novel": text("Lost and not found", "A novel"),
    "/sorry": text("Shop", "Sorry, sold out"),
  };
  const error = text("Shop", "Sorry, we looked everywhere without success");
  const result = await requested(20, { ...pages, [`/${missingPath}`]: error }, Object.keys(pages));
  expect(found(result).map(([rule, , url]) => [rule, url])).toEqual([
    ["page-soft-404", "/title"],
    ["page-soft-404", "/404"],
    ["page-soft-404", "/alike"],
  ]);
});

test("an application that responds to every path with the same shell has no soft 404s", async () => {
  const shell = html("<title>App</title><div id=root>Please enable JavaScript to use this application</div>");
  const pages = { "/": shell, "/a": shell, "/b": shell };
  const result = await requested(10, { ...pages, [`/${missingPath}`]: shell }, Object.keys(pages));
  expect(found(result)).toEqual([]);
});

test.each([
  ["article:modified_time", `<meta property="article:modified_time" content="DATE">`],
  ["JSON-LD", `<script type="application/ld+json">{"@graph":[{"@type":"Article","dateModified":"DATE"}]}</script>`],
])("the date in a page (%s) is compared with that of its sitemap", async (_, head) => {
  const page = (date: string) => html(head.replace("DATE", date));
  const result = await requested(
    10,
    {
      "/newer": page("2026-05-20T10:00:00Z"),
      "/older": page("2026-01-20"),
      "/same": page("2026-05-10T23:00:00+02:00"),
      "/zone": page("2026-05-11T10:00:00+14:00"),
      "/invalid": page("yesterday"),
      "/comment": html(`<script type="application/ld+json">{"comment":{"dateModified":"2026-05-20"}}</script>`),
      "/deployed": html("", { "last-modified": "Mon, 01 Jun 2026 10:00:00 GMT" }),
    },
    "newer older same zone invalid comment deployed"
      .split(" ")
      .map((name) => `<loc>${home}${name}</loc><lastmod>2026-05-10</lastmod>`),
  );
  expect(found(result).map(([rule, , url]) => [rule, url])).toEqual([
    ["page-lastmod-newer", "/newer"],
    ["page-lastmod-older", "/older"],
  ]);
});

test("images that do not exist are reported, but not those that robots.txt disallows", async () => {
  const image = (name: string) => `<image:image><image:loc>${home}${name}</image:loc></image:image>`;
  const list = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>${home}a</loc>${image("gone.png")}${image("there.png")}</url><url><loc>${home}b</loc>${image("private/x.png")}${image("broken.png")}${image("gone.png")}</url></urlset>`;
  const picture: Answer = (_, response) => response.writeHead(200, { "content-type": "image/png" }).end("png");
  const images = { "/there.png": picture, "/gone.png": status(410), "/broken.png": status(500) };
  const robots = "User-agent: *\nDisallow: /private";
  const pages = { "/a": html(""), "/b": html(""), ...images };
  const result = await requested(10, pages, [], robots, { "/sitemap.xml": list });
  expect(found(result)).toEqual([
    ["page-image-missing", "warning", "/a", "/gone.png"],
    ["page-image-missing", "warning", "/b", "/gone.png"],
  ]);
  expect(website.requests.filter((url) => url === "/gone.png")).toHaveLength(1);
  expect(website.requests).not.toContain("/private/x.png");
});

test("llms.txt does not change how many pages are requested", async () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, number) => [`/${number}`, html("")]));
  host(many);
  routes["/llms.txt"] =
    `# Site\n\n${Array.from({ length: 40 }, (_, number) => `- [x](${home}l${number})`).join("\n")}\n`;
  const run = await sitegrove(`check ${home} --pages 20 --llms --fail-on never --no-known --no-homepage -f json`);
  expect(JSON.parse(run.stdout).pages).toMatchObject({ listed: 40, requested: 20, checked: 20 });
});

test('a page listed in two sitemaps is requested once, and `pages: "all"` requests every page', async () => {
  await using two = await treeOf({ "/a": html(""), "/b": html(""), "/c": html("") }, [], "", {
    "/robots.txt": `Sitemap: ${home}1.xml\nSitemap: ${home}2.xml\n`,
    "/1.xml": sitemap(["/a", "/b"]),
    "/2.xml": sitemap(["/a", "/c"]),
  });
  const done: string[] = [];
  for (const pages of ["all", 3] as const) {
    website.requests.length = 0;
    const result = await checkTree(two, { pages, retries: 0, onPage: (at, of) => done.push(`${at}/${of}`) });
    expect(result.pages).toMatchObject({ listed: 3, checked: 3 });
    // The pages are requested at the same time, over several connections.
    expect(website.requests.filter((url) => /^\/[abc]$/.test(url)).sort()).toEqual(["/a", "/b", "/c"]);
  }
  expect(done).toEqual(["1/3", "2/3", "3/3", "1/3", "2/3", "3/3"]);
});

test("an archive with pages is checked without the network, with the same result", async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 30 }, (_, number) => [`/${number}`, number % 3 ? html("") : status(404)]),
  );
  host({ ...pages, "/big": html("x".repeat(600_000)) });
  const file = path.join(newFolder(), "site.warc.gz");
  const flags = "--fail-on never --no-known --no-homepage -f json";
  const online = await sitegrove(`check ${home} --pages 12 --save ${file} ${flags}`);
  website.requests.length = 0;
  const offline = await sitegrove(`check ${file} --fail-on never -f json`);
  expect(JSON.parse(offline.stdout)).toEqual(JSON.parse(online.stdout));
  const { checked, unanswered } = JSON.parse(offline.stdout).pages;
  expect([checked, unanswered]).toEqual([12, 0]);
  // Nothing is claimed about pages that are not in the archive.
  const all = JSON.parse((await sitegrove(`check ${file} --pages all --fail-on never -f json`)).stdout).pages;
  expect(all).toMatchObject({ listed: 31, requested: 31, checked: 12, unanswered: 19 });
  expect(website.requests).toEqual([]);
  // The archive also has the sitemaps.
  const { stdout } = await sitegrove(`ls ${file} -f pages`);
  expect(stdout.trim().split("\n")).toHaveLength(31);
});

test("--resume continues an interrupted check, and requests only the missing pages", async () => {
  const pages = Object.fromEntries(Array.from({ length: 30 }, (_, number) => [`/${number}`, html("")]));
  host(pages);
  const file = path.join(newFolder(), "site.warc.gz");
  const options = { knownPaths: "never", useHomepage: false } as const;
  const tree = await sitemapTreeForHomepage(home, { ...options, save: file });
  const stop = new AbortController();
  const checking = checkTree(tree, {
    pages: "all",
    resume: file,
    signal: stop.signal,
    onPage: (done) => done === 10 && stop.abort(new Error("stopped")),
  });
  await expect(checking).rejects.toThrow("stopped");
  await tree.close();
  website.requests.length = 0;
  const flags = "--fail-on never --no-known --no-homepage -f json";
  const again = await sitegrove(`check ${home} --pages all --resume ${file} ${flags}`);
  expect(JSON.parse(again.stdout).pages).toMatchObject({ checked: 30, unanswered: 0 });
  expect(website.requests.length).toBeLessThanOrEqual(20);
  website.requests.length = 0;
  expect(JSON.parse((await sitegrove(`check ${file} --fail-on never -f json`)).stdout).pages.checked).toBe(30);
  expect(website.requests).toEqual([]);
});

test("the program prints the result", async () => {
  host({ "/a": html(""), "/b": html(""), "/c": status(404) });
  const { stdout } = await sitegrove(`check ${home} --pages all --fail-on never --no-known --no-homepage`);
  expect(stdout).toContain("Requested all 3 pages: 1 should be fixed or removed from the sitemaps.");
});

test("no page is requested if only an archive names the website", async () => {
  host({ "/a": html("") });
  const file = path.join(newFolder(), "site.warc");
  await (await sitemapTreeForHomepage(home, { save: file })).close();
  await using tree = await openTree(file);
  website.requests.length = 0;
  const { pages } = await checkTree(tree, { pages: 1, network: "allow-private" });
  expect([pages?.checked, pages?.unanswered, website.requests]).toEqual([0, 1, []]);
});

test("the report of an archive shows the results of its pages", async () => {
  host({ "/a": html(""), "/b": status(404) });
  const file = path.join(newFolder(), "site.warc.gz");
  await sitegrove(`check ${home} --pages all --save ${file} --fail-on never --no-known --no-homepage`);
  website.requests.length = 0;
  const facts = JSON.parse((await sitegrove(`report ${file} --json`)).stdout);
  expect(facts.pages).toMatchObject({ requested: 2, checked: 2, bad: 1 });
  expect(facts.lastmodTrust.verdict).toBe("unknown");
  const page = (await sitegrove(`report ${file}`)).stdout;
  expect(page).toContain("Requested all 2 pages: 1 should be fixed or removed from the sitemaps.");
  expect(page).toContain("page-unreachable");
  expect(website.requests).toEqual([]);
});
