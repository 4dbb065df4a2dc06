// Checks the arguments of a crawl and prepares its start.
import { homepageFor } from "../discover/candidates.ts";
import { invalid } from "../model/option-checks.ts";
import { type Options, resolveOptions, type Settings } from "../model/options.ts";
import { homepageOf, withoutCredentials } from "../model/url.ts";
import { type CrawlTarget, checkTarget, type Start } from "./target.ts";

/** A crawl that was checked and can begin. */
export interface Prepared {
  readonly start: Start;
  readonly settings: Settings;
  /** As the caller wrote them, with credentials: only the fetcher sees those. */
  readonly startUrls: readonly string[];
  /** As the caller gave them. */
  readonly target: CrawlTarget;
  readonly options: Options | undefined;
}

/** Throws a `SitemapError` for wrong arguments. */
export function prepare(target: CrawlTarget, options?: Options): Prepared {
  const checked = checkTarget(target);
  const settings = resolveOptions(options);
  if (settings.save !== undefined && settings.resume !== undefined) {
    throw invalid("Expected either `save` or `resume`, got both: what is resumed goes on in its own archive");
  }
  if ("sitemaps" in checked) {
    const [first] = checked.sitemaps;
    const start = {
      homepage: homepageOf(withoutCredentials(first)),
      sitemaps: checked.sitemaps.map(withoutCredentials),
    };
    return { start, settings, startUrls: checked.sitemaps, target, options };
  }
  const { homepage } = checked;
  const start = { homepage: homepageFor(homepage, settings.normalizeHomepageUrl) };
  return { start, settings, startUrls: [homepage], target, options };
}
