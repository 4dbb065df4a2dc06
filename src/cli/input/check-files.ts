// The files that `sitegrove check` reads besides sitemaps. The configuration: --config, or sitegrove.json, looked for from the working
// directory upwards, as far as the root of the repository or the home. It can silence findings: only a regular file of the same user or
// root is used, and that is reported. The baseline: known findings and their places; only new ones fail a check.
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { KnownPlaces } from "../../check/findings.ts";
import { type CheckOptions, type RuleSeverities, resolveCheckOptions } from "../../check/options.ts";
import { type CheckResult, tally } from "../../check/result.ts";
import { counted } from "../../model/figures.ts";
import { expectKnown } from "../../model/option-checks.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import { jsonOf } from "../../write/printable.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import { type Flags, withoutMark } from "../flags.ts";
import { OutputFile } from "../output/file.ts";
import { type FailLevel, failLevels } from "../output/findings.ts";
import type { Messages } from "../output/messages.ts";

interface CheckConfig {
  readonly failOn?: FailLevel | undefined;
  readonly options: CheckOptions;
  /** Which file was found, or why one was not taken, for people. */
  readonly note?: string | undefined;
}

/** What the configuration and the flags say together. */
export function checkOptions({ config, off = [], now }: Flags, more: CheckOptions = {}): CheckConfig {
  const read = readCheckConfig(config);
  const without = off.flatMap((list) => list.split(",")).map((rule) => [rule.trim(), "off"] as const);
  const rules = [(read.options.rules ?? {}) as RuleSeverities, Object.fromEntries(without)];
  const options = { ...read.options, rules, now, ...more };
  resolveCheckOptions(options);
  return { ...read, options };
}

const keys = ["$schema", "rules", "failOn", "agents", "engines", "crossSubmit", "ignore"];

export function readCheckConfig(given: string | undefined): CheckConfig {
  const { file, note }: Found = given === undefined ? findUpwards(process.cwd()) : { file: given };
  if (file === undefined) return { options: {}, note };
  return fromJson(file, (value) => {
    const { $schema: _, failOn, ...options } = objectIn(value, "not an object");
    for (const key of Object.keys(options)) expectKnown("key", key, keys);
    if (failOn !== undefined && !failLevels.includes(failOn as FailLevel))
      throw new Error(`failOn must be one of ${failLevels.join(", ")}`);
    if (Array.isArray(options["rules"])) throw new Error("rules must be an object of rule ids and severities");
    // An option that the library would refuse is an error in this file.
    resolveCheckOptions(options);
    return { failOn: failOn as FailLevel | undefined, options: options as CheckOptions, note };
  });
}

// Errors in it are reported with the name of the file.
function fromJson<T>(file: string, take: (value: unknown) => T): T {
  return orUsageError(file, () => take(JSON.parse(withoutMark(readFileSync(file, "utf8")))));
}

type JsonObject = Readonly<Record<string, unknown>>;

function objectIn(value: unknown, otherwise: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(otherwise);
  return value as JsonObject;
}

interface Found {
  /** Undefined if there is none, or it is ignored. */
  readonly file?: string;
  readonly note?: string;
}

function findUpwards(folder: string): Found {
  const file = path.join(folder, "sitegrove.json");
  const shown = path.relative("", file);
  const link = lstatSync(file, { throwIfNoEntry: false });
  if (link !== undefined) {
    const found = orUsageError(shown, () => statSync(file));
    if (!found.isFile()) return { note: `ignoring ${shown}: it is not a regular file` };
    // Windows has no such numbers.
    const isTrusted = ({ uid }: { uid: number }) => !process.getuid || uid === 0 || uid === process.getuid();
    if (isTrusted(found) && isTrusted(link)) return { file, note: `configuration: ${shown}` };
    return { note: `ignoring ${shown}: it belongs to another user; to use it anyway: --config ${shown}` };
  }
  const above = path.dirname(folder);
  const isLast = above === folder || folder === homedir() || existsSync(path.join(folder, ".git"));
  return isLast ? {} : findUpwards(above);
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
  return fromJson(file, (value) => {
    const { version, findings } = objectIn(value, notBaseline);
    if (version !== 2) throw new Error(notBaseline);
    for (const rules of Object.values(objectIn(findings, notBaseline)))
      for (const entry of Object.values(objectIn(rules, notBaseline))) expectEntry(objectIn(entry, notBaseline));
    return findings as Entries;
  });
}

// A count that is not a number would let everything pass.
function expectEntry({ count, of = 0, places = [] }: JsonObject): void {
  const areCounts = [count, of].every((number) => Number.isSafeInteger(number) && (number as number) >= 0);
  const areHashes = Array.isArray(places) && places.every((place) => typeof place === "string");
  if (!areCounts || !areHashes) throw new Error(notBaseline);
}

const notBaseline = "not a baseline";

interface Seen {
  readonly before: ReadonlySet<string>;
  readonly places: Set<string>;
  /** Cases that were looked up one by one, and those that were not there before. */
  cases: number;
  unknown: number;
}

/** Known findings. One fails again if a new place appears; without a list of places, if their number and share of the pages grow. */
export class Baseline implements KnownPlaces {
  readonly #file: string;
  readonly #before: Entries;
  readonly #nameOf: (sitemap: string) => string;
  readonly #isUpdated: boolean;
  readonly #seen = new Map<string, Seen>();

  /** `nameOf`: the sitemap as it is shown. Throws a `UsageError` if there is no such file, unless it is updated. */
  constructor(file: string, nameOf: (sitemap: string) => string, isUpdated = false) {
    const before = readBaseline(file);
    if (before === undefined && !isUpdated) throw new UsageError(`${file} does not exist; --update-baseline writes it`);
    this.#file = file;
    this.#before = before ?? {};
    this.#nameOf = nameOf;
    this.#isUpdated = isUpdated;
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

  /** Removes known findings from the result; with --update-baseline, writes all of them to the file. Says how many. */
  apply(result: CheckResult, tree: SitemapTree, messages: Messages): CheckResult {
    const { complete, reachable } = tree;
    const now = this.#entries(result, tree);
    const file = this.#file;
    if (this.#isUpdated && reachable) {
      this.#write(now);
      if (!complete) messages.say(`${file} covers only the part of the website that could be read`, "warning");
      messages.say(`wrote ${counted(placesIn(result), "occurrence")} to ${file}`, "quiet");
      return { ...result, findings: [], known: placesIn(result), ...tally([]) };
    }
    if (this.#isUpdated) messages.say(`${file} was not changed: the website could not be reached`, "warning");
    const left = new Map<Entry, number>();
    const findings = result.findings.flatMap((finding) => {
      const { sitemap, rule } = finding;
      const entry = now[sitemap]![rule]!;
      const unknown = left.get(entry) ?? this.#newIn(rule, sitemap, entry);
      const count = Math.min(finding.count, unknown);
      left.set(entry, unknown - count);
      const known = finding.count - count;
      return count === 0 ? [] : [known === 0 ? finding : { ...finding, count, known }];
    });
    const isFixed = Object.entries(this.#before).some(([sitemap, rules]) =>
      Object.entries(rules).some(([rule, { count }]) => count > (now[sitemap]?.[rule]?.count ?? 0)),
    );
    const counts = tally(findings);
    const known = placesIn(result) - placesIn(counts);
    if (known > 0) messages.say(`${counted(known, "occurrence")} known from ${file}`, "quiet");
    // Findings in what could not be read do not count as fixed.
    if (isFixed && complete)
      messages.say(`${file} contains findings that are fixed; --update-baseline updates it`, "quiet");
    return { ...result, findings, known, ...counts };
  }

  #write(findings: Entries): void {
    const output = new OutputFile(this.#file, true);
    try {
      output.write(`${jsonOf({ version: 2, findings }, 2)}\n`);
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

  #entries({ findings, homepage }: CheckResult, tree: SitemapTree): Entries {
    const pages = new Map<string, number>();
    for (const each of tree.sitemaps()) if (each.kind === "pages") pages.set(this.#nameOf(each.url), each.pageCount);
    const entries: Entries = Object.create(null);
    for (const { sitemap, rule, count } of findings) {
      const rules = (entries[sitemap] ??= {});
      const { places } = this.#seenOf(rule, sitemap);
      rules[rule] = {
        count: (rules[rule]?.count ?? 0) + count,
        of: sitemap === homepage ? tree.pageCount : (pages.get(sitemap) ?? 1),
        ...(places.size > mostPlaces ? {} : { places: [...places].sort() }),
      };
    }
    return entries;
  }
}

function placesIn({ places }: Pick<CheckResult, "places">): number {
  return places.error + places.warning + places.info;
}

const mostPlaces = 10_000;
