// Shows what changed since an earlier state of the website: counts, and the first examples.
import type { DiffSide } from "../diff/diff-side.ts";
import { diffBatches } from "../diff/diff-trees.ts";
import { resolveDiffOptions } from "../diff/settings.ts";
import { Summarizer } from "../diff/summarize.ts";
import type { ChangeCounts, DiffSideTotals, DiffSummary, DiffTotals, PageChange } from "../model/change.ts";
import { counted, grouped } from "../model/figures.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { ReportChanges, ReportFacts } from "./facts.ts";
import { caps, type Html, html, part, table, urlList, type Value, withoutOrigin, withShortTexts } from "./html.ts";

export async function changeFacts(
  previous: DiffSide,
  tree: SitemapTree,
  signal: AbortSignal | undefined,
): Promise<ReportChanges> {
  const settings = resolveDiffOptions({ signal });
  const summarizer = new Summarizer();
  const batches = diffBatches(previous, tree, settings);
  let step = await batches.next();
  for (; !step.done; step = await batches.next()) summarizer.see(step.value);
  const names = { before: "", after: "" };
  return summaryFacts(summarizer.finish(names, settings.kinds, step.value));
}

export function summaryFacts(summary: Omit<DiffSummary, "before" | "after" | "bySitemap" | "kinds">): ReportChanges {
  const { totals, bySection, byField, sitemaps, examples } = summary;
  const sections = bySection.slice(0, caps.changes).map((section) => withShortTexts(section));
  return {
    totals,
    sections,
    otherSections: bySection.length - sections.length,
    fields: Object.fromEntries(byField),
    sitemaps: sitemaps.slice(0, caps.changes).map(({ change, sitemap }) => withShortTexts({ change, sitemap })),
    examples: examples.map((change) =>
      withShortTexts({ kind: change.kind, url: change.page.url, what: whatOf(change) }),
    ),
  };
}

function whatOf(change: PageChange): string | undefined {
  if (change.kind === "changed") return change.fields.join(", ");
  return change.kind === "moved" ? `from ${change.from} to ${change.sitemap}` : undefined;
}

const kinds = [
  ["added", "New"],
  ["removed", "Gone"],
  ["changed", "Changed"],
  ["moved", "Moved"],
  ["unknown", "Unknown"],
] as const satisfies readonly (readonly [keyof ChangeCounts, string])[];

export function changesPart({ changes, homepage }: ReportFacts): Html | undefined {
  if (changes === undefined) return undefined;
  const { totals, sections, sitemaps, examples } = changes;
  const content =
    kinds.every(([kind]) => totals[kind] === 0) && totals.sitemaps + totals.expired === 0
      ? html`<p class="empty good">No changes.</p>`
      : html`<dl class="figures">${kinds.map(([kind, name]) => html`<div><dt>${name}</dt><dd class="value">${grouped(totals[kind])}</dd></div>`)}</dl>${sections.length > 0 && bySection(changes, homepage)}${fields(changes)}${sitemaps.length > 0 && bySitemap(changes, homepage)}${examples.length > 0 && examplesOf(changes, homepage)}`;
  const lead = html`<p class="lead">Before: ${side(totals.before)}; now: ${side(totals.after)}.${remarks(totals)}</p>`;
  return part("since", "What changed since the previous state", html`${lead}${content}`);
}

function side({ pages, sitemaps, complete }: DiffSideTotals): string {
  const size = `${counted(pages, "page")} in ${counted(sitemaps, "sitemap")}`;
  return complete ? size : `${size}, as far as they could be read`;
}

function remarks({ changed, changedOnlyLastModified, expired, unknown }: DiffTotals): Value {
  return [
    changedOnlyLastModified > 0 &&
      ` ${grouped(changedOnlyLastModified)} of ${counted(changed, "changed page")} changed only in date.`,
    expired > 0 &&
      ` ${counted(expired, "page")} dropped out of a feed or a news sitemap, which list only recent pages.`,
    unknown > 0 && " Unknown pages are listed on one side only; the other could not be fully read.",
  ];
}

function bySection({ sections, otherSections, totals }: ReportChanges, homepage: string): Html {
  // A column without a number would push others off a narrow screen.
  const shown = kinds.filter(([kind]) => totals[kind] > 0);
  const rows = sections.map(({ name, changes }) => {
    const counts = shown.map(([kind]) => changes[kind] > 0 && grouped(changes[kind]));
    return { cells: [html`<bdi class="url">${withoutOrigin(name, homepage)}</bdi>`, ...counts] };
  });
  return table("Changes by section", [["Section"], ...shown.map(([, name]) => [name] as const)], rows, otherSections);
}

function fields({ fields }: ReportChanges): Html | false {
  const given = Object.entries(fields).sort(([, one], [, two]) => two - one);
  if (given.length === 0) return false;
  return html`<p class="note">What changed: ${given.map(([field, count]) => `${field} (${grouped(count)})`).join(", ")}.</p>`;
}

const sitemapWords = {
  added: "new",
  gone: "gone",
  "now-invalid": "no longer readable",
  "now-readable": "now readable",
  unknown: "unknown",
} as const;

function bySitemap({ sitemaps, totals }: ReportChanges, homepage: string): Html {
  const items = sitemaps.map(({ change, sitemap }) => ({ url: sitemap, remark: sitemapWords[change] }));
  return html`<details class="more"><summary>${grouped(totals.sitemaps)} ${totals.sitemaps === 1 ? "sitemap differs" : "sitemaps differ"}</summary>${urlList(items, homepage, totals.sitemaps - items.length)}</details>`;
}

function examplesOf({ examples }: ReportChanges, homepage: string): Html {
  return html`<details class="more"><summary>Examples</summary>${kinds.map(([kind, name]) => {
    const items = examples.filter((example) => example.kind === kind).map(({ url, what }) => ({ url, remark: what }));
    return items.length > 0 && html`<h3>${name}</h3>${urlList(items, homepage, 0)}`;
  })}</details>`;
}
