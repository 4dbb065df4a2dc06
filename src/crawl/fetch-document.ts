// Fetches one document and follows its redirects, without a crawl: for `sitegrove parse URL`.
import { createFetcher } from "../fetch/fetcher.ts";
import { type Options, resolveOptions } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { type FollowFailure, follow, followRules, Hop } from "./follow.ts";
import type { Document } from "./read.ts";

export interface OpenedDocument {
  readonly outcome: "found";
  readonly document: Document;
  /** Problems with the redirects that led to it. */
  readonly problems: readonly Problem[];
  /** Ends the fetch, if it is still running. */
  close(): Promise<void>;
}

/** Rejects with the reason of `options.signal`. The document has to be closed. */
export async function fetchDocument(url: string, options: Options): Promise<OpenedDocument | FollowFailure> {
  const settings = resolveOptions(options);
  const { limits, signal } = settings;
  const fetcher = createFetcher({ settings, start: [url], onEvent: settings.onEvent });
  const close = () => fetcher.close();
  try {
    const rules = followRules(limits, [url], fetcher);
    const found = await follow(
      Hop.first(url, "sitemap", rules),
      async (hop) => {
        const fetched = await fetcher.fetch({ ...hop.request, signal });
        rules.cookies.take(fetched);
        return fetched;
      },
      () => undefined,
    );
    if (found.outcome === "found") {
      const { document, problems } = found;
      return { outcome: "found", document: { ...document, url: found.url }, problems, close };
    }
    await close();
    return found as FollowFailure;
  } catch (error) {
    await close();
    throw error;
  }
}
