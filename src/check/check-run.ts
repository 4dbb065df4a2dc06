// One check of a tree: all rules, in one pass over its pages, in flat memory.
import { pauseWhenDue } from "../crawl/read.ts";
import type { SitemapPage } from "../model/page.ts";
import type { PagesSitemap, Sitemap } from "../model/sitemap.ts";
import { homepageOf } from "../model/url.ts";
import { documentsOf, type SitemapTree } from "../tree/tree.ts";
import { bounds } from "./bounds.ts";
import type { PageWatcher } from "./check-tree.ts";
import { locationOf, RobotsAccess, SiteContext, type SitemapContext } from "./context.ts";
import { CrossRules, WebsitePages } from "./cross-rules.ts";
import { findLines } from "./example-lines.ts";
import { Findings, SitemapFindings } from "./findings.ts";
import { type CheckSettings, judgeFor } from "./options.ts";
import { OwnRules } from "./own-rules.ts";
import { type CheckResult, type PageSample, resultOf } from "./result.ts";
import type { Need } from "./rule.ts";
import type { RuleId } from "./rule-id.ts";
import { DateRules } from "./rules/dates.ts";
import { LanguageRules } from "./rules/languages.ts";
import { MediaRules } from "./rules/media.ts";
import { UrlRules } from "./rules/urls.ts";
import { PageSampler } from "./sample.ts";
import { judgeTree } from "./tree-rules.ts";
import { UrlScan } from "./url-scan.ts";

export class Check {
  readonly #tree: SitemapTree;
  readonly #receipt: Receipt;
  readonly #settings: CheckSettings;
  readonly #time: CheckTime;
  readonly #site: SiteContext;
  readonly #findings: Findings;
  readonly #pages: WebsitePages;
  readonly #cross: CrossRules;
  readonly #robots: RobotsAccess;
  readonly #urls: UrlRules;
  readonly #dates = new DateRules();
  readonly #media: MediaRules;
  readonly #languages = new LanguageRules();
  readonly #own: OwnRules;
  readonly #scan = new UrlScan();
  readonly #homepage = new UrlScan();
  readonly #watcher: PageWatcher | undefined;
  readonly #sampler: PageSampler | undefined;
  #isHomepageListed = false;

  /** `received`: when the website was received, in milliseconds. */
  constructor(
    tree: SitemapTree,
    settings: CheckSettings,
    receipt: Receipt,
    received: number,
    watcher: PageWatcher | undefined,
  ) {
    this.#tree = tree;
    this.#watcher = watcher;
    this.#receipt = receipt;
    this.#settings = settings;
    this.#time = new CheckTime(settings.time, settings.signal);
    this.#site = new SiteContext(tree);
    this.#findings = new Findings(judgeFor(settings, received));
    this.#pages = new WebsitePages(tree);
    this.#cross = new CrossRules(this.#pages, this.#findings, watcher);
    this.#robots = new RobotsAccess(settings.agents);
    const { homeHost } = this.#site;
    this.#urls = new UrlRules({ homeHost, crossSubmit: settings.crossSubmit, robots: this.#robots });
    this.#media = new MediaRules(this.#robots);
    this.#own = new OwnRules(tree, settings, this.#findings, receipt);
    this.#homepage.read(tree.homepage);
    this.#sampler = settings.sample > 0 ? new PageSampler(distinctSitemaps(tree), settings.sample) : undefined;
  }

  async run(): Promise<CheckResult> {
    const time = this.#time;
    await this.#readRobots();
    await judgeTree(this.#tree, this.#site, this.#findings, this.#settings, this.#robots, time);
    let context: SitemapContext | undefined;
    const seen = new Set<string>();
    for await (const step of this.#tree.walk()) {
      await time.turn();
      this.#settings.signal?.throwIfAborted();
      if (time.isUp) break;
      if (step.type === "enter") {
        context = undefined;
        if (step.sitemap.kind === "pages" && !seen.has(step.sitemap.url)) context = await this.#begin(step.sitemap);
        seen.add(step.sitemap.url);
        await this.#own.enter(step.sitemap, step.depth);
      } else if (step.type === "pages") {
        if (context === undefined) continue;
        await this.#seePages(step.pages, context);
        await this.#cross.flush();
        await this.#watcher?.flush();
        await this.#own.pages(step.sitemap, step.pages);
      } else {
        if (context !== undefined) this.#end(context);
        context = undefined;
        await this.#own.leave(step.sitemap, step.depth);
      }
    }
    await this.#own.finish();
    return this.#finish();
  }

  async close(): Promise<void> {
    await this.#cross.close();
  }

  // Without a robots.txt everything is allowed; if it was not requested, or did not answer, nothing is known.
  async #readRobots(): Promise<void> {
    const { robots, homepage, discovery } = this.#site;
    const [record] = discovery.filter(({ by }) => by === "robots");
    if (robots === undefined && record?.outcome !== "absent") return;
    let text = "";
    if (robots !== undefined) for await (const piece of this.#tree.text(robots)) text += piece;
    // A redirect of robots.txt counts as one of the website.
    const urls = robots === undefined ? [homepage] : [homepage, robots.url];
    this.#robots.set(
      urls.map((url) => homepageOf(url).slice(0, -1)),
      text,
    );
  }

  async #begin(sitemap: PagesSitemap): Promise<SitemapContext> {
    this.#pages.begin(sitemap);
    this.#dates.begin();
    this.#media.begin();
    const context: SitemapContext = {
      sitemap,
      findings: new SitemapFindings(this.#findings, sitemap.url),
      location: this.#settings.hasLocation ? locationOf(sitemap.url) : undefined,
      isGiven: !this.#site.isSite,
      submittedBy: this.#site.submittedBy(sitemap),
      receivedAt: await this.#receipt.of(sitemap),
    };
    this.#urls.begin(context);
    return context;
  }

  async #seePages(pages: readonly SitemapPage[], context: SitemapContext): Promise<void> {
    const { findings } = context;
    const scan = this.#scan;
    for (const page of pages) {
      const turn = this.#time.turn();
      if (turn !== undefined) {
        await turn;
        if (this.#time.isUp) return;
      }
      const { flaws } = findings;
      scan.read(page.url);
      if (scan.pageHigh === this.#homepage.pageHigh && scan.pageLow === this.#homepage.pageLow) {
        this.#isHomepageListed = true;
      }
      this.#urls.see(page.url, scan, context);
      const lastModified = this.#dates.see(page, context);
      this.#media.see(page, context);
      const { alternates } = page;
      const set = alternates === undefined ? undefined : this.#languages.see(page, alternates, scan, findings);
      this.#cross.see(page, scan, lastModified, set);
      this.#watcher?.page(page, scan, lastModified, set, findings.flaws > flaws);
      this.#sampler?.see(page, findings.sitemap);
      this.#pages.count += 1;
    }
  }

  #end(context: SitemapContext): void {
    this.#dates.end(context);
    this.#media.end(context);
  }

  async #finish(): Promise<CheckResult> {
    const { homepage, isSite } = this.#site;
    const isComplete = this.#tree.complete && !this.#time.isUp;
    this.#dates.finish(this.#findings, homepage);
    if (isComplete) this.#languages.finish(this.#findings, homepage);
    if (isComplete && isSite && this.#pages.count >= bounds.homepagePages && !this.#isHomepageListed) {
      this.#findings.count("homepage-unlisted", homepage, 1, { url: homepage });
    }
    const { isCut } = await this.#cross.finish({
      isComplete,
      isSite,
      isKnownHost: (url, hostEnd) => this.#urls.isKnownHost(url, hostEnd),
      time: this.#time,
    });
    const isLate = this.#time.isUp;
    const sample = await this.#judgeSample();
    await findLines(this.#tree, this.#findings.drafts(), this.#time);
    return resultOf({
      sample,
      tree: this.#tree,
      findings: this.#findings,
      settings: this.#settings,
      missing: this.#missing(isLate),
      isLate,
      unfinished: [
        ...(isCut ? crossRules.map((rule) => ({ rule, reason: "too many of its URLs look alike" })) : []),
        ...(this.#robots.isSpent ? robotsRules.map((rule) => ({ rule, reason: "robots.txt has too many rules" })) : []),
      ],
    });
  }

  async #judgeSample(): Promise<PageSample | undefined> {
    if (this.#sampler === undefined) return undefined;
    const { judgeSample } = await import("./rules/pages.ts");
    const { agents, crawl, signal } = this.#settings;
    return judgeSample(this.#sampler.pages(), {
      homepage: this.#site.homepage,
      isNamed: documentsOf(this.#tree).isNamed,
      agents,
      options: crawl,
      signal,
      time: this.#time.left,
      findings: this.#findings,
      pageCount: this.#pages.count,
    });
  }

  // What rules need and this tree does not have.
  #missing(isLate: boolean): ReadonlySet<Need> {
    const missing = new Set<Need>();
    if (!this.#tree.complete || isLate) missing.add("complete");
    if (!this.#site.isSite) missing.add("site");
    if (!this.#settings.hasLocation) missing.add("location");
    if (!this.#robots.isKnown) missing.add("robots");
    return missing;
  }
}

// Sitemaps with pages, each once.
function distinctSitemaps(tree: SitemapTree): PagesSitemap[] {
  const sitemaps = new Map<string, PagesSitemap>();
  for (const sitemap of tree.sitemaps()) {
    if (sitemap.kind === "pages" && !sitemaps.has(sitemap.url)) sitemaps.set(sitemap.url, sitemap);
  }
  return [...sitemaps.values()];
}

const crossRules = [
  "url-duplicate",
  "url-variants",
  "url-lastmod-conflict",
  "hreflang-no-return",
  "hreflang-return-differs",
  "hreflang-target-unlisted",
] as const satisfies readonly RuleId[];
const robotsRules = ["url-robots-disallowed", "media-robots-disallowed"] as const satisfies readonly RuleId[];

/** The time that a check may take. When it is up, the check ends with what it has found; what it did not judge is said. */
export class CheckTime {
  readonly #until: number;
  readonly #signal: AbortSignal | undefined;
  #isUp = false;

  constructor(milliseconds: number, signal: AbortSignal | undefined) {
    this.#until = performance.now() + milliseconds;
    this.#signal = signal;
  }

  get left(): number {
    return Math.max(0, this.#until - performance.now());
  }

  get isUp(): boolean {
    this.#isUp ||= this.left === 0;
    return this.#isUp;
  }

  /** Lets timers, signals and other websites act, if that is due. Rejects with the reason of an aborted signal. */
  turn(): Promise<void> | undefined {
    return pauseWhenDue()?.then(() => this.#signal?.throwIfAborted());
  }
}

const mostTried = 100;

/** When documents were received: the clock for judging dates, so that two checks of one archive give the same result. */
export class Receipt {
  readonly #tree: SitemapTree;
  readonly #given: number | undefined;
  readonly #now = Date.now();

  /** `given` applies to all documents, in milliseconds. */
  constructor(tree: SitemapTree, given: number | undefined) {
    this.#tree = tree;
    this.#given = given;
  }

  /** In milliseconds. Now, for documents that did not come from a server. */
  async of(sitemap: Sitemap): Promise<number> {
    return this.#given ?? (await this.#known(sitemap)) ?? this.#now;
  }

  /** When the first document was; where there is none, the first answer, or the first attempt at one. */
  async ofWebsite(): Promise<number> {
    if (this.#given !== undefined) return this.#given;
    for (const sitemap of this.#tree.sitemaps()) {
      const known = await this.#known(sitemap);
      if (known !== undefined) return known;
    }
    const { find } = documentsOf(this.#tree);
    for (const { url } of this.#tree.discovery.slice(0, mostTried)) {
      const tried = Date.parse((await find(url)).receivedAt ?? "");
      if (!Number.isNaN(tried)) return tried;
    }
    return this.#now;
  }

  async #known(sitemap: Sitemap): Promise<number | undefined> {
    const { receivedAt } = (await this.#tree.response(sitemap)) ?? {};
    return receivedAt === undefined ? undefined : Date.parse(receivedAt);
  }
}
