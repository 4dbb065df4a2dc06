// Well-known paths and homepages where an earlier run found no sitemap. While the website stays the same, each run
// requests only a few of them, in rotation. Where there was a sitemap, every run requests it.

import { ArchivedBody } from "../archive/archived-body.ts";
import type { PreviousArchives } from "../archive/previous.ts";
import { candidatesFor } from "../discover/candidates.ts";
import {
  type DocumentRole,
  type DocumentSource,
  documentKey,
  type Fetched,
  type FetchedDocument,
} from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { isTemporary, ProblemLog, problem } from "../model/problem.ts";
import { atOrigin, movedOrigin } from "../model/url.ts";
import { answeredAt, type Followed, type FollowFailure, follow, followRules, Hop } from "./follow.ts";
import { readHomepage } from "./homepage.ts";
import { read } from "./read.ts";
import { nextInTurn, today, type Waiting } from "./rotation.ts";
import type { Start } from "./target.ts";

// With robots.txt and one sitemap this makes four requests a run, and eleven runs to request every well-known path.
const fewest = 2;
const runs = 11;

interface Guess extends Waiting {
  // Of each URL of the redirect chain that ended without a sitemap.
  readonly keys: readonly string[];
}

export interface GuessOptions {
  readonly start: Start;
  readonly settings: Settings;
  readonly previous: PreviousArchives;
  /** The URLs that the caller gave. */
  readonly startUrls: readonly string[];
  readonly source: Pick<DocumentSource, "tellsApart">;
}

export class Guesses {
  /** Well-known paths where there was a sitemap, or a redirect to one. */
  readonly foundBefore: readonly string[];
  #notAsked: Guess[];

  private constructor(foundBefore: readonly string[], notAsked: Guess[]) {
    this.foundBefore = foundBefore;
    this.#notAsked = notAsked;
  }

  static async open(options: GuessOptions): Promise<Guesses> {
    const { start, settings } = options;
    const found: string[] = [];
    const nothing: Guess[] = [];
    if (start.sitemaps === undefined) {
      const candidates = candidatesFor(start.homepage, settings);
      // As the website is found to have moved in the course of discovery.
      let homepage = start.homepage;
      const move = ({ before }: Walk) => {
        const origin = movedOrigin(homepage, answeredAt(before) ?? homepage);
        if (origin !== undefined) homepage = atOrigin(homepage, origin);
      };
      for (const { url, by } of candidates) if (by === "robots") move(await walkBack(url, "robots", options));
      if (settings.useHomepage) {
        const walk = await walkBack(homepage, "homepage", options);
        const before = await resultOf(walk, "homepage", options);
        if (typeof before === "object") nothing.push(before);
        move(walk);
      }
      for (const { url: named, by } of candidates) {
        if (by !== "known-path") continue;
        const url = atOrigin(named, new URL(homepage).origin);
        const before = await resultOf(await walkBack(url, "sitemap", options), "sitemap", options);
        if (before === "something") found.push(url);
        else if (before !== undefined) nothing.push(before);
      }
    }
    const count = Math.max(fewest, Math.ceil(nothing.length / runs));
    const due = new Set(nextInTurn(nothing, count, today()));
    return new Guesses(
      found,
      nothing.filter((guess) => !due.has(guess)),
    );
  }

  isNotAsked(url: string): boolean {
    return this.#notAsked.some((guess) => guess.url === url);
  }

  /** Something declares this URL, so it is requested. */
  ask(url: string): void {
    const key = documentKey({ url });
    this.#notAsked = this.#notAsked.filter(({ keys }) => !keys.includes(key));
  }

  /** The website has changed: everything is requested. */
  askAll(): void {
    this.#notAsked = [];
  }
}

interface Walk {
  readonly guess: Guess;
  readonly before: Followed<never>;
}

// What the previous run found, after redirects.
async function walkBack(
  url: string,
  role: DocumentRole,
  { previous, settings, startUrls, source }: GuessOptions,
): Promise<Walk> {
  const keys: string[] = [];
  let runsNotAsked = 0;
  const fetch = async (hop: Hop): Promise<Fetched> => {
    const answer = await previous.answer(hop.request);
    if (keys.length === 0) runsNotAsked = answer?.runsNotAsked ?? 0;
    keys.push(hop.key);
    const { request } = hop;
    return answer ?? { outcome: "failed", ...request, attempts: 0, reason: problem("archive-missing") };
  };
  const rules = followRules(settings.limits, startUrls, source);
  const before = await follow<never>(Hop.first(url, role, rules), fetch, () => undefined);
  return { guess: { url, runsNotAsked, keys }, before };
}

// Undefined if it is not certain.
async function resultOf(
  { guess: nothing, before }: Walk,
  role: DocumentRole,
  { settings }: GuessOptions,
): Promise<Guess | "something" | undefined> {
  if (before.outcome === "absent" || (before.outcome === "blocked" && isForbidden(before))) return nothing;
  if (before.outcome !== "found") return undefined;
  const { document } = before;
  if (!(document.body instanceof ArchivedBody) || document.body.problem !== undefined) return undefined;
  const holdsSomething =
    role === "homepage" ? await hasLinks(document, before.url) : await isSitemap(document, settings);
  if (holdsSomething) return "something";
  return (await document.body.isGood()) ? nothing : undefined;
}

// Too many requests, or a bot check: may be gone next time.
function isForbidden({ status, reason }: FollowFailure): boolean {
  return reason.code === `http-${status}` && !isTemporary(reason.code);
}

// A homepage that was not read to its end may have some.
async function hasLinks(document: FetchedDocument, url: string): Promise<boolean> {
  const problems = new ProblemLog();
  const { candidates } = await readHomepage(document, url, problems);
  return candidates.length > 0 || problems.toArray().length > 0;
}

// Reads up to the first entry; if there is none, to the end.
async function isSitemap(document: FetchedDocument, settings: Settings): Promise<boolean> {
  const reading = read(document, settings);
  const step = await reading.next();
  if (step.done) return step.value.outcome.kind !== "invalid";
  await reading.return(undefined as never);
  return true;
}
