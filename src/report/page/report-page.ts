// One file that shows a website's sitemaps: opens anywhere, loads nothing, and works without script. Its policy allows the one style
// sheet and the one script by their hashes and nothing else, so that even HTML that got in by mistake could do nothing.
import { createHash } from "node:crypto";
import type { ReportFacts } from "../facts.ts";
import { Html, html } from "../html.ts";
import { script } from "../script.ts";
import { style } from "../style.ts";
import { StyleSheet } from "../style-sheet.ts";
import { changesPart } from "./changes.ts";
import { findingsPart } from "./findings.ts";
import { languagesPart } from "./languages.ts";
import { makeupPart } from "./makeup.ts";
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
    { id: "makeup", name: "Contents", content: makeupPart(facts) },
    { id: "sitemaps", name: "Sitemaps", content: sitemapsPart(facts) },
    { id: "discovery", name: "Discovery", content: discoveryPart(facts) },
  ].filter(({ content }) => content !== undefined);
  const head = overview(facts, parts);
  const css = sheet.toString(style);
  const json = jsonInHtml(facts);
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
<style>${Html.trusted(css)}</style>
</head>
<body>
<a class="skip" href="#main">To the findings</a>
${head}
<main id="main">
${parts.map(({ content }) => content)}
</main>
<footer><p>Made by ${facts.generator} from what the website sent on ${facts.receivedAt.slice(0, 10)}.</p><a class="button" download="${fileName(facts)}" href="data:application/json;base64,${Buffer.from(json).toString("base64")}">Download the data (JSON)</a></footer>
<script type="application/json" id="facts">${Html.trusted(json)}</script>
<script>${Html.trusted(script)}</script>
</body>
</html>
`}`;
}

// Inside a script element, where only `</script` and `<!--` would end it or change how it is read.
function jsonInHtml(facts: ReportFacts): string {
  return JSON.stringify(facts).replaceAll(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function fileName({ homepage, receivedAt }: ReportFacts): string {
  const host = /^https?:\/\/([\w.-]{1,80})/i.exec(homepage)?.[1] ?? "website";
  return `${host}-${receivedAt.slice(0, 10)}.json`;
}
