// From the changes between two runs of a fleet to pieces of text: as `diff` writes them, with the website of each.

import { Summarizer } from "../../diff/summarize.ts";
import type { SiteOutcome } from "../../fleet/site-job.ts";
import type { ChangeKind, DiffTotals, TreeChange } from "../../model/change.ts";
import { counted } from "../../model/figures.ts";
import {
  changeCsvColumns,
  changeCsvWriter,
  changeFeedWriter,
  changeNdjsonWriter,
  changePagesWriter,
} from "../../write/changes.ts";
import { csvCell } from "../../write/csv.ts";
import { diffMarkdown, diffText } from "../../write/diff-summary.ts";
import { textJson } from "../../write/pages.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import type { DiffFormat } from "../commands/diff.ts";

/** A website that is on one list only, or that ended in another way than before. */
export interface SiteChange {
  readonly site: string;
  readonly kind: "site";
  readonly change: "new" | "gone" | "outcome";
  readonly before?: SiteOutcome;
  readonly after?: SiteOutcome;
}

export type FleetChange = SiteChange | (TreeChange & { readonly site: string });

export interface FleetDiffOutput {
  readonly format: DiffFormat;
  readonly kinds: ReadonlySet<ChangeKind>;
  /** What the sides are called. */
  readonly before: string;
  readonly after: string;
}

type Batches = AsyncGenerator<readonly FleetChange[], DiffTotals>;

export function writeFleetDiff(batches: Batches, output: FleetDiffOutput): AsyncGenerator<string, void, undefined> {
  const { format } = output;
  return format === "summary" || format === "markdown" ? summary(batches, output) : lines(batches, output);
}

async function* summary(batches: Batches, output: FleetDiffOutput): AsyncGenerator<string, void, undefined> {
  const { format, kinds, before, after } = output;
  const summarizer = new Summarizer();
  const sites: SiteChange[] = [];
  let siteCount = 0;
  for (;;) {
    const step = await batches.next();
    if (step.done) {
      const made = summarizer.finish({ before, after }, kinds, step.value);
      const text = format === "markdown" ? diffMarkdown(made) : diffText(made);
      yield siteCount === 0 ? text : text.replace(/No differences\.\n$/, "No differences on the websites of both.\n");
      if (siteCount > 0) yield sitesInWords(sites, siteCount, format === "markdown");
      return;
    }
    const changes: TreeChange[] = [];
    for (const change of step.value) {
      if (change.kind !== "site") changes.push(change);
      else {
        siteCount += 1;
        if (sites.length < mostSites) sites.push(change);
      }
    }
    summarizer.see(changes);
  }
}

const mostSites = 20;

function sitesInWords(sites: readonly SiteChange[], count: number, isMarkdown: boolean): string {
  const more = count > sites.length ? [`and ${counted(count - sites.length, "more website")}`] : [];
  const words = sites.map(({ change, site, before, after }) => {
    const what = change === "outcome" ? `${before} → ${after}` : change;
    return isMarkdown ? `- ${what}: \`${printable(site).replaceAll("`", "")}\`` : `  ${what}  ${printable(site)}`;
  });
  const title = isMarkdown ? ["", "Websites", ""] : ["", "Websites"];
  return `${[...title, ...words, ...more.map((text) => (isMarkdown ? `- ${text}` : `  ${text}`))].join("\n")}\n`;
}

async function* lines(batches: Batches, output: FleetDiffOutput): AsyncGenerator<string, void, undefined> {
  const writer = writerFor(output);
  if (writer.header !== "") yield writer.header;
  for await (const changes of batches) {
    const text = writer.write(changes);
    if (text !== "") yield text;
  }
  if (writer.footer !== "") yield writer.footer;
}

interface Writer {
  readonly header: string;
  readonly footer: string;
  write(changes: readonly FleetChange[]): string;
}

function writerFor({ format, before, after }: FleetDiffOutput): Writer {
  switch (format) {
    case "csv": {
      const { write } = changeCsvWriter();
      const cell = csvCell(true);
      const row = (change: FleetChange) => {
        if (change.kind !== "site") return `${cell(change.site)},${write([change])}`;
        const what = change.change === "outcome" ? `${change.before} → ${change.after}` : change.change;
        return `${[change.site, "site", change.site, what, "", "", "", ""].map(cell).join(",")}\n`;
      };
      const header = `${["site", ...changeCsvColumns].join(",")}\n`;
      return { header, footer: "", write: (changes) => changes.map(row).join("") };
    }
    case "pages": {
      const { write } = changePagesWriter();
      return { header: "", footer: "", write: (changes) => write(changes.filter(isTreeChange)) };
    }
    case "rss": {
      const title = `New pages of ${after}`;
      const description = `Pages of ${after} that ${before} does not have`;
      const feed = changeFeedWriter({ title, link: "about:blank", description });
      return { ...feed, write: (changes) => feed.write(changes.filter(isTreeChange)) };
    }
    default: {
      const { write } = changeNdjsonWriter();
      const line = (change: FleetChange) => {
        if (change.kind === "site") return `${jsonOf(change)}\n`;
        const { site, ...rest } = change;
        return `{"site":${textJson(site)},${write([rest as TreeChange]).slice(1)}`;
      };
      return { header: "", footer: "", write: (changes) => changes.map(line).join("") };
    }
  }
}

function isTreeChange(change: FleetChange): change is TreeChange & { readonly site: string } {
  return change.kind !== "site";
}
