// A website and the tree it must give, as a text file that a person can read: a sentence of the specification, then sections
// that begin with `--- `. A section named by a path (or URL) is a document, with JSON for whatever is not its text; the
// others say what must come of it. `tree` is always there; `problems` names all of them, so that none may come unseen.
import { gzipSync } from "node:zlib";
import type { Options } from "../../src/model/options.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import type { Route } from "./site.ts";

export interface SiteFile {
  /** What the case is about. */
  readonly title: string;
  readonly options: Options;
  readonly routes: Readonly<Record<string, Route>>;
  readonly complete: boolean;
  readonly tree: readonly string[];
  readonly problems: readonly string[];
  /** The outcome of candidates that were not absent; undefined if the case does not check it. */
  readonly discovery: readonly string[] | undefined;
  /** The pages whose fields matter, in no order. */
  readonly pages: readonly SitemapPage[];
}

/** Everything about a document that its text does not say. */
interface Details {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Redirects there. */
  readonly to?: string;
  /** The encoding of its text, and whether it begins with a byte order mark. */
  readonly charset?: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";
  readonly mark?: boolean;
  /** How many times it is compressed. */
  readonly gzip?: number;
  /** Bytes that are cut off at its end, and bytes that follow it. */
  readonly cut?: number;
  readonly after?: string;
}

export function parseSiteFile(text: string): SiteFile {
  const [head = "", ...sections] = `\n${text}`.split("\n--- ");
  const routes: Record<string, Route> = {};
  const pages: SitemapPage[] = [];
  const expected = new Map<string, string[]>();
  let options: Options = {};
  let complete = false;
  for (const section of sections) {
    const [, name = "", detail = "", body = ""] = /^(\S+) ?(.*)(?:\n([\s\S]*))?$/.exec(section) ?? [];
    if (/^(\/|https?:)/.test(name)) routes[name] = route(body, detail === "" ? {} : JSON.parse(detail));
    else if (name === "page") pages.push({ url: detail, ...JSON.parse(body) });
    else if (name === "options") options = JSON.parse(body);
    else if (name === "tree" || name === "problems" || name === "discovery") expected.set(name, lines(body));
    else throw new Error(`Not a section of a site file: ${name}`);
    if (name === "tree") complete = detail === "complete";
  }
  const tree = expected.get("tree");
  if (tree === undefined) throw new Error("A site file needs a tree");
  return {
    title: head.trim().replaceAll(/\s+/g, " "),
    options,
    routes,
    complete,
    tree,
    problems: expected.get("problems") ?? [],
    discovery: expected.get("discovery"),
    pages,
  };
}

function lines(text: string): string[] {
  return repeated(text)
    .split("\n")
    .filter((line) => line.trim() !== "");
}

function route(text: string, details: Details): Route {
  if (details.to !== undefined) return { to: details.to };
  let body = encoded(repeated(text), details.charset ?? "utf-8", details.mark ?? false);
  for (let layer = 0; layer < (details.gzip ?? 0); layer += 1) body = gzipSync(body);
  if (details.cut !== undefined) body = body.subarray(0, body.length - details.cut);
  if (details.after !== undefined) body = Buffer.concat([body, Buffer.from(details.after)]);
  return { status: details.status ?? 200, headers: details.headers ?? {}, body };
}

// `{3000×a}` stands for texts that are too long to write down.
function repeated(text: string): string {
  return text.replaceAll(/\{(\d+)×([^}]*)\}/g, (_, count: string, what: string) =>
    what.replaceAll("\\n", "\n").repeat(Number(count)),
  );
}

function encoded(text: string, charset: NonNullable<Details["charset"]>, mark: boolean): Buffer {
  const marked = mark ? `\ufeff${text}` : text;
  switch (charset) {
    case "utf-8":
      return Buffer.from(marked);
    case "utf-16le":
      return Buffer.from(marked, "utf16le");
    case "utf-16be":
      return Buffer.from(marked, "utf16le").swap16();
    case "windows-1252":
      // Latin-1 and windows-1252 are the same for everything that the cases contain.
      return Buffer.from(text, "latin1");
  }
}
