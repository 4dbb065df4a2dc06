// Packages that only some need: they are installed by those who do, and loaded when they are asked for.
import { SitemapError } from "../model/errors.ts";

/**
 * What an `import()` of such a package rejects with. To be given to its `catch`, directly: only there do bundlers accept that a package is
 * not installed.
 */
export function missingPackage(sentence: string): (cause: unknown) => never {
  return (cause) => {
    const { code } = cause as { code?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw cause;
    throw new SitemapError("missing-package", sentence, { cause });
  };
}
