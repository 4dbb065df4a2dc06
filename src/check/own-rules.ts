// Users' own rules: they receive the events of a crawl, in the order of the tree.
import { noneCame } from "../crawl/crawl.ts";
import type { OrderedEvent, TreeStep } from "../model/event.ts";
import { problemsOf } from "../model/sitemap.ts";
import type { CheckRun } from "./context.ts";

export class OwnRules {
  readonly #run: CheckRun;
  // When the sitemap that was entered last was received, in milliseconds.
  #receivedAt = 0;

  constructor(run: CheckRun) {
    this.#run = run;
  }

  async see(step: TreeStep): Promise<void> {
    const { type, sitemap } = step;
    const { url } = sitemap;
    if (type === "pages") return this.#tell({ type, url, pages: step.pages }, url);
    const { depth } = step;
    if (type === "enter") {
      this.#receivedAt = await this.#run.receipt.of(sitemap);
      return this.#tell({ type: "start", url, depth }, url);
    }
    for (const problem of problemsOf(sitemap)) await this.#tell({ type: "problem", url, problem }, url);
    const { wireBytes = 0, decodedBytes = 0, ...response } = (await this.#run.tree.response(sitemap)) ?? {};
    const facts = "headers" in response ? { response } : {};
    await this.#tell({ type: "sitemap", sitemap, depth, wireBytes, decodedBytes, ...facts }, url);
  }

  async finish(): Promise<void> {
    const { tree } = this.#run;
    const { complete, discovery, reachable, unreachable, pageCount, homepage } = tree;
    const sitemaps = [...tree.sitemaps()];
    const invalid = sitemaps.filter(({ kind }) => kind === "invalid").length;
    const nothing = { requests: 0, came: noneCame(), wireBytes: 0, duration: 0 };
    const totals = { sitemaps: sitemaps.length - invalid - 1, invalid, pages: pageCount, ...nothing };
    const why = unreachable === undefined ? {} : { unreachable };
    await this.#tell({ type: "finished", complete, totals, discovery, reachable, ...why }, homepage);
  }

  async #tell(event: OrderedEvent, about: string): Promise<void> {
    const { settings, findings, tree } = this.#run;
    const { homepage, complete } = tree;
    for (const rule of settings.own) {
      await rule.check(event, {
        homepage,
        complete,
        receivedAt: this.#receivedAt,
        report({ sitemap = about, count = 1, severity, ...example } = {}) {
          findings.count(rule.id, sitemap, count, example, severity);
        },
      });
    }
  }
}
