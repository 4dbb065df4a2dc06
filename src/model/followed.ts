// Where the old address of a removed page leads after a migration.
import type { Problem } from "./problem.ts";

/**
 * - `moved`: it redirects to a page that the new sitemaps list
 * - `moved-unlisted`: it redirects to a page that they do not list
 * - `gone`: not found (404) or gone (410)
 * - `soft-404`: an error page with status 200, or a redirect to the homepage
 * - `loop`: the redirects lead in a circle, or there are too many
 * - `still-there`: it answers without a redirect, but the new sitemaps do not list it
 * - `unknown`: the request failed, robots.txt disallows it, or the new side may list the page it leads to, but could not be fully read
 */
export type FollowVerdict = (typeof followVerdicts)[number];

export const followVerdicts = [
  "moved",
  "moved-unlisted",
  "gone",
  "soft-404",
  "loop",
  "still-there",
  "unknown",
] as const;

/** A page that the new sitemaps do not list, requested at its old address. */
export interface FollowedRow {
  readonly url: string;
  /** The status of the last response; absent if there was none. */
  readonly status: number | undefined;
  /** How many redirects were followed. */
  readonly hops: number;
  readonly finalUrl: string;
  /** Whether the new sitemaps list the final URL; undefined if they could not be fully read. */
  readonly listed: boolean | undefined;
  readonly verdict: FollowVerdict;
  /** Why the request failed, if the verdict is `unknown`. */
  readonly reason?: Problem | undefined;
}
