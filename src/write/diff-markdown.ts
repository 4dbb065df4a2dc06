// The summary of a diff as Markdown, for the step summaries of continuous integration and for comments on a pull
// request. https://github.github.com/gfm/ Texts of a website are shown as code: nothing in them is markup, a link or a
// mention.
import { type ChangeGroup, changeKinds, type DiffSummary } from "../model/change.ts";
import { grouped } from "../model/figures.ts";
import { changeInWords, groupsOf, kindInWords, remarkOn, sizesInWords, wantedKinds } from "./diff-words.ts";
import { printable } from "./printable.ts";

const mostGroups = 10;

export function diffMarkdown(summary: DiffSummary): string {
  const { before, after } = summary;
  const lines = [`### What changed: ${code(before)} → ${code(after)}`, "", sizesInWords(summary), ""];
  const kinds = wantedKinds(summary);
  if (kinds.length === 0) return `${[...lines, "No differences."].join("\n")}\n`;
  lines.push("| | |", "|--:|---|");
  for (const { kind, count } of kinds) {
    const remark = remarkOn(kind, summary);
    lines.push(`| ${grouped(count)} | ${kindInWords(kind, count)}${remark === "" ? "" : `: ${remark}`} |`);
  }
  const { sitemaps, totals, examples } = summary;
  const { bySitemap, bySection } = groupsOf(summary);
  if (sitemaps.length > 0) {
    lines.push("", "| sitemap | |", "|---|---|");
    for (const { change, sitemap, reason, missing } of sitemaps) {
      const what = `${change.replace("-", " ")}${missing === undefined ? "" : `, missing ${missing}`}`;
      lines.push(`| ${inTable(sitemap)} | ${what}${reason === undefined ? "" : `: ${inTable(reason.message)}`} |`);
    }
    if (totals.sitemaps > sitemaps.length) lines.push(`| and ${grouped(totals.sitemaps - sitemaps.length)} more | |`);
  }
  lines.push(...table("by sitemap", bySitemap), ...table("by section", bySection));
  for (const kind of changeKinds) {
    const some = examples.filter((example) => example.kind === kind);
    if (some.length === 0) continue;
    lines.push("", `<details><summary>${kindInWords(kind, 1, true)}, for example</summary>`, "");
    for (const change of some) {
      const more = changeInWords(change);
      lines.push(`- ${code(change.page.url)}${more === "" ? "" : `: ${code(more)}`}`);
    }
    lines.push("", "</details>");
  }
  return `${lines.join("\n")}\n`;
}

function table(title: string, groups: readonly ChangeGroup[]): string[] {
  if (groups.length === 0) return [];
  const kinds = (["added", "removed", "changed", "moved", "unknown"] as const).filter((kind) =>
    groups.some(({ counts }) => counts[kind] > 0),
  );
  const lines = ["", `| ${title} | ${kinds.join(" | ")} |`, `|---|${kinds.map(() => "--:|").join("")}`];
  for (const { name, counts } of groups.slice(0, mostGroups)) {
    lines.push(`| ${inTable(name)} | ${kinds.map((kind) => grouped(counts[kind])).join(" | ")} |`);
  }
  const more = groups.length - mostGroups;
  if (more > 0) lines.push(`| and ${grouped(more)} more |${" |".repeat(kinds.length)}`);
  return lines;
}

// A code span begins and ends with more backticks than it contains.
function code(text: string): string {
  const shown = printable(text);
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((ticks) => ticks.length));
  if (longest === 0) return `\`${shown}\``;
  const fence = "`".repeat(longest + 1);
  return `${fence} ${shown} ${fence}`;
}

// In a table a pipe ends the cell, even in code.
function inTable(text: string): string {
  return code(text).replaceAll("|", "\\|");
}
