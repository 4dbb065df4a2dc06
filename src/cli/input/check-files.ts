// The files that `sitegrove check` reads beside sitemaps. The configuration: --config, or sitegrove.json, looked for from the working
// directory upwards, as far as the root of the repository or the home. It can silence findings: only a regular file of the same user or of
// root is taken, and it is said. The baseline: counts of known findings; those that did not increase do not fail a check.
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { Finding } from "../../check/findings.ts";
import { type CheckOptions, type RuleSeverities, resolveCheckOptions } from "../../check/options.ts";
import { type CheckResult, tally } from "../../check/result.ts";
import { expectKnown } from "../../model/option-checks.ts";
import { systemReason } from "../../model/system-reason.ts";
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

type Counts = Record<string, Record<string, number>>;

/** The counts in a file; undefined if there is none yet. */
export function readBaseline(file: string): Counts | undefined {
  if (!existsSync(file)) return undefined;
  return fromJson(file, undefined, (value) => {
    if (isObject(value) && value["version"] === 1 && isCounts(value["findings"])) return value["findings"];
    throw new UsageError("not a baseline");
  });
}

// A count that is no number would let everything pass.
function isCounts(value: unknown): value is Counts {
  const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) >= 0;
  const areCounts = (rules: unknown) => isObject(rules) && Object.values(rules).every(isCount);
  return isObject(value) && Object.values(value).every(areCounts);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function writeBaseline(file: string, { findings }: CheckResult, context: Context): void {
  const output = new OutputFile(file, { force: true }, context);
  try {
    output.write(`${jsonOf({ version: 1, findings: countsOf(findings) }, 2)}\n`);
    output.keep();
  } finally {
    output.discard();
  }
}

/** The result without known findings, and how many findings are fewer than in the baseline. */
export function withoutKnown(
  result: CheckResult,
  baseline: Counts,
): { result: CheckResult; known: number; gone: number } {
  const now = countsOf(result.findings);
  const before = (sitemap: string, rule: string) =>
    Object.hasOwn(baseline, sitemap) ? Number(baseline[sitemap]?.[rule] ?? 0) : 0;
  const findings = result.findings.filter(({ sitemap, rule }) => now[sitemap]![rule]! > before(sitemap, rule));
  const gone = Object.entries(baseline)
    .flatMap(([sitemap, rules]) => Object.entries(rules).map(([rule, count]) => count > (now[sitemap]?.[rule] ?? 0)))
    .filter(Boolean).length;
  return { result: { ...result, findings, ...tally(findings) }, known: result.findings.length - findings.length, gone };
}

function countsOf(findings: readonly Finding[]): Counts {
  const counts: Counts = Object.create(null);
  for (const { sitemap, rule, count } of findings) {
    const rules = (counts[sitemap] ??= {});
    rules[rule] = (rules[rule] ?? 0) + count;
  }
  return counts;
}
