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
} from "../model/change.ts";
import { counted, grouped } from "../model/figures.ts";
import type { SitemapPage } from "../model/page.ts";
import { codeInTable, codeSpan } from "./markdown.ts";
import { printable } from "./printable.ts";

const mostGroups = 10;

export function diffText(summary: DiffSummary): string {
  const { before, after, sitemaps, totals } = summary;
  const lines = [printable(`${before} → ${after}`), sizesInWords(summary), ""];
  const kinds = wantedKinds(summary);
  if (kinds.length === 0) return `${[...lines, "No differences."].join("\n")}\n`;
  const width = Math.max(...kinds.map(({ count }) => grouped(count).length), 5);
  for (const { words, count } of kinds) lines.push(`${grouped(count).padStart(width)}  ${words}`);
  if (sitemaps.length > 0) {
    lines.push("", "Sitemaps");
    for (const change of sitemaps) {
      const why = change.reason === undefined ? "" : ` (${change.reason.message})`;
      lines.push(`  ${printable(`${sitemapInWords(change)}  ${change.sitemap}${why}`)}`);
    }
    if (totals.sitemaps > sitemaps.length) lines.push(`  and ${grouped(totals.sitemaps - sitemaps.length)} more`);
  }
  for (const { title, groups } of tablesOf(summary)) lines.push(...textTable(title, groups));
  for (const { title, changes } of examplesOf(summary)) {
    lines.push("", `${title}, for example`);
    for (const change of changes) {
      const more = changeInWords(change);
      lines.push(`  ${printable(change.page.url)}${more === "" ? "" : `  (${printable(more)})`}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function textTable(title: string, groups: readonly ChangeGroup[]): string[] {
  const kinds = kindsIn(groups);
  const rest = groups.slice(mostGroups);
  const rows = groups.slice(0, mostGroups).map(({ name, changes }) => ({
    name: printable(name),
    cells: kinds.map((kind) => grouped(changes[kind])),
  }));
  if (rest.length > 0) {
    const sum = (kind: GroupKind) => grouped(rest.reduce((total, { changes }) => total + changes[kind], 0));
    rows.push({ name: `in ${counted(rest.length, "other")}`, cells: kinds.map(sum) });
  }
  const widths = kinds.map((kind, at) => Math.max(kind.length, ...rows.map((row) => row.cells[at]?.length ?? 0)));
  const line = (texts: readonly string[]) => texts.map((text, at) => text.padStart(widths[at] ?? 0)).join("  ");
  return ["", `By ${title}`, `  ${line(kinds)}`, ...rows.map((row) => `  ${line(row.cells)}  ${row.name}`)];
}

export function diffMarkdown(summary: DiffSummary): string {
  const { before, after, sitemaps, totals } = summary;
  const lines = [`### What changed: ${codeSpan(before)} → ${codeSpan(after)}`, "", sizesInWords(summary), ""];
  const kinds = wantedKinds(summary);
  if (kinds.length === 0) return `${[...lines, "No differences."].join("\n")}\n`;
  lines.push("| | |", "|--:|---|");
  for (const { words, count } of kinds) lines.push(`| ${grouped(count)} | ${words} |`);
  if (sitemaps.length > 0) {
    lines.push("", "| sitemap | |", "|---|---|");
    for (const change of sitemaps) {
      const why = change.reason === undefined ? "" : `: ${codeInTable(change.reason.message)}`;
      lines.push(`| ${codeInTable(change.sitemap)} | ${sitemapInWords(change)}${why} |`);
    }
    if (totals.sitemaps > sitemaps.length) lines.push(`| and ${grouped(totals.sitemaps - sitemaps.length)} more | |`);
  }
  for (const { title, groups } of tablesOf(summary)) lines.push(...markdownTable(title, groups));
  for (const { title, changes } of examplesOf(summary)) {
    lines.push("", `<details><summary>${title}, for example</summary>`, "");
    for (const change of changes) {
      const more = changeInWords(change);
      lines.push(`- ${codeSpan(change.page.url)}${more === "" ? "" : `: ${codeSpan(more)}`}`);
    }
    lines.push("", "</details>");
  }
  return `${lines.join("\n")}\n`;
}

function markdownTable(title: string, groups: readonly ChangeGroup[]): string[] {
  const kinds = kindsIn(groups);
  const lines = ["", `| by ${title} | ${kinds.join(" | ")} |`, `|---|${kinds.map(() => "--:|").join("")}`];
  for (const { name, changes } of groups.slice(0, mostGroups)) {
    lines.push(`| ${codeInTable(name)} | ${kinds.map((kind) => grouped(changes[kind])).join(" | ")} |`);
  }
  const more = groups.length - mostGroups;
  if (more > 0) lines.push(`| and ${grouped(more)} more |${" |".repeat(kinds.length)}`);
  return lines;
}

// Says how much was compared.
function sizesInWords({ totals }: DiffSummary): string {
  const side = ({ pages, sitemaps, complete }: DiffSideTotals) =>
    `${counted(pages, "page")} in ${counted(sitemaps, "sitemap")}${complete ? "" : ", incomplete"}`;
  return `${side(totals.before)} → ${side(totals.after)}`;
}

// Returns the kinds of changes that are listed and occur, in order, with a remark if there is one.
function wantedKinds(summary: DiffSummary): { readonly count: number; readonly words: string }[] {
  const { kinds, totals } = summary;
  return changeKinds
    .map((kind) => ({ kind, count: kind === "sitemap" ? totals.sitemaps : totals[kind] }))
    .filter(({ kind, count }) => kinds.has(kind) && count > 0)
    .map(({ kind, count }) => {
      const remark = remarkOn(kind, summary);
      const words = kind === "sitemap" ? (count === 1 ? "sitemap differs" : "sitemaps differ") : kind;
      return { count, words: `${words}${remark === "" ? "" : `: ${remark}`}` };
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

// Returns the tables of changes by sitemap and by section. Omits a table if it would have at most one sitemap or section.
function tablesOf({ totals, bySitemap, bySection }: DiffSummary): { title: string; groups: readonly ChangeGroup[] }[] {
  const hasSitemaps = totals.before.sitemaps > 1 || totals.after.sitemaps > 1;
  return [
    { title: "sitemap", groups: hasSitemaps ? bySitemap : [] },
    { title: "section", groups: bySection.length > 1 ? bySection : [] },
  ].filter(({ groups }) => groups.length > 0);
}

type GroupKind = (typeof groupKinds)[number];
const groupKinds = ["added", "removed", "changed", "moved", "unknown", "expired"] as const;

// Returns the kinds that occur in at least one group; the others need no column.
function kindsIn(groups: readonly ChangeGroup[]): GroupKind[] {
  return groupKinds.filter((kind) => groups.some(({ changes }) => changes[kind] > 0));
}

function examplesOf({ examples }: DiffSummary): { title: string; changes: readonly PageChange[] }[] {
  return groupKinds
    .map((kind) => ({
      title: kind.charAt(0).toUpperCase() + kind.slice(1),
      changes: examples.filter((example) => example.kind === kind),
    }))
    .filter(({ changes }) => changes.length > 0);
}

function sitemapInWords({ change, missing }: SitemapChange): string {
  return `${change.replace("-", " ")}${missing === undefined ? "" : `, missing ${missing}`}`;
}

// Returns the details that the kind of a change does not say, such as the fields that differ.
function changeInWords(change: PageChange): string {
  switch (change.kind) {
    case "added":
      return "";
    case "removed":
    case "expired":
    case "unknown": {
      const { declaredUrl } = change;
      const missing = change.kind === "unknown" ? [`missing ${change.missing}`] : [];
      return [...missing, ...(declaredUrl === undefined ? [] : [`declared as ${declaredUrl}`])].join("; ");
    }
    case "moved":
      return `from ${change.from} to ${change.sitemap}`;
    case "changed": {
      const { before, page } = change;
      const fields = change.fields.map((field) => {
        if (field === "priority") return `priority ${priorityInWords(before)} → ${priorityInWords(page)}`;
        if (field === "lastModified" || field === "changeFrequency") {
          return `${field} ${before[field] ?? "none"} → ${page[field] ?? "none"}`;
        }
        return field;
      });
      return [...fields, ...(change.from === undefined ? [] : [`from ${change.from}`])].join("; ");
    }
  }
}

function priorityInWords({ priority }: SitemapPage): string {
  return String(priority ?? "none");
}
