// Shows what changed since an earlier state of the website: counts, and the first examples.
import type { DiffSide } from "../diff/diff-side.ts";
import { diffBatches } from "../diff/diff-trees.ts";
import { resolveDiffOptions } from "../diff/settings.ts";
import { Summarizer } from "../diff/summarize.ts";
import type { ChangeCounts, DiffSummary, PageChange } from "../model/change.ts";
import { counted, grouped } from "../model/figures.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { ReportChanges, ReportFacts } from "./facts.ts";
import { caps, type Html, html, otherRow, part, table, urlLink, withoutOrigin, withShortTexts } from "./html.ts";

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
  ["added", "New", "plus"],
  ["removed", "Gone", "minus"],
  ["changed", "Changed", "edit"],
  ["moved", "Moved", "move"],
  ["unknown", "Unknown", "unsure"],
] as const satisfies readonly (readonly [keyof ChangeCounts, string, string])[];

export function changesPart({ changes, homepage }: ReportFacts): Html | undefined {
  if (changes === undefined) return undefined;
  const { totals, sections, sitemaps, examples } = changes;
  const all = kinds.reduce((sum, [kind]) => sum + totals[kind], 0) + totals.sitemaps + totals.expired;
  const before = `Before: ${counted(totals.before.pages, "page")} in ${counted(totals.before.sitemaps, "sitemap")}`;
  const lead = html`<p class="lead">${before}${!totals.before.complete && ", as far as they could be read"}; now: ${counted(totals.after.pages, "page")} in ${counted(totals.after.sitemaps, "sitemap")}${!totals.after.complete && ", as far as they could be read"}.${totals.changedOnlyLastModified > 0 && ` ${grouped(totals.changedOnlyLastModified)} of ${counted(totals.changed, "changed page")} changed only in date.`}${totals.expired > 0 && ` ${counted(totals.expired, "page")} dropped out of a feed or a news sitemap, which list only recent pages.`}${totals.unknown > 0 && " Unknown pages are listed on one side only; the other could not be fully read."}</p>`;
  const content =
    all === 0
      ? html`<p class="empty good">No changes.</p>`
      : html`<dl class="delta">${kinds.map(([kind, name]) => html`<div><dt>${name}</dt><dd>${grouped(totals[kind])}</dd></div>`)}</dl>${sections.length > 0 && bySection(changes, homepage)}${fields(changes)}${sitemaps.length > 0 && bySitemap(changes, homepage)}${examples.length > 0 && examplesOf(changes, homepage)}`;
  return part("since", "What changed since the previous state", html`${lead}${content}`);
}

function bySection({ sections, otherSections, totals }: ReportChanges, homepage: string): Html {
  // A column without a number would push others off a narrow screen.
  const shown = kinds.filter(([kind]) => totals[kind] > 0);
  const sum = (counts: ChangeCounts) => kinds.reduce((total, [kind]) => total + counts[kind], 0);
  const most = Math.max(...sections.map(({ changes }) => sum(changes)));
  const head = html`<th scope="col">Section</th>${shown.map(([, name]) => html`<th scope="col" class="number">${name}</th>`)}<th scope="col" class="mix minor"><span class="unseen">Shares</span></th>`;
  const rows = sections.map(({ name, changes }) => {
    let left = 0;
    const bars = kinds.map(([kind, , tone]) => {
      const width = Number(((changes[kind] / most) * 100).toFixed(2));
      left += width;
      return (
        width > 0 && html`<rect class="${tone}" x="${Number((left - width).toFixed(2))}" width="${width}" height="10"/>`
      );
    });
    return html`<tr><th scope="row"><bdi class="url">${withoutOrigin(name, homepage)}</bdi></th>${shown.map(([kind]) => html`<td class="number">${changes[kind] === 0 ? "" : grouped(changes[kind])}</td>`)}<td class="mix minor"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">${bars}</svg></td></tr>`;
  });
  return table("Changes by section", head, [...rows, otherRow(otherSections, shown.length + 2)], "kinds");
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
  const left = totals.sitemaps - sitemaps.length;
  return html`<details class="more"><summary>${grouped(totals.sitemaps)} ${totals.sitemaps === 1 ? "sitemap differs" : "sitemaps differ"}</summary><ul class="examples">${sitemaps.map(({ change, sitemap }) => html`<li>${urlLink(sitemap, homepage)}<span class="place">${sitemapWords[change]}</span></li>`)}${left > 0 && html`<li class="soft">other (${grouped(left)})</li>`}</ul></details>`;
}

function examplesOf({ examples }: ReportChanges, homepage: string): Html {
  return html`<details class="more"><summary>Examples</summary>${kinds.map(([kind, name]) => {
    const own = examples.filter((example) => example.kind === kind);
    return (
      own.length > 0 &&
      html`<h3>${name}</h3><ul class="examples">${own.map(({ url, what }) => html`<li>${urlLink(url, homepage)}${what !== undefined && html`<span class="place"><bdi>${what}</bdi></span>`}</li>`)}</ul>`
    );
  })}</details>`;
}
