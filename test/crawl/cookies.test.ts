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
  ["sent to its host", bare, bare, "a=1", "https://a.test/x", "a=1"],
  ["not sent to another port", bare, bare, "a=1", "https://a.test:8443/", ""],
  ["not accepted from another port", bare, "https://a.test:8443/", "a=1", bare, ""],
  ["sent to the start's port", "https://a.test:8443/", "https://a.test:8443/x", "a=1", "https://a.test:8443/", "a=1"],
  ["not sent to another port, over http", "http://a.test:81/", "http://a.test:81/", "a=1", "http://a.test:82/", ""],
  ["sent over both http and https", "http://a.test/", "http://a.test/", "a=1", bare, "a=1"],
  ["accepted from a host name with a trailing dot", bare, "https://a.test./", "a=1", bare, "a=1"],
  ["not sent to another host without a Domain", bare, bare, "a=1", www, ""],
  ["sent to www if it has a Domain", bare, bare, "a=1; Domain=.A.test", www, "a=1"],
  ["not sent to a subdomain of the website", bare, bare, "a=1; Domain=.A.test", "https://x.a.test/", ""],
  ["not accepted from a subdomain of the website", bare, "https://x.a.test/", "a=1; Domain=a.test", bare, ""],
  ["sent to the bare host if www set it", www, www, "a=1; Domain=a.test", bare, "a=1"],
  ["not sent to siblings of www, even with a Domain", www, www, "a=1; Domain=a.test", "https://x.a.test/", ""],
  ["not accepted from another website, not even for itself", bare, "https://b.test/", "a=1", "https://b.test/", ""],
  ["not accepted for another site's hosts", bare, "https://x.b.test/", "a=1; Domain=b.test", "https://y.b.test/", ""],
  ["not accepted for another website", bare, bare, "a=1; Domain=b.test", "https://b.test/", ""],
  ["not accepted from a host whose name only ends the same", bare, "https://ba.test/", "a=1; Domain=a.test", bare, ""],
  ["not accepted for com", bare, "https://b.com/", "a=1; Domain=com", "https://c.com/", ""],
  ["not accepted for co.uk", "https://b.co.uk/", "https://b.co.uk/", "a=1; Domain=co.uk", "https://c.co.uk/", ""],
  ["not accepted for a part of an IP address", bare, "http://127.0.0.1/", "a=1; Domain=0.0.1", "http://127.0.0.1/", ""],
  ["sent below the folder of the response that set it", bare, "https://a.test/x/y", "a=1", "https://a.test/x/z", "a=1"],
  ["not sent outside that folder", bare, "https://a.test/x/y", "a=1", "https://a.test/xy", ""],
  ["sent below its Path", bare, bare, "a=1; Path=/x", "https://a.test/x/y?z", "a=1"],
  ["not sent outside its Path", bare, bare, "a=1; Path=/x", "https://a.test/xy", ""],
  ["not sent over http if it is Secure", bare, bare, "a=1; Secure", "http://a.test/", ""],
  ["sent over TLS if it is Secure", bare, bare, "a=1; Secure", bare, "a=1"],
  ["not accepted over http if it is Secure", bare, "http://a.test/", "a=1; Secure", bare, ""],
  ["sent until it expires", bare, bare, "a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", bare, "a=1"],
  ["not sent after it has expired", bare, bare, "a=1; Expires=Thu, 01-Jan-1970 00:00:00 GMT", bare, ""],
  ["not sent after it was deleted", bare, bare, "a=1\na=; Max-Age=0", bare, ""],
  ["sent as last set, longer paths first", bare, bare, "a=1\nb=2; Path=/x\na=3", "https://a.test/x", "b=2; a=3"],
  ["not accepted if it is not a name and a value", bare, bare, "a\n=b\na=\u0001", bare, ""],
])("a cookie is %s", (_, start, setAt, text, to, expected) => {
  expect(sent(start, setAt, text, to)).toBe(expected);
});

test("a response to a request without the caller's headers cannot set a cookie", () => {
  expect(sent(bare, bare, "a=1", bare, true)).toBe("");
});

test("a website can set at most a hundred cookies", () => {
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
  ])("%s, is read; the cookie goes to no other website", async (name, wall) => {
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
  ])("%s, ends as a redirect loop", async (name, cookies) => {
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

  test("that is not kept, because another website sets it, ends as a redirect loop at once", async () => {
    const url = "https://other.test/sitemap.xml";
    const { lines, asked } = await crawled("other", (each) =>
      each === url ? { to: url, cookies: ["seen=1; Path=/"] } : documents[each],
    );
    expect(lines).toEqual([...whole.slice(0, -2), `    invalid ${url} (redirect-loop)`]);
    expect(asked.filter((each) => each === url)).toHaveLength(1);
  });
});
