// The top of the report: the website, the verdict, six figures, and links to the other parts.
import { counted, grouped, size } from "../../model/figures.ts";
import { isHttpUrl } from "../../model/url.ts";
import type { ReportFacts } from "../facts.ts";
import { type Html, html, type Value } from "../html.ts";
import { age, percent, readableUrl, shortened, time } from "../text.ts";

export function overview(facts: ReportFacts, parts: readonly { readonly id: string; readonly name: string }[]): Html {
  const { homepage, verdict, counts, receivedAt, generator, unreachable, complete } = facts;
  const tone =
    counts.error > 0 || unreachable !== undefined ? "error" : counts.warning > 0 || !complete ? "warning" : "good";
  return html`<header>
<p class="brand">${logo}<span>Sitemap report</span></p>
<h1>${title(homepage)}</h1>
<p class="verdict ${tone}">${verdict}${unreachable === undefined ? "" : ` ${unreachable}.`}</p>
<p class="meta"><span>${unreachable === undefined ? "Received" : "Tried"} <time datetime="${receivedAt}">${receivedAt.slice(0, 16).replace("T", " ")} UTC</time></span><span>${generator}</span></p>
${figures(facts)}
<nav aria-label="Parts of this page"><ul>${parts.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
</header>`;
}

// A treemap of four tiles.
const logo = html`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><rect x="0" y="0" width="10" height="11" rx="2"/><rect x="11.5" y="0" width="6.5" height="6" rx="1.5" opacity=".55"/><rect x="11.5" y="7.5" width="6.5" height="10.5" rx="1.5" opacity=".8"/><rect x="0" y="12.5" width="10" height="5.5" rx="1.5" opacity=".4"/></svg>`;

function title(homepage: string): Html {
  const shown = readableUrl(homepage.replace(/^https?:\/\//i, "").replace(/\/$/, ""));
  return isHttpUrl(homepage) ? html`<a href="${homepage}"><bdi>${shown}</bdi></a>` : html`<bdi>${shown}</bdi>`;
}

function figures({ figures, languages }: ReportFacts): Html {
  const { pages, duplicates, sitemaps, unreadable, incomplete, wireBytes, decodedBytes } = figures;
  const { dated, medianAge, duration, medianFirstByte } = figures;
  const codes = languages.languages.flatMap(({ language }) => (language === undefined ? [] : [language]));
  const faults = [
    ...(unreadable > 0 ? [`${grouped(unreadable)} not readable`] : []),
    ...(incomplete > 0 ? [`${grouped(incomplete)} incomplete`] : []),
  ].join(", ");
  return html`<dl class="figures">
${figure("Pages", grouped(pages), duplicates > 0 ? `${grouped(duplicates)} listed again` : pages > 0 ? "each listed once" : "none listed")}
${figure("Sitemaps", grouped(sitemaps), faults || (sitemaps > 0 ? "all readable" : "none found"))}
${figure("Received", size(wireBytes), wireBytes === 0 ? "nothing" : decodedBytes > wireBytes ? `${size(decodedBytes)} unpacked` : "not compressed")}
${figure("Median age", medianAge === undefined ? "–" : age(medianAge), dated === 0 ? "no page has a date" : dated === pages ? "by lastmod" : `${percent(dated, pages)} have a date`)}
${figure(
  "Languages",
  codes.length === 0 ? "–" : grouped(figures.languages),
  codes.length === 0
    ? "no alternate pages"
    : html`<bdi>${codes
        .slice(0, 7)
        .map((code) => shortened(code, 12))
        .join(" ")}${codes.length > 7 ? " …" : ""}</bdi>`,
)}
${figure("Time", duration === undefined ? "–" : time(duration), medianFirstByte === undefined ? "not on record" : `first byte after ${time(medianFirstByte)}`)}
</dl>`;
}

function figure(name: string, value: string, below: Value): Html {
  return html`<div><dt>${name}</dt><dd class="value">${value}</dd><dd class="below">${below}</dd></div>`;
}

/** How many pages have findings, above figures about pages. */
export function flawedSentence({ figures }: ReportFacts): string {
  const { flawedPages, pages } = figures;
  return flawedPages === 0
    ? ""
    : `${counted(flawedPages, "page")} (${percent(flawedPages, pages)}) ${flawedPages === 1 ? "has errors or warnings of its own" : "have errors or warnings of their own"}. `;
}
