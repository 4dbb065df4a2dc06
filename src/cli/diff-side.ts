// One side of a diff, as named on the command line: a file of any kind, standard input or a pipe, or a website.
import { createReadStream, statSync } from "node:fs";
import type { DiffSide } from "../diff/diff-side.ts";
import { parseUrl, withoutCredentials } from "../model/url.ts";
import { UsageError } from "./exit-codes.ts";

export type SideTarget = {
  /** The name in messages and summaries. */
  readonly name: string;
  readonly source: () => DiffSide;
} & (
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "stream" }
  | { readonly kind: "website"; readonly url: string; readonly isAssumed: boolean }
);

export function chooseSide(name: string): SideTarget {
  if (name === "") throw new UsageError("a side must not be empty");
  if (name === "-") return stream("standard input", () => process.stdin);
  if (hasScheme.test(name)) return website(name, false);
  const stat = statSync(name, { throwIfNoEntry: false });
  if (stat?.isFile()) return { kind: "file", name, path: name, source: () => filePath(name) };
  if (stat?.isDirectory()) throw new UsageError(`${name} is a folder`);
  // A pipe can be read once: `<(sitegrove ls …)`.
  if (stat?.isFIFO() || stat?.isCharacterDevice() || stat?.isSocket())
    return stream(name, () => createReadStream(name));
  if (stat !== undefined || looksLikeFile.test(name)) throw new UsageError(`no such file: ${name}`);
  return website(`https://${name}`, true);
}

function stream(name: string, open: () => AsyncIterable<Uint8Array>): SideTarget {
  return { kind: "stream", name, source: () => ({ name, bytes: open() }) };
}

function website(url: string, isAssumed: boolean): SideTarget {
  const parsed = parseUrl(url);
  const shown = withoutCredentials(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.hostname === "") {
    throw new UsageError(
      isAssumed ? `neither a URL nor a file: ${shown.slice(8)}` : `not an http or https URL: ${shown}`,
    );
  }
  return { kind: "website", name: shown, url, isAssumed, source: () => ({ homepage: url }) };
}

// A file whose name looks like a URL is still a file.
function filePath(name: string): string {
  return /^https?:\/\//i.test(name) ? `./${name}` : name;
}

const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i;
const looksLikeFile = /^[./~\\]|\.(warc|wacz|xml|txt|csv|json|ndjson|rss|atom|rdf|html?|gz|br|zst)$/i;
