// The configuration and the baseline of a check. The configuration is --config, or a sitegrove.json in the working directory or above it,
// up to the root of the repository or the home folder. It can silence findings, so one that was not named must be a regular file of the
// user or of root, and its use is reported. The baseline lists known findings; only new ones fail a check.
import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { Baseline, type BaselineFindings, occurrencesIn, parseBaseline } from "../../check/findings/baseline.ts";
import { areLossesKnown } from "../../check/findings/problem-rules.ts";
import { type CheckResult, tally } from "../../check/findings/result.ts";
import type { CheckOptions, RuleSeverities } from "../../check/options.ts";
import { resolveCheckOptions } from "../../check/settings.ts";
import { counted } from "../../model/figures.ts";
import { isJsonObject } from "../../model/json.ts";
import { expectKnown } from "../../model/option-checks.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import { jsonOf } from "../../write/printable.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import { type Flags, withoutByteOrderMark } from "../flags.ts";
import { OutputFile } from "../output/file.ts";
import type { Messages } from "../output/messages.ts";

/** The lowest severity that fails a check. */
export const failLevels = ["error", "warning", "info", "never"] as const;
export type FailLevel = (typeof failLevels)[number];

interface CheckConfig {
  readonly failOn?: FailLevel | undefined;
  readonly options: CheckOptions;
  /** Tells the user which file is used, or why one is ignored. */
  readonly note?: string | undefined;
}

/** Merges the configuration with the flags. */
export function checkOptions({ config, off = [], now }: Flags, more: CheckOptions = {}): CheckConfig {
  const read = readCheckConfig(config);
  const without = off.flatMap((list) => list.split(",")).map((rule) => [rule.trim(), "off"] as const);
  const rules = [(read.options.rules ?? {}) as RuleSeverities, Object.fromEntries(without)];
  const options = { ...read.options, rules, now, ...more };
  resolveCheckOptions(options);
  return { ...read, options };
}

const keys = ["$schema", "rules", "failOn", "agents", "engines", "crossSubmit", "forbidden", "ignore"];

export function readCheckConfig(given: string | undefined): CheckConfig {
  const { file, note }: Found = given === undefined ? findUpwards(process.cwd()) : { file: given };
  if (file === undefined) return { options: {}, note };
  return fromJson(file, (value) => {
    if (!isJsonObject(value)) throw new Error("not an object");
    const { $schema: _, failOn, ...options } = value;
    for (const key of Object.keys(options)) expectKnown("key", key, keys);
    if (failOn !== undefined && !failLevels.includes(failOn as FailLevel))
      throw new Error(`failOn must be one of ${failLevels.join(", ")}`);
    if (Array.isArray(options["rules"])) throw new Error("rules must be an object of rule ids and severities");
    // An option that the library would refuse is an error in this file.
    resolveCheckOptions(options);
    return { failOn: failOn as FailLevel | undefined, options: options as CheckOptions, note };
  });
}

// Reads a JSON file. Errors are reported with the name of the file.
function fromJson<T>(file: string, take: (value: unknown) => T): T {
  return orUsageError(file, () => take(JSON.parse(withoutByteOrderMark(readFileSync(file, "utf8")))));
}

interface Found {
  /** Undefined if no file was found, or if the file is ignored. */
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
    // Windows has no user ids.
    const isTrusted = ({ uid }: { uid: number }) => !process.getuid || uid === 0 || uid === process.getuid();
    if (isTrusted(found) && isTrusted(link)) return { file, note: `configuration: ${shown}` };
    return { note: `ignoring ${shown}: it belongs to another user; to use it anyway: --config ${shown}` };
  }
  const above = path.dirname(folder);
  const isLast = above === folder || folder === homedir() || existsSync(path.join(folder, ".git"));
  return isLast ? {} : findUpwards(above);
}

/** Reads the known findings. Returns undefined if the file does not exist yet. */
export function readBaseline(file: string): BaselineFindings | undefined {
  return existsSync(file) ? fromJson(file, parseBaseline) : undefined;
}

/** A result without known findings. */
interface AppliedBaseline {
  readonly result: CheckResult;
  /** Whether everything that could not be read is a known finding. */
  readonly areLossesKnown: boolean;
}

/** The file of --baseline: known findings, which are not shown and do not fail the check. */
export class BaselineFile {
  readonly baseline: Baseline;
  readonly #file: string;
  readonly #nameOf: (sitemap: string) => string;
  readonly #isUpdated: boolean;

  /** `nameOf` returns the name under which a sitemap is shown. Throws a `UsageError` if the file does not exist, unless `isUpdated`. */
  constructor(file: string, nameOf: (sitemap: string) => string, isUpdated = false) {
    const before = readBaseline(file);
    if (before === undefined && !isUpdated)
      throw new UsageError(`${file} does not exist; create it with --update-baseline`);
    this.baseline = new Baseline(before, nameOf);
    this.#file = file;
    this.#nameOf = nameOf;
    this.#isUpdated = isUpdated;
  }

  /** Removes known findings from the result. With --update-baseline, first makes all findings known, if the website could be reached. */
  apply(result: CheckResult, tree: SitemapTree, messages: Messages): AppliedBaseline {
    const file = this.#file;
    if (this.#isUpdated && tree.reachable) {
      const output = new OutputFile(file, true);
      try {
        output.write(`${jsonOf(this.baseline.toJson(result, tree), 2)}\n`);
        output.keep();
      } finally {
        output.discard();
      }
      if (!tree.complete) messages.say(`${file} covers only the part of the website that could be read`, "warning");
      messages.say(`wrote ${counted(occurrencesIn(result), "occurrence")} to ${file}`, "quiet");
      const known = { ...result, findings: [], known: occurrencesIn(result), ...tally([]) };
      return { result: known, areLossesKnown: false };
    }
    if (this.#isUpdated) messages.say(`${file} was not changed: the website could not be reached`, "warning");
    const { result: remaining, isFixed } = this.baseline.apply(result, tree);
    if (remaining.known) messages.say(`${counted(remaining.known, "occurrence")} already in ${file}`, "quiet");
    if (isFixed) messages.say(`${file} contains findings that are fixed; --update-baseline updates it`, "quiet");
    const keysOf = ({ findings }: CheckResult) => new Set(findings.map(({ rule, sitemap }) => `${rule} ${sitemap}`));
    const [all, unknown] = [keysOf(result), keysOf(remaining)];
    const isKnown = (key: string) => all.has(key) && !unknown.has(key);
    const known = areLossesKnown(tree, (rule, url) => isKnown(`${rule} ${this.#nameOf(url)}`));
    return { result: remaining, areLossesKnown: known };
  }
}
