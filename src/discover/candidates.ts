// Lists where a website may have sitemaps: robots.txt, the homepage's links, well-known paths and, if requested, feeds and llms.txt.
import type { DiscoveryRecord } from "../model/event.ts";
import type { Settings } from "../model/options.ts";
import { homepageOf, parseUrl, resolveUrl, urlKey } from "../model/url.ts";
import { commonPaths, feedPaths, knownPaths } from "./known-paths.ts";

/** A URL where a sitemap may be, and why. */
export interface Candidate {
  readonly url: string;
  readonly by: DiscoveryRecord["by"];
  /** For our well-known paths: whether to skip it if robots.txt lists a readable sitemap. Absent for the caller's paths. */
  readonly ifNeeded?: boolean | undefined;
  /** Whether it is a feed that the homepage links to. Those come after the well-known paths. */
  readonly isFeed?: boolean;
  /** Whether the type or name of a link says that it leads to a sitemap for programs, not to a page. */
  readonly isForPrograms?: boolean;
}

/** Whether a candidate is a guess, not declared. A guess that finds nothing does not appear in the tree. */
export function isGuess(by: DiscoveryRecord["by"] | undefined): boolean {
  return by === "known-path" || by === "feed" || by === "llms";
}

/** Lists the candidates in the order in which they are tried. `homepage` must end in a slash; `paths` are the well-known paths to try. */
export function candidatesFor(
  homepage: string,
  settings: Settings,
  paths: readonly string[] = knownPaths,
): Candidate[] {
  const { useRobots, extraKnownPaths, useFeeds, useLlms } = settings;
  const ifNeeded = settings.knownPaths === "if-needed";
  // If the homepage keeps its path, the root of the host is also tried.
  const folders = settings.path === "keep" ? [homepage, homepageOf(homepage)] : [homepage];
  const at = (path: string, by: Candidate["by"]) => folders.map((folder) => ({ url: below(folder, path), by }));
  const own = extraKnownPaths.flatMap((path) => at(path, "known-path"));
  const isOwn = (guess: string) => own.some(({ url }) => urlKey(url) === urlKey(guess));
  // The caller's own paths are never skipped, even if they are well known.
  const guesses = folders
    .flatMap((folder) => paths.map((path) => below(folder, path)))
    .map((url) => ({ url, by: "known-path", ifNeeded: ifNeeded && !isOwn(url) }) as const);
  const candidates: Candidate[] = [
    ...(useRobots ? at("robots.txt", "robots") : []),
    ...(settings.knownPaths === "never" ? [] : guesses),
    ...own,
    ...(useFeeds ? feedPaths.flatMap((path) => at(path, "feed")) : []),
    ...(useLlms ? at("llms.txt", "llms") : []),
  ];
  const known = new Set<string>();
  return candidates.filter(({ url }) => known.size < known.add(urlKey(url)).size);
}

/**
 * Lists what to try after robots.txt: the homepage's sitemap links, the well-known paths, and the homepage's feeds before guessed ones. If
 * the website's CMS is known, `paths` are its paths, and the `unlikely` ones are tried only if nothing is found.
 */
export function candidatesBeyond(
  homepage: string,
  settings: Settings,
  links: readonly Candidate[],
  paths: readonly string[] | undefined,
): { readonly candidates: Candidate[]; readonly unlikely: Candidate[] } {
  const guesses = (at?: readonly string[]) => candidatesFor(homepage, settings, at).filter(({ by }) => by !== "robots");
  const all = guesses();
  const chosen = paths === undefined ? all : guesses([...paths, ...commonPaths]);
  const feeds = chosen.findIndex(({ by }) => by === "feed");
  const candidates = [
    ...links.filter(({ isFeed }) => !isFeed),
    ...chosen.toSpliced(feeds, 0, ...links.filter(({ isFeed }) => isFeed)),
  ];
  return { candidates, unlikely: all.filter(({ url }) => !chosen.some((each) => each.url === url)) };
}

/** Returns the candidate after `sitemap/0.xml` and so on: Next.js numbers its sitemaps, without an index. */
export function nextNumbered({ url, by, ifNeeded }: Candidate): Candidate | undefined {
  const [, start, number] = /^(.*\/sitemap\/)(\d{1,6})\.xml$/.exec(url) ?? [];
  if (by !== "known-path" || start === undefined) return undefined;
  return { url: `${start}${Number(number) + 1}.xml`, by, ifNeeded };
}

/** Returns the homepage to start from: the root of its website, or the URL itself, with a slash at its end and without a query. */
export function homepageFor(url: string, keepsPath: boolean): string {
  const homepage = Object.assign(parseUrl(url) as URL, { hash: "", username: "", password: "" });
  if (!keepsPath) return `${homepage.origin}/`;
  homepage.search = "";
  if (!homepage.pathname.endsWith("/")) homepage.pathname += "/";
  return homepage.href;
}

// A leading slash makes no difference: for `https://example.org/docs/`, `/sitemap.xml` means `/docs/sitemap.xml`.
function below(homepage: string, path: string): string {
  return resolveUrl(`./${path.replace(/^\/+/, "")}`, homepage, Number.POSITIVE_INFINITY).url ?? homepage;
}
