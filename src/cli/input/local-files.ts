// What is checked: a website, an archive, or local files that stand for a website. Local files are read without a network: a client answers
// from folders, from one file or from standard input. And the way back: which file of a repository a finding is about.
import { createReadStream, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { CheckResult } from "../../check/result.ts";
import { fileAt, type SiteFilesOptions, type SiteFolder } from "../../check/site-files.ts";
import type { Client, ClientResponse } from "../../model/client.ts";
import type { Options } from "../../model/options.ts";
import { type Problem, problem } from "../../model/problem.ts";
import { parseUrl } from "../../model/url.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import type { Flags } from "../flags.ts";
import { chooseTarget, contentOf, type NamedTarget, recognize, type Target, websiteHint } from "./target.ts";

export interface CheckTarget {
  /** As it was named. */
  readonly named: NamedTarget;
  readonly target: Target;
  /** Whether the URLs of the sitemaps are known. */
  readonly hasLocation: boolean;
  readonly folders: readonly LocalFolder[];
  /** A built website: the pages, too, are files. */
  readonly files?: SiteFilesOptions;
  /** Options that make the crawl read local files. */
  readonly options: Options;
}

interface LocalFolder extends SiteFolder {
  /** The path as it was named; `path` is the real one. */
  readonly name: string;
}

/** For commands that need a tree: a website, given sitemaps, an archive, or the folder of a built website. */
export function chooseTreeTarget(
  name: string | undefined,
  flags: Flags,
  context: Context,
): Pick<CheckTarget, "target" | "files" | "options"> & { readonly named: Target | NamedTarget } {
  if (name !== undefined && flags.sitemap === undefined && recognize(name).kind === "folder")
    return chooseCheckTarget(name, flags, context);
  if (flags.url !== undefined || flags.map !== undefined) throw notLocal(name, "--url and --map are for folders");
  const target = chooseTarget(name, flags.sitemap);
  return { target, named: target, options: {} };
}

// A name without a scheme was probably meant as a path.
function notLocal(name: string | undefined, message: string): UsageError {
  const named = name === undefined ? undefined : recognize(name);
  const isMissing = named?.kind === "website" && named.isAssumed;
  return new UsageError(isMissing ? `no such file or folder: ${name}; ${message}` : message);
}

export function chooseCheckTarget(
  name: string,
  flags: Pick<Flags, "url" | "map" | "pages" | "ignore">,
  context: Context,
): CheckTarget {
  const folders = (flags.map ?? []).map(readMap);
  const named = recognize(name);
  if (named.kind !== "folder" && (flags.pages ?? flags.ignore) !== undefined)
    throw new UsageError("--pages and --ignore are for folders: name the folder of a built website");
  if (named.kind === "website" || named.kind === "archive") {
    if (flags.url === undefined && folders.length === 0)
      return { named, target: named, hasLocation: true, folders, options: {} };
    throw notLocal(name, "--url and --map are for local files: name a file or a folder");
  }
  if (named.kind === "folder") {
    const { url, pages, ignore } = flags;
    if (url !== undefined) folders.unshift(localFolder(`--url takes the URL of a website, not ${url}`, url, name));
    const own = folders.find((folder) => folder.path === realpathSync.native(name));
    if (own === undefined)
      throw new UsageError(
        `${name} is a folder here: say which website it is, --url https://example.org/${websiteHint(name)}`,
      );
    const files = { folders: folders.map((each) => ({ url: each.url, path: each.name })), pages, ignore };
    const target = { kind: "website", homepage: own.url, isAssumed: false } as const;
    // Below the root there is no robots.txt: that of the website is elsewhere.
    const useRobots = parseUrl(own.url)?.pathname === "/";
    const options = { ...localOptions(folders), onlyPath: true, useRobots };
    return { named, target, hasLocation: true, folders, files, options };
  }
  const isFile = named.kind === "file";
  const madeUp = `${nowhere}${isFile ? encodeURIComponent(path.basename(name)) : "sitemap.xml"}`;
  const url = flags.url ?? (isFile ? mappedUrl(name, folders) : undefined) ?? madeUp;
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? ""))
    throw new UsageError(`--url takes an http or https URL, not ${url}`);
  const open = () => contentOf(named, context);
  return {
    named,
    target: { kind: "sitemaps", urls: [url] },
    hasLocation: !url.startsWith(nowhere),
    folders,
    options: localOptions(folders, { url: parseUrl(url)?.href ?? url, open }),
  };
}

// A file without a known URL gets this one.
const nowhere = "https://local.invalid/";

/** The name of the file in place of the made-up URL. */
export function withFileNames(name: string): (url: string) => string {
  return (url) => (url.startsWith(nowhere) ? name : url);
}

export function renamed(result: CheckResult, shown: (url: string) => string): CheckResult {
  const findings = result.findings.map((finding) => ({ ...finding, sitemap: shown(finding.sitemap) }));
  return { ...result, homepage: shown(result.homepage), findings };
}

function readMap(text: string): LocalFolder {
  const [, url = "", folder = ""] = /^(https?:\/\/.+?)=(.+)$/i.exec(text) ?? [];
  return localFolder(`--map takes URL=FOLDER, such as https://example.org/=public/, not ${text}`, url, folder);
}

function localFolder(mistake: string, url: string, folder: string): LocalFolder {
  const { href = "", protocol = "" } = parseUrl(/^[a-z]+:\/\//i.test(url) ? url : `https://${url}`) ?? {};
  if (!/^https?:$/.test(protocol)) throw new UsageError(mistake);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`--map: ${folder} is not a folder`);
  return { url: href.endsWith("/") ? href : `${href}/`, path: realpathSync.native(folder), name: folder };
}

function mappedUrl(name: string, folders: readonly LocalFolder[]): string | undefined {
  const real = realpathSync.native(name);
  const folder = folders.find((each) => real.startsWith(each.path + path.sep));
  return folder && folder.url + encodedPath(real.slice(folder.path.length + 1));
}

function encodedPath(file: string): string {
  return file.split(path.sep).map(encodeURIComponent).join("/");
}

interface LocalFile {
  readonly url: string;
  readonly open: () => AsyncIterable<Uint8Array>;
}

function localOptions(folders: readonly LocalFolder[], file?: LocalFile): Options {
  const client: Client = {
    async request({ url }): Promise<ClientResponse | Problem> {
      const found = url === file?.url ? file.open() : contentAt(url, folders);
      if (found !== undefined && "code" in found) return found;
      return { status: found === undefined ? 404 : 200, headers: [], body: found ?? nothing() };
    },
  };
  return { client, retries: 0, concurrency: 1 };
}

// Undefined if there is no such file.
function contentAt(url: string, folders: readonly LocalFolder[]): AsyncIterable<Uint8Array> | Problem | undefined {
  const mapped = folders.filter((folder) => url.startsWith(folder.url));
  if (mapped.length === 0) return problem("not-local");
  const { pathname = "" } = parseUrl(url) ?? {};
  const found = mapped.map((folder) =>
    fileAt(folder.path, withIndex(pathname.slice(new URL(folder.url).pathname.length))),
  );
  const file = found.find((each) => typeof each === "string");
  if (file === undefined) return found.find((each) => typeof each === "object");
  return createReadStream(file, { highWaterMark: 256 * 1024 });
}

function withIndex(name: string): string {
  return name === "" || name.endsWith("/") ? `${name}index.html` : name;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A location as SARIF names it: relative to a base. */
export interface Place {
  readonly uri: string;
  readonly base: string;
  /** The path from the working directory, if it is a file below it. */
  readonly file?: string | undefined;
}

// The working directory, which GitHub takes for the root of the repository:
// https://docs.github.com/en/code-security/code-scanning
const sourceRoot = "%SRCROOT%";

export class Places {
  readonly #folders: readonly SiteFolder[];
  readonly #bases = new Map<string, string>();

  constructor(folders: readonly SiteFolder[]) {
    this.#folders = folders;
  }

  /** The names and URLs of bases other than the working directory. */
  get bases(): ReadonlyMap<string, string> {
    return this.#bases;
  }

  of(sitemap: string): Place {
    // A file has no fragments.
    const [url = ""] = sitemap.split("#", 1);
    const folder = this.#folders.find((each) => url.startsWith(each.url));
    if (folder !== undefined) {
      const name = withIndex(encodedOnce(url.slice(folder.url.length).replace(/[?#].*$/s, "")));
      const root = encodedPath(path.relative(process.cwd(), folder.path));
      const uri = root === "" ? name : `${root}/${name}`;
      // Nothing above the working directory belongs to the repository.
      if (!uri.startsWith("..")) return { uri, base: sourceRoot, file: decoded(uri) };
    }
    const [, origin, rest = ""] = /^(https?:\/\/[^/?#]+)\/?(.*)$/is.exec(url) ?? [];
    if (origin !== undefined) return { uri: encodedOnce(rest) || "./", base: this.#baseOf(`${origin}/`) };
    return this.file(sitemap);
  }

  /** The place of a file. */
  file(name: string): Place {
    const file = path.relative(process.cwd(), name);
    return { uri: encodedPath(wellFormed(file)) || "./", base: sourceRoot, file };
  }

  #baseOf(url: string): string {
    for (const [name, known] of this.#bases) if (known === url) return name;
    const name = this.#bases.size === 0 ? "WEBSITE" : `WEBSITE${this.#bases.size + 1}`;
    this.#bases.set(name, url);
    return name;
  }
}

// A relative reference: a colon in its first segment would make it a scheme.
function encodedOnce(text: string): string {
  const encoded = encodeURI(wellFormed(decoded(text))).replaceAll(/[[\]|^`{}"<>\\]/g, encodeURIComponent);
  const [first = ""] = encoded.split("/", 1);
  return first.includes(":") || encoded.startsWith("/") ? `./${encoded.replace(/^\/+/, "")}` : encoded;
}

function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text.replaceAll(/%(?![0-9a-f]{2})/gi, "%25");
  }
}

function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "\uFFFD");
}
