// Runs custom rules: passes the events of a crawl to each of them, in the order of the tree.
import { noneObtained } from "../../crawl/run.ts";
import type { OrderedEvent, TreeStep } from "../../model/event.ts";
import { isReadSitemap, problemsOf } from "../../model/sitemap.ts";
import type { CheckRun } from "../context.ts";

export async function passStep(run: CheckRun, step: TreeStep): Promise<void> {
  const { type, sitemap } = step;
  const { url } = sitemap;
  const receivedAt = await run.receipt.of(sitemap);
  const pass = (event: OrderedEvent) => passToAll(run, event, url, receivedAt);
  if (type === "pages") return pass({ type, url, pages: step.pages });
  const { depth } = step;
  if (type === "enter") return pass({ type: "start", url, depth });
  for (const problem of problemsOf(sitemap)) await pass({ type: "problem", url, problem });
  const { wireBytes = 0, decodedBytes = 0, ...response } = (await run.tree.response(sitemap)) ?? {};
  const facts = "headers" in response ? { response } : {};
  await pass({ type: "sitemap", sitemap, depth, wireBytes, decodedBytes, ...facts });
}

export async function passEnd(run: CheckRun): Promise<void> {
  const { complete, discovery, reachable, unreachable, pageCount, homepage } = run.tree;
  const sitemaps = [...run.tree.sitemaps()];
  const invalid = sitemaps.filter(({ kind }) => kind === "invalid").length;
  const readable = sitemaps.filter(isReadSitemap).length;
  const nothing = { requests: 0, obtained: noneObtained(), wireBytes: 0, reusedBytes: 0, duration: 0 };
  const totals = { sitemaps: readable, invalid, pages: pageCount, ...nothing };
  const why = unreachable === undefined ? {} : { unreachable };
  const event: OrderedEvent = { type: "finished", end: "end", complete, totals, discovery, reachable, ...why };
  await passToAll(run, event, homepage, await run.receipt.ofWebsite());
}

/** Passes an event to all custom rules. Their findings are about the sitemap `about`, unless a rule names another. */
async function passToAll(run: CheckRun, event: OrderedEvent, about: string, receivedAt: number): Promise<void> {
  const { homepage, complete } = run.tree;
  for (const rule of run.settings.own) {
    await rule.check(event, {
      homepage,
      complete,
      receivedAt,
      report({ sitemap = about, count = 1, severity, ...example } = {}) {
        run.findings.count(rule.id, sitemap, count, example, severity);
      },
    });
  }
}
