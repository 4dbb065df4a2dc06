// The formats of trees: `tabtree`, an outline of URLs indented by tabs, and `json`, one document, described by
// schema/output.json. Both are written during the walk, so that the size of a tree does not matter.
import type { DiscoveryRecord, TreeStep, UnreachableWebsite } from "../model/event.ts";
import type { SitemapPage } from "../model/page.ts";
import { isLossy, rootCauses } from "../model/problem.ts";
import type { ParsedSitemap, Sitemap, SitemapReference } from "../model/sitemap.ts";
import { openPageJson, type ShowUrl, wholeUrl } from "./pages.ts";
import { jsonOf, printable } from "./printable.ts";

/** Writes the outline. `limitNote` is shown instead of the message of `limit-pages`, if the caller set that limit. */
export async function* writeTabtree(
  steps: AsyncIterable<TreeStep>,
  show: ShowUrl = wholeUrl,
  limitNote?: string,
): AsyncGenerator<string, void, undefined> {
  let pageIndent = "";
  for await (const step of steps) {
    if (step.type === "enter") {
      const indent = "\t".repeat(step.depth);
      pageIndent = `${indent}\t`;
      // The root is the homepage, whose URL would be shortened to `/`.
      const url = step.depth === 0 ? step.sitemap.url : show(step.sitemap.url);
      yield `${indent}${printable(url)}${remark(step.sitemap, limitNote)}\n`;
    } else if (step.type === "pages") {
      let lines = "";
      for (const { url } of step.pages) lines += `${pageIndent}${printable(show(url))}\n`;
      yield lines;
    }
  }
}

function remark(sitemap: Sitemap, limitNote: string | undefined): string {
  if (sitemap.kind === "invalid") return ` (not read: ${printable(sitemap.reason.message)})`;
  if (sitemap.complete) return "";
  const lossy = rootCauses(sitemap.problems.filter(({ code }) => isLossy(code)));
  const losses = lossy.filter(({ code }) => limitNote === undefined || code !== "limit-pages");
  if (losses.length === 0) return ` (${lossy.length > 0 ? limitNote : "incomplete"})`;
  return ` (incomplete: ${losses.map(({ message }) => printable(message)).join("; ")})`;
}

/** The fields that come before the tree. */
export interface JsonHead {
  readonly homepage: string | undefined;
  readonly complete: boolean;
  readonly pageCount: number;
  readonly reachable: boolean;
  readonly unreachable?: UnreachableWebsite | undefined;
  readonly discovery: readonly DiscoveryRecord[];
}

/**
 * Writes one page or sitemap per line, so that two files can be compared. If `signal` is aborted, closes the document at once, with
 * `"interrupted": true` as its last field, so that it can still be parsed.
 */
export async function* writeJson(
  { homepage, complete, pageCount, reachable, unreachable, discovery }: JsonHead,
  steps: AsyncIterable<TreeStep>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const start = jsonOf({ homepage, complete, pageCount, reachable, unreachable, discovery });
  yield `${start.slice(0, -1)},\n"root":`;
  // The sitemaps whose lists are open, and whether a list already has an item.
  const open: { kind: Sitemap["kind"]; started: boolean }[] = [];
  const separator = () => {
    const parent = open.at(-1);
    if (parent === undefined) return "";
    if (parent.started) return ",\n";
    parent.started = true;
    return "\n";
  };
  let entered = false;
  try {
    for await (const step of steps) {
      if (signal?.aborted) break;
      if (step.type === "enter") {
        entered = true;
        yield separator() + opening(step.sitemap);
        open.push({ kind: step.sitemap.kind, started: false });
      } else if (step.type === "leave") {
        yield closing(open.pop()?.kind);
      } else if (step.pages.length > 0) {
        yield separator() + list(step.pages);
      }
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
  if (!entered) yield "null";
  while (open.length > 0) yield closing(open.pop()?.kind);
  yield signal?.aborted ? ',\n"interrupted":true}\n' : "}\n";
}

// Writes the object of a sitemap up to the beginning of its list or, if it is invalid, up to its end, and leaves it open.
function opening(sitemap: Sitemap): string {
  if (sitemap.kind === "invalid") return jsonOf(sitemap).slice(0, -1);
  if (sitemap.kind === "pages") return `${jsonOf(sitemap).slice(0, -1)},"pages":[`;
  const { children: _, ...own } = sitemap;
  return `${jsonOf(own).slice(0, -1)},"children":[`;
}

function list(pages: readonly SitemapPage[]): string {
  let json = "";
  for (const page of pages) json += json === "" ? openPageJson(page) : `},\n${openPageJson(page)}`;
  return `${json}}`;
}

function closing(kind: Sitemap["kind"] | undefined): string {
  return kind === "invalid" ? "}" : "]}";
}

/** The fields that are known only when the whole document has been read. */
export type ParsedEnd = Omit<Exclude<ParsedSitemap, { kind: "invalid" }>, "pages" | "sitemaps"> | ParsedInvalid;
type ParsedInvalid = Extract<ParsedSitemap, { kind: "invalid" }>;

/** Writes one parsed document as JSON while it is read. `kind` and `format` come last, because only its end decides them. */
export class ParsedJsonWriter {
  #hasPages = false;
  // Written at the end: a document that lists sitemaps is small, and one that also has pages violates the protocol.
  #sitemaps = "";

  write(pages: readonly SitemapPage[], sitemaps: readonly SitemapReference[]): string {
    for (const reference of sitemaps) this.#sitemaps += `${this.#sitemaps === "" ? "" : ","}\n${jsonOf(reference)}`;
    if (pages.length === 0) return "";
    const start = this.#hasPages ? ",\n" : '{"pages":[\n';
    this.#hasPages = true;
    return start + list(pages);
  }

  end(end: ParsedEnd): string {
    const pages = this.#hasPages ? "\n]," : end.kind === "pages" ? '{"pages":[],' : "{";
    const hasSitemaps = this.#sitemaps !== "" || end.kind === "index";
    return `${pages}${hasSitemaps ? `"sitemaps":[${this.#sitemaps && `${this.#sitemaps}\n`}],` : ""}${jsonOf(end).slice(1)}\n`;
  }
}

/** Joins texts into pieces of at least 64 KB, except the last, because writing a million short strings one by one takes longer than creating them. */
export async function* inPieces(
  texts: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<string, void, undefined> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length >= pieceLength) {
      yield piece;
      piece = "";
    }
  }
  if (piece !== "") yield piece;
}

const pieceLength = 64 * 1024;
