// What the rules of `sitegrove check` say about one document: those that need no server, no website and no other document.
import { locationOf, RobotsAccess, type SitemapContext } from "../../../../src/check/context.ts";
import { LastmodEvidence } from "../../../../src/check/dates/lastmod-trust.ts";
import { Findings, SitemapFindings } from "../../../../src/check/findings/findings.ts";
import { addProblems } from "../../../../src/check/findings/problems.ts";
import { DateRules } from "../../../../src/check/rules/dates.ts";
import { LanguageRules } from "../../../../src/check/rules/languages.ts";
import { MediaRules } from "../../../../src/check/rules/media.ts";
import { severities } from "../../../../src/check/rules/rule.ts";
import { checkRules } from "../../../../src/check/rules/rule-table.ts";
import { UrlScan } from "../../../../src/check/rules/url-scan.ts";
import { UrlRules } from "../../../../src/check/rules/urls.ts";
import type { ParsedSitemap, Sitemap } from "../../../../src/model/sitemap.ts";
import type { RuleFinding } from "./messages.ts";

const rules = new Map(checkRules.map((rule) => [rule.id as string, rule]));

export function findingsOf(parsed: ParsedSitemap, url: string | undefined): RuleFinding[] {
  const sitemap = sitemapOf(parsed, url ?? "document");
  const all = new Findings((rule, _, own) => own ?? rules.get(rule)?.severity);
  const findings = new SitemapFindings(all, sitemap.url);
  addProblems(sitemap, all);
  if (parsed.kind === "pages" && sitemap.kind === "pages") {
    const location = url === undefined ? undefined : locationOf(url);
    const site = { homeHost: location?.origin.host ?? "", isSite: false };
    const settings = { crossSubmit: new Set<string>(), forbiddenBy: () => undefined };
    const run = { site, settings, robots: new RobotsAccess([]) };
    const about = { sitemap, findings, location, submittedBy: new Set<string>() };
    const context: SitemapContext = { ...about, receivedAt: Date.now(), run };
    const [urls, dates, media, languages, scan] = [
      new UrlRules(sitemap.url),
      new DateRules(new LastmodEvidence()),
      new MediaRules(),
      new LanguageRules(),
      new UrlScan(),
    ];
    urls.begin(context);
    dates.begin();
    media.begin();
    for (const page of parsed.pages) {
      scan.read(page.url);
      urls.check(page.url, scan, context);
      dates.check(page, context);
      media.check(page, context);
      if (page.alternates !== undefined) languages.check(page, page.alternates, scan, findings);
    }
    dates.end(context);
    media.end(context);
  }
  const found = [...all.drafts()].flatMap(({ rule, severity, count, examples: [example] }) => {
    const { sentence, fix } = rules.get(rule) ?? {};
    if (sentence === undefined || fix === undefined) return [];
    return [{ rule, severity, sentence, fix, count, example: example?.url ?? example?.value }];
  });
  return found.sort((one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity));
}

function sitemapOf(parsed: ParsedSitemap, url: string): Sitemap {
  if (parsed.kind === "invalid") return { kind: "invalid", url, reason: parsed.reason };
  const { complete, problems } = parsed;
  if (parsed.kind === "pages") {
    return { kind: "pages", format: parsed.format, url, complete, problems, pageCount: parsed.pages.length };
  }
  return { kind: "index", format: parsed.format, url, complete, problems, children: [] };
}
