// Small websites, each with the tree it must give: test/fixtures/sites. A new case is a new file. The archive gives the same tree, the stream
// its pages once; and so does a run that is built on the archive, or goes on with it where it was cut off.
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { streamPages } from "../../src/crawl/crawl.ts";
import type { Client, ClientResponse } from "../../src/model/client.ts";
import type { CrawlEvent } from "../../src/model/event.ts";
import type { HeaderList } from "../../src/model/exchange.ts";
import type { Options } from "../../src/model/options.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { csvWriter } from "../../src/write/csv.ts";
import { ndjsonWriter, pagesWriter, writeBatches } from "../../src/write/pages.ts";
import { SitemapRows } from "../../src/write/sitemaps.ts";
import { writeJson, writeTabtree } from "../../src/write/trees.ts";
import { listOf } from "../support/collected.ts";
import { isLong } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { home, outline, site } from "../support/site.ts";
import { parseSiteFile } from "../support/site-file.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = path.join(import.meta.dirname, "../fixtures/sites");
const temporary = newFolder();

const cases = readdirSync(folder).map((file, at) => ({
  file,
  at,
  ...parseSiteFile(readFileSync(path.join(folder, file), "utf8")),
}));

/** Serves the website like a server that supports conditional requests, or like one that does not. */
function client(routes: Parameters<typeof site>[0], knowsConditions: boolean, bodies: string[] = []): Client {
  const plain = site(routes).client;
  return {
    async request(request) {
      const response = (await plain.request(request)) as ClientResponse;
      if (response.status !== 200 || !knowsConditions) return response;
      const pieces = await listOf(response.body);
      const etag = `"${createHash("md5").update(Buffer.concat(pieces)).digest("hex")}"`;
      const isSame = request.headers["if-none-match"] === etag;
      if (!isSame) bodies.push(request.url);
      const body = (async function* () {
        if (!isSame) yield* pieces;
      })();
      if (isSame) return { status: 304, headers: [["etag", etag]], body };
      return { status: 200, headers: [...(response.headers as HeaderList), ["etag", etag]], body };
    },
  };
}

/** Returns everything that a run can print, except for times. */
async function outputsOf(make: (onEvent: (event: CrawlEvent) => void) => Promise<SitemapTree>): Promise<string[]> {
  const rows = new SitemapRows();
  await using tree = await make((event) => rows.see(event));
  async function* batches() {
    for await (const step of tree.walk())
      if (step.type === "pages") yield { sitemap: step.sitemap.url, pages: step.pages };
  }
  const { root: _, ...head } = tree.toJSON();
  const outputs = [JSON.stringify(tree)];
  for (const output of [
    writeTabtree(tree.walk()),
    writeJson({ unreachable: undefined, ...head }, tree.walk()),
    ...[pagesWriter(), ndjsonWriter(), csvWriter()].map((writer) => writeBatches(batches(), writer)),
  ]) {
    let text = "";
    for await (const piece of output) text += piece;
    outputs.push(text);
  }
  for (const { row, problems } of rows) {
    const { fetchedAt: __, firstByte: ___, duration: ____, ...facts } = row;
    outputs.push(JSON.stringify([facts, problems]));
  }
  return outputs;
}

let count = 0;
const newFile = () => path.join(temporary, `${count++}.warc${count % 2 === 0 ? ".gz" : ""}`);

describe.each(cases)("$file: $title", ({ routes, options, at, ...expected }) => {
  const crawlOptions = () => ({ client: site(routes).client, retries: 0, ...options });
  // Requesting paths that do not exist would take most of the time.
  const lean: Options = { retries: 0, knownPaths: "if-needed", ...options };
  const run = (more: Options, website = client(routes, true)) =>
    outputsOf((onEvent) => sitemapTreeForHomepage(home, { client: website, ...lean, ...more, onEvent }));
  const opened = (file: string) => outputsOf((onEvent) => openTree(file, { onEvent }));
  // Each website tries one of these, because they have tests of their own.
  const isTurn = (turn: number, of = 4) => isLong || at % of === turn;

  test("gives the expected tree", async () => {
    await using tree = await sitemapTreeForHomepage(home, crawlOptions());
    expect(await outline(tree)).toEqual(expected.tree);
    expect(problemsOf(tree)).toEqual(expected.problems);
    expect(tree.complete).toBe(expected.complete);
    if (expected.discovery !== undefined) expect(discoveryOf(tree)).toEqual(expected.discovery);
    const listed = await listOf(tree.pages());
    const pages = listed.map(({ sitemap: _, ...page }) => page);
    for (const page of expected.pages) expect(pages.filter(({ url }) => url === page.url)).toContainEqual(page);
    if (isTurn(0)) {
      const archive = newFile();
      await tree.save(archive);
      await using again = await openTree(archive);
      expect(again.toJSON()).toEqual(tree.toJSON());
      expect(await listOf(again.pages())).toEqual(listed);
    }
    if (isTurn(1)) {
      const readable = [...tree.sitemaps()].filter(({ kind }) => kind === "pages");
      const once = readable.filter(({ url }, at) => readable.findIndex((each) => each.url === url) === at);
      const inOrder = await Promise.all(once.map((sitemap) => listOf(tree.pages(sitemap))));
      expect(await listOf(streamPages(home, crawlOptions()))).toEqual(inOrder.flat());
    }
  });

  test.runIf(isTurn(2))("gives the same with `previous`, twice in a row", async () => {
    const bodies: string[] = [];
    const [first, second, third] = [newFile(), newFile(), newFile()];
    const without = await run({ save: first });
    expect(await run({ previous: first, save: second }, client(routes, true, bodies))).toEqual(without);
    rmSync(first);
    expect(await opened(second)).toEqual(without);
    // Complete documents are not transferred again.
    if (JSON.parse(without[0] as string).complete) expect(bodies).toEqual([]);
    if (!isTurn(2, 8)) return;
    expect(await run({ previous: second, save: third })).toEqual(without);
    rmSync(second);
    expect(await opened(third)).toEqual(without);
  });

  test.runIf(isTurn(3, 16))("gives the same with `previous` if the server ignores conditional requests", async () => {
    const [first, second] = [newFile(), newFile()];
    const without = await run({ save: first }, client(routes, false));
    expect(await run({ previous: first, save: second }, client(routes, false))).toEqual(without);
    rmSync(first);
    expect(await opened(second)).toEqual(without);
  });

  test.runIf(isTurn(3))("gives the same if resumed from an archive that was cut off anywhere", async () => {
    const file = newFile();
    const without = await run({ save: file });
    const { size } = statSync(file);
    for (const round of isLong ? [0, 1] : [size % 2]) {
      const cut = newFile().replace(/warc(\.gz)?$/, file.endsWith(".gz") ? "warc.gz" : "warc");
      copyFileSync(file, cut);
      // The first record says what the archive is about.
      truncateSync(cut, size - 1 - new Random(size).below(round === 0 ? 400 : Math.max(1, size - 3000)));
      expect(await run({ resume: cut })).toEqual(without);
      expect(await opened(cut)).toEqual(without);
    }
  });
});

/** `/sitemap.xml:3 url-relative ×2 about.html`: where, what, how often, the first text. */
function problemsOf(tree: SitemapTree): string[] {
  return [...tree.problems()].map(({ url, problem: { code, line, count, value } }) =>
    [
      `${short(url)}${line === undefined ? "" : `:${line}`} ${code}`,
      ...(count === undefined ? [] : [`×${count}`]),
      ...(value === undefined ? [] : [value]),
    ].join(" "),
  );
}

function discoveryOf(tree: SitemapTree): string[] {
  return tree.discovery
    .filter(({ outcome }) => outcome !== "absent")
    .map(
      ({ url, by, outcome, reason, sameAs }) =>
        `${by} ${short(url)} ${outcome}${reason ? ` ${reason.code}` : ""}${sameAs ? ` same as ${short(sameAs)}` : ""}`,
    );
}

function short(url: string): string {
  return url.startsWith(home) ? url.slice(home.length - 1) : url;
}
