// Runs one check of a tree: applies the rules in one pass over its pages. Rules that compare or request pages read pages again.
import type { SitemapPage } from "../model/page.ts";
import type { PagesSitemap } from "../model/sitemap.ts";
import { partsOf, type SitemapTree } from "../tree/tree.ts";
import { CrossRules } from "./across/cross-rules.ts";
import { crossRules } from "./across/page-records.ts";
import { WebsitePages } from "./across/website-pages.ts";
import { CheckTime, Receipt } from "./check-time.ts";
import { type CheckRun, locationOf, RobotsAccess, SiteContext, type SitemapContext } from "./context.ts";
import { DateCounts } from "./dates/date-counts.ts";
import type { EarlierRun } from "./dates/earlier-run.ts";
import { LastmodEvidence } from "./dates/lastmod-trust.ts";
import { resultOf } from "./findings/conclusion.ts";
import { findLines } from "./findings/example-lines.ts";
import { Findings, SitemapFindings } from "./findings/findings.ts";
import type { CheckResult, NotChecked } from "./findings/result.ts";
import { checkAddress, FileRules } from "./folder/file-rules.ts";
import { SiteFiles } from "./folder/site-files.ts";
import type { CheckSettings } from "./options.ts";
import { checkPages, RequestedPages } from "./pages/requested-pages.ts";
import { passEnd, passStep } from "./rules/custom-rules.ts";
import { DateRules } from "./rules/dates.ts";
import { LanguageRules } from "./rules/languages.ts";
import { MediaRules } from "./rules/media.ts";
import type { Need } from "./rules/rule.ts";
import type { RuleId } from "./rules/rule-id.ts";
import { checkSitemaps } from "./rules/sitemaps.ts";
import { UrlScan } from "./rules/url-scan.ts";
import { UrlRules } from "./rules/urls.ts";
import { severityFor } from "./settings.ts";
import type { CheckExtras } from "./watcher.ts";

export async function runCheck(
  tree: SitemapTree,
  settings: CheckSettings,
  { watcherFor, ...extras }: CheckExtras,
): Promise<CheckResult> {
  const time = new CheckTime(settings.time, settings.signal);
  const receipt = new Receipt(tree, settings.now);
  const received = await receipt.ofWebsite();
  const allDates = new DateCounts(received);
  const watcher = watcherFor?.(allDates);
  const findings = new Findings(severityFor(settings, received), extras);
  const { rows } = extras;
  const site = new SiteContext(tree);
  const robots = await RobotsAccess.of(tree, site, settings.agents);
  const run: CheckRun = { tree, settings, site, robots, findings, receipt, time };
  const pages = new WebsitePages(tree);
  const cross = new CrossRules(run, pages, watcher);
  const urls = new UrlRules(tree.homepage);
  const trust = new LastmodEvidence();
  const dates = new DateRules(trust);
  const media = new MediaRules();
  const languages = new LanguageRules();
  const wanted = settings.pages ?? partsOf(tree).requestedPages ?? 0;
  const requested = wanted === 0 ? undefined : new RequestedPages(wanted);
  const files = settings.files && new SiteFiles(settings.files);
  // A folder that contains only sitemaps says nothing about pages.
  const fileRules = files?.hasPages ? new FileRules(files, run) : undefined;
  const scan = new UrlScan();
  let earlier: EarlierRun | undefined;

  const begin = async (sitemap: PagesSitemap): Promise<SitemapContext> => {
    pages.begin(sitemap);
    dates.begin();
    media.begin();
    const context: SitemapContext = {
      sitemap,
      findings: new SitemapFindings(findings, sitemap.url),
      location: settings.hasLocation ? locationOf(sitemap.url) : undefined,
      submittedBy: site.submittedBy(sitemap),
      receivedAt: await receipt.of(sitemap),
      run,
    };
    urls.begin(context);
    return context;
  };

  const checkEntries = async (list: readonly SitemapPage[], context: SitemapContext): Promise<void> => {
    const { findings: found } = context;
    for (const page of list) {
      const turn = time.turn();
      if (turn !== undefined) {
        await turn;
        if (time.isUp) return;
      }
      const { flaws } = found;
      scan.read(page.url);
      urls.check(page.url, scan, context);
      const lastModified = dates.check(page, context);
      media.check(page, context);
      const { alternates } = page;
      const set = alternates === undefined ? undefined : languages.check(page, alternates, scan, found);
      cross.record(page, scan, lastModified, set);
      fileRules?.check(page, found);
      const age = allDates.add(lastModified, page.lastModified);
      watcher?.page(page, scan, age, found.flaws > flaws);
      requested?.add(page, found.sitemap);
      pages.count += 1;
    }
  };

  const finish = async (): Promise<CheckResult> => {
    const isComplete = tree.complete && !time.isUp;
    urls.finish(run, isComplete);
    await media.finish(run, isComplete);
    if (isComplete) dates.finish(run);
    if (isComplete) languages.finish(run);
    const { isCut, mayReturn } = await cross.finish(isComplete, (url, hostEnd) => urls.isKnownHost(url, hostEnd));
    if (isComplete) await fileRules?.finish();
    const isLate = time.isUp;
    const results = requested && (await checkPages(requested, pages, run, trust, earlier));
    await earlier?.addEvidence(trust);
    // An example in a file of the website has no line in its sitemap.
    const examples = [...findings.drafts()].flatMap(({ sitemap, examples }) =>
      examples.filter(({ file }) => file === undefined).map((example) => [sitemap, example] as const),
    );
    await findLines(tree, examples, time);
    await rows?.settleDocuments(time, true);
    const missing = new Set<Need>();
    if (!tree.complete || isLate) missing.add("complete");
    if (!site.isSite) missing.add("site");
    if (!settings.hasLocation) missing.add("location");
    if (!robots.isKnown) missing.add("robots");
    if (fileRules === undefined) missing.add("files");
    const unfinished: NotChecked[] = [...(files?.notChecked() ?? [])];
    const skip = (isSkipped: boolean, reason: string, ...rules: RuleId[]) =>
      unfinished.push(...(isSkipped ? rules : []).map((rule) => ({ rule, reason })));
    skip(mayReturn, "some return links may be in documents that could not be read", "hreflang-no-return");
    skip(isCut, "too many URLs look alike", ...crossRules);
    skip(media.areHostsSpent, "images are on too many hosts", "image-private-host", "image-other-host");
    skip(urls.areFacetsSpent, "too many paths have parameters", "url-facet");
    skip(robots.isSpent, "robots.txt has too many rules", "url-robots-disallowed", "media-robots-disallowed");
    return resultOf(run, missing, isLate, unfinished, results, trust.verdict(allDates));
  };

  try {
    if (settings.previous !== undefined)
      earlier = await (await import("./dates/earlier-run.ts")).EarlierRun.open(settings.previous, run);
    if (files !== undefined) checkAddress(files, run);
    await checkSitemaps(run);
    await rows?.settleDocuments(time, true);
    // The pages of a sitemap in two indexes are checked once.
    let isNew = false;
    let context: SitemapContext | undefined;
    const seen = new Set<string>();
    for await (const step of tree.walk()) {
      settings.signal?.throwIfAborted();
      if (await time.isOver()) break;
      if (step.type === "enter") {
        const { sitemap } = step;
        isNew = !seen.has(sitemap.url);
        const isChecked = isNew && sitemap.kind === "pages" && site.isForSearch(sitemap);
        context = isChecked ? await begin(sitemap) : undefined;
        seen.add(sitemap.url);
      } else if (step.type === "pages") {
        if (!isNew) continue;
        if (context !== undefined) {
          await checkEntries(step.pages, context);
          await rows?.settlePages(context.sitemap, time);
        }
      } else if (context !== undefined) {
        dates.end(context);
        media.end(context);
        context = undefined;
      }
      if (settings.own.length > 0) await passStep(run, step);
    }
    if (settings.own.length > 0) await passEnd(run);
    return await finish();
  } finally {
    cross.close();
    await earlier?.close();
  }
}
