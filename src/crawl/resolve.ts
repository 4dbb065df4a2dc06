// From a reference to a document, a failure, or something that needs no request: known already, or refused. Fetches
// documents; does not read them.
import type { Fetched } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { isRobotsUrl } from "../model/url.ts";
import { type Followed, type FollowRules, follow, Hop } from "./follow.ts";
import type { Abandoned, Frontier, Repeated } from "./frontier.ts";
import { isGuess, type Place, type Reference } from "./record.ts";

/** A result that needs no request. */
export type Known =
  | { readonly type: "refused"; readonly url: string; readonly reason: Problem }
  | { readonly type: "repeated"; readonly repeated: Repeated }
  | { readonly type: "abandoned"; readonly abandoned: Abandoned };

export interface ResolveOptions {
  readonly frontier: Frontier;
  readonly rules: FollowRules;
  /** The answer for one hop. */
  readonly fetch: (hop: Hop) => Promise<Fetched>;
}

export async function resolve(
  reference: Reference,
  place: Place,
  { frontier, rules, fetch }: ResolveOptions,
): Promise<Followed<Known>> {
  const isRobots = place.by === "robots";
  const first = Hop.first(reference.url, isRobots ? "robots" : "sitemap", rules, reference.notAsked);
  const depth = place.parent.depth + 1;
  return follow<Known>(first, fetch, (hop) => {
    if (hop === first) return knownAtFirst(hop);
    // A redirect of robots.txt leads to robots.txt, even if its target was declared as a sitemap.
    return isRobots ? undefined : (knownOnTheWay(hop) ?? seenBefore(hop));
  });

  function knownAtFirst(hop: Hop): Known | undefined {
    const reason = isRobots ? undefined : (frontier.refusal(hop.key, depth) ?? refusedByName(hop.url));
    const refused: Known | undefined = reason && { type: "refused", url: reference.url, reason };
    // A guess at a known URL costs nothing of the budget.
    return isGuess(place) ? (seenBefore(hop) ?? refused) : (refused ?? seenBefore(hop));
  }

  function knownOnTheWay(hop: Hop): Known | undefined {
    const active = frontier.activeAt(hop.key) ?? frontier.activeAt(hop.readKey);
    if (active !== undefined) return { type: "refused", url: active, reason: problem("cycle") };
    const reason = refusedByName(hop.url);
    return reason && { type: "refused", url: hop.url, reason };
  }

  function seenBefore(hop: Hop): Known | undefined {
    const keys = (others: readonly string[]) => [...new Set([first.key, ...others])];
    const repeated = frontier.again(hop.key, depth) ?? frontier.again(hop.readKey, depth, "readable");
    if (repeated !== undefined) return { type: "repeated", repeated: { ...repeated, keys: keys(repeated.keys) } };
    const abandoned = frontier.abandoned(hop.key);
    return abandoned && { type: "abandoned", abandoned: { ...abandoned, keys: keys(abandoned.keys) } };
  }
}

/** Why a URL cannot be a sitemap, by its name: robots.txt is where a crawl starts, and must not be named by a sitemap. */
export function refusedByName(url: string): Problem | undefined {
  return isRobotsUrl(url) ? problem("not-a-sitemap", { value: "robots.txt" }) : undefined;
}
