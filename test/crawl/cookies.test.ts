// Cookies of a run: where they are sent, and websites that answer with a redirect until they get one.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { Cookies } from "../../src/crawl/cookies.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { type Answer, namedWebsite } from "../support/named-website.ts";
import { index, outline, robots, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

function sent(start: string, setAt: string, text: string, to: string, anonymous = false): string {
  const cookies = new Cookies([start]);
  const headers = text.split("\n").map((value) => ["set-cookie", value] as const);
  cookies.store({ outcome: "redirect", url: setAt, role: "sitemap", attempts: 1, status: 302, headers, anonymous });
  return cookies.headerFor(to) ?? "";
}

const bare = "https://a.test/";
const www = "https://www.a.test/";

test.each([
  ["to its host", bare, bare, "a=1", "https://a.test/x", "a=1"],
  ["not to another port", bare, bare, "a=1", "https://a.test:8443/", ""],
  ["not from another port", bare, "https://a.test:8443/", "a=1", bare, ""],
  ["to the port of the start", "https://a.test:8443/", "https://a.test:8443/x", "a=1", "https://a.test:8443/", "a=1"],
  ["not to another port than the start's", "http://a.test:81/", "http://a.test:81/", "a=1", "http://a.test:82/", ""],
  ["by http and https", "http://a.test/", "http://a.test/", "a=1", bare, "a=1"],
  ["of a host with a dot at its end", bare, "https://a.test./", "a=1", bare, "a=1"],
  ["to no other host without a Domain", bare, bare, "a=1", www, ""],
  ["to www, with a Domain", bare, bare, "a=1; Domain=.A.test", www, "a=1"],
  ["not below the website", bare, bare, "a=1; Domain=.A.test", "https://x.a.test/", ""],
  ["not from below the website", bare, "https://x.a.test/", "a=1; Domain=a.test", bare, ""],
  ["from www to the bare host", www, www, "a=1; Domain=a.test", bare, "a=1"],
  ["not beside it, where the website may be a public suffix", www, www, "a=1; Domain=a.test", "https://x.a.test/", ""],
  ["of another website to none, not even itself", bare, "https://b.test/", "a=1", "https://b.test/", ""],
  ["of another website to none beside it", bare, "https://x.b.test/", "a=1; Domain=b.test", "https://y.b.test/", ""],
  ["not for another website", bare, bare, "a=1; Domain=b.test", "https://b.test/", ""],
  ["not where the name only ends alike", bare, "https://ba.test/", "a=1; Domain=a.test", bare, ""],
  ["not for com", bare, "https://b.com/", "a=1; Domain=com", "https://c.com/", ""],
  ["not for co.uk", "https://b.co.uk/", "https://b.co.uk/", "a=1; Domain=co.uk", "https://c.co.uk/", ""],
  ["not for a part of an address", bare, "http://127.0.0.1/", "a=1; Domain=0.0.1", "http://127.0.0.1/", ""],
  ["below the folder of the answer", bare, "https://a.test/x/y", "a=1", "https://a.test/x/z", "a=1"],
  ["not beside that folder", bare, "https://a.test/x/y", "a=1", "https://a.test/xy", ""],
  ["below its Path", bare, bare, "a=1; Path=/x", "https://a.test/x/y?z", "a=1"],
  ["not beside its Path", bare, bare, "a=1; Path=/x", "https://a.test/xy", ""],
  ["by TLS alone if Secure", bare, bare, "a=1; Secure", "http://a.test/", ""],
  ["Secure by TLS", bare, bare, "a=1; Secure", bare, "a=1"],
  ["Secure from http: never", bare, "http://a.test/", "a=1; Secure", bare, ""],
  ["until it expires", bare, bare, "a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", bare, "a=1"],
  ["not if it has expired", bare, bare, "a=1; Expires=Thu, 01-Jan-1970 00:00:00 GMT", bare, ""],
  ["not if it is deleted", bare, bare, "a=1\na=; Max-Age=0", bare, ""],
  ["in its last version, longer paths first", bare, bare, "a=1\nb=2; Path=/x\na=3", "https://a.test/x", "b=2; a=3"],
  ["not if it is no pair", bare, bare, "a\n=b\na=\u0001", bare, ""],
])("a cookie is sent %s", (_, start, setAt, text, to, expected) => {
  expect(sent(start, setAt, text, to)).toBe(expected);
});

test("a response to a request without the caller's headers sets no cookie", () => {
  expect(sent(bare, bare, "a=1", bare, true)).toBe("");
});

test("a website sets a hundred cookies at most", () => {
  const many = Array.from({ length: 300 }, (_, at) => `c${at}=1`).join("\n");
  expect(sent(bare, bare, many, bare).split("; ")).toHaveLength(100);
});

const folder = newFolder();

const home = "https://site.test/";
const documents: Record<string, string> = {
  [`${home}robots.txt`]: robots(`${home}index.xml`, "https://other.test/sitemap.xml"),
  [`${home}index.xml`]: index(`${home}a.xml`, `${home}b.xml`),
  [`${home}a.xml`]: urlset(`${home}1`, `${home}2`),
  [`${home}b.xml`]: urlset(`${home}3`),
  "https://other.test/sitemap.xml": urlset(`${home}4`),
};

/** The tree as lines, from the network and from both of its archives. */
async function crawled(name: string, answer: (url: string, cookie: string) => Answer) {
  const cookies: Record<string, string> = {};
  const website = await namedWebsite(["site.test", "other.test"], (url, headers) => {
    const { cookie = "" } = headers;
    cookies[url] = cookie;
    return answer(url, cookie);
  });
  const saved = path.join(folder, `${name}.warc.gz`);
  const copied = path.join(folder, `${name}.copy.warc`);
  const options = { ...website.options, retries: 0, knownPaths: "never", save: saved } as const;
  await using tree = await sitemapTreeForHomepage(home, options);
  await tree.save(copied);
  const lines = await outline(tree);
  for (const archive of [saved, copied]) {
    await using opened = await openTree(archive);
    expect(await outline(opened)).toEqual(lines);
    expect(opened.toJSON()).toEqual(tree.toJSON());
  }
  return { lines, asked: website.asked, cookies };
}

const whole = [
  "index/website https://site.test/",
  "  index/robots https://site.test/robots.txt",
  "    index/xml https://site.test/index.xml",
  "      pages/xml https://site.test/a.xml",
  "        https://site.test/1",
  "        https://site.test/2",
  "      pages/xml https://site.test/b.xml",
  "        https://site.test/3",
  "    pages/xml https://other.test/sitemap.xml",
  "      https://site.test/4",
];

describe("a website that requires a cookie", () => {
  test.each<[string, (url: string, cookie: string) => Answer]>([
    ["set by a redirect to the same URL", (url) => ({ to: url, cookies: ["seen=1; Path=/"] })],
    [
      "set elsewhere",
      (url) => {
        const { pathname, searchParams } = new URL(url);
        if (pathname === "/check") return { to: searchParams.get("to") ?? "", cookies: ["seen=1; Path=/; Secure"] };
        return { to: `/check?to=${encodeURIComponent(url)}` };
      },
    ],
    [
      "in two steps",
      (url, cookie) => ({ to: url, cookies: [cookie.includes("first=1") ? "seen=1; Path=/" : "first=1; Path=/"] }),
    ],
  ])("%s, is read; its cookie goes to no other website", async (name, wall) => {
    const { lines, asked, cookies } = await crawled(name, (url, cookie) =>
      url.startsWith(home) && !cookie.includes("seen=1") ? wall(url, cookie) : documents[url],
    );
    expect(lines).toEqual(whole);
    expect(cookies["https://other.test/sitemap.xml"]).toBe("");
    for (const url of Object.keys(documents))
      expect(asked.filter((each) => each === url).length).toBeLessThanOrEqual(3);
  });

  test.each<[string, (url: string) => string[]]>([
    ["that it never accepts", () => ["a=1"]],
    ["that is another one each time", (url) => [`a=${url.length}${Math.random()}`]],
    ["that is for another website", () => ["a=1; Domain=other.test"]],
  ])("%s, is a loop that ends", async (name, cookies) => {
    const { lines, asked } = await crawled(name, (url) =>
      url === `${home}a.xml` ? { to: url, cookies: cookies(url) } : documents[url],
    );
    expect(lines).toEqual([
      ...whole.slice(0, 3),
      "      invalid https://site.test/a.xml (redirect-loop)",
      ...whole.slice(6),
    ]);
    expect(asked.filter((url) => url === `${home}a.xml`).length).toBeLessThanOrEqual(6);
  });
});
