// Rules about dates, priorities and change frequencies. Dates are compared with the time at which the sitemap was received, not with the
// current time, so that checking an archive again gives the same result.

import { counted, grouped } from "../../model/figures.ts";
import { hasTime, lastInstant } from "../../model/instant.ts";
import type { SitemapPage } from "../../model/page.ts";
import { CommonValue } from "../common-value.ts";
import type { CheckRun, SitemapContext } from "../context.ts";
import type { LastmodEvidence } from "../dates/lastmod-trust.ts";
import { bounds } from "./bounds.ts";
import { type RuleRows, rule, ruleFor } from "./rule.ts";
import * as sources from "./sources.ts";

const percent = (share: number) => `${share * 100}%`;

export const dateRules: RuleRows = {
  "lastmod-invalid": rule("error", "protocol", sources.protocol("lastmoddef"), {
    sentence: "Invalid date: not a date, or one that does not exist; search engines ignore it.",
    fix: "Write `2026-05-31` or `2026-05-31T10:00:00+00:00`.",
    problems: "date-invalid",
  }),
  "lastmod-form": rule("error", "protocol", sources.dates, {
    sentence: "Invalid date: a format that search engines do not read.",
    fix: "Write `2026-05-31` or `2026-05-31T10:00:00+00:00`.",
    problems: "date-form date-zone",
  }),
  "lastmod-no-offset": rule("error", "protocol", sources.dates, {
    sentence: "Invalid date: a time without a time zone.",
    fix: "Add `Z` or an offset: `+00:00`.",
    problems: "date-no-offset",
  }),
  "lastmod-future": rule("warning", "heuristic", sources.protocol("lastmoddef"), {
    sentence: "A date is in the future.",
    fix: "Use the time of the last change.",
  }),
  "lastmod-zero": rule("warning", "heuristic", sources.protocol("lastmoddef"), {
    sentence: "A date is older than the web, often a default such as 1970-01-01.",
    fix: "Omit unknown dates.",
  }),
  "lastmod-all-identical": ruleFor(["google", "bing"], "warning", "engine", sources.bingLastmod, {
    sentence: `Nearly all dates of a sitemap (${bounds.datedPages} or more) are the same; Bing disregards such dates, and Google uses only accurate ones.`,
    fix: "Give each page the time of its last significant change, or omit the date.",
  }),
  "lastmod-generated": rule("warning", "protocol", sources.protocol("lastmoddef"), {
    sentence: `Nearly all dates in a sitemap (${bounds.datedPages} or more) are within a minute of each other, and within a day of the request. They probably show when the sitemap was generated, not when the pages changed.`,
    fix: "Give each page the time of its last significant change, or omit the date.",
  }),
  "lastmod-missing": ruleFor(["bing"], "info", "engine", sources.bing, {
    sentence: `Fewer than ${percent(bounds.datedShare)} of the pages have a date, which Bing calls a key signal.`,
    fix: "Give each page the time of its last significant change.",
    needs: ["complete"],
  }),
  "lastmod-date-only": ruleFor(["bing"], "info", "engine", sources.bing, {
    sentence: "Dates have no time of day, which Bing asks for.",
    fix: "Write date and time: `2026-05-31T10:00:00+00:00`.",
    needs: ["complete"],
  }),
  "priority-invalid": ruleFor(["yandex"], "warning", "protocol", sources.protocol("prioritydef"), {
    sentence: "Invalid tag value: not a priority from 0.0 to 1.0.",
    fix: "Omit the priority.",
    problems: "priority-invalid",
  }),
  "changefreq-invalid": ruleFor(["yandex"], "warning", "protocol", sources.protocol("changefreqdef"), {
    sentence: "Invalid tag value: not one of the seven change frequencies.",
    fix: "Omit the change frequency.",
    problems: "change-frequency-invalid",
  }),
  "priority-ignored": ruleFor(["google", "bing"], "info", "engine", sources.buildSitemap, {
    sentence:
      "Google and Bing ignore priority and changefreq. Yandex reads them; Cloudflare's AI Search uses priority.",
    fix: "Omit both, unless you target Yandex or Cloudflare's AI Search.",
  }),
};

/** What is counted in one sitemap. */
class SitemapCounts {
  dated = 0;
  /** Pages with a priority or a change frequency. */
  hints = 0;
  newsStories = 0;
  newest = Number.NEGATIVE_INFINITY;
  newestText = "";
  readonly common = new CommonValue();
  /** How many dates are in each second of the day before and the day after the sitemap was received. */
  readonly recent = new Map<number, number>();
}

export class DateRules {
  readonly #trust: LastmodEvidence;
  #sitemap = new SitemapCounts();
  // These count XML sitemaps only, because lists of URLs have no dates, and nearly all feeds have them.
  #xmlPages = 0;
  #xmlDated = 0;
  #xmlDateOnly = 0;

  constructor(trust: LastmodEvidence) {
    this.#trust = trust;
  }

  begin(): void {
    this.#sitemap = new SitemapCounts();
  }

  /** Checks a page, and returns when it changed, in milliseconds; NaN if it has no date. */
  check(page: SitemapPage, { receivedAt, findings, sitemap }: SitemapContext): number {
    const { lastModified, url } = page;
    const counts = this.#sitemap;
    if (page.changeFrequency !== undefined || page.priority !== undefined) counts.hints += 1;
    if (sitemap.format === "xml") this.#xmlPages += 1;
    if (lastModified === undefined) return Number.NaN;
    const instant = Date.parse(lastModified);
    if (Number.isNaN(instant)) return instant;
    counts.dated += 1;
    if (page.newsStory !== undefined) counts.newsStories += 1;
    if (sitemap.format === "xml") {
      this.#xmlDated += 1;
      if (!hasTime(lastModified)) this.#xmlDateOnly += 1;
    }
    if (instant > receivedAt + bounds.future) findings.add("lastmod-future", url, lastModified);
    else if (instant < firstWebPage) findings.add("lastmod-zero", url, lastModified);
    if (instant > counts.newest && instant <= receivedAt + bounds.future) {
      counts.newest = instant;
      counts.newestText = lastModified;
    }
    counts.common.add(instant);
    const second = Math.floor((instant - receivedAt) / 1000);
    if (second >= -recentSeconds && second < recentSeconds)
      counts.recent.set(second, (counts.recent.get(second) ?? 0) + 1);
    return instant;
  }

  end({ findings, sitemap }: SitemapContext): void {
    const { lastModified } = sitemap;
    const { dated, hints, newsStories, newest, newestText, common, recent } = this.#sitemap;
    if (lastModified !== undefined && newest > lastInstant(lastModified) + bounds.indexStale) {
      findings.add("index-lastmod-stale", undefined, `${lastModified}, but pages changed on ${newestText}`);
    }
    if (hints > 0 && sitemap.format === "xml") findings.add("priority-ignored");
    const { value, count } = common.top;
    const datesWithin = (seconds: number) =>
      [...recent].reduce((sum, [second, dates]) => (Math.abs(second) <= seconds ? sum + dates : sum), 0);
    this.#trust.addSitemap({
      dated,
      equal: { value, count },
      atRequest: datesWithin(bounds.requestSpread),
      today: datesWithin(recentSeconds),
      isNews: newsStories * 2 > dated,
    });
    // If a sitemap was cut off, the rest may have other dates.
    if (dated < bounds.datedPages || !sitemap.complete) return;
    if (count >= dated * bounds.nearlyAll) {
      const at = new Date(value).toISOString();
      findings.add("lastmod-all-identical", undefined, `${count} of ${dated} at ${at}`);
      return;
    }
    const spread = bounds.generatedSpread / 1000;
    const generated = mostWithin(spread, recent);
    if (generated >= dated * bounds.nearlyAll) {
      findings.add("lastmod-generated", undefined, `${generated} of ${dated} within ${spread} s`);
    }
  }

  finish({ findings, tree }: CheckRun): void {
    if (this.#xmlPages > 0 && this.#xmlDated < this.#xmlPages * bounds.datedShare) {
      const undated = this.#xmlPages - this.#xmlDated;
      const share = Math.round((undated / this.#xmlPages) * 100);
      const value = `no date: ${share}% of ${counted(this.#xmlPages, "page")}`;
      findings.count("lastmod-missing", tree.homepage, 1, { value });
    }
    if (this.#xmlDated > 0 && this.#xmlDateOnly >= this.#xmlDated * bounds.nearlyAll) {
      const value = `${grouped(this.#xmlDateOnly)} of ${counted(this.#xmlDated, "date")}`;
      findings.count("lastmod-date-only", tree.homepage, 1, { value });
    }
  }
}

const recentSeconds = bounds.generatedAge / 1000;
const firstWebPage = Date.UTC(bounds.firstYear, 0, 1);

// Returns the largest number of dates that are within this many seconds of each other.
function mostWithin(spread: number, counts: ReadonlyMap<number, number>): number {
  const seconds = [...counts].sort(([one], [two]) => one - two);
  let [sum, most, from] = [0, 0, 0];
  for (const [second, count] of seconds) {
    sum += count;
    while (seconds[from]![0] < second - spread) sum -= seconds[from++]![1];
    most = Math.max(most, sum);
  }
  return most;
}
