// The changes between two trees as lines, many at a time: URLs, NDJSON, CSV.
import type { TreeChange } from "../model/change.ts";
import { csvCell } from "./csv.ts";
import { openPageJson, textJson } from "./page-json.ts";
import { jsonOf, printable } from "./printable.ts";

/** Writes changes as whole lines. */
export interface ChangeWriter {
  /** The text before the first change, and after the last. */
  readonly header: string;
  readonly footer: string;
  write(changes: readonly TreeChange[]): string;
}

/** The format `pages`: the URLs of pages, one a line. */
export function changePagesWriter(): ChangeWriter {
  const line = (change: TreeChange) => (change.kind === "sitemap" ? "" : `${printable(change.page.url)}\n`);
  return { header: "", footer: "", write: (changes) => changes.map(line).join("") };
}

/** The format `ndjson`: one change a line, as JSON. */
export function changeNdjsonWriter(): ChangeWriter {
  return { header: "", footer: "", write: (changes) => changes.map((change) => `${json(change)}\n`).join("") };
}

function json(change: TreeChange): string {
  if (change.kind === "sitemap") return jsonOf(change);
  const { kind, page, sitemap } = change;
  const start = `{"kind":"${kind}","page":${openPageJson(page)}},"sitemap":${textJson(sitemap)}`;
  switch (change.kind) {
    case "added":
    case "removed":
      return `${start}}`;
    case "unknown":
      return `${start},"missing":"${change.missing}"}`;
    case "moved":
      return `${start},"from":${textJson(change.from)}}`;
    case "changed": {
      const from = change.from === undefined ? "" : `,"from":${textJson(change.from)}`;
      return `${start},"fields":${jsonOf(change.fields)},"before":${openPageJson(change.before)}}${from}}`;
    }
  }
}

export const changeCsvColumns: readonly string[] = [
  "kind",
  "url",
  "change",
  "lastModified",
  "lastModifiedBefore",
  "sitemap",
  "sitemapBefore",
];

/** The format `csv`: one change a row below a fixed header. With `safe: false` every value stays exactly as it is. */
export function changeCsvWriter({ safe = true }: { safe?: boolean } = {}): ChangeWriter {
  const cell = csvCell(safe);
  return {
    header: `${changeCsvColumns.join(",")}\n`,
    footer: "",
    write: (changes) => changes.map((change) => `${row(change).map(cell).join(",")}\n`).join(""),
  };
}

function row(change: TreeChange): (string | undefined)[] {
  if (change.kind === "sitemap") return [change.kind, change.sitemap, change.change, "", "", "", ""];
  const { kind, page, sitemap } = change;
  const { url, lastModified } = page;
  switch (change.kind) {
    case "added":
      return [kind, url, "", lastModified, "", sitemap, ""];
    case "removed":
      return [kind, url, "", "", lastModified, "", sitemap];
    case "unknown":
      return change.missing === "before"
        ? [kind, url, "missing before", lastModified, "", sitemap, ""]
        : [kind, url, "missing after", "", lastModified, "", sitemap];
    case "moved":
      return [kind, url, "sitemap", lastModified, lastModified, sitemap, change.from];
    case "changed": {
      const { fields, before, from } = change;
      const named = from === undefined ? fields : [...fields, "sitemap"];
      return [kind, url, named.join(", "), lastModified, before.lastModified, sitemap, from ?? sitemap];
    }
  }
}
