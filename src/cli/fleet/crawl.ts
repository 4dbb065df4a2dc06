// The options of the crawls of a fleet, from the flags of `fleet` and `fleet worker`.
import type { Options } from "../../model/options.ts";
import { type CrawlFlags, crawlOptions } from "../flags.ts";
import type { FleetFlags } from "./fleet.ts";

// The time limit of a website: a website that takes longer must not hold up the fleet.
const defaultTime = 600_000;

export function crawlOf(flags: FleetFlags): Options {
  return withDefaults(givenCrawl(flags));
}

/** Without defaults. */
export function givenCrawl({
  concurrency: _,
  previous: __,
  perAddress: ___,
  maxPages,
  maxTraffic,
  ...flags
}: CrawlFlags & Pick<FleetFlags, "maxPages" | "maxTraffic">): Options {
  const { limits, ...options } = crawlOptions(flags);
  const budgets = {
    ...(maxPages === undefined ? {} : { pages: maxPages }),
    ...(maxTraffic === undefined ? {} : { bytes: maxTraffic }),
    ...limits,
  };
  return { ...options, ...(Object.keys(budgets).length === 0 ? {} : { limits: budgets }) };
}

export function withDefaults(crawl: Options): Options {
  return { ...crawl, limits: { time: defaultTime, ...crawl.limits } };
}
