// What is checked: a website, an archive, or local files that stand for a website. Local files are read without a
// network: a client answers from folders, or from one file.
import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { CheckResult } from "../check/result.ts";
import type { Client, ClientResponse } from "../model/client.ts";
import type { Options } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { systemReason } from "../model/system-reason.ts";
import { parseUrl } from "../model/url.ts";
import { UsageError } from "./exit-codes.ts";
import { chooseTarget, type Target } from "./target.ts";

export interface CheckTarget {
  readonly target: Target;
  /** Nothing is fetched. */
  readonly isLocal: boolean;
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

/** `input` reads standard input. */
export async function chooseCheckTarget(
  name: string,
  flags: LocalFlags,
  input: () => Promise<Buffer>,
): Promise<CheckTarget> {
  const folders = (flags.map ?? []).map(readMap);
  const stat = name === "-" ? undefined : statSync(name, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return folderTarget(name, folders);
  const bytes = name === "-" ? await input() : stat?.isFile() && !isArchive(name) ? readFile(name) : undefined;
  if (bytes === undefined) {
    if (flags.url !== undefined || folders.length > 0) {
      throw new UsageError("--url and --map are for local files: name a file or a folder");
    }
    const target = chooseTarget(name);
    return { target, isLocal: target.kind === "archive", hasLocation: true, folders, options: {} };
  }
  const url =
    flags.url ??
    mappedUrl(name, folders) ??
    `${nowhere}${name === "-" ? "sitemap.xml" : encodeURIComponent(path.basename(name))}`;
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? ""))
    throw new UsageError(`--url takes an http or https URL, not ${url}`);
  return {
    target: { kind: "sitemaps", urls: [url] },
    isLocal: true,
    hasLocation: !url.startsWith(nowhere),
    folders,
    options: localOptions(folders, new Map([[parseUrl(url)?.href ?? url, bytes]])),
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

function folderTarget(name: string, folders: readonly LocalFolder[]): CheckTarget {
  const real = realpathSync(name);
  const [own] = folders.filter((folder) => folder.path === real);
  if (own === undefined) {
    throw new UsageError(`say which website ${name} is: --map https://example.org/=${name}`);
  }
  return {
    target: { kind: "website", homepage: own.url, isAssumed: false },
    isLocal: true,
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
  if (name === "-") return undefined;
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

function localOptions(folders: readonly LocalFolder[], files: ReadonlyMap<string, Buffer>): Options {
  return { client: localClient(folders, files), retries: 0, concurrency: 1 };
}

function localClient(folders: readonly LocalFolder[], files: ReadonlyMap<string, Buffer>): Client {
  return {
    async request({ url }): Promise<ClientResponse | Problem> {
      const isLocal = files.has(url) || folders.some((folder) => url.startsWith(folder.url));
      if (!isLocal) return problem("not-local");
      const bytes = files.get(url) ?? fileAt(url, folders);
      return {
        status: bytes === undefined ? 404 : 200,
        headers: [],
        body: (async function* () {
          if (bytes !== undefined && bytes.length > 0) yield bytes;
        })(),
      };
    },
  };
}

// Never outside the folder, whatever a URL or a link says.
function fileAt(url: string, folders: readonly LocalFolder[]): Buffer | undefined {
  for (const folder of folders) {
    if (!url.startsWith(folder.url)) continue;
    const name = (parseUrl(url)?.pathname ?? "").slice((parseUrl(folder.url)?.pathname ?? "/").length);
    try {
      const relative = decodeURIComponent(name);
      const file = realpathSync(
        path.join(folder.path, relative === "" || relative.endsWith("/") ? `${relative}index.html` : relative),
      );
      if (file.startsWith(folder.path + path.sep) && statSync(file).isFile()) return readFileSync(file);
    } catch {
      // Missing, or not a valid file name.
    }
  }
  return undefined;
}

function readFile(name: string): Buffer {
  try {
    return readFileSync(name);
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${systemReason(error)}`);
  }
}

// A WARC file, or something compressed that holds one, by its name.
function isArchive(name: string): boolean {
  if (/\.warc(?:\.gz)?$/i.test(name)) return true;
  const start = Buffer.alloc(5);
  const file = openSync(name, "r");
  try {
    readSync(file, start, 0, 5, 0);
  } finally {
    closeSync(file);
  }
  return start.toString("latin1") === "WARC/";
}
