// The differences since an earlier archive, counted, with the first examples.

import type { DiffSide } from "../diff/diff-side.ts";
import { diffBatches, resolveDiffOptions } from "../diff/diff-trees.ts";
import { Summarizer } from "../diff/summarize.ts";
import type { DiffSummary, PageChange } from "../model/change.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { ReportChanges } from "./facts.ts";
import type { Room } from "./room.ts";
import { shortened } from "./text.ts";

const mostSections = 20;

export async function changesSince(
  previous: DiffSide,
  tree: SitemapTree,
  signal: AbortSignal | undefined,
): Promise<DiffSummary> {
  const settings = resolveDiffOptions({ signal });
  const summarizer = new Summarizer();
  const batches = diffBatches(previous, tree, settings);
  let step = await batches.next();
  for (; !step.done; step = await batches.next()) summarizer.see(step.value);
  return summarizer.finish({ before: "", after: "" }, settings.kinds, step.value);
}

export function changesOf(
  { totals, sitemaps, bySection, byField, examples }: DiffSummary,
  { text }: Room,
): ReportChanges {
  return {
    totals,
    sections: bySection.slice(0, mostSections).map(({ name, counts }) => ({ name: shortened(name, text), counts })),
    otherSections: Math.max(0, bySection.length - mostSections),
    fields: Object.fromEntries(byField),
    sitemaps: sitemaps.map(({ change, sitemap }) => ({ change, sitemap: shortened(sitemap, text) })),
    examples: examples.map((change) => ({
      kind: change.kind,
      url: shortened(change.page.url, text),
      ...whatOf(change, text),
    })),
  };
}

function whatOf(change: PageChange, text: number): { what?: string } {
  if (change.kind === "changed") return { what: change.fields.join(", ") };
  if (change.kind === "moved")
    return { what: `from ${shortened(change.from, text * 0.6)} to ${shortened(change.sitemap, text * 0.6)}` };
  return {};
}
