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
  /** Folders whose files stand for URLs. */
  readonly folders: readonly LocalFolder[];
  /** Options that make the crawl read local files. */
  readonly options: Options;
}

export interface LocalFlags {
  readonly url?: string | undefined;
  readonly map?: readonly string[] | undefined;
}

export function chooseCheckTarget(name: string, flags: LocalFlags, context: Context): CheckTarget {
  const folders = (flags.map ?? []).map(readMap);
  const named = recognize(name);
  if (named.kind === "folder") return folderTarget(named, folders);
  if (named.kind === "website" || named.kind === "archive") {
    if (flags.url !== undefined || folders.length > 0) {
      throw new UsageError("--url and --map are for local files: name a file or a folder");
    }
    return { named, target: named, hasLocation: true, folders, options: {} };
  }
  const isFile = named.kind === "file";
  const url =
    flags.url ??
    (isFile ? mappedUrl(named.path, folders) : undefined) ??
    `${nowhere}${isFile ? encodeURIComponent(path.basename(name)) : "sitemap.xml"}`;
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? ""))
    throw new UsageError(`--url takes an http or https URL, not ${url}`);
  return {
    named,
    target: { kind: "sitemaps", urls: [url] },
    hasLocation: !url.startsWith(nowhere),
    folders,
    options: localOptions(folders, new Map([[parseUrl(url)?.href ?? url, () => contentOf(named, context)]])),
  };
}

// A file without a known URL gets this one.
const nowhere = "https://local.invalid/";

/** The result with the name of the file in place of the made-up URL. */
export function withFileName(result: CheckResult, name: string): CheckResult {
  const shown = (url: string) => (url.startsWith(nowhere) ? name : url);
  return {
    ...result,
    homepage: shown(result.homepage),
    findings: result.findings.map((finding) => ({ ...finding, sitemap: shown(finding.sitemap) })),
  };
}

/** A folder whose files stand for URLs. */
export interface LocalFolder {
  /** The beginning of the URLs; ends in a slash. */
  readonly url: string;
  readonly path: string;
}

function folderTarget(named: Extract<NamedTarget, { kind: "folder" }>, folders: readonly LocalFolder[]): CheckTarget {
  const real = realpathSync(named.path);
  const [own] = folders.filter((folder) => folder.path === real);
  if (own === undefined) {
    throw new UsageError(`say which website ${named.path} is: --map https://example.org/=${named.path}`);
  }
  return {
    named,
    target: { kind: "website", homepage: own.url, isAssumed: false },
    hasLocation: true,
    folders,
    // Below the root there is no robots.txt: that of the website is elsewhere.
    options: {
      ...localOptions(folders, new Map()),
      normalizeHomepageUrl: false,
      useRobots: parseUrl(own.url)?.pathname === "/",
    },
  };
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
  if (folder === undefined) return undefined;
  return (
    folder.url +
    real
      .slice(folder.path.length + 1)
      .split(path.sep)
      .map(encodeURIComponent)
      .join("/")
  );
}

type Opener = () => AsyncIterable<Uint8Array>;
type LocalFiles = ReadonlyMap<string, Opener>;

function localOptions(folders: readonly LocalFolder[], files: LocalFiles): Options {
  return { client: localClient(folders, files), retries: 0, concurrency: 1 };
}

function localClient(folders: readonly LocalFolder[], files: LocalFiles): Client {
  return {
    async request({ url }): Promise<ClientResponse | Problem> {
      const found = files.get(url) ?? fileAt(url, folders);
      if (found !== undefined && "code" in found) return found;
      return { status: found === undefined ? 404 : 200, headers: [], body: found?.() ?? nothing() };
    },
  };
}

// Undefined if there is no such file.
function fileAt(url: string, folders: readonly LocalFolder[]): Opener | Problem | undefined {
  const mapped = folders.filter((folder) => url.startsWith(folder.url));
  if (mapped.length === 0) return problem("not-local");
  const found = mapped.map((folder) => fileIn(folder, url));
  return found.find((each) => typeof each === "function") ?? found.find((each) => each !== undefined);
}

// Never outside the folder, whatever a URL or a link says.
function fileIn(folder: LocalFolder, url: string): Opener | Problem | undefined {
  const name = (parseUrl(url)?.pathname ?? "").slice((parseUrl(folder.url)?.pathname ?? "/").length);
  try {
    const relative = decodeURIComponent(name);
    const file = realpathSync(
      path.join(folder.path, relative === "" || relative.endsWith("/") ? `${relative}index.html` : relative),
    );
    if (!file.startsWith(folder.path + path.sep)) return problem("not-local", { value: "it is outside of its folder" });
    const stat = statSync(file);
    if (stat.isDirectory()) return undefined;
    if (!stat.isFile()) return problem("not-local", { value: "it is not a regular file" });
    accessSync(file, constants.R_OK);
    return () => createReadStream(file, { highWaterMark: 256 * 1024 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" || code === "ENOTDIR" || code === "ERR_INVALID_ARG_VALUE";
    return isMissing || error instanceof URIError ? undefined : problem("not-local", { value: systemReason(error) });
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A location as SARIF names it: relative to a base. */
export interface Place {
  readonly uri: string;
  readonly base: string;
  /** The path from the working directory, if it is a file below it. */
  readonly file?: string | undefined;
}

/**
 * The working directory, which GitHub takes for the root of the repository:
 * https://docs.github.com/en/code-security/code-scanning
 */
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
    const [, origin, rest] = /^(https?:\/\/[^/?#]+)\/?(.*)$/is.exec(url) ?? [];
    if (folder !== undefined) {
      const below = encodedOnce(url.slice(folder.url.length).replace(/[?#].*$/s, ""));
      const name = below === "" || below.endsWith("/") ? `${below}index.html` : below;
      const root = path.relative(process.cwd(), folder.path).split(path.sep).map(encodeURIComponent).join("/");
      const uri = root === "" ? name : `${root}/${name}`;
      // Nothing above the working directory belongs to the repository.
      if (!uri.startsWith("..")) return { uri, base: sourceRoot, file: decoded(uri) };
    }
    if (origin === undefined || rest === undefined) {
      const file = path.relative(process.cwd(), sitemap);
      const names = file
        .replaceAll(/\p{Surrogate}/gu, "\uFFFD")
        .split(path.sep)
        .map(encodeURIComponent);
      return { uri: names.join("/") || "./", base: sourceRoot, file };
    }
    return { uri: encodedOnce(rest) || "./", base: this.#baseOf(`${origin}/`) };
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
  const encoded = encodeURI(decoded(text).replaceAll(/\p{Surrogate}/gu, "\uFFFD")).replaceAll(
    /[[\]|^`{}"<>\\]/g,
    encodeURIComponent,
  );
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
