// The formats of changes: lists are written while the sides are compared, summaries at the end.
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

/** Returns the given format. Without one, the name of the output file decides: `changes.csv`. */
export function formatByName<F extends string>(
  given: F | undefined,
  output: string | undefined,
  formats: readonly F[],
): F {
  if (given !== undefined) return given;
  const [, ending = ""] = /\.(\w+)$/.exec(output?.toLowerCase() ?? "") ?? [];
  const named =
    { md: "markdown", jsonl: "ndjson", xml: "rss", txt: formats.includes("summary" as F) ? "summary" : "pages" }[
      ending
    ] ?? ending;
  return formats.find((format) => format === named) ?? formats[0]!;
}

export const diffFormats = ["summary", "ndjson", "csv", "pages", "rss", "markdown"] as const;
export type DiffFormat = (typeof diffFormats)[number];

interface DiffOutput {
  readonly format: DiffFormat;
  readonly csvSafe: boolean;
  readonly kinds: ReadonlySet<ChangeKind>;
  readonly names: { readonly before: string; readonly after: string };
  /** Returns the website of the pages, if a crawl or an archive has named it. */
  homepage(): string | undefined;
  seen(changes: readonly TreeChange[]): void;
}

type Batches<End> = AsyncGenerator<readonly TreeChange[], End>;

// A thousand URLs are about 64 KB.
const batchLength = 1000;

/** Writes changes in batches. The first change decides the writer (`choose`). Passes every batch to `seen`. */
export async function* writeChanges<End>(
  batches: Batches<End>,
  choose: (first: TreeChange | undefined) => ChangeWriter | undefined,
  seen: (changes: readonly TreeChange[]) => void,
): AsyncGenerator<string, End, undefined> {
  try {
    let step = await batches.next();
    const writer = choose(step.done ? undefined : step.value[0]);
    if (writer?.header) yield writer.header;
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
  const { format, names, kinds } = output;
  const write = format === "summary" ? diffText : format === "markdown" ? diffMarkdown : undefined;
  const summarizer = new Summarizer();
  const see = (changes: readonly TreeChange[]) => {
    output.seen(changes);
    if (write !== undefined) summarizer.see(changes);
  };
  const choose = (first: TreeChange | undefined) => (write === undefined ? writerFor(output, first) : undefined);
  const totals = yield* writeChanges(batches, choose, see);
  if (write !== undefined) yield write(summarizer.finish(names, kinds, totals));
}

/** Creates the writer for a format that needs nothing but the changes. */
export function changeWriter(format: DiffFormat, safe: boolean): ChangeWriter {
  if (format === "csv") return changeCsvWriter({ safe });
  return format === "pages" ? changePagesWriter() : changeNdjsonWriter();
}

function writerFor({ format, csvSafe, names, homepage }: DiffOutput, first: TreeChange | undefined): ChangeWriter {
  if (format !== "rss") return changeWriter(format, csvSafe);
  // A feed must link to a website: the homepage, if it is known, or the website of the first page.
  const page = first === undefined || first.kind === "sitemap" ? undefined : homepageOf(first.page.url);
  const link = homepage() ?? page;
  return changeFeedWriter({
    title: `New pages of ${link === undefined || link === "about:blank" ? names.after : link}`,
    link: link ?? "about:blank",
    description: `Pages of ${names.after} that ${names.before} does not have`,
  });
}
