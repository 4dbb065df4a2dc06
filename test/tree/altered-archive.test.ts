// An archive that was damaged or edited never gives another tree that calls itself complete.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { SitemapError } from "../../src/model/errors.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { codesOf, contentOf } from "../support/collected.ts";
import { some } from "../support/long.ts";
import { membersOf } from "../support/members.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();
let archive: Buffer;
let compressed: Buffer;
let expected: string;
beforeAll(async () => {
  const { client } = site({
    "/robots.txt": robots("/i.xml"),
    "/i.xml": index("/a.xml", "/moved.xml"),
    "/a.xml": urlset("/1", "/2"),
    "/moved.xml": { to: "/b.xml" },
    "/b.xml": urlset("/3"),
  });
  const save = path.join(folder, "whole.warc");
  await using tree = await sitemapTreeForHomepage(home, { client, save, retries: 0, knownPaths: "never" });
  await tree.save(`${save}.gz`);
  [archive, compressed] = [readFileSync(save), readFileSync(`${save}.gz`)];
  expected = await contentOf(tree);
});

/** Returns undefined if the archive is refused. */
async function opened(bytes: Buffer): Promise<{ json: string; complete: boolean } | undefined> {
  const file = path.join(folder, "changed.warc");
  writeFileSync(file, bytes);
  try {
    await using tree = await openTree(file);
    const json = await contentOf(tree);
    return { json, complete: tree.complete };
  } catch (error) {
    expect(error).toBeInstanceOf(SitemapError);
    return undefined;
  }
}

/** The records of an archive: where each begins, where its content does, and where the next one begins. */
function recordsIn(bytes: Buffer): { readonly start: number; readonly content: number; readonly end: number }[] {
  const records = [];
  for (let start = 0; start < bytes.length; start = records.at(-1)!.end) {
    const content = bytes.indexOf("\r\n\r\n", start) + 4;
    const length = Number(/content-length: (\d+)/i.exec(bytes.toString("latin1", start, content))?.[1]);
    records.push({ start, content, end: content + length + 4 });
  }
  return records;
}

test("a flipped bit anywhere in a record loses nothing silently", async () => {
  const silent: string[] = [];
  for (const [bytes, start] of [
    [archive, recordsIn(archive)[1]!.start],
    [compressed, membersOf(compressed)[1]!.offset],
  ] as const) {
    for (let at = start; at < bytes.length; at += some(1, 149)) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 1;
      const result = await opened(changed);
      if (result?.complete === true && result.json !== expected)
        silent.push(`${at}: ${bytes.toString("latin1", at - 20, at)}^${bytes.toString("latin1", at, at + 20)}`);
    }
  }
  expect(silent).toEqual([]);
});

test("removing a record or an exchange loses nothing silently", async () => {
  const records = recordsIn(archive);
  for (let from = 1; from < records.length - 1; from++) {
    for (const count of [1, 2]) {
      const [first, last] = [records[from]!, records[Math.min(from + count, records.length) - 1]!];
      const changed = Buffer.concat([archive.subarray(0, first.start), archive.subarray(last.end)]);
      const result = await opened(changed);
      if (result?.complete === true) expect(result.json).toBe(expected);
    }
  }
});

test("a copy of another exchange in place of a lost one hides nothing", async () => {
  const records = recordsIn(archive).map(({ start, end }) => archive.subarray(start, end));
  for (let lost = 3; lost < records.length - 2; lost += 2) {
    const changed = [...records.slice(0, lost), ...records.slice(1, 3), ...records.slice(lost + 2)];
    expect(await opened(Buffer.concat(changed))).toMatchObject({ complete: false });
  }
});

test("an archive without its beginning is not complete", async () => {
  const records = recordsIn(archive);
  for (const { start } of records.slice(1)) {
    const result = await opened(archive.subarray(start));
    expect(result?.complete).not.toBe(true);
  }
});

let copies = 0;
describe("a copy of a truncated archive is not complete either", () => {
  test.each([
    ["of another tool", (bytes: Buffer) => bytes.subarray(0, recordsIn(bytes).at(-1)!.content + 20)],
    ["of ours, with something behind its end", () => Buffer.concat([archive, Buffer.from("something else")])],
  ])("%s", async (_, change) => {
    const records = recordsIn(archive);
    const foreign = Buffer.concat(
      records.map(({ start, end }) => archive.subarray(start, end)).filter((each) => /Type: response/.test(`${each}`)),
    );
    const file = path.join(folder, "cut.warc");
    writeFileSync(file, change(foreign));
    for (const end of [".warc", ".warc.gz"]) {
      const name = `copy-${copies++}${end}`;
      await using tree = await openTree(file);
      expect(tree.complete).toBe(false);
      await tree.save(path.join(folder, name));
      await using copy = await openTree(path.join(folder, name));
      expect(copy.complete).toBe(false);
      expect(codesOf(copy)).toContain("archive-truncated");
    }
  });
});

test.each([
  ["in its index", /"finished":true/, (parts: string) => `"finished":${parts}`],
  ["in what it is about", /"settings":\{/, (parts: string) => `"x":${parts},"settings":{`],
])("millions of lists in an archive take no memory: %s", async (_, place, make) => {
  for (const parts of [`[${"[],".repeat(3_000_000)}[]]`, "[".repeat(3_000_000) + "]".repeat(3_000_000)]) {
    const records = recordsIn(archive).map(({ start, content, end }) => {
      const [head, text] = [archive.toString("latin1", start, content), archive.toString("latin1", content, end - 4)];
      if (!place.test(text)) return archive.toString("latin1", start, end);
      const changed = text.replace(place, () => make(parts));
      return `${head.replace(/content-length: \d+/i, `Content-Length: ${changed.length}`)}${changed}\r\n\r\n`;
    });
    const before = process.memoryUsage.rss();
    expect((await opened(Buffer.from(records.join(""), "latin1")))?.complete).not.toBe(true);
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
  }
});
