// What a name on the command line is, and what it leads to: decided here, for all commands. The URL of a sitemap in place of a homepage is
// recognized by its content, and a website that was named without a scheme and has no https by its answer.
import { closeSync, createReadStream, existsSync, openSync, readSync, statSync } from "node:fs";
import type { ArchiveInfo } from "../../archive/info.ts";
import type { CrawlTarget } from "../../crawl/crawl.ts";
import type { SingleDocument } from "../../crawl/fetch-one.ts";
import type { FollowFailure } from "../../crawl/redirects.ts";
import { looksLikeArchive, magicLength } from "../../diff/archive-magic.ts";
import { type Options, resolveOptions } from "../../model/options.ts";
import type { Problem } from "../../model/problem.ts";
import { lacksTls } from "../../model/problems/fetching.ts";
import {
  hasScheme,
  homepageOf,
  isOnOwnMachine,
  isRobotsPath,
  parseUrl,
  withAssumedScheme,
  withoutCredentials,
} from "../../model/url.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import type { Context } from "../context.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import type { Messages } from "../output/messages.ts";

/** What has a tree: a website, given sitemaps, or an archive on disk. */
export type Target =
  | { readonly kind: "website"; readonly homepage: string; readonly isAssumed: boolean }
  | { readonly kind: "sitemaps"; readonly urls: readonly string[] }
  | { readonly kind: "archive"; readonly path: string };

export type NamedTarget =
  | Exclude<Target, { kind: "sitemaps" }>
  | { readonly kind: "file" | "folder"; readonly path: string }
  /** Standard input or a pipe: can be read once. */
  | { readonly kind: "stream"; readonly name: string; readonly path: string };

/** Throws a `UsageError` where it is nothing that can be read. */
export function recognize(name: string): NamedTarget {
  if (name === "") throw new UsageError("a name must not be empty");
  if (name === "-") return { kind: "stream", name: "standard input", path: name };
  const url = wellSpelled(name);
  if (hasScheme(name) || (url !== name && !existsSync(name))) {
    return { kind: "website", homepage: webUrl(name, "not an http or https URL:"), isAssumed: false };
  }
  const stat = orUsageError(`${name} cannot be read`, () => statSync(name, { throwIfNoEntry: false }));
  if (stat?.isDirectory()) return { kind: "folder", path: name };
  if (stat?.isFile()) return { kind: stat.size > 0 && isArchive(name) ? "archive" : "file", path: name };
  if (stat !== undefined) return { kind: "stream", name, path: name };
  if (looksLikeFile.test(name) && !isOnOwnMachine(name)) throw new UsageError(`no such file: ${name}`);
  return { kind: "website", homepage: webUrl(name, "neither a URL nor a file:"), isAssumed: true };
}

/** The bytes of a file or a stream. */
export function contentOf({ path }: { readonly path: string }, { stdin }: Context): AsyncIterable<Uint8Array> {
  return path === "-" ? stdin : createReadStream(path, { highWaterMark: 256 * 1024 });
}

/** For commands that need a tree. */
export function chooseTarget(name: string | undefined, sitemaps: readonly string[] = []): Target {
  if (sitemaps.length > 0) {
    if (name !== undefined) throw new UsageError("give either a website or --sitemap, not both");
    return { kind: "sitemaps", urls: sitemaps.map((url) => webUrl(url, "--sitemap takes a URL, not")) };
  }
  if (name === undefined) throw new UsageError("no website given; --help shows examples");
  const target = recognize(name);
  if (target.kind === "website" || target.kind === "archive") return target;
  // A file with the name of a website, or a sitemap: the message says what to type.
  const hint = websiteHint(name);
  if (target.kind === "stream") throw new UsageError(`${name} is not a regular file here, not an archive`);
  if (target.kind === "folder") throw new UsageError(`${name} is a folder here, not an archive${hint}`);
  // `ls example.org > example.org` makes the shell create an empty file first.
  if (statSync(name).size === 0) throw new UsageError(`${name} is an empty file here, not an archive${hint}`);
  const parse = `; for a sitemap that is a local file: sitegrove parse ${name}`;
  throw new UsageError(`${name} is a file here, and not an archive${hint || parse}`);
}

/** What an archive says that it is about: never a file, and without a password of its own. */
export function archivedTarget({ homepage = "", sitemaps = [] }: Partial<ArchiveInfo>): Target {
  const url = (text: string) => {
    if (!hasScheme(text)) throw new UsageError(`the archive names no website: ${text}`);
    return webUrl(withoutCredentials(text), "the archive names no website:");
  };
  if (sitemaps.length > 0) return { kind: "sitemaps", urls: sitemaps.map(url) };
  return { kind: "website", homepage: url(homepage), isAssumed: false };
}

function isArchive(file: string): boolean {
  if (/\.warc(\.gz)?$/i.test(file)) return true;
  return orUsageError(`${file} cannot be read`, () => {
    const descriptor = openSync(file, "r");
    const start = Buffer.alloc(magicLength);
    try {
      return looksLikeArchive(start.subarray(0, readSync(descriptor, start)));
    } finally {
      closeSync(descriptor);
    }
  });
}

/** What to type instead, if a file is named like a website. */
export function websiteHint(name: string): string {
  return looksLikeHost.test(name) ? `; for the website: sitegrove ls https://${name}` : "";
}

// People type `http:/example.org` and `https:\\example.org`.
function wellSpelled(url: string): string {
  const [, scheme, rest = ""] = /^(https?):[/\\]*([^/\\].*)$/is.exec(url) ?? [];
  return scheme === undefined || hasScheme(url) ? url : `${scheme}://${rest.replaceAll("\\", "/")}`;
}

// `wrong`: what to say of what is not a URL.
function webUrl(text: string, wrong: string): string {
  const url = withAssumedScheme(wellSpelled(text));
  const parsed = parseUrl(url);
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.hostname !== "") return url;
  throw new UsageError(`${wrong} ${withoutCredentials(text)}`);
}

const looksLikeHost = /^(?!.*\.(?:xml|gz|txt|rss|atom|csv|json|html?)$)[\w-]+(\.[\w-]+)+$/i;
const looksLikeFile = /^[./~\\]|\.(warc|wacz|xml|txt|csv|json|ndjson|rss|atom|rdf|html?|gz|br|zst)$/i;

/** What is done with a target: "listing", "sitegrove ls". */
export interface Doing {
  readonly verb: string;
  readonly command: string;
}

/** The URL of a sitemap where a homepage is expected means that sitemap, which is said. */
export async function recognized(named: Target, options: Options, messages: Messages, doing: Doing): Promise<Target> {
  const target = await withScheme(named, options, messages);
  if (target.kind !== "website" || options.keepPath || options.onlyPath) return target;
  const { homepage } = target;
  if (!(await isSitemap(homepage, options))) return target;
  const whole = `${doing.command} ${homepageOf(homepage)}`.trim();
  const what = `${withoutCredentials(homepage)} is a sitemap, ${doing.verb} it alone`;
  messages.say(`${what}; the whole website: ${whole}`, "quiet");
  return { kind: "sitemaps", urls: [homepage] };
}

// Without a scheme https is meant, and http if there is no TLS. Of a website that cannot be reached, the crawl tells the cause.
async function withScheme(target: Target, options: Options, messages: Messages): Promise<Target> {
  if (target.kind !== "website" || !target.isAssumed) return target;
  const { homepage } = target;
  const plain = homepage.replace(/^https:/, "http:");
  const failure = await failureAt(homepage, options);
  if (failure === undefined) messages.say(`no scheme given, using ${withoutCredentials(homepage)}`, "quiet");
  if (failure === undefined || plain === homepage) return target;
  // A port that was named and refuses connections refuses both.
  const mayBePlain = failure.code === "connection-refused" ? new URL(homepage).port === "" : lacksTls(failure);
  if (!mayBePlain || (await failureAt(plain, options)) !== undefined) return target;
  const tried = `${withoutCredentials(homepage)}: ${failure.message}`;
  messages.say(`no scheme given; ${tried}; using ${withoutCredentials(plain)}`, "quiet");
  return { ...target, homepage: plain };
}

// Why a website does not answer; undefined if it does.
async function failureAt(homepage: string, options: Options): Promise<Problem | undefined> {
  const looked = await look(new URL("/robots.txt", homepage).href, options);
  if (looked.outcome === "found") await looked.close();
  return looked.outcome === "failed" || looked.outcome === "refused" ? looked.reason : undefined;
}

// Asks only where the URL is more than the root of a website. robots.txt stands for its website.
async function isSitemap(url: string, options: Options): Promise<boolean> {
  const { pathname = "/", search = "" } = parseUrl(url) ?? {};
  if (pathname + search === "/" || isRobotsPath(pathname)) return false;
  const opened = await look(url, options);
  if (opened.outcome !== "found") return false;
  const { read } = await import("../../crawl/read.ts");
  const reading = read(opened.document, resolveOptions(withoutFiles(options)));
  try {
    const step = await reading.next();
    // Only a sitemap has entries; one without entries is recognized by its format.
    return step.done ? step.value.outcome.kind !== "invalid" : true;
  } finally {
    await opened.close();
    await reading.return(undefined as never);
  }
}

// The crawl requests it again, with the timeouts of the options. Whether a website is silent is for the crawl to find out: it must not take
// twice as long.
async function look(url: string, options: Options): Promise<SingleDocument | FollowFailure> {
  const rest = withoutFiles(options);
  const { timeout } = resolveOptions(rest);
  const brief = { ...timeout, firstByte: Math.min(timeout.firstByte, 12_000) };
  const { fetchDocument } = await import("../../crawl/fetch-one.ts");
  return fetchDocument(url, { ...rest, retries: 0, timeout: brief });
}

function withoutFiles({ save: _, resume: __, previous: ___, ...rest }: Options): Options {
  return rest;
}

/** For an archive, only the options about reading apply. */
export async function treeOf(target: Target, options: Options, verify: boolean): Promise<SitemapTree> {
  const { buildTreeWhile, openTreeWhile } = await import("../../tree/build.ts");
  const pagesLater = true;
  if (target.kind !== "archive") return buildTreeWhile(crawlTarget(target), options, { pagesLater });
  const { limits, rewrite, signal, onEvent } = options;
  return openTreeWhile(target.path, { limits, rewrite, signal, onEvent }, { verify, pagesLater });
}

export function crawlTarget(target: Exclude<Target, { kind: "archive" }>): CrawlTarget {
  return target.kind === "website" ? { homepage: target.homepage } : { sitemaps: target.urls };
}
