// Collects and shows the tree of sitemaps (their sizes and times), and what discovery tried.
import type { DiscoveryRecord } from "../model/event.ts";
import { counted, duration, grouped, size } from "../model/figures.ts";
import { isLossy } from "../model/problem.ts";
import { problemsOf, type Sitemap } from "../model/sitemap.ts";
import { walkNodes } from "../tree/parts.ts";
import { type KeptResponse, partsOf, type SitemapTree } from "../tree/tree.ts";
import type { ReportDiscovery, ReportFacts, ReportFigures, ReportSitemap, ReportSitemaps } from "./facts.ts";
import { caps, type Html, html, part, type TableRow, table, urlLink, withoutOrigin, withShortTexts } from "./html.ts";

type FetchFigures = Exclude<keyof ReportFigures, "sitemaps" | "duplicates" | "flawedPages" | "dated" | "medianAge">;

export function sitemapFacts(tree: SitemapTree): {
  readonly sitemaps: ReportSitemaps;
  readonly figures: Pick<ReportFigures, FetchFigures>;
} {
  const { responses } = partsOf(tree);
  const entries = [...walkNodes(tree.root)].filter(({ type, depth }) => type === "enter" && depth > 0);
  // A sitemap that is listed twice has two entries. An index with pages of its own has a sitemap with the same URL for them.
  const each = [...new Map(entries.map(({ sitemap }) => [`${sitemap.kind} ${sitemap.url}`, sitemap])).values()];
  const figures = { pages: 0, unreadable: 0, incomplete: 0, wireBytes: 0, decodedBytes: 0 };
  for (const sitemap of each) {
    if (sitemap.kind === "invalid") figures.unreadable += sitemap.reason.count ?? 1;
    else if (!sitemap.complete) figures.incomplete += 1;
    if (sitemap.kind === "pages") figures.pages += sitemap.pageCount;
  }
  const firstBytes: number[] = [];
  let slowest: number | undefined;
  for (const url of new Set(each.map(({ url }) => url))) {
    const { wireBytes = 0, decodedBytes = 0, firstByte, duration = firstByte } = responses.get(url) ?? {};
    figures.wireBytes += wireBytes;
    figures.decodedBytes += decodedBytes;
    if (firstByte !== undefined) firstBytes.push(firstByte);
    if (duration !== undefined) slowest = Math.max(Math.round(duration), slowest ?? 0);
  }
  firstBytes.sort((one, two) => one - two);
  const medianFirstByte = rounded(firstBytes[Math.floor(firstBytes.length / 2)]);
  return { sitemaps: sitemapRows(entries, responses), figures: { ...figures, medianFirstByte, slowest } };
}

/** A sitemap at its place in the tree. Its `depth` is 1 for children of the root. */
interface SitemapEntry {
  readonly sitemap: Sitemap;
  readonly depth: number;
}

/** Returns rows for indexes, incomplete sitemaps and the largest ones, and counts the others. */
export function sitemapRows(
  entries: readonly SitemapEntry[],
  responses: ReadonlyMap<string, KeptResponse>,
): ReportSitemaps {
  const pagesOf = ({ sitemap }: SitemapEntry) => (sitemap.kind === "pages" ? sitemap.pageCount : 0);
  const isFaulty = ({ sitemap }: SitemapEntry) =>
    sitemap.kind === "invalid" || (sitemap.kind === "pages" && !sitemap.complete);
  // Indexes and faulty sitemaps get at most half of the rows, so that there is room for large sitemaps.
  const indexes = entries.filter(({ sitemap }) => sitemap.kind === "index").slice(0, caps.rows / 4);
  const faulty = entries.filter(isFaulty).slice(0, caps.rows / 4);
  const sorted = [...entries].sort((one, two) => pagesOf(two) - pagesOf(one));
  const chosen = new Set([...new Set([...indexes, ...faulty, ...sorted])].slice(0, caps.rows));
  const rows = entries
    .filter((entry) => chosen.has(entry))
    .map(({ sitemap, depth }) => withShortTexts(rowOf(sitemap, depth, responses.get(sitemap.url))));
  return { rows, others: entries.length - rows.length };
}

function rowOf(sitemap: Sitemap, depth: number, kept: KeptResponse | undefined): ReportSitemap {
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
    duration: rounded(kept?.duration ?? kept?.firstByte),
  };
}

function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds);
}

export function discoveryFacts(discovery: readonly DiscoveryRecord[]): ReportDiscovery {
  const tried = discovery.filter(({ outcome }) => outcome !== "skipped");
  const rows = tried.slice(0, caps.discovery).map(({ url, by, outcome, status, finalUrl, reason }) => {
    return withShortTexts({ url, by, outcome, status, finalUrl, reason: reason?.message });
  });
  return {
    others: tried.length - rows.length,
    found: tried.filter(({ outcome }) => outcome === "found").length,
    skipped: discovery.length - tried.length,
    rows,
  };
}

export function sitemapsPart({ sitemaps, homepage, extensions }: ReportFacts): Html | undefined {
  const { rows, others } = sitemaps;
  if (rows.length === 0) return undefined;
  const left = [["Sitemap"], ["Format", "text minor"], ["Pages"]] as const;
  const right = [["Received", "minor"], ["Unpacked", "minor"], ["Time"]] as const;
  const lines = rows.map((row) => line(row, homepage));
  const sizes = table("Sitemaps", [...left, ...right], lines, others);
  const lead = html`<p class="lead">In declared order.${extensionSentence(extensions)}</p>`;
  return part("sitemaps", "How the sitemaps were fetched", html`${lead}${sizes}`);
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

function line(row: ReportSitemap, homepage: string): TableRow {
  const { url, depth, kind, format, pages, problem, complete, wireBytes, decodedBytes, duration: took, status } = row;
  const what = {
    invalid: status === undefined ? "not read" : `not read (${status})`,
    index: format === "robots" ? "robots.txt" : "index",
    pages: formatNames[format as keyof typeof formatNames],
  }[kind];
  const cells = [
    html`${urlLink(url, homepage)}${problem !== undefined && html`<span class="why">${problem}</span>`}`,
    what,
    pages !== undefined && grouped(pages),
    wireBytes !== undefined && size(wireBytes),
    decodedBytes !== undefined && decodedBytes !== wireBytes && size(decodedBytes),
    took !== undefined && duration(took),
  ];
  return { cells, className: kind === "invalid" || !complete ? "bad" : undefined, level: depth };
}

const formatNames = {
  xml: "XML",
  text: "text",
  rss: "RSS",
  atom: "Atom",
  json: "JSON Feed",
  llms: "llms.txt",
} as const;

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
  const columns = [["Where"], ["By", "text minor"], ["Outcome", "text"], ["Status", "minor"]] as const;
  let said: string | undefined;
  const lines = rows.map(({ url, by, outcome, status, reason, finalUrl }) => {
    const [word, tone] = outcomes[outcome];
    // The reason of a failure is omitted if it repeats the row above or the row has a status.
    const isNew = reason !== said && status === undefined && (tone === "error" || tone === "warning");
    const why = isNew ? reason : undefined;
    said = reason;
    const name = html`${urlLink(url, homepage)}${finalUrl !== undefined && html` <span class="soft">→ <bdi class="url">${withoutOrigin(finalUrl, homepage)}</bdi></span>`}${why !== undefined && html`<span class="why">${why}</span>`}`;
    return { cells: [name, byNames[by], html`<span class="tag ${tone}">${word}</span>`, status] };
  });
  return part(
    "discovery",
    "Where discovery looked",
    html`<p class="lead">${counted(rows.length + others, "URL")} tried; ${grouped(found)} had a sitemap or a robots.txt.${skipped > 0 && ` ${counted(skipped, "well-known path")} ${skipped === 1 ? "was" : "were"} not tried.`}</p>${table("URLs that discovery tried", columns, lines, others)}`,
  );
}
