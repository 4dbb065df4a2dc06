// The tree of sitemaps with sizes, a waterfall of how they were fetched, and where sitemaps were looked for.
import { counted, grouped, size } from "../model/figures.ts";
import { isLossy, type Problem } from "../model/problem.ts";
import { problemsOf, type Sitemap } from "../model/sitemap.ts";
import { documentsOf, type KeptResponse, type SitemapTree } from "../tree/tree.ts";
import { type Html, html, part, shortened, table, time, urlLink, withoutOrigin } from "./html.ts";
import type { ReportFacts, ReportFigures, ReportFormat, ReportSitemap, ReportSitemaps } from "./report-tree.ts";
import type { Room } from "./room.ts";

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

export function sitemapsPart({ sitemaps, homepage, figures }: ReportFacts): Html | undefined {
  const { rows, others } = sitemaps;
  if (rows.length === 0) return undefined;
  const end = figures.duration ?? 0;
  const hasTimes = rows.some(({ start }) => start !== undefined) && end > 0;
  const head = html`<th scope="col">Sitemap</th><th scope="col">Format</th><th scope="col">Pages</th><th scope="col">Received</th><th scope="col">Unpacked</th><th scope="col">Time</th>${hasTimes && html`<th scope="col">When (0 to ${time(end)})</th>`}`;
  const lines = rows.map((row) => line(row, homepage, hasTimes ? end : undefined));
  const rest =
    others !== undefined &&
    html`<tr class="other"><th scope="row">other (${grouped(others.count)})</th><td></td><td>${grouped(others.pages)}</td><td>${size(others.wireBytes)}</td><td></td><td></td>${hasTimes && html`<td></td>`}</tr>`;
  return part(
    "sitemaps",
    "Sitemaps, as they were fetched",
    html`<p class="lead">In the order in which they are declared.${hasTimes && " The light part of a bar is the wait for the first byte."}</p>${table("Sitemaps", head, [...lines, rest], "tree")}`,
  );
}

function line(row: ReportSitemap, homepage: string, end: number | undefined): Html {
  const { url, depth, kind, format, pages, problem, complete, wireBytes, decodedBytes, duration, firstByte, status } =
    row;
  const isBad = kind === "invalid" || !complete;
  const what =
    kind === "invalid"
      ? status === undefined
        ? "not read"
        : `not read (${status})`
      : kind === "index"
        ? format === "robots"
          ? "robots.txt"
          : "index"
        : formatNames[format as keyof typeof formatNames];
  const took = duration ?? firstByte;
  return html`<tr${isBad ? html` class="bad"` : ""}><th scope="row" class="d${Math.min(depth, 5)}">${urlLink(url, withoutOrigin(url, homepage))}${problem !== undefined && html`<span class="why">${problem}</span>`}</th><td>${what}</td><td>${pages === undefined ? "" : grouped(pages)}</td><td>${wireBytes === undefined ? "" : size(wireBytes)}</td><td>${decodedBytes === undefined || decodedBytes === wireBytes ? "" : size(decodedBytes)}</td><td>${took === undefined ? "" : time(took)}</td>${end !== undefined && html`<td>${bar(row, end)}</td>`}</tr>`;
}

const formatNames = { xml: "XML", text: "text", rss: "RSS", atom: "Atom" } as const;

// In percent of the time that all took. What is said about the times in words is in the column before.
function bar({ start, firstByte = 0, duration = firstByte }: ReportSitemap, end: number): Html | false {
  if (start === undefined) return false;
  const at = (milliseconds: number) => Number(((milliseconds / end) * 100).toFixed(1));
  // Wide enough to be seen.
  const whole = Math.max(0.6, at(duration));
  const wait = Math.min(at(firstByte), whole);
  const left = Math.min(at(start), 100 - whole);
  const rest = Number((whole - wait).toFixed(1));
  return html`<svg aria-hidden="true">${wait > 0 && html`<rect class="wait" x="${left}%" width="${wait}%"/>`}${rest > 0 && html`<rect class="get" x="${Number((left + wait).toFixed(1))}%" width="${rest}%"/>`}</svg>`;
}

const byNames = {
  robots: "robots.txt",
  "known-path": "well-known path",
  "homepage-header": "Link header of the homepage",
  "homepage-link": "link on the homepage",
  given: "given",
} as const;
const outcomes = {
  found: ["found", "good"],
  duplicate: ["known already", "plain"],
  "not-a-sitemap": ["not a sitemap", "plain"],
  skipped: ["not asked", "plain"],
  absent: ["not there", "plain"],
  blocked: ["blocked", "error"],
  failed: ["failed", "error"],
  refused: ["refused", "warning"],
} as const;

export function discoveryPart({ discovery, homepage }: ReportFacts): Html | undefined {
  const { rows, others } = discovery;
  if (rows.length === 0) return undefined;
  const head = html`<th scope="col">Where</th><th scope="col" class="minor">By</th><th scope="col">Outcome</th><th scope="col" class="number minor">Status</th>`;
  let said: string | undefined;
  const lines = rows.map(({ url, by, outcome, status, reason, finalUrl }) => {
    const [word, tone] = outcomes[outcome];
    // Without repeating the row above or the status.
    const isNew = reason !== said && status === undefined && (tone === "error" || tone === "warning");
    const why = isNew ? reason : undefined;
    said = reason;
    return html`<tr><th scope="row">${urlLink(url, withoutOrigin(url, homepage))}${finalUrl !== undefined && html` <span class="soft">→ <bdi class="url">${withoutOrigin(finalUrl, homepage)}</bdi></span>`}${why !== undefined && html`<span class="why">${why}</span>`}</th><td class="minor">${byNames[by]}</td><td><span class="tag ${tone}">${word}</span></td><td class="number minor">${status === undefined ? "" : String(status)}</td></tr>`;
  });
  const rest = others > 0 && html`<tr class="other"><td colspan="4">other (${grouped(others)})</td></tr>`;
  const found = rows.filter(({ outcome }) => outcome === "found").length;
  return part(
    "discovery",
    "Where sitemaps were looked for",
    html`<p class="lead">${counted(rows.length + others, "place")} tried, ${grouped(found)} of them with a sitemap or a robots.txt.</p>${table("Places where sitemaps were looked for", head, [...lines, rest])}`,
  );
}
