// One suite for every way of keeping exchanges.
import { mkdtempSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { openArchive } from "../../src/archive/reader.ts";
import { createStore, type Store } from "../../src/archive/store.ts";
import type { DocumentRole, DocumentSource, Fetched } from "../../src/model/exchange.ts";
import { problem } from "../../src/model/problem.ts";
import { isLong, some } from "../support/long.ts";
import { testFolder } from "../support/test-folder.ts";
import { anyExchanges } from "./any-exchanges.ts";
import { bodyOf, bytesOf, contentOf, documentAt, failedAt } from "./exchanges.ts";

const info = { homepage: "https://example.org/", settings: {} };
const megabyte = 1024 * 1024;

interface Way {
  readonly name: string;
  create(path: string): Promise<Store>;
  /** What is read after everything was stored: the store itself, or the archive that it wrote. */
  reopen(store: Store, path: string): Promise<DocumentSource>;
}

const kinds = ["memory", "file", "auto"] as const;
const archives = ["site.warc", "site.warc.gz"];

const itself = async (store: Store) => store;

const ways: Way[] = [
  ...kinds.map((kind) => ({ name: kind, create: () => createStore({ kind, info }), reopen: itself })),
  ...archives.flatMap((file): Way[] => {
    const saving = (directory: string) => createStore({ kind: "auto", info, save: path.join(directory, file) });
    const opened = (directory: string) => openArchive(path.join(directory, file));
    return [
      { name: `auto, while it is appended to ${file}`, create: saving, reopen: itself },
      {
        name: `${file}, appended to while the crawl went on`,
        create: saving,
        reopen: (store, directory) => store.close().then(() => opened(directory)),
      },
      {
        name: `${file}, saved at the end`,
        create: () => createStore({ kind: "auto", info }),
        reopen: (store, directory) => store.save(path.join(directory, file)).then(() => opened(directory)),
      },
      {
        name: `${file}, saved from another archive`,
        create: () => createStore({ kind: "memory", info }),
        reopen: async (store, directory) => {
          await store.save(path.join(directory, "first.warc"));
          const first = await openArchive(path.join(directory, "first.warc"));
          await first.save(path.join(directory, file));
          await first.close();
          return opened(directory);
        },
      },
    ];
  }),
];

describe.each(ways)("$name", ({ name: way, create, reopen }) => {
  const open: DocumentSource[] = [];
  const directory = testFolder();
  afterEach(async () => {
    for (const source of open.splice(0)) await source.close();
  });

  async function kept(...exchanges: Fetched[]): Promise<DocumentSource> {
    const folder = mkdtempSync(directory("kept-"));
    const store = await create(folder);
    open.push(store);
    for (const exchange of exchanges) await store.keep(exchange);
    await store.finish();
    const source = await reopen(store, folder);
    open.push(source);
    return source;
  }

  const ask = (source: DocumentSource, url: string, role: DocumentRole = "sitemap") => source.fetch({ url, role });

  test("exchanges are restored unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(anyExchanges, async (list) => {
        const source = await kept(...list.map((make) => make()));
        for (const make of list) {
          const { url, role } = make();
          expect(await contentOf(await ask(source, url, role))).toEqual(await contentOf(make()));
        }
      }),
      { numRuns: some(40, 4) },
    );
  });

  test("a body can be read repeatedly, by two readers at once, and after leaving early", async () => {
    const bytes = Buffer.alloc(some(3 * megabyte, megabyte + 1000), "0123456789");
    const source = await kept(documentAt("https://example.org/a.xml", bytes));
    const fetched = await ask(source, "https://example.org/a.xml");
    if (fetched.outcome !== "found") throw new Error(fetched.outcome);
    for await (const piece of fetched.body) {
      expect(piece.length).toBeLessThanOrEqual(256 * 1024);
      break;
    }
    const [first, second] = await Promise.all([bytesOf(fetched.body), bytesOf(fetched.body)]);
    expect(first.equals(bytes)).toBe(true);
    expect(second.equals(bytes)).toBe(true);
  });

  test("the body that keep() returns can be read while other exchanges are being stored", async () => {
    const store = await create(directory());
    open.push(store);
    const names = Array.from({ length: 8 }, (_, index) => `https://example.org/${index}.xml`);
    // Together, these are larger than what `auto` keeps in memory; each is longer than one piece.
    const least = isLong || way.startsWith("auto") ? megabyte : 300_000;
    const contents = names.map((name, index) => Buffer.alloc(least + index * 70_001, name));
    const results = await Promise.all(
      names.map(async (name, index) => {
        const body = bodyOf(contents[index]!, { pieces: 97 });
        const result = await store.keep(documentAt(name, "", { body }));
        return bytesOf(result.body);
      }),
    );
    results.forEach((bytes, index) => {
      expect(bytes.equals(contents[index]!)).toBe(true);
    });
  });

  test("documents requested as robots.txt, or without the caller's headers, are stored separately", async () => {
    const url = "https://example.org/a.txt";
    const whole = documentAt(url, "whole");
    const cut = documentAt(url, "cut", { role: "robots" });
    const anonymous = failedAt(url, { anonymous: true });
    const single = "https://example.org/b.txt";
    const source = await kept(cut, anonymous, whole, documentAt(single, "b"));
    expect(await contentOf(await ask(source, url))).toMatchObject({ body: { bytes: "whole" } });
    expect(await contentOf(await ask(source, url, "robots"))).toMatchObject({ body: { bytes: "cut" } });
    expect(await source.fetch({ url, role: "sitemap", anonymous: true })).toEqual(anonymous);
    // If there is only one response, it is used for all kinds of requests.
    expect((await ask(source, single, "robots")).outcome).toBe("found");
    expect((await source.fetch({ url: single, role: "sitemap", anonymous: true })).outcome).toBe("found");
  });

  test("the first exchange for a URL counts, however the URL is written; a URL that was never stored is archive-missing", async () => {
    const url = "https://example.org/%7Ea b.xml";
    const source = await kept(documentAt(url, "first"), documentAt(url, "second"));
    for (const spelling of [url, "HTTPS://EXAMPLE.org:443/~a%20b.xml#top"]) {
      expect(await contentOf(await ask(source, spelling))).toMatchObject({ body: { bytes: "first" } });
    }
    const missing = { url: "https://example.org/b.xml", role: "sitemap" } as const;
    const reason = problem("archive-missing");
    expect(await source.fetch(missing)).toEqual({ outcome: "failed", ...missing, attempts: 0, reason });
  });

  test("an aborted request rejects with its signal's reason", async () => {
    const source = await kept(documentAt("https://example.org/a.xml", "x"));
    const reason = new Error("enough");
    const request = { url: "https://example.org/a.xml", role: "sitemap", signal: AbortSignal.abort(reason) } as const;
    await expect(source.fetch(request)).rejects.toBe(reason);
  });

  test("an error in a body is rethrown unchanged, and nothing of that body is kept", async () => {
    const store = await create(directory());
    open.push(store);
    const reason = new Error("aborted");
    let left = false;
    const body = {
      end: {},
      async *[Symbol.asyncIterator]() {
        try {
          yield Buffer.from("<urlset>");
          throw reason;
        } finally {
          left = true;
        }
      },
    };
    await expect(store.keep(documentAt("https://example.org/a.xml", "", { body }))).rejects.toBe(reason);
    expect(left).toBe(true);
    await store.keep(documentAt("https://example.org/b.xml", "b"));
    const source = await reopen(store, directory());
    open.push(source);
    expect(await ask(source, "https://example.org/a.xml")).toMatchObject({ reason: { code: "archive-missing" } });
    expect((await ask(source, "https://example.org/b.xml")).outcome).toBe("found");
  });

  test("a closed store refuses every call", async () => {
    const source = await kept(documentAt("https://example.org/a.xml", Buffer.alloc(megabyte)));
    await source.close();
    await source.close();
    await expect(ask(source, "https://example.org/a.xml")).rejects.toMatchObject({ code: "tree-closed" });
  });
});
