// The configuration of `sitegrove check`: sitegrove.json, looked for from the working directory upwards, or --config.
import { existsSync, readFileSync } from "node:fs";
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
}

const keys = ["$schema", "rules", "failOn", "agents", "engines", "crossSubmit", "ignore"];

export function readCheckConfig(given: string | undefined): CheckConfig {
  const file = given ?? findUpwards(process.cwd());
  if (file === undefined) return { options: {} };
  try {
    const value: unknown = JSON.parse(withoutMark(readFileSync(file, "utf8")));
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
    return { failOn: failOn as FailLevel | undefined, options: options as CheckOptions };
  } catch (error) {
    const isOurs = error instanceof UsageError || error instanceof SitemapError || error instanceof SyntaxError;
    throw new UsageError(`${file}: ${isOurs ? error.message : systemReason(error)}`);
  }
}

function findUpwards(folder: string): string | undefined {
  const file = path.join(folder, "sitegrove.json");
  if (existsSync(file)) return file;
  const above = path.dirname(folder);
  return above === folder ? undefined : findUpwards(above);
}
