// The summary of a diff as text for people.
import {
  type ChangeCounts,
  type ChangeGroup,
  changeKinds,
  type DiffSummary,
  type PageChange,
} from "../model/change.ts";
import { counted, grouped } from "../model/figures.ts";
import {
  changeInWords,
  groupsOf,
  kindInWords,
  remarkOn,
  sitemapInWords,
  sizesInWords,
  wantedKinds,
} from "./diff-words.ts";
import { printable } from "./printable.ts";

const mostGroups = 10;

export function diffText(summary: DiffSummary): string {
  const lines = [printable(`${summary.before} → ${summary.after}`), sizesInWords(summary), ""];
  const kinds = wantedKinds(summary);
  if (kinds.length === 0) return `${[...lines, "No differences."].join("\n")}\n`;
  const width = Math.max(...kinds.map(({ count }) => grouped(count).length), 5);
  for (const { kind, count } of kinds) {
    const remark = remarkOn(kind, summary);
    lines.push(`${grouped(count).padStart(width)}  ${kindInWords(kind, count)}${remark === "" ? "" : `: ${remark}`}`);
  }
  const { sitemaps, totals, examples } = summary;
  const { bySitemap, bySection } = groupsOf(summary);
  if (sitemaps.length > 0) {
    lines.push("", "Sitemaps");
    for (const change of sitemaps) lines.push(`  ${printable(sitemapInWords(change))}`);
    if (totals.sitemaps > sitemaps.length) lines.push(`  and ${grouped(totals.sitemaps - sitemaps.length)} more`);
  }
  lines.push(...table("By sitemap", bySitemap), ...table("By section", bySection));
  for (const kind of changeKinds) {
    const some = examples.filter((example) => example.kind === kind);
    if (some.length > 0) lines.push("", `${kindInWords(kind, 1, true)}, for example`, ...some.map(example));
  }
  return `${lines.join("\n")}\n`;
}

function example(change: PageChange): string {
  const more = changeInWords(change);
  return `  ${printable(change.page.url)}${more === "" ? "" : `  (${printable(more)})`}`;
}

// Only columns that are not empty.
function table(title: string, groups: readonly ChangeGroup[]): string[] {
  if (groups.length === 0) return [];
  const kinds = (["added", "removed", "changed", "moved", "unknown"] as const).filter((kind) =>
    groups.some(({ counts }) => counts[kind] > 0),
  );
  const shown = groups.slice(0, mostGroups);
  const rest = groups.slice(mostGroups);
  const rows = shown.map(({ name, counts }) => ({
    name: printable(name),
    cells: kinds.map((kind) => grouped(counts[kind])),
  }));
  if (rest.length > 0) {
    const sum = (kind: keyof ChangeCounts) => grouped(rest.reduce((total, { counts }) => total + counts[kind], 0));
    rows.push({ name: `in ${counted(rest.length, "other")}`, cells: kinds.map(sum) });
  }
  const widths = kinds.map((kind, at) => Math.max(kind.length, ...rows.map((row) => row.cells[at]?.length ?? 0)));
  const line = (texts: readonly string[]) => texts.map((text, at) => text.padStart(widths[at] ?? 0)).join("  ");
  return ["", title, `  ${line(kinds)}`, ...rows.map((row) => `  ${line(row.cells)}  ${row.name}`)];
}
