// What an archive says about itself and its exchanges is not trusted: it shapes a tree, and does nothing else.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { SitemapError } from "../../src/model/errors.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { codesOf } from "../support/collected.ts";
import { some } from "../support/long.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";
import { editDescriptions, editInfo } from "../support/warc-edit.ts";

const folder = newFolder();
let archive: Buffer;
beforeAll(async () => {
  const { client } = site({
    "/robots.txt": robots("/i.xml", "/gone.xml"),
    "/i.xml": index("/a.xml", "/moved.xml", "/loop.xml"),
    "/a.xml": urlset("/1", "/2"),
    "/moved.xml": { to: "/b.xml" },
    "/b.xml": urlset("/3"),
    "/loop.xml": { to: "/loop.xml" },
  });
  const save = path.join(folder, "whole.warc");
  await using _ = await sitemapTreeForHomepage(home, { client, save, retries: 0, knownPaths: "never" });
  archive = readFileSync(save);
});

let count = 0;
async function opened(bytes: Buffer, use: (tree: SitemapTree) => unknown, options?: Parameters<typeof openTree>[1]) {
  const file = path.join(folder, `${count++}.warc`);
  writeFileSync(file, bytes);
  try {
    await using tree = await openTree(file, options);
    return await use(tree);
  } catch (error) {
    if (error instanceof SitemapError) expect(error.message).toContain(file);
    throw error;
  } finally {
    rmSync(file);
  }
}

const withSettings = (settings: unknown) => editInfo(archive, (info) => ({ ...info, settings }));
const limitedTo = (limits: unknown) =>
  editInfo(archive, (info) => ({ ...info, settings: { ...(info.settings as object), limits } }));

describe("the settings in an archive", () => {
  test("are ignored if they do not affect a tree", async () => {
    const save = path.join(folder, "chosen-by-the-archive");
    const settings = {
      ...{ save, store: "memory", client: {}, onEvent: "x", signal: {}, headers: 1, proxy: "http://p.example/" },
      ...{ concurrency: -1, recurse: 5, constructor: { useRobots: false } },
      ["__proto__"]: { useRobots: false },
    };
    const before = readdirSync(folder).length;
    expect(await opened(withSettings(settings), ({ pageCount }) => pageCount)).toBe(3);
    expect(existsSync(save)).toBe(false);
    expect(readdirSync(folder)).toHaveLength(before);
  });

  test.each<[string, unknown]>([
    ["useRobots", "no"],
    ["knownPaths", 0],
    ["useHomepage", null],
    ["path", {}],
    ["strict", { toString: 1, valueOf: 1 }],
    ["strictRobots", []],
    ["extraKnownPaths", "x"],
    ["extraKnownPaths", [1]],
    ["extraKnownPaths", ["https://elsewhere.example/"]],
    ["limits", 5],
    ["limits", null],
    ["limits", { depth: "11" }],
    ["limits", { depth: -1 }],
    ["limits", { documentBytes: { toString: null } }],
    ["limits", { pages: [1] }],
  ])("are refused if %s is %j", async (name, value) => {
    const error = await opened(withSettings({ [name]: value }), () => "a tree").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "SitemapError", code: "invalid-archive" });
    expect((error as Error).message).toContain(name);
    expect((error as Error).message.length).toBeLessThan(500);
  });

  test("apply a limit if it is lower than the reader's", async () => {
    expect(await opened(limitedTo({ pages: 1 }), ({ pageCount }) => pageCount)).toBe(1);
    expect(await opened(limitedTo({ depth: 1 }), ({ complete }) => complete)).toBe(false);
    const limits = { pages: 2 };
    expect(await opened(limitedTo({ pages: 1 }), ({ pageCount }) => pageCount, { limits })).toBe(1);
  });

  test("cannot raise a limit of the reader", async () => {
    const lifted = limitedTo({ pages: 1e9, documentBytes: Number.POSITIVE_INFINITY, depth: 1e6 });
    expect(await opened(lifted, ({ pageCount }) => pageCount, { limits: { pages: 2 } })).toBe(2);
    const short = await opened(lifted, codesOf, { limits: { documentBytes: 100 } });
    expect(short).toContain("limit-document-bytes");
  });

  test("are not blamed for mistakes in the reader's options", async () => {
    for (const options of [{ limits: { depth: -1 } }, { save: "x" }, { unknown: 1 }]) {
      const error = await openTree("no-such-file", options as never).catch((reason) => reason);
      expect(error).toMatchObject({ code: "invalid-option" });
    }
  });
});

test.each<[string, unknown]>([
  ["homepage", "javascript:alert(1)"],
  ["homepage", ""],
  ["homepage", "file:///etc/passwd"],
  ["sitemaps", []],
  ["sitemaps", ["ftp://x/"]],
])("an archive with %s as %j is refused", async (name, value) => {
  const bytes = editInfo(archive, (info) => ({ ...info, [name]: value }));
  await expect(opened(bytes, () => "a tree")).rejects.toMatchObject({ code: "invalid-archive" });
});

// test/archive/hostile.test.ts has more about invalid descriptions.
test.each(["constructor", "http-1e9", "later-code"])("a problem with the code %s is still a problem", async (code) => {
  const reason = { code, message: "x".repeat(1e5), value: "y".repeat(1e5) };
  const bytes = editDescriptions(archive, (description) => {
    const { outcome } = description as { outcome: string };
    const more = outcome === "found" ? { problems: [reason], body: { problem: reason } } : { reason };
    return { ...(description as object), ...more };
  });
  const json = await opened(bytes, async (tree) => {
    expect(tree.complete).toBe(false);
    for await (const _ of tree.pages());
    return JSON.stringify(tree);
  });
  expect(json).toContain(code);
  expect(String(json).length).toBeLessThan(100_000);
});

describe("an archive with any value anywhere in its JSON", () => {
  const hostile = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(...[null, -1, 1.5, 2 ** 53, Number.POSITIVE_INFINITY, [["a", "b"]]]),
    fc.constantFrom<unknown>("", "__proto__", "constructor", "\0\u001b[2J\r\n", "x".repeat(100_000), "//example.org"),
    fc.constantFrom<unknown>("https://user:secret@example.org/", { toString: 1, valueOf: 1 }, { length: 1e9 }),
  );
  const place = fc.array(fc.nat(20), { maxLength: 4 });

  /** Replaces the value at a path of numbers; stops early if the path leads nowhere. */
  function planted(value: unknown, [at = 0, ...rest]: readonly number[], bad: unknown, isLast = false): unknown {
    if (isLast || typeof value !== "object" || value === null) return bad;
    const names = [...Object.keys(value), "__proto__", "extra"];
    const name = names[at % names.length] as string;
    const old = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    const next = planted(old, rest, bad, rest.length === 0);
    if (Array.isArray(value)) return /^\d+$/.test(name) ? value.with(Number(name), next) : [...value, next];
    return Object.fromEntries([...Object.entries(value).filter(([key]) => key !== name), [name, next]]);
  }

  async function survives(bytes: Buffer): Promise<void> {
    try {
      await opened(bytes, async (tree) => {
        for await (const { url } of tree.pages()) expect(url).toMatch(/^https?:/);
        for (const sitemap of tree.sitemaps()) expect(sitemap.url).toMatch(/^https?:\/\/(?!.*secret)/);
        JSON.stringify(tree);
      });
    } catch (error) {
      expect(error).toMatchObject({ name: "SitemapError", code: "invalid-archive" });
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }

  test("is opened or refused, and never crashes the reader", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(8), place, hostile, async (which, at, value) => {
        await survives(editInfo(archive, (info) => planted(info, at, value)));
        await survives(editDescriptions(archive, (each, i) => (i === which ? planted(each, at, value) : each)));
      }),
      { numRuns: some(300, 8) },
    );
  });
});
