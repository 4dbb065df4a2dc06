// The formats of a diff, with texts as a hostile website would write them: read back by others, and nothing steers a terminal.
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Summarizer } from "../../src/diff/summarize.ts";
import {
  type ChangeKind,
  changeKinds,
  type DiffTotals,
  type PageChange,
  type SitemapChange,
  type TreeChange,
} from "../../src/model/change.ts";
import { problem } from "../../src/model/problem.ts";
import { sectionOf } from "../../src/model/url.ts";
import {
  type ChangeWriter,
  changeCsvColumns,
  changeCsvWriter,
  changeFeedWriter,
  changeNdjsonWriter,
  changePagesWriter,
} from "../../src/write/changes.ts";
import { diffMarkdown, diffText } from "../../src/write/diff-summary.ts";
import { readXml } from "../support/xml.ts";
import { hostileText, steering } from "./hostile.ts";

const url = hostileText.map((text) => `https://example.org/${text}`);
const page = fc.record({ url, title: hostileText, priority: fc.constantFrom(0.5, 1) }).map(({ title, ...page }) => ({
  ...page,
  lastModified: "2024-05-31",
  newsStory: { title },
}));
const pageChange: fc.Arbitrary<PageChange> = fc
  .tuple(fc.constantFrom("added", "removed", "unknown", "changed", "moved"), page, page, url, url)
  .map(([kind, page, old, sitemap, from]): PageChange => {
    const before = { ...old, url: page.url };
    if (kind === "unknown") return { kind, page, sitemap, missing: "after" };
    if (kind === "changed") return { kind, page, sitemap, fields: ["newsStory"], before, from };
    if (kind === "moved") return { kind, page, sitemap, from };
    return { kind: kind === "added" ? "added" : "removed", page, sitemap };
  });
const sitemapChange: fc.Arbitrary<SitemapChange> = fc.tuple(url, hostileText).map(([sitemap, value]) => ({
  kind: "sitemap",
  change: "now-invalid",
  sitemap,
  reason: problem("not-a-sitemap", { value }),
}));
const changes = fc.array(fc.oneof({ weight: 4, arbitrary: pageChange }, sitemapChange), { maxLength: 12 });

const written = (writer: ChangeWriter, list: readonly TreeChange[]) =>
  writer.header(list[0]) + writer.write(list) + writer.footer;
const expectPrintable = (text: string) => {
  for (const line of text.split("\n")) expect(line).not.toMatch(steering);
};

test("ndjson is one line per change, and loses nothing", () => {
  fc.assert(
    fc.property(changes, (list) => {
      const text = written(changeNdjsonWriter(), list);
      expectPrintable(text);
      const lines = text.split("\n").slice(0, -1);
      expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(list)));
    }),
  );
});

test("csv is one row per change, and loses nothing if values are not escaped", () => {
  fc.assert(
    fc.property(changes, (list) => {
      expectPrintable(written(changeCsvWriter(), list));
      expect(parse(written(changeCsvWriter(), list))).toHaveLength(list.length + 1);
      const exact = written(changeCsvWriter({ safe: false }), list);
      const rows = parse(exact, { columns: true }) as Record<string, string>[];
      // Half of a character cannot be written as UTF-8.
      const urls = list.map((change) => (change.kind === "sitemap" ? change.sitemap : change.page.url));
      expect(rows.map(({ url }) => url)).toEqual(urls.map((text) => Buffer.from(text).toString()));
      for (const row of rows) expect(Object.keys(row)).toEqual(changeCsvColumns);
    }),
  );
});

test("pages is one URL per line, without sitemaps", () => {
  fc.assert(
    fc.property(changes, (list) => {
      const text = written(changePagesWriter(), list);
      expectPrintable(text);
      expect(text.split("\n")).toHaveLength(list.filter(({ kind }) => kind !== "sitemap").length + 1);
    }),
  );
});

test("rss is well-formed XML with one item per new page", () => {
  fc.assert(
    fc.property(changes, hostileText, fc.option(url, { nil: undefined }), (list, name, homepage) => {
      const names = { before: name, after: name };
      const text = written(changeFeedWriter({ names, homepage: () => homepage }), list);
      expectPrintable(text);
      const items = readXml(text).children[0]?.children.filter(({ name }) => name === "item");
      expect(items).toHaveLength(list.filter(({ kind }) => kind === "added").length);
    }),
  );
});

const totalsOf = (list: readonly TreeChange[]): DiffTotals => {
  const count = (kind: ChangeKind) => list.filter((change) => change.kind === kind).length;
  const side = { pages: 100, sitemaps: 3, complete: true };
  return {
    before: side,
    after: { ...side, complete: count("unknown") === 0 },
    added: count("added"),
    removed: count("removed"),
    unknown: count("unknown"),
    expired: count("expired"),
    changed: count("changed"),
    changedOnlyLastModified: 0,
    moved: count("moved"),
    sitemaps: count("sitemap"),
  };
};

test("summaries have no terminal control characters, and no Markdown from a website", () => {
  fc.assert(
    fc.property(changes, hostileText, (list, name) => {
      const summarizer = new Summarizer();
      summarizer.see(list);
      const summary = summarizer.finish({ before: name, after: name }, new Set(changeKinds), totalsOf(list));
      expectPrintable(diffText(summary));
      const markdown = diffMarkdown(summary);
      expectPrintable(markdown);
      // Without code spans, only text of our own is left.
      const bare = markdown.replaceAll(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, "");
      expect(bare).not.toMatch(/example\.org|😀|SUM|ERROR/);
      // No row of a table has more cells than its head.
      for (const table of markdown.split("\n\n").filter((block) => block.startsWith("|"))) {
        const widths = table
          .split("\n")
          .filter(Boolean)
          .map((row) => row.split(/(?<!\\)\|/).length);
        expect(new Set(widths).size).toBe(1);
      }
    }),
  );
});

test("a summary is bounded, however many sections and sitemaps a website has", () => {
  const summarizer = new Summarizer();
  for (let at = 0; at < 30_000; at += 1000) {
    summarizer.see(
      Array.from({ length: 1000 }, (_, more) => {
        const section = `https://example.org/${at + more}`;
        return { kind: "added", page: { url: `${section}/page` }, sitemap: `${section}.xml` } as const;
      }),
    );
  }
  const totals = { ...totalsOf([]), added: 30_000 };
  const summary = summarizer.finish({ before: "a", after: "b" }, new Set(changeKinds), totals);
  expect(summary.bySection).toHaveLength(10_001);
  expect(summary.bySection[0]).toMatchObject({ name: "elsewhere", changes: { added: 20_000 } });
  expect(diffText(summary).split("\n").length).toBeLessThan(60);
  expect(diffText(summary)).toContain("in 9,991 others");
});

test("the share of pages that changed only in date is never shown as 0% or 100% unless that is exact", () => {
  const shares = [
    [100, 98],
    [100_000, 99_999],
    [100_000, 1],
    [5, 5],
    [5, 0],
  ].map(([changed = 0, changedOnlyLastModified = 0]) => {
    const totals = { ...totalsOf([]), changed, changedOnlyLastModified };
    const text = diffText(new Summarizer().finish({ before: "a", after: "b" }, new Set(changeKinds), totals));
    return /(\d+)% changed only lastModified/.exec(text)?.[1];
  });
  expect(shares).toEqual(["98", "99", "1", "100", undefined]);
});

test.each([
  ["https://example.org/blog/a/b", "https://example.org/blog/"],
  ["https://example.org/blog/", "https://example.org/blog/"],
  ["https://example.org/about", "https://example.org/"],
  ["https://example.org/", "https://example.org/"],
  ["https://example.org", "https://example.org/"],
  ["https://example.org?a=/b/c", "https://example.org/"],
  ["https://example.org/a?b=/c/d", "https://example.org/"],
  ["https://example.org/a/?b=/c/d", "https://example.org/a/"],
])("the section of %s is %s", (page, section) => {
  expect(sectionOf(page)).toBe(section);
});
