// The websites that an agent asks about: each is read once and kept as an archive in a folder, so that the next call needs no request.
// The state of `changes` is beside it. Each website has a lock, because several servers may share the folder. Also decides which websites
// are allowed.

import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CrawlTarget } from "../../crawl/prepare.ts";
import { archivedSettings } from "../../crawl/prepare.ts";
import { keyHash, type SiteJob, siteJob, targetOf } from "../../fleet/site-job.ts";
import { SitemapError } from "../../model/errors.ts";
import { type Options, resolveOptions } from "../../model/options.ts";
import { messageWithHint, type Problem } from "../../model/problem.ts";
import { urlKey } from "../../model/url.ts";
import { makeFolder } from "../../storage/folder.ts";
import { FileLock } from "../../storage/lock.ts";
import type { SitemapTree } from "../../tree/tree.ts";

/** Tells the agent why there is no result. */
export class NoAnswer extends Error {}

/** Turns a problem into a message for agents, which have no `--allow-private`. */
export function notRead(url: string, reason: Problem): NoAnswer {
  return new NoAnswer(`${url}: ${messageWithHint(reason).replace("--allow-private", "--allow SITE")}`);
}

export interface SitesOptions {
  readonly folder: string;
  /** The only websites that are allowed; empty allows any public one. */
  readonly allowed: readonly string[];
  readonly crawl: Options;
  readonly signal: AbortSignal;
}

// How long a question waits for a website that is being read, in milliseconds. Clients wait for a minute by default.
const patience = 45_000;

export interface KeptSite {
  readonly homepage: string;
  readonly target: CrawlTarget;
  /** The archive that answers questions. */
  readonly file: string;
  /** The archive that `changes` compares with. */
  readonly state: string;
  /** The changes that the agent has not received yet. */
  readonly list: string;
  readonly crawl: Options;
}

export class Sites {
  readonly #options: SitesOptions;
  readonly #allowed: ReadonlySet<string>;
  /** Lists of changes whose last answer is on its way, by file. */
  readonly deliveries: Map<string, Promise<void>> = new Map();
  // The work in progress, by archive.
  readonly #busy = new Map<string, { readonly kind: string; readonly doing: Promise<unknown> }>();

  constructor(options: SitesOptions) {
    this.#options = options;
    this.#allowed = new Set(options.allowed.map(originOf));
    makeFolder(options.folder);
  }

  /** Returns the files and options of a website. Throws a `NoAnswer` if it is not allowed. */
  site(site: string): KeptSite {
    const job = jobOf(site);
    const { homepage, key } = job;
    const crawl = this.crawlOptions(site);
    const host = new URL(homepage).host.replaceAll(/[^a-z0-9.-]/gi, "_").slice(0, 100);
    // Different options may find different pages, so they get their own archive.
    const made = JSON.stringify(archivedSettings(resolveOptions(this.#options.crawl)));
    const file = path.join(this.#options.folder, `${host}-${keyHash(`${key} ${made}`)}`);
    const state = `${file}.changes`;
    return {
      ...{ homepage, target: targetOf(job), crawl },
      ...{ file: `${file}.warc.gz`, state: `${state}.warc.gz`, list: `${state}.ndjson` },
    };
  }

  /** Returns the options for requests to a URL. A private address must be allowed by name. Throws a `NoAnswer` if it is not allowed. */
  crawlOptions(url: string): Options {
    const { crawl, signal } = this.#options;
    const isNamed = this.#allowed.has(originOf(url));
    if (this.#allowed.size > 0 && !isNamed) {
      throw new NoAnswer(`${url} is not one of the allowed websites: ${[...this.#allowed].join(", ")}`);
    }
    return { ...crawl, signal, network: isNamed ? (crawl.network ?? "default") : "public-only" };
  }

  /**
   * Passes the tree of a website to `work`, with the time of its crawl as `state`. Crawls the website if `refresh` is set or there is no
   * archive yet.
   */
  async use<T>(
    site: string,
    refresh: boolean | undefined,
    work: (tree: SitemapTree, state: number) => Promise<T>,
  ): Promise<T> {
    const kept = this.site(site);
    const { openTree } = await import("../../tree/build.ts");
    const read = () => this.once(kept, "read", () => this.#read(kept));
    if (refresh || this.#busy.has(kept.file) || !existsSync(kept.file)) await read();
    const open = () => openTree(kept.file, { signal: this.#options.signal });
    const tree = await open().catch(async (error: unknown) => {
      if (!(error instanceof SitemapError)) throw error;
      // The archive is damaged.
      rmSync(kept.file, { force: true });
      await read();
      return open();
    });
    try {
      return await work(tree, Math.trunc(statSync(kept.file).mtimeMs));
    } finally {
      await tree.close();
    }
  }

  /**
   * Serializes work per website, and joins work of the same kind that is already running. Waits for its end as long as a question may take.
   */
  async once({ file, homepage }: KeptSite, kind: string, work: () => Promise<void>): Promise<void> {
    let busy = this.#busy.get(file);
    if (busy?.kind !== kind) {
      const before = busy?.doing.catch(() => undefined) ?? Promise.resolve();
      const now = { kind, doing: before.then(work) };
      const over = () => {
        if (this.#busy.get(file) === now) this.#busy.delete(file);
      };
      now.doing.then(over, over);
      this.#busy.set(file, now);
      busy = now;
    }
    const late = delay(patience, "late", { ref: false });
    if ((await Promise.race([busy.doing, late])) === "late")
      throw new NoAnswer(`${homepage} is still being crawled; try again in a minute`);
  }

  async #read({ homepage, target, file, state, crawl }: KeptSite): Promise<void> {
    const { sitemapTreeForHomepage } = await import("../../tree/build.ts");
    const asked = Date.now();
    const lock = await whenFree(() => FileLock.acquire(lockOf(state), busyIn(homepage)));
    const partial = path.join(path.dirname(file), `partial.${path.basename(file)}`);
    try {
      // Another server has just read the website.
      if ((statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > asked) return;
      rmSync(partial, { force: true });
      const previous = existsSync(file) ? { previous: file } : {};
      const tree = await sitemapTreeForHomepage(target, { ...crawl, ...previous, save: partial });
      await tree.close();
      const { unreachable } = tree;
      if (unreachable !== undefined) throw notRead(homepage, unreachable.reason);
      // `changes` compares with the archive that was read first.
      if (existsSync(file)) linkUnlessThere(file, state);
      renameSync(partial, file);
    } finally {
      rmSync(partial, { force: true });
      lock.release();
    }
  }
}

/** Creates a link, unless there is a file with this name: another server may have just created it. */
export function linkUnlessThere(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Returns the lock of a website. `changes` takes the same one, because both replace its files. */
function lockOf(state: string): string {
  return `${state}.lock`;
}

// Thrown if another server is reading the same website.
class Busy extends NoAnswer {}

function busyIn(homepage: string): (owner: string) => Busy {
  return (owner) => new Busy(`${homepage} is being read by another server (${owner}); try again in a minute`);
}

/** Waits until no other server has the lock, for as long as a question may take. */
export async function whenFree<T>(take: () => T | Promise<T>): Promise<T> {
  for (const until = Date.now() + patience - 5000; ; await delay(200)) {
    try {
      return await take();
    } catch (error) {
      const isBusy = error instanceof Busy || (error instanceof SitemapError && error.code === "state-in-use");
      if (!isBusy || Date.now() > until) throw error;
    }
  }
}

function jobOf(site: string): SiteJob {
  const job = siteJob(site);
  if (job === undefined) throw new NoAnswer(`Not a website: ${site}`);
  return job;
}

function originOf(site: string): string {
  return urlKey(new URL(jobOf(site).homepage).origin);
}
