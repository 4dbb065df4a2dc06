// `sitegrove diff`: checks the flags, compares both sides, and writes the differences.

import type { DiffSide } from "../diff/diff-side.ts";
import type { ChangeKind, DiffTotals, TreeChange } from "../model/change.ts";
import { changeKinds, ignorable } from "../model/change.ts";
import { suggestion } from "../model/option-checks.ts";
import type { Options } from "../model/options.ts";
import { type CrawlFlags, crawlOptions } from "./crawl-flags.ts";
import type { DiffFormat } from "./diff-formats.ts";
import { DiffReport } from "./diff-report.ts";
import { chooseSide, type SideTarget } from "./diff-side.ts";
import { UsageError } from "./exit-codes.ts";
import { anyPattern } from "./pattern.ts";
import type { Run, RunFlags } from "./run.ts";
import { begin } from "./target-run.ts";

export interface DiffFlags extends CrawlFlags, RunFlags {
  readonly format: DiffFormat;
  readonly only?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly exitCode?: true | undefined;
  readonly csvSafe: boolean;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
export async function diff(beforeName: string, afterName: string, flags: DiffFlags): Promise<number> {
  const sides = [chooseSide(beforeName), chooseSide(afterName)] as const;
  if (beforeName === "-" && afterName === "-") throw new UsageError("standard input can be one of the sides, not both");
  const kinds = chosenKinds(flags);
  const ignore = namesIn("--ignore", flags.ignore, ignorable);
  const include = pageFilter(flags);
  const crawl = crawlOptions(flags);
  checkTogether(flags);
  const report = new DiffReport(sides, flags.exitCode ?? false);
  const targets = sides.map(({ target }) => target);
  const { run } = await begin({ targets, flags, crawl, offline: ["limits"], report: () => report });

  const { writeDiff } = await import("./diff-output.ts");
  const { diffBatches, resolveDiffOptions } = await import("../diff/diff-trees.ts");
  const settings = resolveDiffOptions({ only: kinds, ignore, include, crawl, signal: run.signal });
  const onSide = (name: "before" | "after") => {
    const side = report.side(name);
    return {
      onEvent(event: Parameters<Run["see"]>[0]) {
        run.see(event);
        side.see(event);
      },
      onProblems: side.seeProblems,
    };
  };
  async function* batches(): AsyncGenerator<readonly TreeChange[], DiffTotals> {
    const before = await sourceOf(sides[0], settings.crawl ?? {}, run);
    const after = await sourceOf(sides[1], settings.crawl ?? {}, run);
    return yield* diffBatches(before, after, settings, onSide);
  }
  const finished = (totals: DiffTotals) => {
    run.crawled();
    report.finish(totals);
  };
  const seen = seenBy(batches(), (changes) => report.count(changes), finished);
  const names = { before: sides[0].name, after: sides[1].name };
  const pieces = writeDiff(seen, {
    format: flags.format,
    csvSafe: flags.csvSafe,
    kinds: new Set(kinds),
    names,
    report,
  });
  return run.write(pieces, () => ({ listed: report.told, unit: "change", notes: [] }));
}

async function sourceOf({ target, source }: SideTarget, crawl: Options, { signal, messages }: Run): Promise<DiffSide> {
  if (target.kind !== "website") return source();
  const { recognized } = await import("./sitemap-target.ts");
  const named = await recognized(target, { ...crawl, signal }, messages, { verb: "comparing", command: "" });
  return named.kind === "sitemaps" ? { sitemaps: [...named.urls] } : source();
}

async function* seenBy(
  batches: AsyncGenerator<readonly TreeChange[], DiffTotals>,
  see: (changes: readonly TreeChange[]) => void,
  finish: (totals: DiffTotals) => void,
): AsyncGenerator<readonly TreeChange[], DiffTotals> {
  try {
    for (;;) {
      const step = await batches.next();
      if (step.done) {
        finish(step.value);
        return step.value;
      }
      see(step.value);
      yield step.value;
    }
  } finally {
    // Also if the reader of the output went away: removes temporary files and closes connections.
    await batches.return(undefined as never);
  }
}

function chosenKinds({ only, format }: DiffFlags): readonly ChangeKind[] {
  const named = namesIn("--only", only, changeKinds);
  if (format !== "rss") return named.length === 0 ? changeKinds : changeKinds.filter((kind) => named.includes(kind));
  if (named.some((kind) => kind !== "added")) throw new UsageError("-f rss is a feed of new pages: --only added");
  return ["added"];
}

/** `--only added,removed --only moved`. */
export function namesIn<T extends string>(
  flag: string,
  values: readonly string[] | undefined,
  known: readonly T[],
): readonly T[] {
  const names = (values ?? []).flatMap((value) => value.split(",")).map((name) => name.trim());
  for (const name of names) {
    if ((known as readonly string[]).includes(name)) continue;
    const hint = suggestion(name, known) || `; there are ${known.join(", ")}`;
    throw new UsageError(`${flag} does not know ${name === "" ? "an empty name" : name}${hint}`);
  }
  return names as T[];
}

export function pageFilter({
  include,
  exclude,
}: Pick<DiffFlags, "include" | "exclude">): ((url: string) => boolean) | undefined {
  const included = anyPattern(include);
  const excluded = anyPattern(exclude);
  if (included === undefined && excluded === undefined) return undefined;
  return (url) => included?.(url) !== false && excluded?.(url) !== true;
}

// Flags without an effect are refused.
function checkTogether(flags: DiffFlags): void {
  if (!flags.csvSafe && flags.format !== "csv") throw new UsageError("--no-csv-safe works with the format csv");
  if (flags.force && flags.output === undefined) throw new UsageError("--force needs --output");
}
