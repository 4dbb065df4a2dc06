// Optional packages: users install those that they need, and they are loaded on first use.
import { SitemapError } from "../model/errors.ts";

/**
 * Returns a handler for the `catch` of an `import()`, which reports a missing package. Pass it directly: only then do bundlers accept that
 * a package is not installed.
 */
export function missingPackage(sentence: string): (cause: unknown) => never {
  return (cause) => {
    const { code } = cause as { code?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw cause;
    throw new SitemapError("missing-package", sentence, { cause });
  };
}
