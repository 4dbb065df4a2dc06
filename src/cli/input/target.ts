// Decides what a name on the command line means: a website, a sitemap, an archive, or other local data. The URL of a sitemap is recognized
// by its name or content. Without a scheme, https is tried first, except on this machine.
import fs from "node:fs";
import path from "node:path";
import { isSitemap } from "../../crawl/is-sitemap.ts";
import { type CrawlTarget, withoutScheme } from "../../crawl/prepare.ts";
import { kindOfFile } from "../../diff/archive-magic.ts";
import type { Options } from "../../model/options.ts";
import type { Problem } from "../../model/problem.ts";
import { isBelow, rewrite } from "../../model/rewrite.ts";
import {
  hasScheme,
  homepageOf,
  isOnOwnMachine,
  parseUrl,
  withAssumedScheme,
  withoutCredentials,
} from "../../model/url.ts";
import { identityOf, openIdentity } from "../../storage/file-identity.ts";
import type { Context } from "../context.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import type { Messages } from "../output/messages.ts";

/** What a name on the command line stands for. `isAssumed` means that the scheme was not given. */
export type Target =
  | { readonly kind: "website"; readonly homepage: string; readonly isAssumed: boolean }
  | { readonly kind: "sitemaps"; readonly urls: readonly string[] }
  | { readonly kind: "archive" | "file" | "folder"; readonly path: string }
  /** Standard input or a pipe, which can be read only once. */
  | { readonly kind: "stream"; readonly name: string; readonly path: string };

type NotSitemaps = Exclude<Target, { kind: "sitemaps" }>;

/** A target with a tree: a website, given sitemaps, or an archive on disk. */
export type TreeTarget = Extract<Target, { kind: "website" | "sitemaps" }> | { kind: "archive"; readonly path: string };

/** Decides by the name and by what is on disk, without fetching anything. Throws a `UsageError` if nothing can be read by that name. */
export function parseTarget(name: string): NotSitemaps {
  if (name === "") throw new UsageError("the name of a website or file is empty");
  if (name === "-") return { kind: "stream", name: "standard input", path: name };
  const url = wellSpelled(name);
  if (hasScheme(name) || (url !== name && !fs.existsSync(name))) {
    return { kind: "website", homepage: webUrl(name, "not an http or https URL:"), isAssumed: false };
  }
  const stat = orUsageError(`${name} cannot be read`, () => fs.statSync(name, { throwIfNoEntry: false }));
  if (stat?.isDirectory()) return { kind: "folder", path: name };
  if (stat?.isFile()) {
    const kind = stat.size > 0 && orUsageError(`${name} cannot be read`, () => kindOfFile(name));
    return { kind: kind === "archive" ? kind : "file", path: name };
  }
  if (stat !== undefined) return { kind: "stream", name, path: name };
  const [host = "", ...below] = name.split(/[/?#]/);
  const isHost = isOnOwnMachine(name) || (/[.:]/.test(host) && (below.length > 0 || !looksLikeFile.test(name)));
  // A word, or a path whose first part has no dot, is more likely a mistyped file than a host in the local network.
  if (!isHost || looksLikePath.test(name) || (looksLikeFile.test(host) && !isOnOwnMachine(name)))
    throw new UsageError(
      `no such file or folder: ${name}${isWord.test(name) ? `; for a website: https://${name}/` : ""}`,
    );
  return { kind: "website", homepage: webUrl(name, "neither a URL nor a file:"), isAssumed: true };
}

/** Reads the bytes of a file, a pipe or standard input. */
export function contentOf(target: { readonly path: string }, { stdin }: Context): AsyncIterable<Uint8Array> {
  return target.path === "-" ? stdin : fs.createReadStream(target.path, { highWaterMark: 256 * 1024 });
}

/** Recognizes a robots.txt without a name by its first line that is neither blank nor a comment. */
export function isRobotsText(text: string): boolean {
  const line = text.split(/[\r\n]+/).find((each) => !/^\s*(?:#|$)/.test(each)) ?? "";
  return /^\W*(?:user-agent|allow|disallow|sitemap)\s*:/i.test(line);
}

/** Parses a target for commands that need a tree. */
export function parseTreeTarget(name: string | undefined, sitemaps: readonly string[] = []): TreeTarget {
  if (sitemaps.length > 0) {
    if (name !== undefined) throw new UsageError("give either a website or --sitemap, not both");
    return { kind: "sitemaps", urls: sitemaps.map((url) => webUrl(url, "--sitemap takes a URL, not")) };
  }
  if (name === undefined) throw new UsageError("no website given; --help shows examples");
  const target = parseTarget(name);
  if (isTreeTarget(target)) return target;
  // For a file with the name of a website, or a sitemap, the message says what to type.
  const hint = websiteHint(name);
  if (target.kind === "stream")
    throw new UsageError(`${target.name} is not an archive; to read one sitemap from it: sitegrove parse ${name}`);
  if (target.kind === "folder") throw new UsageError(`${name} is a local folder, not an archive${hint}`);
  // `ls example.org > example.org` makes the shell create an empty file first.
  if (fs.statSync(name).size === 0) throw new UsageError(`${name} is an empty local file, not an archive${hint}`);
  const parse = `; to read a local sitemap: sitegrove parse ${name}`;
  throw new UsageError(`${name} is a local file, but not an archive${hint || parse}`);
}

export function isTreeTarget(target: Target): target is TreeTarget {
  return target.kind === "website" || target.kind === "sitemaps" || target.kind === "archive";
}

/** Suggests what to type if a file has the name of a website. */
export function websiteHint(name: string): string {
  return looksLikeHost.test(name) && !looksLikeFile.test(name) ? `; for the website: sitegrove ls https://${name}` : "";
}

// People type `http:/example.org` and `https:\\example.org`.
function wellSpelled(url: string): string {
  const [, scheme, rest = ""] = /^(https?):[/\\]*([^/\\].*)$/is.exec(url) ?? [];
  return scheme === undefined || hasScheme(url) ? url : `${scheme}://${rest.replaceAll("\\", "/")}`;
}

// Throws a `UsageError` that begins with `messageStart` if the text is not an http or https URL.
function webUrl(text: string, messageStart: string): string {
  const url = withAssumedScheme(wellSpelled(text));
  const parsed = parseUrl(url);
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.hostname !== "") return url;
  throw new UsageError(`${messageStart} ${withoutCredentials(text)}`);
}

const looksLikeHost = /^[\w-]+(\.[\w-]+)+$/;
const looksLikeFile = /\.(warc|wacz|xml|txt|csv|json|ndjson|rss|atom|rdf|html?|gz|br|zst)$/i;
const looksLikePath = /^[./~\\]/;
const isWord = /^\w[\w-]*$/;

/**
 * Finds out which scheme works, if none was given, and whether the URL is a sitemap: then only that sitemap is read. Tells the user about
 * both, and about a --rewrite that does not affect what is fetched. With `isCrawled`, and without --rewrite, a host that has no scheme is
 * returned as it is, because the crawl finds the scheme without an extra request.
 */
export async function probeTarget(
  given: TreeTarget,
  options: Options,
  messages: Messages,
  isCrawled: boolean,
): Promise<TreeTarget> {
  if (isCrawled && !options.rewrite?.length && isAssumedHost(given)) return given;
  let target = await withScheme(given, options, messages);
  const isHomepage = target.kind === "website" && (options.path ?? "ignore") === "ignore";
  if (isHomepage && target.kind === "website") {
    const { homepage } = target;
    const whole = withoutCredentials(homepageOf(homepage));
    const { pathname = "/" } = parseUrl(homepage) ?? {};
    if (await isSitemap(homepage, options)) {
      messages.say(`reading only ${withoutCredentials(homepage)}; for the whole website: ${whole}`, "quiet");
      target = { kind: "sitemaps", urls: [homepage] };
    } else if (!/^\/(?:robots\.txt)?$/.test(pathname))
      messages.say(`reading the whole website ${whole}, not only ${pathname}`, "quiet");
  }
  if (target.kind === "archive" || options.client !== undefined) return target;
  const starts = (target.kind === "website" ? [target.homepage] : target.urls).map(withoutCredentials);
  for (const [from, to] of rewrite("rewrite", options.rewrite ?? [])) {
    // A rule for the crawled website, or for a part of it, works as expected.
    if (starts.some((start) => isBelow(start, to) || isBelow(to, start.replace(/\/$/, "")))) continue;
    messages.say(
      `--rewrite ${from}=${to} applies only to page URLs, because the crawl does not start under ${to}`,
      "warning",
    );
  }
  return target;
}

async function withScheme(target: TreeTarget, options: Options, messages: Messages): Promise<TreeTarget> {
  if (target.kind !== "website" || !target.isAssumed) return target;
  const { workingUrl } = await import("../../crawl/scheme.ts");
  const { url, failure } = await workingUrl(target.homepage, options);
  reportScheme(target.homepage, url, failure, messages);
  return { ...target, homepage: url, isAssumed: false };
}

// Whether the target is only a host, which the library accepts without a scheme.
function isAssumedHost(target: TreeTarget): boolean {
  if (target.kind !== "website" || !target.isAssumed) return false;
  const { homepage } = target;
  return withoutScheme(homepage) !== homepage && new URL(homepage).href === homepageOf(homepage);
}

/** Says which scheme is used and, if https failed, why. */
export function reportScheme(assumed: string, url: string, failure: Problem | undefined, messages: Messages): void {
  const tried = url === assumed ? "," : `; ${withoutCredentials(assumed)}: ${failure?.message};`;
  messages.say(`no scheme given${tried} using ${withoutCredentials(url)}`, "quiet");
  if (failure?.code === "dns-not-found")
    messages.say(`no such file, folder or host: ${withoutCredentials(url).replace("https://", "")}`, "bad");
}

export function crawlTarget(target: TreeTarget): CrawlTarget {
  if (target.kind === "website")
    return { homepage: target.isAssumed ? withoutScheme(target.homepage) : target.homepage };
  return { sitemaps: target.kind === "sitemaps" ? target.urls : [] };
}

type Outputs = Readonly<Record<string, string | undefined>>;

/**
 * Throws a `UsageError` if a file is both read and written, or written twice. Compares files, not names: links, other spellings of a path
 * and standard output may lead to the same file. The input - is standard input; `outputs` has the flags that name the files as keys.
 */
export function expectDistinct(inputs: readonly (string | undefined)[], outputs: Outputs): void {
  const written = new Map<string | undefined, string>([[openIdentity(1), "standard output"]]);
  written.delete(undefined);
  for (const [name, file] of Object.entries(outputs)) {
    if (file === undefined) continue;
    const identity = identityOf(file);
    const other = written.get(identity);
    if (other !== undefined) throw new UsageError(`${name} and ${other} are the same file`);
    written.set(identity, name);
  }
  for (const file of inputs) {
    if (file === undefined) continue;
    // Unlike other outputs, a log is added to an existing file without --force, so it may not be a document of a website that is read.
    const log = isDocumentIn(file, outputs["--log-file"]) ? "--log-file" : undefined;
    const name = written.get(file === "-" ? openIdentity(0) : identityOf(file)) ?? log;
    if (name !== undefined) throw new UsageError(`${name} would overwrite the input: ${file}${websiteHint(file)}`);
  }
}

// Whether a file is a document in a folder.
function isDocumentIn(folder: string, file: string | undefined): boolean {
  if (file === undefined || !/\.(?:xml|txt|html?|rss|atom|rdf|gz|br|zst)$/i.test(file) || !fs.existsSync(file))
    return false;
  const isFolder = fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder && fs.realpathSync(file).startsWith(fs.realpathSync(folder) + path.sep);
}
