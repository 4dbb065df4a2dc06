// The tree of sitemaps as rows with sizes and times: those with problems and the largest, as far as there is room; the
// others are counted together.
import type { Problem } from "../model/problem.ts";
import { isLossy } from "../model/problem.ts";
import { problemsOf, type Sitemap } from "../model/sitemap.ts";
import { documentsOf, type KeptResponse, type SitemapTree } from "../tree/tree.ts";
import type { ReportFigures, ReportFormat, ReportSitemap, ReportSitemaps } from "./facts.ts";
import type { Room } from "./room.ts";
import { shortened } from "./text.ts";

const manyRows = 50;

export interface SitemapFacts {
  readonly sitemaps: ReportSitemaps;
  readonly formats: readonly ReportFormat[];
  readonly figures: Pick<
    ReportFigures,
    "unreadable" | "incomplete" | "wireBytes" | "decodedBytes" | "duration" | "medianFirstByte"
  >;
}

interface Place {
  readonly sitemap: Sitemap;
  readonly depth: number;
  readonly parent: Place | undefined;
  readonly order: number;
}

export function sitemapFacts(tree: SitemapTree, room: Room): SitemapFacts {
  const { response } = documentsOf(tree);
  const places = placesOf(tree.root);
  const formats = new Map<ReportFormat["format"], { sitemaps: number; pages: number }>();
  const seen = new Set<string>();
  const firstBytes: number[] = [];
  let [unreadable, incomplete, wireBytes, decodedBytes] = [0, 0, 0, 0];
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { sitemap } of places) {
    if (sitemap.kind === "invalid") unreadable += sitemap.reason.count ?? 1;
    else if (!sitemap.complete) incomplete += 1;
    if (sitemap.kind === "pages") {
      const format = formats.get(sitemap.format) ?? { sitemaps: 0, pages: 0 };
      formats.set(sitemap.format, { sitemaps: format.sitemaps + 1, pages: format.pages + sitemap.pageCount });
    }
    if (seen.has(sitemap.url)) continue;
    seen.add(sitemap.url);
    const kept = response(sitemap.url);
    wireBytes += kept?.wireBytes ?? 0;
    decodedBytes += kept?.decodedBytes ?? 0;
    if (kept?.firstByte !== undefined) firstBytes.push(kept.firstByte);
    const times = timesOf(kept);
    if (times === undefined) continue;
    start = Math.min(start, times.start);
    end = Math.max(end, times.end);
  }
  const chosen = chosenRows(places, room.rows);
  const longest = chosen.length > manyRows ? room.textInRow : room.text;
  const rows = chosen.map((place) => rowOf(place, response(place.sitemap.url), start, longest));
  firstBytes.sort((one, two) => one - two);
  const medianFirstByte = firstBytes[Math.floor(firstBytes.length / 2)];
  return {
    sitemaps: { rows, ...othersOf(places, new Set(chosen), response) },
    formats: [...formats]
      .map(([format, counts]) => ({ format, ...counts }))
      .sort((one, two) => two.pages - one.pages || (one.format < two.format ? -1 : 1)),
    figures: {
      unreadable,
      incomplete,
      wireBytes,
      decodedBytes,
      ...(end >= start ? { duration: Math.round(end - start) } : {}),
      ...(medianFirstByte === undefined ? {} : { medianFirstByte: Math.round(medianFirstByte) }),
    },
  };
}

// Depth first, without the root. No recursion, because trees can have any depth.
function placesOf(root: Sitemap): Place[] {
  const places: Place[] = [];
  const open: { sitemap: Sitemap; depth: number; parent: Place | undefined }[] = [];
  const push = (children: readonly Sitemap[], depth: number, parent: Place | undefined) => {
    for (let index = children.length - 1; index >= 0; index--) open.push({ sitemap: children[index]!, depth, parent });
  };
  if (root.kind === "index") push(root.children, 0, undefined);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const place = { ...next, order: places.length };
    places.push(place);
    if (next.sitemap.kind === "index") push(next.sitemap.children, next.depth + 1, place);
  }
  return places;
}

// Those that could not be fully read, then the largest; and the indexes above them, as far as there is room.
function chosenRows(places: readonly Place[], most: number): readonly Place[] {
  if (places.length <= most) return places;
  const weight = ({ sitemap }: Place) =>
    sitemap.kind === "index" ? 2 : sitemap.kind === "invalid" || !sitemap.complete ? 1 : 0;
  const pages = ({ sitemap }: Place) => (sitemap.kind === "pages" ? sitemap.pageCount : 0);
  // At most half of the rows for problems and indexes, so that large sitemaps are shown, too.
  const sorted = [...places].sort((one, two) => pages(two) - pages(one) || one.order - two.order);
  const faulty = places.filter((place) => weight(place) === 1).slice(0, most / 4);
  const indexes = places.filter((place) => weight(place) === 2).slice(0, most / 4);
  const chosen = new Set([...indexes, ...faulty]);
  for (const place of sorted) {
    if (chosen.size >= most) break;
    chosen.add(place);
  }
  return [...chosen].sort((one, two) => one.order - two.order);
}

function othersOf(
  places: readonly Place[],
  chosen: ReadonlySet<Place>,
  response: (url: string) => KeptResponse | undefined,
): Pick<ReportSitemaps, "others"> {
  if (chosen.size === places.length) return {};
  const others = { count: 0, pages: 0, wireBytes: 0 };
  for (const place of places) {
    if (chosen.has(place)) continue;
    const { sitemap } = place;
    others.count += 1;
    others.pages += sitemap.kind === "pages" ? sitemap.pageCount : 0;
    others.wireBytes += response(sitemap.url)?.wireBytes ?? 0;
  }
  return { others };
}

function rowOf(
  { sitemap, depth }: Place,
  kept: KeptResponse | undefined,
  start: number,
  longest: number,
): ReportSitemap {
  const times = timesOf(kept);
  const wrong = worstProblem(problemsOf(sitemap));
  const { status, wireBytes, decodedBytes, firstByte, duration } = kept ?? {};
  return {
    url: shortened(sitemap.declaredUrl ?? sitemap.url, longest),
    depth,
    kind: sitemap.kind,
    ...(sitemap.kind === "invalid" ? {} : { format: sitemap.format }),
    complete: sitemap.kind !== "invalid" && sitemap.complete,
    ...(sitemap.kind === "pages" ? { pages: sitemap.pageCount } : {}),
    ...(wrong === undefined ? {} : { problem: shortened(wrong.message, longest) }),
    ...(status === undefined ? {} : { status }),
    ...(wireBytes === undefined ? {} : { wireBytes }),
    ...(decodedBytes === undefined ? {} : { decodedBytes }),
    ...(times === undefined ? {} : { start: Math.max(0, Math.round(times.start - start)) }),
    ...(firstByte === undefined ? {} : { firstByte: Math.round(firstByte) }),
    ...(duration === undefined ? {} : { duration: Math.round(duration) }),
  };
}

// The problem that is a loss; minor ones are not shown.
function worstProblem(problems: readonly Problem[]): Problem | undefined {
  return problems.find(({ code }) => isLossy(code));
}

function timesOf(kept: KeptResponse | undefined): { readonly start: number; readonly end: number } | undefined {
  if (kept?.receivedAt === undefined) return undefined;
  const { firstByte = 0, duration = firstByte } = kept;
  const start = Date.parse(kept.receivedAt) - firstByte;
  return Number.isNaN(start) ? undefined : { start, end: start + duration };
}
