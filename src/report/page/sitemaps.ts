// The tree of sitemaps with sizes, and a waterfall of how they were fetched; and where sitemaps were looked for.
import { counted, grouped, size } from "../../figures.ts";
import type { ReportFacts, ReportSitemap } from "../facts.ts";
import { type Html, html } from "../html.ts";
import { time } from "../text.ts";
import { part, table, urlLink, withoutOrigin } from "./words.ts";

export function sitemapsPart({ sitemaps, homepage, figures }: ReportFacts): Html | undefined {
  const { rows, others } = sitemaps;
  if (rows.length === 0) return undefined;
  const end = figures.duration ?? 0;
  const hasTimes = rows.some(({ start }) => start !== undefined) && end > 0;
  const head = html`<th scope="col">Sitemap</th><th scope="col" class="minor">Format</th><th scope="col" class="number">Pages</th><th scope="col" class="number minor">Received</th><th scope="col" class="number minor">Unpacked</th><th scope="col" class="number minor">Time</th>${hasTimes && html`<th scope="col" class="fall">When (0 to ${time(end)})</th>`}`;
  const lines = rows.map((row) => line(row, homepage, hasTimes ? end : undefined));
  const rest =
    others !== undefined &&
    html`<tr class="other"><th scope="row">other (${grouped(others.count)})</th><td class="minor"></td><td class="number">${grouped(others.pages)}</td><td class="number minor">${size(others.wireBytes)}</td><td class="minor"></td><td class="minor"></td>${hasTimes && html`<td></td>`}</tr>`;
  return part(
    "sitemaps",
    "Sitemaps, as they were fetched",
    html`<p class="lead">In the order in which they are declared.${hasTimes && " The light part of a bar is the wait for the first byte."}</p>${table("Sitemaps", head, [...lines, rest])}`,
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
  return html`<tr${isBad ? html` class="bad"` : ""}><th scope="row" class="d${Math.min(depth, 5)}">${urlLink(url, withoutOrigin(url, homepage))}${problem !== undefined && html`<span class="why">${problem}</span>`}</th><td class="minor">${what}</td><td class="number">${pages === undefined ? "" : grouped(pages)}</td><td class="number minor">${wireBytes === undefined ? "" : size(wireBytes)}</td><td class="number minor">${decodedBytes === undefined || decodedBytes === wireBytes ? "" : size(decodedBytes)}</td><td class="number minor">${took === undefined ? "" : time(took)}</td>${end !== undefined && html`<td class="fall">${bar(row, end)}</td>`}</tr>`;
}

const formatNames = { xml: "XML", text: "text", rss: "RSS", atom: "Atom" } as const;

function bar({ start, firstByte = 0, duration = firstByte }: ReportSitemap, end: number): Html {
  const track = html`<rect class="line" y="5.5" width="1000" height="1"/>`;
  if (start === undefined)
    return html`<svg viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">${track}</svg>`;
  const at = (milliseconds: number) => Number(((milliseconds / end) * 1000).toFixed(1));
  // Wide enough to be seen.
  const whole = Math.max(6, at(duration));
  const wait = Math.min(at(firstByte), whole);
  const left = Math.min(at(start), 1000 - whole);
  const label = `from ${time(start)}, for ${time(duration)}`;
  return html`<svg viewBox="0 0 1000 12" preserveAspectRatio="none" role="img" aria-label="${label}"><title>${label}</title>${track}<rect class="wait" x="${left}" y="2" width="${wait}" height="8"/><rect class="get" x="${Number((left + wait).toFixed(1))}" y="2" width="${Number((whole - wait).toFixed(1))}" height="8"/></svg>`;
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
  const lines = rows.map(({ url, by, outcome, status, reason, finalUrl }) => {
    const [word, tone] = outcomes[outcome];
    const why = tone === "error" || tone === "warning" ? reason : undefined;
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
