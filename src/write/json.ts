// The format `json`: the whole tree with its pages as one document, written during the walk, so that its size does not
// matter. One page or sitemap per line, which helps to compare two files. The shape is described by
// schema/output.json.
import type { DiscoveryRecord, TreeStep, UnreachableWebsite } from "../model/event.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { openPageJson } from "./page-json.ts";
import { inPieces } from "./pieces.ts";
import { jsonOf } from "./printable.ts";

/** The fields before the tree. */
export interface JsonHead {
  readonly homepage: string | undefined;
  readonly complete: boolean;
  readonly pageCount: number;
  readonly reachable: boolean;
  readonly unreachable?: UnreachableWebsite | undefined;
  readonly discovery: readonly DiscoveryRecord[];
}

/**
 * If `signal` is aborted, the document is closed at once, with `"interrupted": true` as its last field, so that it can
 * be parsed.
 */
export function writeJson(
  head: JsonHead,
  steps: AsyncIterable<TreeStep>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  return inPieces(document(head, steps, signal));
}

async function* document(
  { homepage, complete, pageCount, reachable, unreachable, discovery }: JsonHead,
  steps: AsyncIterable<TreeStep>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const start = jsonOf({ homepage, complete, pageCount, reachable, unreachable, discovery });
  yield `${start.slice(0, -1)},\n"root":`;
  // For each open sitemap: whether something was already written into its list.
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

// An object whose last field is its list, still open.
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
