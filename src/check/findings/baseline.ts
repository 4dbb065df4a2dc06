// Compares a check with its baseline: known findings and their occurrences. Only new ones fail the check.
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import { type CheckResult, tally } from "./result.ts";

/** Known findings by sitemap and rule, as JSON. */
export type BaselineFindings = Readonly<Record<string, Readonly<Record<string, BaselineEntry>>>>;

/** The findings of one rule in one sitemap: how many, of how many pages, and the hashes of their occurrences unless there are too many. */
export interface BaselineEntry {
  readonly count: number;
  readonly of?: number | undefined;
  readonly occurrences?: readonly string[] | undefined;
}

function objectIn(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new Error(notBaseline);
  return value;
}

/** Returns the findings of a document that `Baseline.toJson` made. Throws an error if the document has a different form. */
export function parseBaseline(document: unknown): BaselineFindings {
  const { version, findings } = objectIn(document);
  if (version !== 2) throw new Error(notBaseline);
  for (const rules of Object.values(objectIn(findings)))
    for (const entry of Object.values(objectIn(rules))) expectEntry(objectIn(entry));
  return findings as BaselineFindings;
}

// Checks an entry, because a count that is not a number would make all counts of new findings wrong.
function expectEntry({ count, of = 0, occurrences = [] }: JsonObject): void {
  const areCounts = [count, of].every((number) => Number.isSafeInteger(number) && (number as number) >= 0);
  const areHashes = Array.isArray(occurrences) && occurrences.every((hash) => typeof hash === "string");
  if (!areCounts || !areHashes) throw new Error(notBaseline);
}

const notBaseline = "not a baseline";

interface Seen {
  readonly before: ReadonlySet<string>;
  readonly occurrences: Set<string>;
  /** How many occurrences were looked up one by one, and how many of these are new. */
  cases: number;
  unknown: number;
}

/**
 * Known findings. A finding fails again if a new occurrence appears. If the occurrences are not listed, it fails again if both their number
 * and their share of the pages grow.
 */
export class Baseline {
  readonly #before: BaselineFindings;
  readonly #nameOf: (sitemap: string) => string;
  readonly #seen = new Map<string, Seen>();

  /** `nameOf` returns the name under which a sitemap is shown. */
  constructor(before: BaselineFindings = {}, nameOf: (sitemap: string) => string = (sitemap) => sitemap) {
    this.#before = before;
    this.#nameOf = nameOf;
  }

  /** Whether an occurrence is known. `isCase` is true if it was counted on its own, not as one of many. */
  isKnown(rule: string, sitemap: string, place: string, isCase: boolean): boolean {
    const seen = this.#seenOf(rule, this.#nameOf(sitemap));
    const hash = createHash("sha256").update(place).digest("hex").slice(0, 10);
    if (seen.occurrences.size <= mostPlaces) seen.occurrences.add(hash);
    const isKnown = seen.before.has(hash);
    if (isCase) seen.cases += 1;
    if (isCase && !isKnown) seen.unknown += 1;
    return isKnown;
  }

  /** Removes known findings from a result. `isFixed` is true if some of them are gone, and everything could be read. */
  apply(result: CheckResult, tree: SitemapTree): { readonly result: CheckResult; readonly isFixed: boolean } {
    const now = this.#entries(result, tree);
    const left = new Map<BaselineEntry, number>();
    const findings = result.findings.flatMap((finding) => {
      const { sitemap, rule } = finding;
      const entry = now[sitemap]![rule]!;
      const unknown = left.get(entry) ?? this.#newIn(rule, sitemap, entry);
      const count = Math.min(finding.count, unknown);
      left.set(entry, unknown - count);
      const known = finding.count - count;
      return count === 0 ? [] : [known === 0 ? finding : { ...finding, count, known }];
    });
    const isGone = Object.entries(this.#before).some(([sitemap, rules]) =>
      Object.entries(rules).some(([rule, { count }]) => count > (now[sitemap]?.[rule]?.count ?? 0)),
    );
    const failed = tally(findings);
    const known = occurrencesIn(result) - occurrencesIn(failed);
    // Known findings in documents that could not be read do not count as fixed.
    return { result: { ...result, findings, known, ...failed }, isFixed: isGone && tree.complete };
  }

  /** Returns the document of a new baseline, in which all findings of the result are known. */
  toJson(result: CheckResult, tree: SitemapTree): object {
    return { version: 2, findings: this.#entries(result, tree) };
  }

  #newIn(rule: string, sitemap: string, { count, of = 0 }: BaselineEntry): number {
    const before = this.#before[sitemap]?.[rule];
    const { cases, unknown } = this.#seenOf(rule, sitemap);
    if (before === undefined) return count;
    if (cases === count && before.occurrences?.length === before.count) return unknown;
    const expected = before.of ? Math.floor((before.count * of) / before.of) : before.count;
    return Math.max(0, count - Math.max(before.count, expected));
  }

  #seenOf(rule: string, sitemap: string): Seen {
    const key = `${rule} ${sitemap}`;
    let seen = this.#seen.get(key);
    if (seen === undefined) {
      const own = Object.hasOwn(this.#before, sitemap) ? this.#before[sitemap]![rule]?.occurrences : [];
      seen = { before: new Set(own), occurrences: new Set(), cases: 0, unknown: 0 };
      this.#seen.set(key, seen);
    }
    return seen;
  }

  #entries({ findings, homepage }: CheckResult, tree: SitemapTree): BaselineFindings {
    const pages = new Map<string, number>();
    for (const each of tree.sitemaps()) if (each.kind === "pages") pages.set(this.#nameOf(each.url), each.pageCount);
    const entries: Record<string, Record<string, BaselineEntry>> = Object.create(null);
    for (const { sitemap, rule, count } of findings) {
      const rules = (entries[sitemap] ??= {});
      const { occurrences } = this.#seenOf(rule, sitemap);
      rules[rule] = {
        count: (rules[rule]?.count ?? 0) + count,
        of: sitemap === homepage ? tree.pageCount : (pages.get(sitemap) ?? 1),
        ...(occurrences.size > mostPlaces ? {} : { occurrences: [...occurrences].sort() }),
      };
    }
    return entries;
  }
}

/** The number of occurrences, of all severities together. */
export function occurrencesIn({ occurrences }: Pick<CheckResult, "occurrences">): number {
  return occurrences.error + occurrences.warning + occurrences.info;
}

const mostPlaces = 10_000;
