// Chooses the target of a command: a website, sitemaps, an archive, or local data, which is a folder, one file or standard input.
import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { CheckResult } from "../../check/findings/result.ts";
import { type FolderAddress, readFolderAddress, wrongAddresses } from "../../check/folder/folder-address.ts";
import type { Host } from "../../check/folder/folder-files.ts";
import { localOptions, mappedUrl } from "../../check/folder/local-client.ts";
import type { SiteFilesOptions, SiteFolder } from "../../check/folder/site-files.ts";
import { kindOfFile, startOf } from "../../diff/archive-magic.ts";
import { expectUrlColumn, urlColumn } from "../../diff/url-table.ts";
import type { Options } from "../../model/options.ts";
import { parseUrl } from "../../model/url.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import type { Flags } from "../flags.ts";
import { contentOf, isTreeTarget, parseTarget, parseTreeTarget, type TreeTarget, websiteHint } from "./target.ts";

export interface ChosenTarget {
  readonly target: TreeTarget;
  /** The local file, folder or archive to read, if there is one; - means standard input. */
  readonly path?: string | undefined;
  /** Whether the URLs of the sitemaps are known. */
  readonly hasLocation: boolean;
  readonly folders: readonly LocalFolder[];
  /** Set for a static site, whose pages are also files. */
  readonly files?: SiteFilesOptions;
  /** Options that make the crawl read local files. */
  readonly options: Options;
  /** What to tell the user about the target. */
  readonly note?: string | undefined;
}

interface LocalFolder extends SiteFolder {
  /** The path as the user typed it; in `path`, links are resolved. */
  readonly name: string;
}

/** Chooses the target of a command that needs a tree: a website, given sitemaps, an archive, or the folder of a static site. */
export function chooseTreeTarget(name: string | undefined, flags: Flags, context: Context): ChosenTarget {
  if (name !== undefined && flags.sitemap === undefined && parseTarget(name).kind === "folder")
    return chooseCheckTarget(name, flags, context);
  if (flags.url !== undefined || flags.map !== undefined) throw notLocal(name, "--url and --map need a folder");
  return withoutLocalFiles(parseTreeTarget(name, flags.sitemap));
}

function withoutLocalFiles(target: TreeTarget): ChosenTarget {
  const path = target.kind === "archive" ? target.path : undefined;
  return { target, path, hasLocation: true, folders: [], options: {} };
}

// A name without a scheme was probably meant as a path.
function notLocal(name: string | undefined, message: string): UsageError {
  const named = name === undefined ? undefined : parseTarget(name);
  const isMissing = named?.kind === "website" && named.isAssumed;
  return new UsageError(isMissing ? `no such file or folder: ${name}; ${message}` : message);
}

type LocalFlags = Pick<Flags, "url" | "map" | "column" | "files" | "ignore"> & { readonly host?: Host | undefined };

export function chooseCheckTarget(
  name: string,
  { url, map = [], column, files: pages, ignore, host }: LocalFlags,
  context: Context,
): ChosenTarget {
  const folders = map.map(readMap);
  const named = parseTarget(name);
  if (named.kind !== "folder" && (pages ?? ignore ?? host) !== undefined)
    throw new UsageError("--files, --ignore and --host need the folder of a static site");
  if (isTreeTarget(named)) {
    if (url === undefined && folders.length === 0) return withoutLocalFiles(named);
    throw notLocal(name, "--url and --map need a local file or folder");
  }
  if (named.kind === "folder") {
    const real = realpathSync.native(name);
    const isMapped = folders.some((folder) => folder.path === real);
    const address = readFolderAddress(real);
    const from = url ?? (isMapped ? undefined : address.url);
    if (from !== undefined) folders.unshift(localFolder(`--url takes the URL of a website, not ${from}`, from, name));
    const own = folders.find((folder) => folder.path === real);
    if (own === undefined) throw new UsageError(unknownAddress(name, address));
    const note =
      url === undefined && !isMapped
        ? `no --url given; using ${own.url}, the address in the files of ${name}`
        : undefined;
    const wrong = new Set(wrongAddresses(address, own.url, real).map(({ origin }) => origin));
    const { origin: right } = new URL(own.url);
    const rewrite = [...wrong].flatMap((origin) => (origin === right ? [] : [[`${origin}/`, `${right}/`] as const]));
    const files = { folders: folders.map((each) => ({ url: each.url, path: each.name })), pages, ignore, host };
    const target = { kind: "website", homepage: own.url, isAssumed: false } as const;
    // A website below the root of its host has no robots.txt of its own.
    const useRobots = parseUrl(own.url)?.pathname === "/";
    // Reads everything as if the address were right, so that a wrong address is reported once, and not for each page.
    const options = { ...localOptions(folders), path: "only", useRobots, rewrite } as const;
    return { target, path: name, hasLocation: true, folders, files, options, note };
  }
  const isFile = named.kind === "file";
  const fileUrl = url ?? (isFile ? mappedUrl(name, folders) : undefined) ?? madeUpUrl(name);
  const { href = "", protocol = "" } = parseUrl(fileUrl) ?? {};
  if (!/^https?:$/.test(protocol)) throw new UsageError(`--url takes an http or https URL, not ${fileUrl}`);
  const target = { kind: "sitemaps", urls: [fileUrl] } as const;
  const isTable = isFile && kindOfFile(name) === "table";
  if (column !== undefined && !isTable) throw new UsageError("--column needs a CSV or TSV file");
  if (isTable) expectUrlColumn(name, startOf(name, tableStart), column);
  const content = () => (isTable ? urlColumn(name, contentOf(named, context), column) : contentOf(named, context));
  const options = localOptions(folders, (asked) => (asked === href ? content() : undefined));
  return { target, path: name, hasLocation: !fileUrl.startsWith(nowhere), folders, options };
}

/** Returns the URL under which two folders are compared, preferably one that the files of a folder agree on. */
export function commonAddress(folders: readonly string[]): string {
  const found = folders.map((folder) => readFolderAddress(realpathSync.native(folder)));
  const named = found.flatMap((address) => address.found.map(({ origin }) => `${origin}/`));
  return found.find(({ url }) => url !== undefined)?.url ?? named[0] ?? nowhere;
}

function unknownAddress(name: string, { found }: FolderAddress): string {
  const which = `give its URL with --url https://example.org/${websiteHint(name)}`;
  if (found.length === 0) return `${name} is a local folder, and no file in it contains its address; ${which}`;
  const each = found.map(({ by, origin }) => `${origin} (${by})`);
  return `the files of ${name} disagree about its address: ${each.join(", ")}; ${which}`;
}

// In bytes: usually enough for the header and the first row of a table.
const tableStart = 256 * 1024;

// A file whose URL is not known gets a made-up one in this folder, so that relative URLs show what the file says: `a` is in the folder,
// `/a` is not.
const nowhere = "https://local.invalid/";
const here = `${nowhere}-/`;

function madeUpUrl(name: string): string {
  return here + (name === "-" ? "sitemap.xml" : encodeURIComponent(path.basename(name)));
}

/** Returns a function that replaces made-up URLs in a text: by the name of the file, or by the relative URLs in it. */
export function withFileNames(name: string): (text: string) => string {
  const shown = name === "-" ? "standard input" : name;
  const own = madeUpUrl(name);
  return (text) =>
    text === nowhere
      ? shown
      : text
          .replaceAll(own, () => shown)
          .replaceAll(here, "")
          .replaceAll(nowhere, "/");
}

/** Replaces made-up URLs in a result. `nameOf` is made by `withFileNames`. */
export function renamed(result: CheckResult, nameOf: (text: string) => string): CheckResult {
  const findings = result.findings.map((finding) => ({
    ...finding,
    sitemap: nameOf(finding.sitemap),
    examples: finding.examples.map((example) => renamedRow(example, nameOf)),
  }));
  const notChecked = result.notChecked.map(({ rule, reason }) => ({ rule, reason: nameOf(reason) }));
  return { ...result, homepage: nameOf(result.homepage), findings, notChecked };
}

interface ShownRow {
  readonly url?: string | undefined;
  readonly value?: string | undefined;
  readonly sitemap?: string;
}

export function renamedRow<Row extends ShownRow>(row: Row, nameOf: (text: string) => string): Row {
  const { url, value, sitemap } = row;
  // A page has the URL of the made-up website if the file says `/`.
  const page = (text: string) => (text === nowhere ? "/" : nameOf(text));
  return {
    ...row,
    ...(url !== undefined && { url: page(url) }),
    ...(value !== undefined && { value: page(value) }),
    ...(sitemap !== undefined && { sitemap: nameOf(sitemap) }),
  };
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
