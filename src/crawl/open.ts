// Opens what a crawl needs: the network, archives of earlier runs, and a store for its documents. If the website was named without a
// scheme, or for the option `here`, the first requests are sent here.
import type { Store } from "../archive/store.ts";
import type { Fetcher } from "../fetch/fetcher.ts";
import type { CrawlEvent, Totals } from "../model/event.ts";
import type { DocumentSource, Fetched } from "../model/exchange.ts";
import type { Options } from "../model/options.ts";
import type { Rewrite } from "../model/rewrite.ts";
import { fetchedEvent } from "../model/status.ts";
import { type CrawlTarget, type Prepared, prepare } from "./prepare.ts";
import { noneObtained, type RunOptions } from "./run.ts";
import type { SettledScheme } from "./scheme.ts";
import { TimeBudget } from "./time-budget.ts";

/** Where documents come from, and where they are kept. */
interface Sources {
  readonly source: DocumentSource;
  readonly fetcher: Fetcher | undefined;
  readonly store: Store | undefined;
  /** Responses to requests that were sent before the crawl began. */
  readonly answers: readonly Fetched[];
  /** Called for each response that is taken from the run that is being resumed. */
  readonly onResumed: (fetched: Fetched) => void;
}

/** A crawl that can begin. */
export interface OpenCrawl extends RunOptions {
  readonly sources: Sources;
  readonly time: TimeBudget;
  readonly openedAt: number;
  /** The number of requests, and of documents by how they were obtained. */
  readonly counts: Pick<Totals, "requests" | "obtained">;
  /** Closes everything but the store. */
  close(): Promise<void>;
}

/**
 * Opens a crawl. Documents are stored for `save`, for `resume`, and if the caller `needsStore`. Throws only a `SitemapError`, the reason of
 * a signal, and errors of the caller's functions.
 */
export async function openCrawl(given: RunOptions, needsStore = false): Promise<OpenCrawl> {
  const openedAt = performance.now();
  const { settings } = given.prepared;
  const time = new TimeBudget(settings);
  const closing: (() => unknown)[] = [() => time.close()];
  const close = async () => {
    for (const each of closing.splice(0)) await each();
  };
  const counts = { requests: 0, obtained: noneObtained() };
  const onEvent = (event: CrawlEvent) => {
    if (event.type === "request") counts.requests += 1;
    if (event.type === "response" && event.outcome === "found") counts.obtained[event.obtained] += 1;
    settings.onEvent?.(event);
    given.onSideEvent?.(event);
  };
  const onFetched = (fetched: Fetched) => {
    const event = fetchedEvent(fetched);
    if (event !== undefined) onEvent(event);
  };
  // The response to a conditional request may be a 304, so `revalidating` reports the results once it is in use.
  let isRevalidating = false;
  const onRequest = (event: CrawlEvent) =>
    isRevalidating && (event.type === "response" || event.type === "failure") ? undefined : onEvent(event);
  const network = given.source === undefined ? await import("../fetch/fetcher.ts") : undefined;
  const fetcherFor = ({ settings, startUrls }: Prepared): Fetcher | undefined =>
    network && new network.Fetcher({ settings, start: startUrls, onEvent: onRequest, shared: given.shared });
  try {
    const settled = await settle(given, fetcherFor, time);
    let { prepared, fetcher, answers } = settled;
    closing.push(() => fetcher?.close());
    const { save, resume, previous } = settings;
    const isStored = needsStore || (network !== undefined && (save ?? resume ?? previous) !== undefined);
    const storage = isStored ? await (await import("./storage.ts")).openStorage(prepared, needsStore) : undefined;
    const { store, previous: archives } = storage ?? {};
    closing.push(async () => {
      for (const archive of archives ?? []) await archive.close();
    });
    if (resume !== undefined && storage !== undefined) {
      // The resumed archive has its own limits, and may already have the first response, so the fetcher is replaced.
      await fetcher?.close();
      ({ prepared } = storage);
      [fetcher, answers] = [undefined, []];
    }
    fetcher ??= fetcherFor(prepared);
    let source = given.source ?? (fetcher as Fetcher);
    if (fetcher !== undefined && archives !== undefined) {
      isRevalidating = true;
      source = (await import("./revalidate.ts")).revalidating(fetcher, archives, onEvent);
    }
    const sources = { source, fetcher, store, answers, onResumed: onFetched };
    const problems = [...(given.problems ?? []), ...settled.problems];
    return { ...given, prepared, problems, sources, time, openedAt, counts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Finds out, as a crawl does, which host a website's documents name. Returns rewrites from there to the website's address. */
export async function hereRewrites(target: CrawlTarget, options: Options): Promise<Rewrite> {
  const { save: _, resume: __, previous: ___, ...rest } = options;
  const prepared = prepare(target, { ...rest, rewrite: [], here: true });
  const open = await openCrawl({ prepared });
  await open.close();
  return open.prepared.settings.rewrite;
}

type Settled = Omit<SettledScheme, "fetcher"> & { readonly fetcher: Fetcher | undefined };

// Asks the website for what the crawl must know first: its scheme if it is unknown, and for `here` the host that its documents name.
async function settle(
  { prepared, source }: RunOptions,
  fetcherFor: (prepared: Prepared) => Fetcher | undefined,
  time: TimeBudget,
): Promise<Settled> {
  let settled: Settled = { prepared, problems: [], fetcher: undefined, answers: [] };
  try {
    if (prepared.assumed.length > 0 && source === undefined) {
      const { settleScheme } = await import("./scheme.ts");
      settled = await settleScheme(prepared, fetcherFor as (prepared: Prepared) => Fetcher, time.signal);
    }
    if (!prepared.settings.here) return settled;
    const { withHere } = await import("./here.ts");
    const fetcher = settled.fetcher ?? fetcherFor(prepared);
    settled = { ...settled, fetcher };
    return { ...settled, prepared: await withHere(settled.prepared, source ?? (fetcher as Fetcher), time.signal) };
  } catch (error) {
    // If the time is up, the crawl itself reports that.
    if (time.isUp) return settled;
    await settled.fetcher?.close();
    throw error;
  }
}
