// Users' own rules: they receive the events of a crawl, in the order of the tree.
import { noneCame } from "../crawl/crawl.ts";
import type { OrderedEvent } from "../model/event.ts";
import type { SitemapPage } from "../model/page.ts";
import type { PagesSitemap, Sitemap } from "../model/sitemap.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { Receipt } from "./check-run.ts";
import type { Findings } from "./findings.ts";
import type { CheckSettings, OwnRule, RuleContext, RuleReport } from "./options.ts";

export class OwnRules {
  readonly #tree: SitemapTree;
  readonly #rules: readonly OwnRule[];
  readonly #findings: Findings;
  readonly #receipt: Receipt;
  // When the sitemap that was entered last was received, in milliseconds.
  #receivedAt = 0;

  constructor(tree: SitemapTree, settings: CheckSettings, findings: Findings, receipt: Receipt) {
    this.#tree = tree;
    this.#rules = settings.own;
    this.#findings = findings;
    this.#receipt = receipt;
  }

  async enter(sitemap: Sitemap, depth: number): Promise<void> {
    if (this.#rules.length === 0) return;
    this.#receivedAt = await this.#receipt.of(sitemap);
    await this.#tell({ type: "start", url: sitemap.url, depth }, sitemap.url);
  }

  async pages(sitemap: PagesSitemap, pages: readonly SitemapPage[]): Promise<void> {
    await this.#tell({ type: "pages", url: sitemap.url, pages }, sitemap.url);
  }

  async leave(sitemap: Sitemap, depth: number): Promise<void> {
    if (this.#rules.length === 0) return;
    const problems = sitemap.kind === "invalid" ? [sitemap.reason] : sitemap.problems;
    for (const problem of problems) await this.#tell({ type: "problem", url: sitemap.url, problem }, sitemap.url);
    const { wireBytes = 0, decodedBytes = 0, ...response } = (await this.#tree.response(sitemap)) ?? {};
    const facts = "headers" in response ? { response } : {};
    await this.#tell({ type: "sitemap", sitemap, depth, wireBytes, decodedBytes, ...facts }, sitemap.url);
  }

  async finish(): Promise<void> {
    const { complete, discovery, reachable, unreachable, pageCount, homepage } = this.#tree;
    if (this.#rules.length === 0) return;
    let sitemaps = 0;
    let invalid = 0;
    for (const { kind } of this.#tree.sitemaps()) {
      if (kind === "invalid") invalid += 1;
      else sitemaps += 1;
    }
    const nothing = { requests: 0, came: noneCame(), wireBytes: 0, duration: 0 };
    const totals = { sitemaps: sitemaps - 1, invalid, pages: pageCount, ...nothing };
    const why = unreachable === undefined ? {} : { unreachable };
    await this.#tell({ type: "finished", complete, totals, discovery, reachable, ...why }, homepage);
  }

  async #tell(event: OrderedEvent, sitemap: string): Promise<void> {
    for (const rule of this.#rules) await rule.check(event, this.#contextFor(rule, sitemap));
  }

  #contextFor(rule: OwnRule, sitemap: string): RuleContext {
    return {
      homepage: this.#tree.homepage,
      complete: this.#tree.complete,
      receivedAt: this.#receivedAt,
      report: (found: RuleReport = {}) => {
        const { count = 1, severity, ...example } = found;
        this.#findings.count(rule.id, found.sitemap ?? sitemap, count, example, severity);
      },
    };
  }
}
