// Writes changes in the requested format. Lists are written while the sides are compared; summaries at the end.
import { Summarizer } from "../../diff/summarize.ts";
import type { ChangeKind, DiffTotals, TreeChange } from "../../model/change.ts";
import { homepageOf } from "../../model/url.ts";
import {
  type ChangeWriter,
  changeCsvWriter,
  changeFeedWriter,
  changeNdjsonWriter,
  changePagesWriter,
} from "../../write/changes.ts";
import { diffMarkdown, diffText } from "../../write/diff-summary.ts";
import type { DiffEnding, DiffFormat } from "../commands/diff.ts";

export interface DiffOutput {
  readonly format: DiffFormat;
  readonly csvSafe: boolean;
  readonly kinds: ReadonlySet<ChangeKind>;
  /** The names of the sides. */
  readonly names: { readonly before: string; readonly after: string };
  readonly ending: DiffEnding;
}

type Batches = AsyncGenerator<readonly TreeChange[], DiffTotals>;

export function writeDiff(batches: Batches, output: DiffOutput): AsyncGenerator<string, void, undefined> {
  const { format } = output;
  return format === "summary" || format === "markdown" ? summary(batches, output, format) : lines(batches, output);
}

async function* summary(
  batches: Batches,
  { names, kinds }: DiffOutput,
  format: "summary" | "markdown",
): AsyncGenerator<string, void, undefined> {
  const summarizer = new Summarizer();
  for (;;) {
    const step = await batches.next();
    if (step.done) {
      const made = summarizer.finish(names, kinds, step.value);
      yield format === "markdown" ? diffMarkdown(made) : diffText(made);
      return;
    }
    summarizer.see(step.value);
  }
}

// About 64 KB of URLs.
const batchLength = 1000;

async function* lines(batches: Batches, output: DiffOutput): AsyncGenerator<string, void, undefined> {
  let writer: ChangeWriter | undefined;
  for await (const changes of batches) {
    if (writer === undefined) {
      writer = writerFor(output, changes);
      if (writer.header !== "") yield writer.header;
    }
    for (let from = 0; from < changes.length; from += batchLength) {
      yield writer.write(changes.slice(from, from + batchLength));
    }
  }
  if (writer === undefined) {
    writer = writerFor(output, []);
    if (writer.header !== "") yield writer.header;
  }
  if (writer.footer !== "") yield writer.footer;
}

/** `first`: the first changes, for a feed that has to name a website. */
function writerFor({ format, csvSafe, names, ending }: DiffOutput, first: readonly TreeChange[]): ChangeWriter {
  switch (format) {
    case "csv":
      return changeCsvWriter({ safe: csvSafe });
    case "pages":
      return changePagesWriter();
    case "rss": {
      const [change] = first;
      const page = change === undefined || change.kind === "sitemap" ? undefined : change.page.url;
      const homepage = ending.side("after").homepage ?? ending.side("before").homepage;
      const link = homepage ?? (page === undefined ? "about:blank" : homepageOf(page));
      return changeFeedWriter({
        title: `New pages of ${link === "about:blank" ? names.after : link}`,
        link,
        description: `Pages of ${names.after} that ${names.before} does not have`,
      });
    }
    default:
      return changeNdjsonWriter();
  }
}
