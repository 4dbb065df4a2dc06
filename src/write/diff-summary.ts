// The summary of a diff: as text for people, and as Markdown (https://github.github.com/gfm/) for step summaries of continuous integration
// and for comments on a pull request. In Markdown, text from a website is in code spans, where markup, links and mentions have no effect.
import {
  type ChangeGroup,
  type ChangeKind,
  changeKinds,
  type DiffSideTotals,
  type DiffSummary,
  type PageChange,
  type SitemapChange,
  type UnknownPage,
} from "../model/change.ts";
import { counted, grouped } from "../model/figures.ts";
import { codeInTable, codeSpan } from "./markdown.ts";
import { printable } from "./printable.ts";

const mostGroups = 10;

/** The counts of kinds of changes, by sitemap or section. The last row may stand for several. */
interface Table {
  readonly title: string;
  readonly kinds: readonly GroupKind[];
  readonly rows: readonly { readonly name: string; readonly isRest?: boolean; readonly counts: readonly string[] }[];
}

/** URLs with remarks, such as examples. */
interface List {
  readonly title: string;
  readonly items: readonly { readonly url: string; readonly remark: string }[];
  /** How many more there are; undefined for examples, which Markdown folds. */
  readonly more?: number;
}

export function diffText(summary: DiffSummary): string {
  const lines = [printable(`${summary.before} → ${summary.after}`), sizesInWords(summary), ""];
  const kinds = wantedKinds(summary);
  if (kinds.length === 0) return `${[...lines, "No differences."].join("\n")}\n`;
  const width = Math.max(...kinds.map(({ count }) => count.length), 5);
  for (const { words, count } of kinds) lines.push(`${count.padStart(width)}  ${words}`);
  for (const part of partsOf(summary)) {
    if ("items" in part) {
      lines.push("", part.title);
      for (const { url, remark } of part.items)
        lines.push(`  ${printable(url)}${remark === "" ? "" : `  (${printable(remark)})`}`);
      if (part.more) lines.push(`  and ${grouped(part.more)} more`);
    } else {
      const { title, kinds, rows } = part;
      const widths = kinds.map((kind, at) => Math.max(kind.length, ...rows.map(({ counts }) => counts[at]!.length)));
      const line = (texts: readonly string[]) => `  ${texts.map((text, at) => text.padStart(widths[at]!)).join("  ")}`;
      lines.push("", `By ${title}`, line(kinds));
      for (const { name, counts } of rows) lines.push(`${line(counts)}  ${printable(name)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

export function diffMarkdown(summary: DiffSummary): string {
  const { before, after } = summary;
  const lines = [`### What changed: ${codeSpan(before)} → ${codeSpan(after)}`, "", sizesInWords(summary), ""];
  const kinds = wantedKinds(summary);
  if (kinds.length === 0) return `${[...lines, "No differences."].join("\n")}\n`;
  lines.push("| | |", "|--:|---|");
  for (const { words, count } of kinds) lines.push(`| ${count} | ${words} |`);
  for (const part of partsOf(summary)) {
    if ("items" in part) {
      lines.push("", `<details${part.more === undefined ? "" : " open"}><summary>${part.title}</summary>`, "");
      for (const { url, remark } of part.items)
        lines.push(`- ${codeSpan(url)}${remark === "" ? "" : `: ${codeSpan(remark)}`}`);
      if (part.more) lines.push(`- and ${grouped(part.more)} more`);
      lines.push("", "</details>");
    } else {
      const { title, kinds, rows } = part;
      lines.push("", `| by ${title} | ${kinds.join(" | ")} |`, `|---|${kinds.map(() => "--:|").join("")}`);
      for (const { name, isRest, counts } of rows)
        lines.push(`| ${isRest ? name : codeInTable(name)} | ${counts.join(" | ")} |`);
    }
  }
  return `${lines.join("\n")}\n`;
}

// Returns what follows the totals: the sitemaps that differ, the tables, and examples.
function partsOf({ sitemaps, totals, bySitemap, bySection, examples }: DiffSummary): (Table | List)[] {
  const items = sitemaps.map((change) => ({ url: change.sitemap, remark: sitemapInWords(change) }));
  const hasSitemaps = totals.before.sitemaps > 1 || totals.after.sitemaps > 1;
  return [
    ...(items.length > 0 ? [{ title: "Sitemaps", items, more: totals.sitemaps - items.length }] : []),
    // A table with one row would only repeat the totals.
    ...(hasSitemaps && bySitemap.length > 0 ? [tableOf("sitemap", bySitemap)] : []),
    ...(bySection.length > 1 ? [tableOf("section", bySection)] : []),
    ...groupKinds.flatMap((kind) => {
      const own = examples.filter((example) => example.kind === kind);
      const items = own.map((change) => ({ url: change.page.url, remark: changeInWords(change) }));
      const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}, for example`;
      return items.length === 0 ? [] : [{ title, items }];
    }),
  ];
}

function tableOf(title: string, groups: readonly ChangeGroup[]): Table {
  // Kinds that occur in no group need no column.
  const kinds = groupKinds.filter((kind) => groups.some(({ changes }) => changes[kind] > 0));
  const counts = (some: readonly ChangeGroup[]) =>
    kinds.map((kind) => grouped(some.reduce((sum, { changes }) => sum + changes[kind], 0)));
  const rows = groups.slice(0, mostGroups).map((group) => ({ name: group.name, counts: counts([group]) }));
  const rest = groups.slice(mostGroups);
  if (rest.length === 0) return { title, kinds, rows };
  const last = { name: `in ${counted(rest.length, "other")}`, isRest: true, counts: counts(rest) };
  return { title, kinds, rows: [...rows, last] };
}

// Says how much was compared.
function sizesInWords({ totals }: DiffSummary): string {
  const side = ({ pages, sitemaps, complete }: DiffSideTotals) =>
    `${counted(pages, "page")} in ${counted(sitemaps, "sitemap")}${complete ? "" : ", incomplete"}`;
  return `${side(totals.before)} → ${side(totals.after)}`;
}

// Returns the kinds of changes that are listed and occur, in order, with a remark if there is one.
function wantedKinds(summary: DiffSummary): { readonly count: string; readonly words: string }[] {
  const { kinds, totals } = summary;
  return changeKinds
    .map((kind) => ({ kind, count: kind === "sitemap" ? totals.sitemaps : totals[kind] }))
    .filter(({ kind, count }) => kinds.has(kind) && count > 0)
    .map(({ kind, count }) => {
      const remark = remarkOn(kind, summary);
      const words = kind === "sitemap" ? (count === 1 ? "sitemap differs" : "sitemaps differ") : kind;
      return { count: grouped(count), words: `${words}${remark === "" ? "" : `: ${remark}`}` };
    });
}

// Returns a remark about a kind of change. It names flags as on the command line.
function remarkOn(kind: ChangeKind, { totals }: DiffSummary): string {
  const { changed, changedOnlyLastModified: onlyDate } = totals;
  if (kind === "changed" && onlyDate > 0) {
    // Never rounds to 0% or 100%.
    const share = onlyDate === changed ? 100 : Math.min(99, Math.max(1, Math.round((onlyDate / changed) * 100)));
    return `${share}% changed only lastModified; --ignore lastModified skips ${onlyDate === 1 ? "it" : "them"}`;
  }
  if (kind !== "unknown") return "";
  const sides = [...(totals.before.complete ? [] : ["before"]), ...(totals.after.complete ? [] : ["after"])];
  return `missing on an incomplete side (${sides.join(", ")})`;
}

type GroupKind = (typeof groupKinds)[number];
const groupKinds = ["added", "removed", "changed", "moved", "unknown", "expired"] as const;

function sitemapInWords({ change, missing, reason }: SitemapChange): string {
  const words = `${change.replace("-", " ")}${missing === undefined ? "" : `, missing ${missing}`}`;
  return reason === undefined ? words : `${words}: ${reason.message}`;
}

// Returns the details that the kind of a change does not say, such as the fields that differ.
function changeInWords(change: PageChange): string {
  if (change.kind === "moved") return `from ${change.from} to ${change.sitemap}`;
  if (change.kind === "changed") {
    const { before, page, fields, from } = change;
    const words = fields.map((field) =>
      field === "priority" || field === "lastModified" || field === "changeFrequency"
        ? `${field} ${before[field] ?? "none"} → ${page[field] ?? "none"}`
        : field,
    );
    return [...words, ...(from === undefined ? [] : [`from ${from}`])].join("; ");
  }
  const { missing, declaredUrl } = change as Partial<UnknownPage>;
  const words = [missing && `missing ${missing}`, declaredUrl && `declared as ${declaredUrl}`];
  return words.filter((each) => each !== undefined).join("; ");
}
