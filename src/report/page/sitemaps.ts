// The tree of sitemaps with sizes, and a waterfall of how they were fetched; and where sitemaps were looked for.
import { counted, grouped, size } from "../../model/figures.ts";
import type { ReportFacts, ReportSitemap } from "../facts.ts";
import { type Html, html } from "../html.ts";
import { time } from "../text.ts";
import { part, table, urlLink, withoutOrigin } from "./words.ts";

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
