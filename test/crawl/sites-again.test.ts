// Every website of test/fixtures/sites once more: built on the archive of a run before, and gone on with where an archive was cut off. The
// tree and every output are what a run without either gives, and each archive alone gives them, too.
// Needs more than a second.
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
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
import { isLong, some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { home, site } from "../support/site.ts";
import { parseSiteFile } from "../support/site-file.ts";

const folder = path.join(import.meta.dirname, "../fixtures/sites");
const temporary = mkdtempSync(path.join(tmpdir(), "sitegrove-again-"));
afterAll(() => rmSync(temporary, { recursive: true }));

const cases = readdirSync(folder).map((file) => ({
  file,
  ...parseSiteFile(readFileSync(path.join(folder, file), "utf8")),
}));

interface Asked {
  total: number;
  bodies: number;
}

/** The website, as a server has it that knows conditions; or as one that knows none. */
function client(routes: Parameters<typeof site>[0], knowsConditions: boolean, asked: Asked): Client {
  const plain = site(routes).client;
  return {
    async request(request) {
      const response = (await plain.request(request)) as ClientResponse;
      const pieces: Uint8Array[] = [];
      for await (const piece of response.body) pieces.push(piece);
      const etag = `"${createHash("md5").update(Buffer.concat(pieces)).digest("hex")}"`;
      asked.total += 1;
      const body = (content: Uint8Array[]) =>
        (async function* () {
          yield* content;
        })();
      if (response.status !== 200 || !knowsConditions) return { ...response, body: body(pieces) };
      if (request.headers["if-none-match"] === etag) return { status: 304, headers: [["etag", etag]], body: body([]) };
      asked.bodies += 1;
      return { status: 200, headers: [...(response.headers as HeaderList), ["etag", etag]], body: body(pieces) };
    },
  };
}

/** Everything that a run can print, but for times. */
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

describe.each(cases.map((each, at) => ({ ...each, at })))("$file", ({ routes, options, at }) => {
  const run = (more: Options, knowsConditions = true, asked: Asked = { total: 0, bodies: 0 }) =>
    outputsOf((onEvent) =>
      sitemapTreeForHomepage(home, {
        client: client(routes, knowsConditions, asked),
        retries: 0,
        // Paths at which there is nothing are most of what takes time; not-asked.test.ts is about them.
        useKnownPaths: "if-needed",
        ...options,
        ...more,
        onEvent,
      }),
    );
  const opened = (file: string) => outputsOf((onEvent) => openTree(file, { onEvent }));

  // Half of the websites show one of both: test/end-to-end/resume.test.ts and previous.test.ts are about nothing else.
  test.runIf(isLong || at % 4 < 2)("built on the run before, and gone on with wherever it was cut off", async () => {
    const asked = { total: 0, bodies: 0 };
    const first = newFile();
    const without = await run({ save: first });
    if (isLong || at % 2 === 0) await expectResumed(first, without);
    if (!isLong && at % 2 === 0) return;
    const second = newFile();
    expect(await run({ previous: first, save: second }, true, asked)).toEqual(without);
    rmSync(first);
    expect(await opened(second)).toEqual(without);
    // What is whole does not come again.
    if (JSON.parse(without[0] as string).complete) expect(asked.bodies).toBe(0);
    // Runs that follow each other for longer are in previous-properties.test.ts: a few of the websites show it here.
    if (isLong || at % 10 === 1) {
      const third = newFile();
      expect(await run({ previous: second, save: third })).toEqual(without);
      rmSync(second);
      expect(await opened(third)).toEqual(without);
    }
  });

  // Everything is new again where a server knows no conditions: a few of the websites show it.
  test.runIf(isLong || at % 10 === 0)("built on the run before, of a server that knows no conditions", async () => {
    const first = newFile();
    const without = await run({ save: first }, false);
    const second = newFile();
    expect(await run({ previous: first, save: second }, false)).toEqual(without);
    rmSync(first);
    expect(await opened(second)).toEqual(without);
  });

  async function expectResumed(file: string, without: readonly string[]): Promise<void> {
    const { size } = statSync(file);
    const random = new Random(size);
    // Near the end, and anywhere; or one of them.
    for (let round = some(0, size % 2); round < some(2, 1 + (size % 2)); round += 1) {
      const cut = newFile().replace(/warc(\.gz)?$/, file.endsWith(".gz") ? "warc.gz" : "warc");
      copyFileSync(file, cut);
      // The first record says what the archive is about.
      truncateSync(cut, size - 1 - random.below(round === 0 ? 400 : Math.max(1, size - 3000)));
      expect(await run({ resume: cut })).toEqual(without);
      expect(await opened(cut)).toEqual(without);
      rmSync(cut);
    }
  }
});
