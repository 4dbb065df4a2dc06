// The websites that an agent asks about. Each is kept as an archive in a folder, so that most calls need no request; beside it are the
// archive that `changes` compares with, its list, and one lock for all of them, because several calls and several servers may use the
// folder at the same time. Also decides which websites are allowed.
import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { archivedSettings, type CrawlTarget } from "../../crawl/prepare.ts";
import { keyHash, type SiteJob, siteJob, targetOf } from "../../fleet/site-job.ts";
import { SitemapError } from "../../model/errors.ts";
import { type Options, resolveOptions } from "../../model/options.ts";
import { messageWithHint, type Problem } from "../../model/problem.ts";
import { shortened } from "../../model/text.ts";
import { urlKey } from "../../model/url.ts";
import { makeFolder } from "../../storage/folder.ts";
import { FileLock, ownerOf } from "../../storage/lock.ts";
import { openTree, sitemapTreeForHomepage } from "../../tree/build.ts";
import type { SitemapTree } from "../../tree/tree.ts";

/** Tells the agent why there is no result. The message may repeat what the agent sent, so it is shortened. */
export class NoAnswer extends Error {
  constructor(message: string) {
    super(shortened(message, 2000));
  }
}

/** Turns a problem into a message for agents, which have no `--allow-private`. */
export function notRead(url: string, reason: Problem): NoAnswer {
  return new NoAnswer(`${url}: ${messageWithHint(reason).replace("--allow-private", "--allow SITE")}`);
}

export interface SitesOptions {
  readonly folder: string;
  /** The only websites that are allowed. An empty list allows any public website. */
  readonly allowed: readonly string[];
  readonly crawl: Options;
  readonly signal: AbortSignal;
}

// How long a call waits for a website that is being crawled, in milliseconds. Clients wait for a minute by default.
const patience = 45_000;

export interface KeptSite {
  readonly homepage: string;
  readonly target: CrawlTarget;
  /** The archive that answers questions. */
  readonly file: string;
  /** The archive that `changes` compares with. */
  readonly state: string;
  /** The list of changes that no agent has completely received yet. */
  readonly list: string;
  /** The last list that an agent has completely received. Others may still be reading it. */
  readonly delivered: string;
  readonly crawl: Options;
}

export class Sites {
  readonly #options: SitesOptions;
  readonly #allowed: ReadonlySet<string>;

  constructor(options: SitesOptions) {
    this.#options = options;
    this.#allowed = new Set(options.allowed.map((site) => originOf(jobOf(site))));
    makeFolder(options.folder);
  }

  /**
   * Returns the files and options of a website. A private address must be allowed by name. Throws a `NoAnswer` if the website is not
   * allowed.
   */
  site(site: string): KeptSite {
    const { folder, crawl, signal } = this.#options;
    const job = jobOf(site);
    const isNamed = this.#allowed.has(originOf(job));
    if (this.#allowed.size > 0 && !isNamed)
      throw new NoAnswer(`${site} is not one of the allowed websites: ${[...this.#allowed].join(", ")}`);
    const host = new URL(job.homepage).host.replaceAll(/[^a-z0-9.-]/gi, "_").slice(0, 100);
    const network = isNamed ? (crawl.network ?? "default") : "public-only";
    // Different options may find different pages, so they get their own archive. So do different rights, because a
    // server must not answer from an archive that it would not be allowed to fetch.
    const settings = JSON.stringify([archivedSettings(resolveOptions(crawl)), network, crawl.headers ?? {}]);
    const name = path.join(folder, `${host}-${keyHash(`${job.key} ${settings}`)}`);
    return {
      homepage: job.homepage,
      target: targetOf(job),
      file: `${name}.warc.gz`,
      state: `${name}.changes.warc.gz`,
      list: `${name}.changes.ndjson`,
      delivered: `${name}.delivered.ndjson`,
      crawl: { ...crawl, signal, network },
    };
  }

  /**
   * Passes the tree of a website to `work`, with the time of its crawl as `state`. Crawls the website if `refresh` is set or there is no
   * usable archive, and waits for a crawl that is under way.
   */
  async use<T>(
    site: string,
    refresh: boolean | undefined,
    work: (tree: SitemapTree, state: number) => Promise<T>,
  ): Promise<T> {
    const kept = this.site(site);
    const { file, state, crawl } = kept;
    const asked = refresh ? Date.now() : 0;
    const update = () => whenFree(kept, () => read(kept, asked));
    if (refresh || ownerOf(lockOf(state)) !== undefined || !existsSync(file)) await update();
    // The time is read first: if another crawl replaces the file meanwhile, a cursor of this answer is refused, not continued in other pages.
    const open = async () => {
      const crawledAt = Math.trunc(timeOf(file));
      return [await openTree(file, { signal: crawl.signal }), crawledAt] as const;
    };
    const [tree, crawledAt] = await open().catch(async (error: unknown) => {
      if (!(error instanceof SitemapError)) throw error;
      // The archive is damaged.
      rmSync(file, { force: true });
      await update();
      return open();
    });
    try {
      return await work(tree, crawledAt);
    } finally {
      await tree.close();
    }
  }
}

/**
 * Does the work once nobody else is using the website's files. If that takes too long, the call ends with a `NoAnswer`, but work that has
 * begun continues.
 */
export function whenFree(kept: KeptSite, work: () => Promise<void>): Promise<void> {
  let isLate = false;
  const attempts = async () => {
    for (; ; await delay(200)) {
      try {
        return await work();
      } catch (error) {
        if (isLate || !(error instanceof SitemapError && error.code === "state-in-use")) throw error;
      }
    }
  };
  const tooLate = async () => {
    await delay(patience, undefined, { ref: false });
    isLate = true;
    throw new NoAnswer(`${kept.homepage} is still being crawled; try again in a minute`);
  };
  return Promise.race([attempts(), tooLate()]);
}

// The name of the lock that `changes` takes for its state.
function lockOf(state: string): string {
  return `${state}.lock`;
}

// Crawls a website, unless its archive is newer than `asked`: then somebody else has crawled it meanwhile.
async function read({ homepage, target, file, state, crawl }: KeptSite, asked: number): Promise<void> {
  const lock = FileLock.acquire(
    lockOf(state),
    (owner) => new SitemapError("state-in-use", `${owner} is using ${file}`),
  );
  const partial = path.join(path.dirname(file), `partial.${path.basename(file)}`);
  try {
    if (timeOf(file) > asked) return;
    rmSync(partial, { force: true });
    const previous = existsSync(file) ? { previous: file } : {};
    const tree = await sitemapTreeForHomepage(target, { ...crawl, ...previous, save: partial });
    await tree.close();
    if (tree.unreachable !== undefined) throw notRead(homepage, tree.unreachable.reason);
    renameSync(partial, file);
    // Until `changes` has replaced its state, it compares with the first archive.
    if (!existsSync(state)) linkSync(file, state);
  } finally {
    rmSync(partial, { force: true });
    lock.release();
  }
}

// When a file was written, in milliseconds; 0 if it does not exist.
function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function jobOf(site: string): SiteJob {
  const job = siteJob(site);
  if (job === undefined) throw new NoAnswer(`Not a website: ${site}`);
  return job;
}

function originOf({ homepage }: SiteJob): string {
  return urlKey(new URL(homepage).origin);
}
