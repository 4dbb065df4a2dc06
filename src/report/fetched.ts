// Collects and shows the tree of sitemaps (their sizes, and when each was fetched), and what discovery tried.
import type { DiscoveryRecord } from "../model/event.ts";
import { counted, duration, grouped, size } from "../model/figures.ts";
import { isLossy } from "../model/problem.ts";
import { isReadSitemap, problemsOf, type Sitemap } from "../model/sitemap.ts";
import { walkNodes } from "../tree/parts.ts";
import { type KeptResponse, partsOf, type SitemapTree } from "../tree/tree.ts";
import type { ReportDiscovery, ReportFacts, ReportFigures, ReportSitemap, ReportSitemaps } from "./facts.ts";
import { caps, type Html, html, otherRow, part, table, urlLink, withoutOrigin, withShortTexts } from "./html.ts";

// Lists with more rows than this get shorter texts.
const manyRows = 50;

type FetchFigures = Exclude<keyof ReportFigures, "duplicates" | "flawedPages" | "dated" | "medianAge">;

export function sitemapFacts(tree: SitemapTree): {
  readonly sitemaps: ReportSitemaps;
  readonly figures: Pick<ReportFigures, FetchFigures>;
} {
  const { responses } = partsOf(tree);
  const entries = [...walkNodes(tree.root)].filter(({ type, depth }) => type === "enter" && depth > 0);
  // A sitemap that is listed twice has two entries. An index with pages of its own has a sitemap with the same URL for them.
  const each = [...new Map(entries.map(({ sitemap }) => [`${sitemap.kind} ${sitemap.url}`, sitemap])).values()];
  const figures = { pages: 0, sitemaps: 0, unreadable: 0, incomplete: 0, wireBytes: 0, decodedBytes: 0 };
  for (const sitemap of each) {
    if (sitemap.kind === "invalid") figures.unreadable += sitemap.reason.count ?? 1;
    else if (!sitemap.complete) figures.incomplete += 1;
    if (isReadSitemap(sitemap)) figures.sitemaps += 1;
    if (sitemap.kind === "pages") figures.pages += sitemap.pageCount;
  }
  const firstBytes: number[] = [];
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const url of new Set(each.map(({ url }) => url))) {
    const kept = responses.get(url);
    figures.wireBytes += kept?.wireBytes ?? 0;
    figures.decodedBytes += kept?.decodedBytes ?? 0;
    if (kept?.firstByte !== undefined) firstBytes.push(kept.firstByte);
    const requested = requestedAt(kept);
    if (requested === undefined) continue;
    start = Math.min(start, requested);
    end = Math.max(end, requested + (kept?.duration ?? kept?.firstByte ?? 0));
  }
  firstBytes.sort((one, two) => one - two);
  return {
    sitemaps: sitemapRows(entries, responses, start),
    figures: {
      ...figures,
      duration: end >= start ? Math.round(end - start) : undefined,
      medianFirstByte: rounded(firstBytes[Math.floor(firstBytes.length / 2)]),
    },
  };
}

/** A sitemap at its place in the tree. Its `depth` is 1 for children of the root. */
interface SitemapEntry {
  readonly sitemap: Sitemap;
  readonly depth: number;
}

/** Returns rows for indexes, incomplete sitemaps and the largest ones, and counts the others. `start` is the time of the first request. */
export function sitemapRows(
  entries: readonly SitemapEntry[],
  responses: ReadonlyMap<string, KeptResponse>,
  start: number,
): ReportSitemaps {
  const pagesOf = ({ sitemap }: SitemapEntry) => (sitemap.kind === "pages" ? sitemap.pageCount : 0);
  const isFaulty = ({ sitemap }: SitemapEntry) =>
    sitemap.kind === "invalid" || (sitemap.kind === "pages" && !sitemap.complete);
  // Indexes and faulty sitemaps get at most half of the rows, so that there is room for large sitemaps.
  const indexes = entries.filter(({ sitemap }) => sitemap.kind === "index").slice(0, caps.rows / 4);
  const faulty = entries.filter(isFaulty).slice(0, caps.rows / 4);
  const sorted = [...entries].sort((one, two) => pagesOf(two) - pagesOf(one));
  const chosen = new Set([...new Set([...indexes, ...faulty, ...sorted])].slice(0, caps.rows));
  const longest = chosen.size > manyRows ? caps.rowText : caps.text;
  const rows: ReportSitemap[] = [];
  const others = { count: 0, pages: 0, wireBytes: 0 };
  for (const entry of entries) {
    const { sitemap, depth } = entry;
    const kept = responses.get(sitemap.url);
    if (chosen.has(entry)) rows.push(withShortTexts(rowOf(sitemap, depth, kept, start), longest));
    else {
      others.count += 1;
      others.pages += pagesOf(entry);
      others.wireBytes += kept?.wireBytes ?? 0;
    }
  }
  return { rows, others: others.count === 0 ? undefined : others };
}

function rowOf(sitemap: Sitemap, depth: number, kept: KeptResponse | undefined, start: number): ReportSitemap {
  const requested = requestedAt(kept);
  return {
    url: sitemap.declaredUrl ?? sitemap.url,
    depth: depth - 1,
    kind: sitemap.kind,
    format: sitemap.kind === "invalid" ? undefined : sitemap.format,
    complete: sitemap.kind !== "invalid" && sitemap.complete,
    pages: sitemap.kind === "pages" ? sitemap.pageCount : undefined,
    problem: problemsOf(sitemap).find(({ code }) => isLossy(code))?.message,
    status: kept?.status,
    wireBytes: kept?.wireBytes,
    decodedBytes: kept?.decodedBytes,
    start: requested && Math.max(0, Math.round(requested - start)),
    firstByte: rounded(kept?.firstByte),
    duration: rounded(kept?.duration),
  };
}

function requestedAt(kept: KeptResponse | undefined): number | undefined {
  // A document that has not changed since an earlier run was also requested in this run.
  const start = Date.parse(kept?.revalidatedAt ?? kept?.receivedAt ?? "") - (kept?.firstByte ?? 0);
  return Number.isNaN(start) ? undefined : start;
}

function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds);
}

export function discoveryFacts(discovery: readonly DiscoveryRecord[]): ReportDiscovery {
  const tried = discovery.filter(({ outcome }) => outcome !== "skipped");
  const longest = tried.length > manyRows ? caps.rowText : caps.text;
  const rows = tried.slice(0, caps.discovery).map(({ url, by, outcome, status, finalUrl, reason }) => {
    return withShortTexts({ url, by, outcome, status, finalUrl, reason: reason?.message }, longest);
  });
  return {
    others: tried.length - rows.length,
    found: tried.filter(({ outcome }) => outcome === "found").length,
    skipped: discovery.length - tried.length,
    rows,
  };
}

export function sitemapsPart({ sitemaps, homepage, figures, extensions }: ReportFacts): Html | undefined {
  const { rows, others } = sitemaps;
  if (rows.length === 0) return undefined;
  const end = figures.duration ?? 0;
  const hasTimes = rows.some(({ start }) => start !== undefined) && end > 0;
  const head = html`<th scope="col">Sitemap</th><th scope="col">Format</th><th scope="col">Pages</th><th scope="col">Received</th><th scope="col">Unpacked</th><th scope="col">Time</th>${hasTimes && html`<th scope="col">When (0 to ${duration(end)})</th>`}`;
  const lines = rows.map((row) => line(row, homepage, hasTimes ? end : undefined));
  const rest =
    others !== undefined &&
    html`<tr class="other"><th scope="row">other (${grouped(others.count)})</th><td></td><td>${grouped(others.pages)}</td><td>${size(others.wireBytes)}</td><td></td><td></td>${hasTimes && html`<td></td>`}</tr>`;
  return part(
    "sitemaps",
    "How the sitemaps were fetched",
    html`<p class="lead">In declared order.${hasTimes && " The light part of a bar is the wait for the first byte."}${extensionSentence(extensions)}</p>${table("Sitemaps", head, [...lines, rest], "tree")}`,
  );
}

function extensionSentence(extensions: ReportFacts["extensions"]): string {
  const { alternates, images, videos, newsStory } = extensions;
  const parts = [
    ...(alternates > 0 ? [`${counted(alternates, "page")} with alternate pages (hreflang)`] : []),
    ...(images > 0 ? [`${grouped(images)} with images`] : []),
    ...(videos > 0 ? [`${grouped(videos)} with videos`] : []),
    ...(newsStory > 0 ? [`${grouped(newsStory)} with a news story or feed entry`] : []),
  ];
  return parts.length === 0 ? "" : ` They list ${parts.join(", ")}.`;
}

function line(row: ReportSitemap, homepage: string, end: number | undefined): Html {
  const { url, depth, kind, format, pages, problem, complete, wireBytes, decodedBytes, firstByte, status } = row;
  const isBad = kind === "invalid" || !complete;
  const unread = status === undefined ? "not read" : `not read (${status})`;
  const what = {
    invalid: unread,
    index: format === "robots" ? "robots.txt" : "index",
    pages: formatNames[format as keyof typeof formatNames],
  }[kind];
  const took = row.duration ?? firstByte;
  return html`<tr${isBad ? html` class="bad"` : ""}><th scope="row" class="d${Math.min(depth, 5)}">${urlLink(url, homepage)}${problem !== undefined && html`<span class="why">${problem}</span>`}</th><td>${what}</td><td>${pages === undefined ? "" : grouped(pages)}</td><td>${wireBytes === undefined ? "" : size(wireBytes)}</td><td>${decodedBytes === undefined || decodedBytes === wireBytes ? "" : size(decodedBytes)}</td><td>${took === undefined ? "" : duration(took)}</td>${end !== undefined && html`<td>${bar(row, end)}</td>`}</tr>`;
}

const formatNames = {
  xml: "XML",
  text: "text",
  rss: "RSS",
  atom: "Atom",
  json: "JSON Feed",
  llms: "llms.txt",
} as const;

// Draws when a sitemap was fetched, in percent of the total time. Screen readers skip the bar.
function bar({ start, firstByte = 0, duration: took = firstByte }: ReportSitemap, end: number): Html | false {
  if (start === undefined) return false;
  const at = (milliseconds: number) => Number(((milliseconds / end) * 100).toFixed(1));
  // A narrower bar could not be seen.
  const whole = Math.max(0.6, at(took));
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
  feed: "feed",
  llms: "llms.txt",
  given: "given",
} as const;
const outcomes = {
  found: ["found", "good"],
  duplicate: ["already known", "plain"],
  "not-a-sitemap": ["not a sitemap", "plain"],
  skipped: ["not tried", "plain"],
  absent: ["not found", "plain"],
  blocked: ["blocked", "error"],
  failed: ["failed", "error"],
  refused: ["refused", "warning"],
} as const;

export function discoveryPart({ discovery, homepage }: ReportFacts): Html | undefined {
  const { rows, others, found, skipped } = discovery;
  if (rows.length === 0) return undefined;
  const head = html`<th scope="col">Where</th><th scope="col" class="minor">By</th><th scope="col">Outcome</th><th scope="col" class="number minor">Status</th>`;
  let said: string | undefined;
  const lines = rows.map(({ url, by, outcome, status, reason, finalUrl }) => {
    const [word, tone] = outcomes[outcome];
    // The reason of a failure is omitted if it repeats the row above or the row has a status.
    const isNew = reason !== said && status === undefined && (tone === "error" || tone === "warning");
    const why = isNew ? reason : undefined;
    said = reason;
    return html`<tr><th scope="row">${urlLink(url, homepage)}${finalUrl !== undefined && html` <span class="soft">→ <bdi class="url">${withoutOrigin(finalUrl, homepage)}</bdi></span>`}${why !== undefined && html`<span class="why">${why}</span>`}</th><td class="minor">${byNames[by]}</td><td><span class="tag ${tone}">${word}</span></td><td class="number minor">${status === undefined ? "" : String(status)}</td></tr>`;
  });
  return part(
    "discovery",
    "Where discovery looked",
    html`<p class="lead">${counted(rows.length + others, "URL")} tried; ${grouped(found)} had a sitemap or a robots.txt.${skipped > 0 && ` ${counted(skipped, "well-known path")} ${skipped === 1 ? "was" : "were"} not tried.`}</p>${table("URLs that discovery tried", head, [...lines, otherRow(others, 4)])}`,
  );
}
