// Rules about dates, priorities and change frequencies: of one page, of a document, of the website. Dates are compared with the time at
// which the document was received, so two checks of one archive give the same result.

import { CommonValue } from "../../model/common-value.ts";
import { counted, grouped } from "../../model/figures.ts";
import { hasTime, lastInstant } from "../../model/instant.ts";
import type { SitemapPage } from "../../model/page.ts";
import { bounds } from "../bounds.ts";
import type { CheckRun, SitemapContext } from "../context.ts";
import type { LastmodEvidence } from "../lastmod-trust.ts";
import { type RuleRows, rule, ruleFor } from "../rule.ts";
import * as sources from "../sources.ts";

const percent = (share: number) => `${share * 100}%`;

export const dateRules: RuleRows = {
  "lastmod-invalid": rule("error", "protocol", sources.protocol("lastmoddef"), {
    sentence: "Invalid date; search engines ignore it.",
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
    sentence: `Nearly all dates of a sitemap (${bounds.datedPages} or more) are within a minute of each other and a day of the request: probably when the sitemap was generated, not when the pages changed.`,
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
    fix: "Omit them, unless you target those two.",
  }),
};

export class DateRules {
  readonly #trust: LastmodEvidence;
  // For the current document.
  #dated = 0;
  #newest = Number.NEGATIVE_INFINITY;
  #newestText = "";
  #hints = 0;
  #news = 0;
  readonly #common = new CommonValue();
  // How many dates there are in each second of the days around the time of receipt.
  readonly #recent = new Map<number, number>();
  // For the website: XML sitemaps only; the other formats have no dates, or require them.
  #sitePages = 0;
  #siteDated = 0;
  #siteDateOnly = 0;

  constructor(trust: LastmodEvidence) {
    this.#trust = trust;
  }

  begin(): void {
    this.#dated = 0;
    this.#news = 0;
    this.#newest = Number.NEGATIVE_INFINITY;
    this.#hints = 0;
    this.#common.clear();
    this.#recent.clear();
  }

  /** When the page changed, in milliseconds; NaN if it has no date. */
  see(page: SitemapPage, { receivedAt, findings, sitemap }: SitemapContext): number {
    const { lastModified, url } = page;
    if (page.changeFrequency !== undefined || page.priority !== undefined) this.#hints += 1;
    if (sitemap.format === "xml") this.#sitePages += 1;
    if (lastModified === undefined) return Number.NaN;
    const instant = Date.parse(lastModified);
    if (Number.isNaN(instant)) return instant;
    this.#dated += 1;
    if (page.newsStory !== undefined) this.#news += 1;
    if (sitemap.format === "xml") {
      this.#siteDated += 1;
      if (!hasTime(lastModified)) this.#siteDateOnly += 1;
    }
    if (instant > receivedAt + bounds.future) findings.add("lastmod-future", url, lastModified);
    else if (instant < firstWebPage) findings.add("lastmod-zero", url, lastModified);
    if (instant > this.#newest && instant <= receivedAt + bounds.future) {
      this.#newest = instant;
      this.#newestText = lastModified;
    }
    this.#common.add(instant);
    const second = Math.floor((instant - receivedAt) / 1000);
    if (second >= -recently && second < recently) this.#recent.set(second, (this.#recent.get(second) ?? 0) + 1);
    return instant;
  }

  end({ findings, sitemap }: SitemapContext): void {
    const { lastModified } = sitemap;
    if (lastModified !== undefined && this.#newest > lastInstant(lastModified) + bounds.indexStale) {
      findings.add("index-lastmod-stale", undefined, `${lastModified}, but pages changed on ${this.#newestText}`);
    }
    if (this.#hints > 0 && sitemap.format === "xml") findings.add("priority-ignored");
    const { value, count } = this.#common.top;
    const sum = (within: number) =>
      [...this.#recent].reduce((all, [second, some]) => (Math.abs(second) <= within ? all + some : all), 0);
    this.#trust.addSitemap({
      dated: this.#dated,
      equal: { value, count },
      atRequest: sum(bounds.requestSpread),
      today: sum(recently),
      isNews: this.#news * 2 > this.#dated,
    });
    // If a sitemap was cut off, the rest may have other dates.
    if (this.#dated < bounds.datedPages || !sitemap.complete) return;
    if (count >= this.#dated * bounds.nearlyAll) {
      const at = new Date(value).toISOString();
      findings.add("lastmod-all-identical", undefined, `${count} of ${this.#dated} at ${at}`);
      // Equal dates are also within a minute of one another, but are only one finding.
      return;
    }
    const generated = mostWithin(bounds.generatedSpread / 1000, this.#recent);
    if (generated >= this.#dated * bounds.nearlyAll) {
      const within = `${generated} of ${this.#dated} within ${bounds.generatedSpread / 1000} s`;
      findings.add("lastmod-generated", undefined, within);
    }
  }

  finish({ findings, tree }: CheckRun): void {
    if (this.#sitePages > 0 && this.#siteDated < this.#sitePages * bounds.datedShare) {
      const undated = this.#sitePages - this.#siteDated;
      const share = Math.round((undated / this.#sitePages) * 100);
      const value = `no date: ${share}% of ${counted(this.#sitePages, "page")}`;
      findings.count("lastmod-missing", tree.homepage, 1, { value });
    }
    if (this.#siteDated > 0 && this.#siteDateOnly >= this.#siteDated * bounds.nearlyAll) {
      const value = `${grouped(this.#siteDateOnly)} of ${counted(this.#siteDated, "date")}`;
      findings.count("lastmod-date-only", tree.homepage, 1, { value });
    }
  }
}

const recently = bounds.generatedAge / 1000;
const firstWebPage = Date.UTC(bounds.firstYear, 0, 1);

// The largest number of dates within this many seconds.
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
