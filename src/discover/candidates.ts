// From a homepage to the first places to look at: robots.txt, then the well-known paths, then the homepage itself.
import type { DiscoveryRecord } from "../event.ts";
import { resolveUrl, urlKey } from "../url.ts";
import { knownPaths } from "./known-paths.ts";

/** A place where a sitemap may be, and how we came to look there. */
export interface Candidate {
  readonly url: string;
  readonly by: DiscoveryRecord["by"];
  /** Skipped where robots.txt names a sitemap that can be read. */
  readonly ifNeeded?: boolean | undefined;
}

export interface DiscoverySettings {
  readonly useRobots: boolean;
  readonly useKnownPaths: boolean | "if-needed";
  readonly extraKnownPaths: readonly string[];
}

/** In the order in which they are looked at. `homepage` ends in a slash. */
export function candidatesFor(homepage: string, settings: DiscoverySettings): Candidate[] {
  const { useRobots, useKnownPaths, extraKnownPaths } = settings;
  const ifNeeded = useKnownPaths === "if-needed";
  const at = (path: string) => ({ url: below(homepage, path), by: "known-path" }) as const;
  const candidates: Candidate[] = [
    ...(useRobots ? [{ url: below(homepage, "robots.txt"), by: "robots" } as const] : []),
    ...(useKnownPaths === false ? [] : knownPaths.map((path) => ({ ...at(path), ifNeeded }))),
    // What the caller names is wanted in any case.
    ...extraKnownPaths.map(at),
  ];
  return withoutRepeats(candidates);
}

/** The homepage to start from: its root, or the URL as it is with a slash at its end. */
export function homepageFor(url: string, normalize: boolean): string {
  const homepage = new URL(url);
  homepage.hash = "";
  homepage.username = "";
  homepage.password = "";
  if (normalize) return `${homepage.origin}/`;
  homepage.search = "";
  if (!homepage.pathname.endsWith("/")) homepage.pathname += "/";
  return homepage.href;
}

// A path that starts with a slash starts at the homepage anyway: `/sitemap.xml` of `https://example.org/docs/` is
// looked for below `/docs/`, because that is the website that was asked for.
function below(homepage: string, path: string): string {
  return resolveUrl(`./${path.replace(/^\/+/, "")}`, homepage, Number.POSITIVE_INFINITY).url ?? homepage;
}

function withoutRepeats(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ url }) => {
    const key = urlKey(url);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
