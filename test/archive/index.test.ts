// An archive with an index: damage to a record costs its document and no other, compressed or not; whatever the file says, and wherever it is
// cut or changed, the tree is the same, or it says that it is not.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { openArchive } from "../../src/archive/reader.ts";
import { appendNotes, createStore } from "../../src/archive/store.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { changeIndex } from "../support/change-index.ts";
import { listOf, urlsOf } from "../support/collected.ts";
import { membersOf } from "../support/members.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";
import { bytesOf, documentAt } from "./exchanges.ts";
import { opened } from "./opened.ts";

// The pages are hard to compress, so that damage stays local, and there are enough of them for a large record.
const locations = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `/${name}/${createHash("sha512").update(`${name}${at}`).digest("hex")}`);
const pagesIn = { large: 1000, packed: 50, last: 20, small: 20 };
const small = Array.from({ length: 3 }, (_, at) => `/small-${at}.xml`);
const routes = {
  "/robots.txt": robots("/i.xml"),
  "/i.xml": index("/large.xml", ...small, "/packed.xml.gz", "/last.xml"),
  "/large.xml": urlset(...locations("large", pagesIn.large)),
  ...Object.fromEntries(small.map((name) => [name, urlset(...locations(name.slice(1, -4), pagesIn.small))])),
  "/packed.xml.gz": gzipSync(urlset(...locations("packed", pagesIn.packed))),
  "/last.xml": urlset(...locations("last", pagesIn.last)),
};
const allPages = pagesIn.large + pagesIn.packed + pagesIn.last + small.length * pagesIn.small;
const options = { client: site(routes).client, knownPaths: "never", useHomepage: false } as const;

const folder = newFolder();
let expected: unknown;
const whole: Record<string, Buffer> = {};
beforeAll(async () => {
  for (const name of ["site.warc", "site.warc.gz"]) {
    await (await sitemapTreeForHomepage(home, { ...options, save: inFolder(name) })).close();
    whole[name] = readFileSync(inFolder(name));
    expected = await seenIn(inFolder(name));
  }
});

let count = 0;
const inFolder = (name: string) => path.join(folder, name);
const fileWith = (content: Uint8Array, name = "site.warc.gz") => {
  const file = inFolder(`${count++}-${name}`);
  writeFileSync(file, content);
  return file;
};

/** Returns everything visible about the tree in an archive after reading its pages, or the error code. */
async function seenIn(file: string) {
  const tree = await openTree(file).catch(({ code }: { code: string }) => code);
  if (typeof tree === "string") return tree;
  return everythingIn(tree).finally(() => tree.close());
}

async function everythingIn(tree: SitemapTree) {
  const pages = await urlsOf(tree.pages());
  const content = createHash("sha1").update(pages.join("\n")).digest("hex");
  const problems = Array.from(tree.problems(), ({ url, problem: { code } }) => `${url} ${code}`).sort();
  const sitemaps = Array.from(tree.sitemaps(), (sitemap) => `${sitemap.kind} ${sitemap.url}`);
  return { pages: pages.length, content, problems, sitemaps, complete: tree.complete };
}

/** Where the records of a document are. */
async function placesOf(name: string, url: string) {
  const contents = await openArchive(inFolder(name));
  const { response, description } = contents.answers.get(home + url) ?? {};
  await contents.close();
  return { response: response!, description: description! };
}

describe.each(["site.warc", "site.warc.gz"])("%s", (name) => {
  const flipped = (at: number, bytes = 1) => {
    const archive = Buffer.from(whole[name]!);
    for (let place = at; place < at + bytes; place += 1) archive[place] = archive[place]! ^ 0xff;
    return fileWith(archive, name);
  };

  test("is valid for gzip, and gives the same records if its index is not at the end", async () => {
    if (name.endsWith(".gz")) execFileSync("gzip", ["--test", inFolder(name)]);
    // With another copy after it, the first index is not at the end.
    const joined = fileWith(Buffer.concat([whole[name]!, whole[name]!]), name);
    expect(await seenIn(joined)).toEqual(expected);
    rmSync(joined);
  });

  test.each([
    ["a large body", "large.xml", (place: Places) => flipped(middle(place.response))],
    ["the head of a large record", "large.xml", (place: Places) => flipped(place.response.offset + 30, 20)],
    ["a small body", "small-2.xml", (place: Places) => flipped(middle(place.response))],
    ["the head of a small record", "small-2.xml", (place: Places) => flipped(place.response.offset + 30, 20)],
    ["a description", "small-2.xml", (place: Places) => flipped(middle(place.description))],
    [
      "the middle, which is garbage",
      "small-2.xml",
      ({ response, description }: Places) => flipped(response.offset, description.offset + 20 - response.offset),
    ],
  ])("damage in %s loses that document and no other", async (_, url, damaged) => {
    const file = damaged(await placesOf(name, url));
    const seen = await seenIn(file);
    const { pages, problems } = seen as Exclude<typeof seen, string>;
    // A document that is read to its end has the wrong digest; if garbage stops the reader, the counts are wrong.
    expect(seen).toMatchObject({
      complete: false,
      problems: expect.arrayContaining([expect.stringMatching(`${home}${url} archive-(digest|counts)`)]),
    });
    expect(problems.filter((problem) => !problem.startsWith(home + url))).toEqual([]);
    expect(pages).toBeGreaterThanOrEqual(allPages - (url === "large.xml" ? pagesIn.large : pagesIn.small));
    // The next run requests it again.
    const next = inFolder(`${count++}-${name}`);
    await (await sitemapTreeForHomepage(home, { ...options, previous: file, save: next })).close();
    expect(await seenIn(next)).toEqual(expected);
    // The run can still be resumed.
    await using resumed = await sitemapTreeForHomepage(home, { ...options, resume: file });
    expect(resumed.complete).toBe(false);
  });

  test("garbage between two records loses neither of them", async () => {
    const { response } = await placesOf(name, "small-2.xml");
    for (const garbage of [Buffer.alloc(30), Buffer.from("garbage"), whole[name]!.subarray(3, 12)]) {
      const [before, behind] = [whole[name]!.subarray(0, response.offset), whole[name]!.subarray(response.offset)];
      const file = fileWith(Buffer.concat([before, garbage, behind]), name);
      expect(await seenIn(file)).toMatchObject({
        pages: allPages,
        complete: false,
        problems: [`${home} archive-truncated`],
      });
      await expect(sitemapTreeForHomepage(home, { ...options, resume: file })).rejects.toThrow(
        "cannot be resumed: it is damaged",
      );
    }
  });

  test("notes follow the documents, also in copies and without an index", async () => {
    const file = fileWith(whole[name]!, name);
    const copy = inFolder(`copy-${name}`);
    await appendNotes(file, [Buffer.from("one\n"), Buffer.from("two\n")]);
    await (await opened(file)).save(copy);
    const withoutIndex = fileWith(readFileSync(file), name);
    truncateSync(withoutIndex, readFileSync(file).length - 1);
    for (const each of [file, copy, withoutIndex]) {
      const notes = await listOf((await opened(each)).notes());
      expect(Buffer.concat(notes).toString()).toBe("one\ntwo\n");
      if (each !== withoutIndex) expect(await seenIn(each)).toEqual(expected);
    }
  });

  test("damage to the index loses no document", async () => {
    const end = whole[name]!.length;
    const cut = fileWith(whole[name]!.subarray(0, end - 5), name);
    for (const file of [...[end - 3, end - 40, end - 700].map((at) => flipped(at)), cut]) {
      expect(await seenIn(file)).toMatchObject({ pages: allPages });
    }
  });

  test("a change while its tree is open is an error; removing the file is not", async () => {
    for (const change of [
      (file: string) => truncateSync(file, whole[name]!.length >> 1),
      (file: string) => writeFileSync(file, Buffer.alloc(whole[name]!.length, 7)),
    ]) {
      const file = fileWith(whole[name]!, name);
      await using tree = await openTree(file);
      change(file);
      await expect(everythingIn(tree)).rejects.toThrow("was changed while its tree was open");
    }
    const gone = fileWith(whole[name]!, name);
    const [one, two] = [await openTree(gone), await openTree(gone)];
    if (process.platform !== "win32") rmSync(gone);
    expect(await Promise.all([everythingIn(one), everythingIn(two)])).toEqual([expected, expected]);
    await Promise.all([one.close(), two.close()]);
  });

  test("can be resumed: its old index is removed, and a new one written at the end", async () => {
    const file = fileWith(whole[name]!, name);
    for (let round = 0; round < 2; round++) {
      await (await sitemapTreeForHomepage(home, { ...options, resume: file })).close();
      expect(await seenIn(file)).toEqual(expected);
      expect(readFileSync(file, "latin1").split("sitegrove-index: ")).toHaveLength(2);
    }
    if (name.endsWith(".gz")) execFileSync("gzip", ["--test", file]);
  });
});

type Places = Awaited<ReturnType<typeof placesOf>>;
const middle = ({ offset, length }: { offset: number; length: number }) => offset + (length >> 1);

describe("an index that lies", () => {
  type Line = Parameters<Parameters<typeof changeIndex>[2]>[0][number];
  const lying = (change: Parameters<typeof changeIndex>[2]) =>
    changeIndex(inFolder("site.warc"), inFolder(`${count++}-lie.warc`), change);
  const lineOf = (lines: Parameters<Parameters<typeof changeIndex>[2]>[0], url: string) =>
    lines.find(([each]) => each === home + url)!;

  test.each<[string, number, (line: Line, next: Line) => void]>([
    ["which document is where", 2, (line, next) => void ([line[0], next[0]] = [next[0], line[0]])],
    ["where a record ends", 1, (line) => void (line[1] = [line[1][0]! + 10, line[1][1]! - 10])],
    ["how many records there are", 1, (line) => void (line[1] = [line[1][0]! + line[1][1]!])],
  ])("about %s loses the documents concerned, and no others", async (_, lost, change) => {
    const file = await lying((lines) => {
      change(lineOf(lines, "small-0.xml"), lineOf(lines, "small-1.xml"));
    });
    expect(await seenIn(file)).toMatchObject({ complete: false, pages: allPages - lost * pagesIn.small });
  });

  test.each([
    ["lengths that do not lead to the index", (lines: unknown[][]) => void lines.pop()],
    ["a negative length", (lines: unknown[][]) => void (lines[1]![1] = [-5, 5])],
    ["no lengths", (lines: unknown[][]) => void (lines[1]![1] = [])],
    ["a URL that is not a string", (lines: unknown[][]) => void (lines[1]![0] = 7)],
    ["something other than lists", (lines: unknown[][]) => void lines.push({} as never)],
    ["a line of two megabytes", (lines: unknown[][]) => void (lines[1]![0] = "x".repeat(2 ** 21))],
  ])("with %s is ignored, and the records are read instead", async (_, change) => {
    expect(await seenIn(await lying((lines) => change(lines)))).toEqual(expected);
  });

  test("about its version is ignored, and the records are read instead", async () => {
    const file = await lying((_, about) => about.replace('"version":2', '"version":7'));
    expect(await seenIn(file)).toMatchObject({ pages: allPages });
  });
});

test("an archive with records that were compressed together is refused, with advice", async () => {
  const bytes = whole["site.warc.gz"]!;
  const members = membersOf(bytes);
  const half = members[members.length >> 1]!.offset;
  const rest = gzipSync(gunzipSync(bytes.subarray(half)));
  for (const joined of [gzipSync(gunzipSync(bytes)), Buffer.concat([bytes.subarray(0, half), rest])])
    await expect(openTree(fileWith(joined))).rejects.toThrow("run `gunzip` on it first");
});

test("records with names, comments and extra fields in their gzip headers are read like any other", async () => {
  const bytes = whole["site.warc.gz"]!;
  const members = membersOf(bytes);
  const named = members.map(({ offset, length }) => {
    const header = Buffer.from([0x1f, 0x8b, 8, 4 + 8 + 16, 0, 0, 0, 0, 0, 3, 4, 0, 0x61, 0x62, 0, 0]);
    const fields = Buffer.from("a name\0a comment\0");
    return Buffer.concat([header, fields, bytes.subarray(offset + 10, offset + length)]);
  });
  expect(await seenIn(fileWith(Buffer.concat(named)))).toEqual(expected);
});

test("a body that looks like compressed records is read as a body", async () => {
  const file = inFolder("inside.warc.gz");
  const bytes = whole["site.warc.gz"]!;
  const store = await createStore({ kind: "memory", save: file, info: { settings: {} } });
  const url = "https://example.org/inside.bin";
  await store.keep(documentAt(url, bytes));
  await store.finish();
  await store.close();
  for (const content of [readFileSync(file), readFileSync(file).subarray(0, -5)]) {
    const archive = await openArchive(fileWith(content));
    expect(archive).toMatchObject({ urls: [url], finished: true });
    const fetched = await archive.fetch({ url, role: "sitemap" });
    expect(fetched.outcome === "found" && (await bytesOf(fetched.body)).equals(bytes)).toBe(true);
    await archive.close();
  }
});
