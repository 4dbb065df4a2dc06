// The files that `sitegrove check` reads beside sitemaps. The configuration: --config, or sitegrove.json, looked for from the working
// directory upwards, as far as the root of the repository or the home. It can silence findings: only a regular file of the same user or of
// root is taken, and it is said. The baseline: known findings and their places; only new ones fail a check.
import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { KnownPlaces } from "../../check/findings.ts";
import { type CheckOptions, type RuleSeverities, resolveCheckOptions } from "../../check/options.ts";
import { type CheckResult, tally } from "../../check/result.ts";
import { systemReason } from "../../model/errors.ts";
import { expectKnown } from "../../model/option-checks.ts";
import { jsonOf } from "../../write/printable.ts";
import type { Context } from "../context.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import { withoutMark } from "../flags.ts";
import { OutputFile } from "../output/file.ts";
import { type FailLevel, failLevels } from "../output/findings.ts";

export interface CheckConfig {
  readonly failOn?: FailLevel | undefined;
  readonly options: CheckOptions;
  /** Which file was found, or why one was not taken, for people. */
  readonly note?: string | undefined;
}

export interface RuleFlags {
  readonly config?: string | undefined;
  readonly off?: readonly string[] | undefined;
  readonly now?: string | undefined;
}

/** What the configuration and the flags say together. */
export function checkOptions({ config, off = [], now }: RuleFlags, more: CheckOptions = {}): CheckConfig {
  const read = readCheckConfig(config);
  const without = off.flatMap((list) => list.split(",")).map((rule) => [rule.trim(), "off"] as const);
  const rules = [(read.options.rules ?? {}) as RuleSeverities, Object.fromEntries(without)];
  const options = { ...read.options, rules, now, ...more };
  resolveCheckOptions(options);
  return { ...read, options };
}

const keys = ["$schema", "rules", "failOn", "agents", "engines", "crossSubmit", "ignore"];

export function readCheckConfig(given: string | undefined): CheckConfig {
  const { file, text, note }: Found = given === undefined ? findUpwards(process.cwd()) : { file: given };
  if (file === undefined) return { options: {}, note };
  return fromJson(file, text, (value) => {
    if (!isObject(value)) throw new UsageError("it is not an object");
    for (const key of Object.keys(value)) expectKnown("key", key, keys);
    const { $schema: _, failOn, ...options } = value;
    if (failOn !== undefined && !failLevels.includes(failOn as FailLevel))
      throw new UsageError(`failOn is one of ${failLevels.join(", ")}`);
    if (Array.isArray(options["rules"])) throw new UsageError("rules is an object: rule ids and their severities");
    // An option that the library would refuse is an error in this file.
    resolveCheckOptions(options);
    return { failOn: failOn as FailLevel | undefined, options: options as CheckOptions, note };
  });
}

// Whatever is wrong with it is said with the name of the file.
function fromJson<T>(file: string, text: string | undefined, take: (value: unknown) => T): T {
  try {
    return take(JSON.parse(withoutMark(text ?? readFileSync(file, "utf8"))));
  } catch (error) {
    throw new UsageError(`${file}: ${systemReason(error)}`);
  }
}

interface Found {
  /** Undefined if there is none, or it is not taken. */
  readonly file?: string;
  readonly text?: string;
  readonly note?: string;
}

function findUpwards(folder: string): Found {
  const file = path.join(folder, "sitegrove.json");
  const shown = path.relative("", file);
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) return orUsageError(shown, () => foundAt(file, shown));
  const above = path.dirname(folder);
  const isLast = above === folder || folder === homedir() || existsSync(path.join(folder, ".git"));
  return isLast ? {} : findUpwards(above);
}

function foundAt(file: string, shown: string): Found {
  // Opening a pipe would wait for a writer.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { note: `${shown} is not used: it is not a regular file` };
    // Windows has no such numbers.
    const isTrusted = (user: number) => process.getuid === undefined || user === 0 || user === process.getuid();
    if (!isTrusted(stats.uid) || !isTrusted(lstatSync(file).uid))
      return { note: `${shown} is not used: it belongs to another user; if you trust it: --config ${shown}` };
    return { file, text: readFileSync(descriptor, "utf8"), note: `configuration: ${shown}` };
  } finally {
    closeSync(descriptor);
  }
}

// By sitemap and rule. `of`: pages of the sitemap, or of the website. `places`: their hashes, as far as they are known one by one.
type Entries = Record<string, Record<string, Entry>>;

interface Entry {
  readonly count: number;
  readonly of?: number | undefined;
  readonly places?: readonly string[] | undefined;
}

/** The findings in a file; undefined if there is none yet. */
export function readBaseline(file: string): Entries | undefined {
  if (!existsSync(file)) return undefined;
  return fromJson(file, undefined, (value) => {
    if (isObject(value) && (value["version"] === 1 || value["version"] === 2)) return entriesIn(value["findings"]);
    throw new UsageError("not a baseline");
  });
}

// A count that is no number would let everything pass. In version 1 there are counts alone.
function entriesIn(findings: unknown): Entries {
  const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) >= 0;
  const entry = (value: unknown): Entry => {
    const { count, of, places = [] } = (isObject(value) ? value : { count: value }) as unknown as Entry;
    const areHashes = Array.isArray(places) && places.every((place) => typeof place === "string");
    if (isCount(count) && (of === undefined || isCount(of)) && areHashes) return { count, of, places };
    throw new UsageError("not a baseline");
  };
  const each = <T>(value: unknown, read: (value: unknown) => T): Record<string, T> => {
    if (!isObject(value)) throw new UsageError("not a baseline");
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, read(item)]));
  };
  return each(findings, (rules) => each(rules, entry));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Seen {
  readonly before: ReadonlySet<string>;
  readonly places: Set<string>;
  /** Cases that were looked up one by one, and those that were not there before. */
  cases: number;
  unknown: number;
}

/**
 * Known findings. One fails again if a new place appears. Where places are not known one by one, or are too many, it fails if there are more, and
 * their share of the pages grows.
 */
export class Baseline implements KnownPlaces {
  readonly #before: Entries;
  readonly #nameOf: (sitemap: string) => string;
  readonly #seen = new Map<string, Seen>();

  /** `nameOf`: the sitemap as it is shown. */
  constructor(before: Entries, nameOf: (sitemap: string) => string) {
    this.#before = before;
    this.#nameOf = nameOf;
  }

  isKnown(rule: string, sitemap: string, place: string, isCase: boolean): boolean {
    const seen = this.#seenOf(rule, this.#nameOf(sitemap));
    const hash = createHash("sha256").update(place).digest("hex").slice(0, 10);
    if (seen.places.size <= mostPlaces) seen.places.add(hash);
    const isKnown = seen.before.has(hash);
    if (isCase) seen.cases += 1;
    if (isCase && !isKnown) seen.unknown += 1;
    return isKnown;
  }

  /** The result without known findings, and how many findings are fewer than before. */
  compare(
    result: CheckResult,
    pagesOf: (sitemap: string) => number,
  ): { result: CheckResult; known: number; gone: number } {
    const now = this.#entries(result, pagesOf);
    const left = new Map<Entry, number>();
    for (const [sitemap, rules] of Object.entries(now)) {
      for (const [rule, entry] of Object.entries(rules)) left.set(entry, this.#newIn(rule, sitemap, entry));
    }
    const findings = result.findings.flatMap((finding) => {
      const entry = now[finding.sitemap]![finding.rule]!;
      const count = Math.min(finding.count, left.get(entry)!);
      left.set(entry, left.get(entry)! - count);
      const known = finding.count - count;
      return count === 0 ? [] : [known === 0 ? finding : { ...finding, count, known }];
    });
    const gone = Object.entries(this.#before).flatMap(([sitemap, rules]) =>
      Object.entries(rules).filter(([rule, { count }]) => count > (now[sitemap]?.[rule]?.count ?? 0)),
    );
    const known = result.findings.length - findings.length;
    return { result: { ...result, findings, ...tally(findings) }, known, gone: gone.length };
  }

  write(file: string, result: CheckResult, pagesOf: (sitemap: string) => number, context: Context): void {
    const output = new OutputFile(file, { force: true }, context);
    try {
      output.write(`${jsonOf({ version: 2, findings: this.#entries(result, pagesOf) }, 2)}\n`);
      output.keep();
    } finally {
      output.discard();
    }
  }

  #newIn(rule: string, sitemap: string, { count, of = 0 }: Entry): number {
    const before = this.#before[sitemap]?.[rule];
    const { cases, unknown } = this.#seenOf(rule, sitemap);
    if (before === undefined) return count;
    if (cases === count && before.places?.length === before.count) return unknown;
    const expected = before.of ? Math.floor((before.count * of) / before.of) : before.count;
    return Math.max(0, count - Math.max(before.count, expected));
  }

  #seenOf(rule: string, sitemap: string): Seen {
    const key = `${rule} ${sitemap}`;
    let seen = this.#seen.get(key);
    if (seen === undefined) {
      const own = Object.hasOwn(this.#before, sitemap) ? this.#before[sitemap]![rule]?.places : [];
      seen = { before: new Set(own), places: new Set(), cases: 0, unknown: 0 };
      this.#seen.set(key, seen);
    }
    return seen;
  }

  #entries({ findings }: CheckResult, pagesOf: (sitemap: string) => number): Entries {
    const entries: Entries = Object.create(null);
    for (const { sitemap, rule, count } of findings) {
      const rules = (entries[sitemap] ??= {});
      const { places } = this.#seenOf(rule, sitemap);
      const all = (rules[rule]?.count ?? 0) + count;
      rules[rule] = {
        count: all,
        of: pagesOf(sitemap),
        ...(places.size > mostPlaces ? {} : { places: [...places].sort() }),
      };
    }
    return entries;
  }
}

const mostPlaces = 10_000;
