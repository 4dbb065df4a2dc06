// Creates the report as one HTML file, which opens anywhere, loads nothing, and has no script. Its content security policy allows only its
// own style sheet, by its hash, so that even HTML that was injected by mistake could load or run nothing.

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { counted, duration, grouped, size } from "../model/figures.ts";
import { isHttpUrl } from "../model/url.ts";
import type { ReportFacts } from "./facts.ts";
import { discoveryPart, sitemapsPart } from "./fetched.ts";
import { findingsPart } from "./finding-list.ts";
import { age, Html, html, percent, readableUrl, StyleSheet, type Value } from "./html.ts";
import { mapPart } from "./map.ts";
import { changesPart } from "./since.ts";
import { style } from "./style.ts";
import { timelinePart } from "./timeline.ts";

/** Returns the HTML page that shows these facts. */
export function pageOf(facts: ReportFacts): string {
  const sheet = new StyleSheet();
  const parts = [
    { id: "findings", name: "Findings", content: findingsPart(facts) },
    { id: "since", name: "What changed", content: changesPart(facts) },
    { id: "map", name: "Sections", content: mapPart(facts, sheet) },
    { id: "changes", name: "Timeline", content: timelinePart(facts, sheet) },
    { id: "sitemaps", name: "Sitemaps", content: sitemapsPart(facts) },
    { id: "discovery", name: "Discovery", content: discoveryPart(facts) },
  ].filter(({ content }) => content !== undefined);
  const head = overview(facts, parts);
  const css = sheet.toString(style);
  const hash = createHash("sha256").update(css).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return `${html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Sitemap report of ${facts.homepage}</title>
${Html.trusted(`<style>${css}</style>`)}
</head>
<body>
<a class="skip" href="#main">Skip to the findings</a>
${head}
<main id="main">
${parts.map(({ content }) => content)}
</main>
<footer><p>Made by ${facts.generator} from responses received on ${facts.receivedAt.slice(0, 10)}.</p><a class="button" download="${fileName(facts)}" href="data:application/gzip;base64,${compressed(facts)}">Download the data (JSON, gzip)</a></footer>
</body>
</html>
`}`;
}

function compressed(facts: ReportFacts): string {
  return gzipSync(JSON.stringify(facts), { level: 9 }).toString("base64");
}

function fileName({ homepage, receivedAt }: ReportFacts): string {
  const host = /^https?:\/\/([\w.-]{1,80})/i.exec(homepage)?.[1] ?? "website";
  return `${host}-${receivedAt.slice(0, 10)}.json.gz`;
}

function overview(facts: ReportFacts, parts: readonly { readonly id: string; readonly name: string }[]): Html {
  const { homepage, verdict, rulesFailed, receivedAt, generator, unreachable, complete } = facts;
  const tone =
    rulesFailed.error > 0 || unreachable !== undefined
      ? "error"
      : rulesFailed.warning > 0 || !complete
        ? "warning"
        : "good";
  return html`<header>
<p class="brand">${logo}<span>Sitemap report</span></p>
<h1>${title(homepage)}</h1>
<p class="verdict ${tone}">${verdict}${unreachable === undefined ? "" : ` ${unreachable}.`}</p>
<p class="meta"><span>${unreachable === undefined ? "Received" : "Tried"} <time datetime="${receivedAt}">${receivedAt.slice(0, 16).replace("T", " ")} UTC</time></span><span>${generator}</span></p>
${figures(facts)}
<nav aria-label="On this page"><ul>${parts.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
</header>`;
}

const logo = html`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><rect x="0" y="0" width="10" height="11" rx="2"/><rect x="11.5" y="0" width="6.5" height="6" rx="1.5" opacity=".55"/><rect x="11.5" y="7.5" width="6.5" height="10.5" rx="1.5" opacity=".8"/><rect x="0" y="12.5" width="10" height="5.5" rx="1.5" opacity=".4"/></svg>`;

function title(homepage: string): Html {
  const shown = readableUrl(homepage.replace(/^https?:\/\//i, "").replace(/\/$/, ""));
  return isHttpUrl(homepage) ? html`<a href="${homepage}"><bdi>${shown}</bdi></a>` : html`<bdi>${shown}</bdi>`;
}

function figures({ figures }: ReportFacts): Html {
  const { pages, duplicates, sitemaps, unreadable, incomplete, wireBytes, decodedBytes } = figures;
  const { flawedPages, dated, medianAge, medianFirstByte, slowest } = figures;
  const faults = [
    ...(unreadable > 0 ? [`${grouped(unreadable)} not readable`] : []),
    ...(incomplete > 0 ? [`${grouped(incomplete)} incomplete`] : []),
  ].join(", ");
  return html`<dl class="figures">
${figure("Pages", grouped(pages), duplicates > 0 ? counted(duplicates, "duplicate") : "")}
${figure("With problems", grouped(flawedPages), pages > 0 ? `${percent(flawedPages, pages)} have errors or warnings` : "")}
${figure("Sitemaps", grouped(sitemaps), faults || (sitemaps > 0 ? "all readable" : "none found"))}
${figure("Received", size(wireBytes), wireBytes === 0 ? "nothing" : decodedBytes > wireBytes ? `${size(decodedBytes)} unpacked` : "not compressed")}
${figure("Median age", medianAge === undefined ? "–" : age(medianAge), dated === 0 ? "no page has a date" : dated === pages ? "by lastmod" : `${percent(dated, pages)} have a date`)}
${figure("First byte", medianFirstByte === undefined ? "–" : duration(medianFirstByte), slowest === undefined ? "not recorded" : `median; slowest sitemap: ${duration(slowest)}`)}
</dl>`;
}

function figure(name: string, value: string, below: Value): Html {
  return html`<div><dt>${name}</dt><dd class="value">${value}</dd><dd class="below">${below}</dd></div>`;
}
