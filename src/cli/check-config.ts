// The configuration of `sitegrove check`: --config, or sitegrove.json, looked for from the working directory upwards, as far as the root
// of the repository or the home. It can silence findings: only a regular file of the same user or of root is taken, and it is said.
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { type CheckOptions, resolveCheckOptions } from "../check/options.ts";
import { SitemapError } from "../model/errors.ts";
import { expectKnown } from "../model/option-checks.ts";
import { systemReason } from "../model/system-reason.ts";
import { type FailLevel, failLevels } from "./check-formats.ts";
import { UsageError } from "./exit-codes.ts";
import { withoutMark } from "./flag-values.ts";

export interface CheckConfig {
  readonly failOn?: FailLevel | undefined;
  readonly options: CheckOptions;
  /** Which file was found, or why one was not taken, for people. */
  readonly note?: string | undefined;
}

const keys = ["$schema", "rules", "failOn", "agents", "engines", "crossSubmit", "ignore"];

export function readCheckConfig(given: string | undefined): CheckConfig {
  const found = given === undefined ? findUpwards(process.cwd()) : undefined;
  const file = given ?? found?.file;
  const { note } = found ?? {};
  if (file === undefined) return { options: {}, note };
  try {
    const value: unknown = JSON.parse(withoutMark(found?.text ?? readFileSync(file, "utf8")));
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw new UsageError("it is not an object");
    for (const key of Object.keys(value)) expectKnown("key", key, keys);
    const { $schema: _, failOn, ...options } = value as Record<string, unknown>;
    if (failOn !== undefined && !failLevels.includes(failOn as FailLevel)) {
      throw new UsageError(`failOn is one of ${failLevels.join(", ")}`);
    }
    if (Array.isArray(options["rules"])) throw new UsageError("rules is an object: rule ids and their severities");
    // An option that the library would refuse is an error in this file.
    resolveCheckOptions(options);
    return { failOn: failOn as FailLevel | undefined, options: options as CheckOptions, note };
  } catch (error) {
    const isOurs = error instanceof UsageError || error instanceof SitemapError || error instanceof SyntaxError;
    throw new UsageError(`${file}: ${isOurs ? error.message : systemReason(error)}`);
  }
}

interface Found {
  /** Undefined if it is not taken. */
  readonly file?: string;
  readonly text?: string;
  readonly note: string;
}

function findUpwards(folder: string): Found | undefined {
  const file = path.join(folder, "sitegrove.json");
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) return foundAt(file);
  const above = path.dirname(folder);
  const isLast = above === folder || folder === homedir() || existsSync(path.join(folder, ".git"));
  return isLast ? undefined : findUpwards(above);
}

function foundAt(file: string): Found {
  const shown = path.relative("", file);
  let descriptor: number | undefined;
  try {
    // Opening a pipe would wait for a writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { note: `${shown} is not used: it is not a regular file` };
    if (![stats.uid, lstatSync(file).uid].every(isTrusted)) {
      return { note: `${shown} is not used: it belongs to another user; if you trust it: --config ${shown}` };
    }
    return { file, text: readFileSync(descriptor, "utf8"), note: `configuration: ${shown}` };
  } catch (error) {
    throw new UsageError(`${shown}: ${systemReason(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

// Windows has no such numbers.
function isTrusted(user: number): boolean {
  return process.getuid === undefined || user === 0 || user === process.getuid();
}
