// Recognizes soft 404s: error pages with status 200, by their title, by a redirect to the homepage, or because the website sends almost the
// same page for a path that cannot exist.
import { homepageOf, urlKey } from "../model/url.ts";
import type { FollowedPage, PageFetch } from "./fetch-pages.ts";
import { visibleText } from "./visible-content.ts";

/** What a website sends for a page that does not exist. */
interface ErrorPage {
  /** Where a path that does not exist redirects to, if it does. */
  readonly finalUrl: string | undefined;
  readonly words: ReadonlySet<string>;
  /** The words that the homepage does not have. The others are probably in the header or footer of every page. */
  readonly own: readonly string[];
}

export class ErrorPages {
  readonly #source: PageFetch;
  // The error pages of websites, by origin.
  readonly #known = new Map<string, Promise<ErrorPage | undefined>>();

  constructor(source: PageFetch) {
    this.#source = source;
  }

  /** Whether a response with status 200 is an error page. */
  async isError(
    url: string,
    { finalUrl, hops, html }: Pick<FollowedPage, "finalUrl" | "hops" | "html">,
  ): Promise<boolean> {
    const root = homepageOf(finalUrl);
    const isRoot = urlKey(finalUrl) === urlKey(root);
    // Search engines treat a redirect to the homepage as an error, unless it comes from the homepage, such as `/index.html`.
    if (hops > 0 && isRoot && !/^\/(?:(?:index|default)\.\w+)?$/i.test(new URL(url).pathname)) return true;
    if (hasErrorTitle(html)) return true;
    const known = this.#known.get(root) ?? this.#fetchErrorPage(root);
    this.#known.set(root, known);
    const error = await known;
    if (error === undefined || isRoot) return false;
    if (error.finalUrl !== undefined && urlKey(error.finalUrl) === urlKey(finalUrl)) return hops > 0;
    return error.own.length >= fewestWords && isAlike(error, wordsOf(html));
  }

  async #fetchErrorPage(root: string): Promise<ErrorPage | undefined> {
    const error = await this.#source.follow(root + missingPath);
    if (error.outcome !== "found" || error.isLoop) return undefined;
    const homepage = await this.#source.follow(root);
    const usual = wordsOf(homepage.outcome === "found" ? homepage.html : "");
    const words = wordsOf(error.html);
    const own = [...words].filter((word) => !usual.has(word));
    return { finalUrl: error.hops > 0 ? error.finalUrl : undefined, words, own };
  }
}

/** A path that no website has. It is the same in every run, so that archives contain its response. */
export const missingPath = "sitegrove-7f3a9c51e2";
// With fewer words of its own, the error page cannot be distinguished from other pages.
const fewestWords = 2;

function isAlike({ words, own }: ErrorPage, others: ReadonlySet<string>): boolean {
  const sharedOf = (list: Iterable<string>) => [...list].filter((word) => others.has(word)).length;
  return sharedOf(own) >= 0.9 * own.length && sharedOf(words) >= 0.9 * Math.max(words.size, others.size);
}

function wordsOf(html: string): Set<string> {
  return new Set(
    visibleText(html)
      .join("\n")
      .toLowerCase()
      .match(/\p{L}{2,}/gu) ?? [],
  );
}

/** Whether a part of the title, between bars or dashes, says that the page was not found and nothing else. */
function hasErrorTitle(html: string): boolean {
  const title = /<title[^<>]{0,200}>([^<]{0,500})/i.exec(html)?.[1] ?? "";
  const parts = title.split(/\s[-–—·:»|/]+\s|[|»]/).map((part) => part.trim());
  // Next to other words, 404 may be the name of a car or a room.
  return parts.some((part) => errorTitle.test(part) && (part !== "404" || parts.length === 1));
}

const errorTitle =
  /^(?:(?:oops|sorry|error|http)\W+)*(?:404|(?:404\W+)?(?:(?:the|this|sorry) )?(?:page|file|url|product|article|content)?\s*(?:not found|(?:does not|doesn['’]t|no longer) exists?|could not be found|can(?:not|['’]t) be found)|404 error|seite nicht gefunden|page (?:introuvable|non trouvée)|página no encontrada|pagina non trovata)(?:\W+(?:error\W*)?404)?\W*$/i;
