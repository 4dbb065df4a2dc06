// Redirects, followed one hop at a time: where they lead, what is a loop, how many are too many.

import { describe, expect, test } from "vitest";
import { follow, followRules, Hop, redirectTarget } from "../../src/crawl/redirects.ts";
import type { HeaderList } from "../../src/model/exchange.ts";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import { type Fault, redirect } from "../support/fault-server.ts";
import { fetchOnly, tenPages, testFetcher, testServer } from "../support/fetching.ts";

test("every redirect is reported, and the document's URL is the last one", async () => {
  const server = await testServer({ "/a": redirect("/b", 301), "/b": redirect("c?d=1#part", 308), "/c?d=1": tenPages });
  const fetcher = testFetcher({ start: server.origin });
  const { followed, text } = await fetcher.read("/a");
  expect(text).toBe(tenPages);
  expect(followed).toMatchObject({ url: `${server.origin}/c?d=1`, document: { attempts: 1, status: 200 } });
  const told = fetcher.events.map((event) => [
    event.type,
    event.url.slice(server.origin.length),
    ...(event.type === "response" ? [event.outcome, event.status] : []),
  ]);
  expect(told).toEqual([
    ["request", "/a"],
    ["response", "/a", "redirect", 301],
    ["request", "/b"],
    ["response", "/b", "redirect", 308],
    ["request", "/c?d=1"],
    ["response", "/c?d=1", "found", 200],
  ]);
});

test.each([
  ["to itself", { "/a": redirect("/a") }, 1],
  ["to itself by another spelling", { "/a": redirect("/%61#again") }, 1],
  ["by an empty Location", { "/a": redirect("") }, 1],
  ["in a circle", { "/a": redirect("/b"), "/b": redirect("/a") }, 2],
])("%s is a loop at the first repetition", async (_, paths, requests) => {
  const server = await testServer(paths);
  expect((await testFetcher({ start: server.origin }).read("/a")).result).toBe("failed redirect-loop");
  expect(server.requests).toHaveLength(requests);
});

describe("the maximum number of hops", () => {
  const chain = (length: number): Record<string, Fault | string> => ({
    ...Object.fromEntries(Array.from({ length }, (_, at) => [`/${length - at}`, redirect(`/${length - at - 1}`)])),
    "/0": tenPages,
  });

  test.each([
    ["robots", 5, "found"],
    ["robots", 6, "failed limit-redirects"],
    ["sitemap", 10, "found"],
    ["sitemap", 11, "failed limit-redirects"],
    ["homepage", 10, "found"],
  ] as const)("applies to %s: after %i hops, the result is %s", async (role, length, expected) => {
    const server = await testServer(chain(length));
    const { result } = await testFetcher({ start: server.origin }).read(`/${length}`, { role });
    expect(result).toBe(expected);
    expect(server.requests).toHaveLength(role === "robots" ? 6 : 11);
  });

  test("can be zero", async () => {
    const server = await testServer(chain(1));
    const fetcher = testFetcher({ start: server.origin, limits: withFixedLimits({ redirects: 0 }) });
    expect((await fetcher.read("/1")).result).toBe("failed limit-redirects");
  });
});

test("a redirect inside a document is not followed", async () => {
  const page = '<meta http-equiv="refresh" content="0; url=/other"><script>location = "/other"</script>';
  const { text, server } = await fetchOnly(page);
  expect(text).toBe(page);
  expect(server.requests).toHaveLength(1);
});

describe("the Location header", () => {
  const base = "https://example.org/dir/index.xml?q=1";
  const target = (location: string) => {
    const found = redirectTarget([["location", location]], base, 8192);
    return "code" in found ? found.code : found.target.href;
  };

  test.each([
    ["next.xml", "https://example.org/dir/next.xml"],
    ["/next.xml", "https://example.org/next.xml"],
    ["../next.xml", "https://example.org/next.xml"],
    ["?page=2", "https://example.org/dir/index.xml?page=2"],
    ["//other.example/x", "https://other.example/x"],
    ["HTTP://OTHER.example:80/x", "http://other.example/x"],
    ["http:/\\other.example/x", "http://other.example/x"],
    ["http:///other.example/x", "http://other.example/x"],
    ["https://b\u00fccher.example/x", "https://xn--bcher-kva.example/x"],
    ["/caf\u00c3\u00a9.xml", "https://example.org/caf%C3%A9.xml"],
    ["/caf\u00e9.xml", "https://example.org/caf%C3%A9.xml"],
    ["/a#part", "https://example.org/a"],
    ["", "https://example.org/dir/index.xml?q=1"],
    ["https://user:secret@example.org/x", "https://example.org/x"],
    ["http://2130706433/", "http://127.0.0.1/"],
    ["http://", "redirect-invalid"],
    ["http://[::1%25eth0]/", "redirect-invalid"],
    ["http://example.org:99999/", "redirect-invalid"],
    ["java\tscript:alert(1)", "redirect-invalid"],
    [`/${"x".repeat(9000)}`, "redirect-invalid"],
    ["FILE:///etc/passwd", "scheme-refused"],
    ["ftp://example.org/x", "scheme-refused"],
    ["data:text/xml,<urlset/>", "scheme-refused"],
    ["javascript:alert(1)", "scheme-refused"],
    ["unix:/var/run/docker.sock", "scheme-refused"],
    ["blob:https://example.org/x", "scheme-refused"],
  ])("%j leads to %s", (location, expected) => {
    expect(target(location)).toBe(expected);
  });

  test("lenient: may be raw UTF-8; of two Location headers, the first counts", async () => {
    const head = "HTTP/1.1 302 Found\r\nlocation: /café.xml\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n";
    const server = await testServer({ "/a": ({ socket }) => void socket.write(head), "/caf%C3%A9.xml": tenPages });
    const { text, followed } = await testFetcher({ start: server.origin }).read("/a");
    expect(text).toBe(tenPages);
    expect(followed).toMatchObject({
      problems: [{ code: "redirect-encoding", value: `${server.origin}/caf%C3%A9.xml` }],
    });
  });
});

const limits = { redirects: 10, robotsRedirects: 5, urlLength: 8192 };
const rules = followRules(limits, ["https://example.org"], {});

/** Follows redirects from a table; every other URL is a document. */
async function walk(table: Record<string, string>, from: string, known?: (hop: Hop) => string | undefined) {
  const asked: string[] = [];
  const followed = await follow<string>(
    Hop.first(from, "sitemap", rules),
    async ({ request }) => {
      const { url, role } = request;
      asked.push(url);
      const headers: HeaderList = table[url] === undefined ? [] : [["location", table[url]]];
      const answer = { url, role, attempts: 1, headers };
      return table[url] === undefined
        ? { outcome: "found", status: 200, ...answer, body: { end: {}, async *[Symbol.asyncIterator]() {} } }
        : { outcome: "redirect", status: 302, ...answer };
    },
    known,
  );
  return { followed, asked };
}

const home = "https://example.org/";

test("a redirect to a known document is not followed, and every target is checked before it is fetched", async () => {
  const table = { [`${home}a`]: "/b", [`${home}b`]: "/c", [`${home}c`]: "/d" };
  const keys: string[] = [];
  const { followed, asked } = await walk(table, `${home}a#top`, ({ key, url }) => {
    keys.push(key);
    return url === `${home}c` ? "the known document" : undefined;
  });
  expect(followed).toBe("the known document");
  expect(asked).toEqual([`${home}a`, `${home}b`]);
  expect(keys).toEqual([`${home}a`, `${home}b`, `${home}c`]);
});

test("the problem of a redirect loop names the URL where the loop begins, however long the URLs are", async () => {
  const long = (name: string) => `${home}${name.repeat(250)}.xml`;
  const table = { [long("a")]: long("b"), [long("b")]: long("c"), [long("c")]: long("b") };
  const { followed, asked } = await walk(table, long("a"));
  // The URL is too long to be shown completely, so only its beginning is shown.
  expect(followed).toMatchObject({ outcome: "failed", url: long("a"), keys: [long("a")] });
  const value = expect.stringContaining(long("b").slice(0, 100));
  expect(followed).toMatchObject({ reason: { code: "redirect-loop", value } });
  expect(asked).toEqual([long("a"), long("b"), long("c")]);
});

test("a failure at the end of redirects also applies to the final URL; a failure on the way does not", async () => {
  const circle = await walk({ [`${home}a`]: "/b", [`${home}b`]: "/b" }, `${home}a`);
  expect(circle.followed).toMatchObject({ keys: [`${home}a`], reason: { value: `${home}b` } });
  const nowhere = await walk({ [`${home}a`]: "/b", [`${home}b`]: "http://[" }, `${home}a`);
  expect(nowhere.followed).toMatchObject({ url: `${home}b`, keys: [`${home}a`, `${home}b`] });
  const chain = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${home}${at}`, `/${at + 1}`]));
  const far = await walk(chain, `${home}0`);
  expect(far.followed).toMatchObject({ url: `${home}10`, keys: [`${home}0`], reason: { code: "limit-redirects" } });
});

test("a redirect from https to http, and a Location in raw UTF-8, are reported with the document", async () => {
  const table = { [`${home}a`]: "http://example.org/b", "http://example.org/b": "https://example.org/caf\u00c3\u00a9" };
  const { followed } = await walk(table, `${home}a`);
  expect(followed).toMatchObject({
    outcome: "found",
    url: `${home}caf%C3%A9`,
    problems: [{ code: "redirect-downgrade", value: "http://example.org/b" }, { code: "redirect-encoding" }],
  });
});

test("a retry continues at the redirect that failed", async () => {
  const server = await testServer({
    "/a": redirect("/b"),
    "/b": (exchange) => exchange.respond(exchange.nth === 1 ? 503 : 200, {}, tenPages),
  });
  const { followed } = await testFetcher({ start: server.origin, retries: 1 }).read("/a");
  expect(followed).toMatchObject({ outcome: "found", document: { attempts: 2 } });
  expect(server.requests.map(({ path }) => path)).toEqual(["/a", "/b", "/b"]);
});
