// The formats of changes: lists are written while the sides are compared, summaries at the end.
import { Summarizer } from "../../diff/summarize.ts";
import type { ChangeKind, DiffTotals, TreeChange } from "../../model/change.ts";
import {
  type ChangeWriter,
  changeCsvWriter,
  changeFeedWriter,
  changeNdjsonWriter,
  changePagesWriter,
  type FeedOptions,
} from "../../write/changes.ts";
import { diffMarkdown, diffText } from "../../write/diff-summary.ts";

export const diffFormats = ["summary", "ndjson", "csv", "pages", "rss", "markdown"] as const;
export type DiffFormat = (typeof diffFormats)[number];

interface DiffOutput extends FeedOptions {
  readonly format: DiffFormat;
  readonly csvSafe: boolean;
  readonly kinds: ReadonlySet<ChangeKind>;
  seen(changes: readonly TreeChange[]): void;
}

type Batches<End> = AsyncGenerator<readonly TreeChange[], End>;

// A thousand URLs are about 64 KB.
const batchLength = 1000;

/** Writes changes in batches, if there is a writer. Passes every batch to `seen`. */
export async function* writeChanges<End>(
  batches: Batches<End>,
  writer: ChangeWriter | undefined,
  seen: (changes: readonly TreeChange[]) => void,
): AsyncGenerator<string, End, undefined> {
  try {
    let step = await batches.next();
    const header = writer?.header(step.done ? undefined : step.value[0]);
    if (header) yield header;
    for (; !step.done; step = await batches.next()) {
      seen(step.value);
      for (let from = 0; writer !== undefined && from < step.value.length; from += batchLength)
        yield writer.write(step.value.slice(from, from + batchLength));
    }
    if (writer?.footer) yield writer.footer;
    return step.value;
  } finally {
    await batches.return(undefined as never);
  }
}

export async function* writeDiff(batches: Batches<DiffTotals>, output: DiffOutput): AsyncGenerator<string, void> {
  const { format, csvSafe, names, kinds, seen } = output;
  if (format !== "summary" && format !== "markdown") {
    const writer = format === "rss" ? changeFeedWriter(output) : changeWriter(format, csvSafe);
    yield* writeChanges(batches, writer, seen);
    return;
  }
  const summarizer = new Summarizer();
  const totals = yield* writeChanges(batches, undefined, (changes) => {
    seen(changes);
    summarizer.see(changes);
  });
  const summary = summarizer.finish(names, kinds, totals);
  yield format === "summary" ? diffText(summary) : diffMarkdown(summary);
}

/** Creates the writer for a format that needs nothing but the changes. */
export function changeWriter(format: "csv" | "pages" | "ndjson", safe: boolean): ChangeWriter {
  if (format === "csv") return changeCsvWriter({ safe });
  return format === "pages" ? changePagesWriter() : changeNdjsonWriter();
}
