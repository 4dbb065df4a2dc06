// The formats of `diff --follow`: rows are written while pages are requested, the summary at the end.
import type { DiffTotals } from "../model/change.ts";
import { counted, grouped } from "../model/figures.ts";
import { type FollowedRow, type FollowVerdict, followVerdicts } from "../model/followed.ts";
import { mapped } from "../model/generators.ts";
import { csvCell } from "./csv.ts";
import { jsonOf, printable } from "./printable.ts";

interface FollowOutput {
  readonly format: string;
  readonly csvSafe: boolean;
  readonly names: { readonly before: string; readonly after: string };
  seen(row: FollowedRow): void;
}

const columns = ["url", "status", "hops", "finalUrl", "listed", "verdict", "reason"] as const;
const mostExamples = 5;

export async function* writeFollowed(
  rows: AsyncGenerator<FollowedRow, DiffTotals, undefined>,
  { format, csvSafe, names, seen }: FollowOutput,
): AsyncGenerator<string, void> {
  const cell = csvCell(csvSafe);
  const examples = new Map<FollowVerdict, FollowedRow[]>();
  const counts = new Map<FollowVerdict, number>();
  if (format === "csv") yield `${columns.join(",")}\n`;
  const totals = yield* mapped(rows, function* (row) {
    seen(row);
    counts.set(row.verdict, (counts.get(row.verdict) ?? 0) + 1);
    const shown = examples.get(row.verdict) ?? [];
    if (shown.length < mostExamples) examples.set(row.verdict, [...shown, row]);
    const cells = { ...row, reason: row.reason?.message };
    if (format === "csv") yield `${columns.map((name) => cell(cells[name] as string | number)).join(",")}\n`;
    if (format === "ndjson") yield `${jsonOf(row)}\n`;
  });
  if (format === "summary") yield summary(names, totals, counts, examples);
}

function summary(
  { before, after }: FollowOutput["names"],
  totals: DiffTotals,
  counts: ReadonlyMap<FollowVerdict, number>,
  examples: ReadonlyMap<FollowVerdict, readonly FollowedRow[]>,
): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const sizes = `${counted(totals.before.pages, "page")} → ${counted(totals.after.pages, "page")}`;
  const lines = [printable(`${before} → ${after}`), sizes, ""];
  if (total === 0) return `${[...lines, "No page is missing."].join("\n")}\n`;
  lines.push(`${counted(total, "page")} missing from the new sitemaps; at the old addresses:`, "");
  const found = followVerdicts.filter((verdict) => counts.has(verdict));
  for (const verdict of found) lines.push(`${grouped(counts.get(verdict)!).padStart(5)}  ${verdict}`);
  for (const verdict of found) {
    lines.push("", `${verdict}, for example`);
    for (const { url, finalUrl, status, hops, reason } of examples.get(verdict)!) {
      const end = hops === 0 ? "" : ` → ${finalUrl}`;
      const why = reason === undefined ? status && `(${status})` : printable(reason.message);
      lines.push(`  ${printable(`${url}${end}`)}${why === undefined ? "" : `  ${why}`}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
