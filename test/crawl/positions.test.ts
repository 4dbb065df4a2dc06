// The fault scenarios in all three positions: as robots.txt, as an index and as a leaf. Whatever happens to one document, it
// is reported with its code, what could be read is kept, and the document beside it is not affected.

import path from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { streamPages } from "../../src/crawl/crawl.ts";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import type { IndexSitemap, Sitemap } from "../../src/model/sitemap.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { urlsOf } from "../support/collected.ts";
import { breaksOnce, type Fault, faultServer, faults, redirect, status, whole } from "../support/fault-server.ts";
import { literals } from "../support/private-addresses.ts";
import { newFolder } from "../support/test-folder.ts";

type Position = "robots" | "index" | "leaf";
type Break = (document: string, position: Position) => Fault;

/** What is expected of the faulty document, by position. `half`: the first of its two entries. */
interface Expected {
  readonly outcome: "complete" | "half" | "incomplete" | "invalid";
  readonly code?: string;
  /** Where robots.txt differs: it is either read, absent, or unreachable. */
  readonly robots?: "read" | "half" | "incomplete" | "absent" | "unreachable";
}

// For faults that stall. Everything else has plenty of time, because a busy machine must not look like a slow website.
const times = { connect: 5000, firstByte: 2000, idle: 2000, total: 6000 };

const namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
// This is between the entries, so that half a document has the first but not the second.
const padding = "x".repeat(400);

function documentFor(position: Position, origin: string): string {
  switch (position) {
    case "robots":
      return `User-agent: *\nSitemap: ${origin}/first.xml\n# ${padding}\nSitemap: ${origin}/second.xml\n`;
    case "index":
      return `<sitemapindex ${namespace}><sitemap><loc>${origin}/first.xml</loc></sitemap><!-- ${padding} --><sitemap><loc>${origin}/second.xml</loc></sitemap></sitemapindex>`;
    case "leaf":
      return `<urlset ${namespace}><url><loc>${origin}/1</loc></url><!-- ${padding} --><url><loc>${origin}/2</loc></url></urlset>`;
  }
}

async function treeOf(
  broken: Break,
  position: Position,
  stalls: boolean,
): Promise<{ tree: SitemapTree; robots: IndexSitemap | undefined }> {
  const routes: Record<string, Fault | string> = {};
  const server = await faultServer(routes);
  const { origin } = server;
  const leaf = `<urlset ${namespace}><url><loc>${origin}/p</loc></url></urlset>`;
  const fault = broken(documentFor(position, origin), position);
  const robots = `Sitemap: ${origin}/faulty.xml\nSitemap: ${origin}/beside.xml\n`;
  Object.assign(routes, { "/first.xml": leaf, "/second.xml": leaf, "/beside.xml": leaf });
  if (position === "robots")
    Object.assign(routes, { "/robots.txt": fault, "/sitemap.xml": leaf.replace("/p<", "/q<") });
  else Object.assign(routes, { "/robots.txt": robots, "/faulty.xml": fault });
  try {
    const tree = await sitemapTreeForHomepage(origin, {
      timeout: stalls ? times : {},
      retries: 0,
      useHomepage: false,
      knownPaths: "never",
      extraKnownPaths: position === "robots" ? ["sitemap.xml"] : [],
      limits: { documentBytes: 200_000, ...withFixedLimits({ robotsBytes: 100_000 }) },
      concurrency: 8,
    });
    await tree.close();
    return { tree, robots: tree.root.children[0] as IndexSitemap | undefined };
  } finally {
    await server.close();
  }
}

async function check(broken: Break, position: Position, expected: Expected): Promise<void> {
  const { tree, robots } = await treeOf(broken, position, expected.code?.startsWith("timeout-") ?? false);
  if (position === "robots") {
    const state =
      expected.robots ??
      { complete: "read", half: "half", incomplete: "incomplete", invalid: "unreachable" }[expected.outcome];
    const codes = tree.root.problems.map(({ code }) => code);
    const children = robots?.format === "robots" ? robots.children.length : undefined;
    const states = {
      read: { children: 2, codes: [], complete: true },
      half: { children: 1, codes: [], complete: false },
      incomplete: { children: 2, codes: [], complete: false },
      absent: { children: undefined, codes: [], complete: true },
      unreachable: { children: undefined, codes: ["robots-unreachable"], complete: false },
    };
    expect({ children, codes, complete: tree.complete }).toEqual(states[state as keyof typeof states]);
    if (expected.code !== undefined && ["half", "incomplete"].includes(state))
      expect(robots?.problems.map(({ code }) => code)).toContain(expected.code);
    expect(tree.root.children.at(-1)).toMatchObject({ kind: "pages", complete: true, pageCount: 1 });
    return;
  }
  const faulty = robots?.children[0] as Sitemap;
  expect(robots?.children[1]).toMatchObject({ kind: "pages", complete: true, pageCount: 1 });
  expect(tree.complete).toBe(expected.outcome === "complete");
  if (expected.outcome === "invalid") {
    expect(faulty).toMatchObject({ kind: "invalid", reason: { code: expected.code } });
    return;
  }
  const entries =
    faulty.kind === "index" ? faulty.children.length : faulty.kind === "pages" ? faulty.pageCount : undefined;
  expect(entries).toBe(expected.outcome === "half" ? 1 : 2);
  expect(faulty).toMatchObject({
    kind: position === "leaf" ? "pages" : "index",
    complete: expected.outcome === "complete",
  });
  if (expected.code !== undefined)
    expect((faulty as IndexSitemap).problems.map(({ code }) => code)).toContain(expected.code);
}

function scenarios(
  title: string,
  table: Readonly<Record<string, readonly [Break, Expected]>>,
  positions: readonly Position[] = ["robots", "index", "leaf"],
): void {
  describe(title, () => {
    for (const [name, [broken, expected]] of Object.entries(table)) {
      test.concurrent.each(positions)(`${name} as %s is contained`, (position) => check(broken, position, expected));
    }
  });
}

// test/fetch/framing.test.ts has more faults of responses.
scenarios("connection and framing", {
  silence: [faults.silence, { outcome: "invalid", code: "timeout-first-byte" }],
  "a stall in the body": [faults["stall in body"], { outcome: "half", code: "timeout-idle" }],
  "a drip": [faults["drip of body"], { outcome: "half", code: "timeout-total" }],
  "an endless body": [faults["endless body"], { outcome: "half", robots: "half" }],
  "endless interim responses": [faults["flood of 103"], { outcome: "invalid", code: "http-protocol" }],
  "a reset before the headers": [faults["reset before headers"], { outcome: "invalid", code: "connection-reset" }],
  "a reset in the body": [faults["reset in body"], { outcome: "half" }],
  "a length that is too long": [faults["length too long"], { outcome: "incomplete", code: "body-short" }],
  "chunks inside another encoding": [
    faults["chunked before another encoding"],
    { outcome: "invalid", code: "http-protocol" },
  ],
  "no final chunk": [faults["no final chunk"], { outcome: "half", code: "body-short" }],
  "a bad chunk size": [faults["bad chunk size"], { outcome: "half", code: "http-protocol" }],
});

scenarios("statuses", {
  "status 500": [() => status(500), { outcome: "invalid", code: "http-500" }],
  "status 403": [() => status(403), { outcome: "invalid", code: "http-403", robots: "absent" }],
  "status 404": [() => status(404), { outcome: "invalid", code: "http-404", robots: "absent" }],
  "status 206": [() => status(206), { outcome: "invalid", code: "http-206" }],
  HTML: [
    () => whole("<!doctype html><html><body>Sorry</body></html>"),
    { outcome: "invalid", code: "not-a-sitemap", robots: "absent" },
  ],
});

scenarios(
  "what means something else for robots.txt",
  {
    JSON: [() => whole('{"error":"not found"}'), { outcome: "invalid", code: "not-a-sitemap" }],
    "a length that is too short": [faults["length too short"], { outcome: "half", code: "xml-truncated" }],
    "come back in a year": [
      () => status(429, { "retry-after": "31536000" }),
      { outcome: "invalid", code: "rate-limited" },
    ],
  },
  ["index", "leaf"],
);

const flipped = (bytes: Uint8Array, at: number) =>
  bytes.map((byte, index) => (index === (at + bytes.length) % bytes.length ? byte ^ 0xff : byte));

// The kinds of bytes are in test/open, and in gzip-labels.txt, encodings.txt and truncated.txt of test/fixtures/sites; what is wrong with XML
// is in test/parse.
scenarios("bytes", {
  "gzip with garbage after it": [
    (text) => whole(Buffer.concat([gzipSync(text), Buffer.from("garbage")])),
    { outcome: "complete", code: "coding-trailing" },
  ],
  "a wrong checksum": [
    (text) => whole(flipped(gzipSync(text), -6)),
    { outcome: "incomplete", code: "coding-checksum" },
  ],
  "a lying content encoding": [
    (text) => whole(text, { "content-encoding": "gzip" }),
    { outcome: "complete", code: "coding-mismatch" },
  ],
  "UTF-16LE": [(text) => whole(Buffer.from(`\ufeff${text}`, "utf16le")), { outcome: "complete" }],
});

scenarios("redirects", {
  "to itself": [
    (_, position) => redirect(position === "robots" ? "/robots.txt" : "/faulty.xml"),
    { outcome: "invalid", code: "redirect-loop" },
  ],
  "to a private address": [() => redirect("http://10.0.0.1/x.xml"), { outcome: "invalid", code: "address-blocked" }],
  "to a file": [() => redirect("file:///etc/passwd"), { outcome: "invalid", code: "scheme-refused" }],
  "without a Location": [() => status(302), { outcome: "invalid", code: "redirect-invalid" }],
});

test("no private address is connected to, whether robots.txt or an index names it", async () => {
  const canary = await faultServer({});
  const routes: Record<string, string> = {};
  const server = await faultServer(routes);
  // Uses the canary's port, so that every request that reaches this machine is seen.
  const urls = literals.map((host) => `http://${host}:${canary.port}/a.xml`);
  const inIndex = urls.map((url) => `<sitemap><loc>${url.replace("/a.xml", "/b.xml")}</loc></sitemap>`);
  routes["/robots.txt"] = [...urls, `${server.origin}/index.xml`].map((url) => `Sitemap: ${url}\n`).join("");
  routes["/index.xml"] = `<sitemapindex ${namespace}>${inIndex.join("")}</sitemapindex>`;
  const options = { knownPaths: "never", useHomepage: false, timeout: times, retries: 0 } as const;
  await using tree = await sitemapTreeForHomepage(server.origin, options);
  const robots = tree.root.children[0] as IndexSitemap;
  const index = robots.children.at(-1) as IndexSitemap;
  const codes = (sitemaps: readonly Sitemap[]) =>
    sitemaps.map((sitemap) => (sitemap.kind === "invalid" ? sitemap.reason.code : sitemap.url));
  expect(literals.length).toBeGreaterThanOrEqual(60);
  expect(new Set(codes(robots.children.slice(0, -1)))).toEqual(new Set(["address-blocked"]));
  expect(new Set(codes(index.children))).toEqual(new Set(["address-blocked"]));
  // Different notations of one address are one URL after parsing; those that are written alike are one child.
  expect(index.children.length).toBeGreaterThanOrEqual(60);
  expect(canary.connections).toBe(0);
  await Promise.all([server.close(), canary.close()]);
});

test("documents that break once are complete after a retry, in streams, trees and archives", async () => {
  const routes: Record<string, Fault | string> = {};
  const { origin, close } = await faultServer(routes);
  const leaf = documentFor("leaf", origin);
  const pages = [`${origin}/1`, `${origin}/2`, `${origin}/1`, `${origin}/2`];
  const breakAll = () => {
    routes["/robots.txt"] = breaksOnce(`# ${padding}\nSitemap: ${origin}/index.xml\n`);
    routes["/index.xml"] = breaksOnce(documentFor("index", origin));
    Object.assign(routes, { "/first.xml": breaksOnce(leaf), "/second.xml": breaksOnce(leaf) });
  };
  const options = { knownPaths: "never", useHomepage: false } as const;
  breakAll();
  expect(await urlsOf(streamPages({ homepage: origin }, options))).toEqual(pages);
  breakAll();
  const save = path.join(newFolder(), "kept.warc");
  const tree = await sitemapTreeForHomepage(origin, { ...options, save });
  const robots = tree.root.children[0] as IndexSitemap;
  expect(await tree.response(robots)).toMatchObject({ attempts: 2 });
  await tree.close();
  await close();
  await using opened = await openTree(save);
  expect(await urlsOf(opened.pages())).toEqual(pages);
  expect([opened.complete, (await opened.response(opened.root.children[0] as Sitemap))?.attempts]).toEqual([true, 2]);
});
