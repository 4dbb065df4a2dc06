// What is checked: a website, an archive, or local files that stand for a website. Local files are read without a network: a client answers
// from folders, from one file or from standard input. And the way back: which file of a repository a finding is about.
import { accessSync, constants, createReadStream, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { CheckResult } from "../../check/result.ts";
import type { Client, ClientResponse } from "../../model/client.ts";
import type { Options } from "../../model/options.ts";
import { type Problem, problem } from "../../model/problem.ts";
import { systemReason } from "../../model/system-reason.ts";
import { parseUrl } from "../../model/url.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { contentOf, type NamedTarget, recognize, type Target } from "./target.ts";

export interface CheckTarget {
  /** As it was named. */
  readonly named: NamedTarget;
  readonly target: Target;
  /** Whether the URLs of the sitemaps are known. */
  readonly hasLocation: boolean;
  readonly folders: readonly LocalFolder[];
  /** Options that make the crawl read local files. */
  readonly options: Options;
}

export interface LocalFlags {
  readonly url?: string | undefined;
  readonly map?: readonly string[] | undefined;
}

/** A folder whose files stand for URLs. */
export interface LocalFolder {
  /** The beginning of the URLs; ends in a slash. */
  readonly url: string;
  readonly path: string;
}

export function chooseCheckTarget(name: string, flags: LocalFlags, context: Context): CheckTarget {
  const folders = (flags.map ?? []).map(readMap);
  const named = recognize(name);
  if (named.kind === "website" || named.kind === "archive") {
    if (flags.url === undefined && folders.length === 0)
      return { named, target: named, hasLocation: true, folders, options: {} };
    throw new UsageError("--url and --map are for local files: name a file or a folder");
  }
  if (named.kind === "folder") {
    const own = folders.find((folder) => folder.path === realpathSync(name));
    if (own === undefined) throw new UsageError(`say which website ${name} is: --map https://example.org/=${name}`);
    const target = { kind: "website", homepage: own.url, isAssumed: false } as const;
    // Below the root there is no robots.txt: that of the website is elsewhere.
    const useRobots = parseUrl(own.url)?.pathname === "/";
    const options = { ...localOptions(folders), onlyPath: true, useRobots };
    return { named, target, hasLocation: true, folders, options };
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

/** The result with the name of the file in place of the made-up URL. */
export function withFileName(result: CheckResult, name: string): CheckResult {
  const shown = (url: string) => (url.startsWith(nowhere) ? name : url);
  const findings = result.findings.map((finding) => ({ ...finding, sitemap: shown(finding.sitemap) }));
  return { ...result, homepage: shown(result.homepage), findings };
}

function readMap(text: string): LocalFolder {
  const [, url = "", folder = ""] = /^(https?:\/\/.+?)=(.+)$/i.exec(text) ?? [];
  const parsed = parseUrl(url);
  if (parsed === null)
    throw new UsageError(`--map takes URL=FOLDER, such as https://example.org/=public/, not ${text}`);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`--map: ${folder} is not a folder`);
  return { url: parsed.href.endsWith("/") ? parsed.href : `${parsed.href}/`, path: realpathSync(folder) };
}

function mappedUrl(name: string, folders: readonly LocalFolder[]): string | undefined {
  const real = realpathSync(name);
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
      const found = url === file?.url ? file.open() : fileAt(url, folders);
      if (found !== undefined && "code" in found) return found;
      return { status: found === undefined ? 404 : 200, headers: [], body: found ?? nothing() };
    },
  };
  return { client, retries: 0, concurrency: 1 };
}

type Found = AsyncIterable<Uint8Array> | Problem | undefined;

// Undefined if there is no such file.
function fileAt(url: string, folders: readonly LocalFolder[]): Found {
  const mapped = folders.filter((folder) => url.startsWith(folder.url));
  if (mapped.length === 0) return problem("not-local");
  let found: Found;
  for (const folder of mapped) {
    const next = fileIn(folder, url);
    if (next !== undefined && !("code" in next)) return next;
    found ??= next;
  }
  return found;
}

// Never outside the folder, whatever a URL or a link says.
function fileIn(folder: LocalFolder, url: string): Found {
  const name = (parseUrl(url)?.pathname ?? "").slice((parseUrl(folder.url)?.pathname ?? "/").length);
  try {
    const file = realpathSync(path.join(folder.path, withIndex(decodeURIComponent(name))));
    if (!file.startsWith(folder.path + path.sep)) return problem("not-local", { value: "it is outside of its folder" });
    const stat = statSync(file);
    if (stat.isDirectory()) return undefined;
    if (!stat.isFile()) return problem("not-local", { value: "it is not a regular file" });
    accessSync(file, constants.R_OK);
    return createReadStream(file, { highWaterMark: 256 * 1024 });
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR", "ERR_INVALID_ARG_VALUE"].includes((error as NodeJS.ErrnoException).code!);
    return isMissing || error instanceof URIError ? undefined : problem("not-local", { value: systemReason(error) });
  }
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
  readonly #folders: readonly LocalFolder[];
  readonly #bases = new Map<string, string>();

  constructor(folders: readonly LocalFolder[]) {
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
    const file = path.relative(process.cwd(), sitemap);
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
