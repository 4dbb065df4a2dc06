// Decides which URLs a crawler may fetch, by the robots.txt of their own origin: for `allowedFor`, and for the pages that `check --pages`
// and `diff --follow` request.
import type { Settings } from "../model/options.ts";
import { isCutOff } from "../model/problem.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import { parseUrl } from "../model/url.ts";
import { RobotsGroups } from "../parse/robots.ts";
import { type RobotsRules, ruleFinder } from "../parse/robots-rules.ts";
import { type Reading, read } from "./read.ts";
import type { Followed } from "./redirects.ts";

/** Returns the robots.txt of an origin, or undefined if its content is unknown. */
export type RobotsOf = (origin: string) => Promise<RobotsGroups | undefined>;

/** Reads a robots.txt. Returns no rules if it is missing, undefined if unreachable: https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1 */
export async function robotsIn(
  found: Followed,
  settings: Pick<Settings, "limits" | "strict">,
): Promise<RobotsGroups | undefined> {
  if (found.outcome !== "found") return isRobotsUnreachable(found) ? undefined : new RobotsGroups();
  const reading = read({ ...found.document, isRobots: true }, settings);
  let step = await reading.next();
  while (!step.done) step = await reading.next();
  return rulesIn(step.value);
}

/** Returns the rules of a robots.txt, or undefined if some may be missing. A document that is not a robots.txt has no rules. */
export function rulesIn({ outcome, robots, problems }: Reading): RobotsGroups | undefined {
  // Anything beyond the limit is ignored: https://www.rfc-editor.org/rfc/rfc9309#section-2.5
  if (problems.some(({ code }) => isCutOff(code) && code !== "limit-robots-bytes")) return undefined;
  if (outcome.kind !== "invalid") return robots ?? new RobotsGroups();
  return outcome.reason.code === "not-a-sitemap" || outcome.reason.code === "empty" ? new RobotsGroups() : undefined;
}

/**
 * Returns a function that tells whether an `agent`, with or without a version, may fetch a URL; undefined means unknown. It asks each
 * origin for its robots.txt once, and at most `most` origins.
 */
export function allowedUrls(
  agent: string,
  robotsOf: RobotsOf,
  most = 1000,
): (url: string) => Promise<boolean | undefined> {
  const token = /^[\w.-]*/.exec(agent)?.[0] ?? "";
  const known = new Map<string, Promise<RobotsRules | undefined>>();
  return async (url) => {
    const { origin = "", pathname = "/", search = "" } = parseUrl(url) ?? {};
    if (!known.has(origin)) {
      if (known.size >= most) return undefined;
      const rules = robotsOf(origin).then((robots) => robots && ruleFinder(robots)(token));
      known.set(origin, rules);
    }
    const rules = await known.get(origin);
    return rules?.isSpent ? undefined : rules?.allows(pathname + search);
  };
}
