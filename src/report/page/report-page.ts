// The report as one file: opens anywhere, loads nothing, and works without scripts. Its content security policy allows
// only the one style sheet and the one script, by their hashes, so that even HTML that got in by mistake could do
// nothing.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ReportFacts } from "../facts.ts";
import { Html, html } from "../html.ts";
import { script } from "../script.ts";
import { style } from "../style.ts";
import { StyleSheet } from "../style-sheet.ts";
import { changesPart } from "./changes.ts";
import { contentsPart } from "./contents.ts";
import { findingsPart } from "./findings.ts";
import { languagesPart } from "./languages.ts";
import { mapPart } from "./map.ts";
import { overview } from "./overview.ts";
import { discoveryPart, sitemapsPart } from "./sitemaps.ts";
import { timelinePart } from "./timeline.ts";

/** The page of these facts. */
export function pageOf(facts: ReportFacts): string {
  const sheet = new StyleSheet();
  const parts = [
    { id: "findings", name: "Findings", content: findingsPart(facts) },
    { id: "since", name: "What changed", content: changesPart(facts) },
    { id: "map", name: "Sections", content: mapPart(facts, sheet) },
    { id: "changes", name: "Timeline", content: timelinePart(facts, sheet) },
    { id: "languages", name: "Languages", content: languagesPart(facts) },
    { id: "contents", name: "Contents", content: contentsPart(facts) },
    { id: "sitemaps", name: "Sitemaps", content: sitemapsPart(facts) },
    { id: "discovery", name: "Discovery", content: discoveryPart(facts) },
  ].filter(({ content }) => content !== undefined);
  const head = overview(facts, parts);
  const css = sheet.toString(style);
  const policy = `default-src 'none'; style-src '${hash(css)}'; script-src '${hash(script)}'; base-uri 'none'; form-action 'none'`;
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
${raw("style", css)}
</head>
<body>
<a class="skip" href="#main">To the findings</a>
${head}
<main id="main">
${parts.map(({ content }) => content)}
</main>
<footer><p>Made by ${facts.generator} from what the website sent on ${facts.receivedAt.slice(0, 10)}.</p><a class="button" id="data" download="${fileName(facts)}.gz" href="data:application/gzip;base64,${compressed(facts)}">Download the data (JSON)</a></footer>
${raw("script", script)}
</body>
</html>
`}`;
}

// An element whose text is not escaped. Concatenated, because a bundler would take its end tag for that of a
// surrounding script.
function raw(name: string, text: string): Html {
  return Html.trusted(`<${name}>${text}</${name}>`);
}

// Compressed to a tenth of the size. The script unpacks it; without it, the link still leads to the data.
function compressed(facts: ReportFacts): string {
  return gzipSync(JSON.stringify(facts), { level: 9 }).toString("base64");
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function fileName({ homepage, receivedAt }: ReportFacts): string {
  const host = /^https?:\/\/([\w.-]{1,80})/i.exec(homepage)?.[1] ?? "website";
  return `${host}-${receivedAt.slice(0, 10)}.json`;
}
