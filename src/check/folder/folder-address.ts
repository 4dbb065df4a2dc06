// Finds the address of a website in the files of its static site: robots.txt, sitemaps and canonical links. If they agree, the user does
// not have to give a URL; if they contain a different one than the user gives, the generator is probably misconfigured.
import fs from "node:fs";
import path from "node:path";
import { bareHost, isHttpUrl, isOnOwnMachine, parseUrl } from "../../model/url.ts";
import { lineCounter } from "../line-counter.ts";
import { readPageHead } from "../pages/page-head.ts";
import { fileAt, filesIn, readStart } from "./folder-files.ts";

/** The address that occurs most often in one kind of file. */
interface FoundAddress {
  /** The kind of file, in words: `robots.txt`, `sitemaps` or `canonical links`. */
  readonly by: string;
  readonly origin: string;
  /** The first file that contains the address, and the line. */
  readonly file: string;
  readonly line: number;
}

export interface FolderAddress {
  readonly found: readonly FoundAddress[];
  /** The URL of the website, if all kinds of files have the same address; ends in a slash. */
  readonly url: string | undefined;
}

/** A URL that tells the address of the website, and the file and line that contain it. */
type Mention = readonly [url: string, name: string, line: number];

export function readFolderAddress(folder: string): FolderAddress {
  const robots = Array.from(
    urlsIn(startOf(folder, "robots.txt"), /^[^\S\n]*sitemap[^\S\n]*:[^\S\n]*(\S+)/gim),
    ([url, line]): Mention => [url, "robots.txt", line],
  );
  const names = namesIn(folder).filter((name) => /^(?:wp-)?sitemap.*\.(?:xml|txt)$/i.test(name));
  const listed = new Set([...robots.map(([url]) => parseUrl(url)?.pathname.replace(/^.*\//, "") ?? ""), ...names]);
  const sitemaps: Mention[] = [];
  const pages: string[] = [];
  for (const name of [...listed].slice(0, mostFiles)) {
    const text = startOf(folder, name);
    for (const [url, line] of urlsIn(text, /<loc>\s*(?:<!\[CDATA\[\s*)?(https?:[^\s<\]]+)/gi)) {
      sitemaps.push([url, name, line]);
      if (!/<sitemapindex/i.test(text)) pages.push(url);
    }
  }
  const canonical: Mention[] = [];
  for (const name of pagesIn(folder)) {
    const { canonical: url, refresh, lines } = readPageHead("about:blank", [], startOf(folder, name));
    if (url !== undefined && refresh === undefined) canonical.push([url, name, lines.canonical ?? 1]);
  }
  const found = [
    ...commonAddress(folder, "robots.txt", robots),
    ...commonAddress(folder, "sitemaps", sitemaps),
    ...commonAddress(folder, "canonical links", canonical),
  ];
  const [{ origin } = { origin: "" }] = found;
  const isAgreed = found.length > 0 && found.every((each) => each.origin === origin);
  const [own] = canonical.find(([, name]) => name === "index.html") ?? [];
  return { found, url: isAgreed ? baseOf(folder, origin, own, pages) : undefined };
}

// Returns the address that occurs most often, with its first place, or an empty list.
function commonAddress(folder: string, by: string, mentions: readonly Mention[]): FoundAddress[] {
  const addresses = new Map<string, { readonly first: FoundAddress; count: number }>();
  for (const [url, name, line] of mentions) {
    const { origin = "" } = isHttpUrl(url) ? new URL(url) : {};
    const known = addresses.get(origin);
    if (known !== undefined) known.count += 1;
    else if (origin !== "")
      addresses.set(origin, { first: { by, origin, file: path.join(folder, name), line }, count: 1 });
  }
  const [top] = [...addresses.values()].sort((one, two) => two.count - one.count);
  return top === undefined ? [] : [top.first];
}

/**
 * Returns the addresses that are wrong if the website is at `url`: those of this machine, those that differ in `www.` or the scheme, and
 * any other address if all kinds of files have it and the folder has pages.
 */
export function wrongAddresses({ found }: FolderAddress, url: string, folder: string): readonly FoundAddress[] {
  const { origin = "", host = "" } = parseUrl(url) ?? {};
  const wrong = found.filter((each) => each.origin !== origin || isOnOwnMachine(new URL(each.origin).host));
  const isSame = wrong.length === found.length && new Set(wrong.map((each) => each.origin)).size === 1;
  const isAll = isSame && pagesIn(folder).next().done === false;
  return wrong.filter((each) => {
    const other = new URL(each.origin).host;
    return isAll || isOnOwnMachine(other) || bareHost(other) === bareHost(host);
  });
}

/** Names the setting for the address in the generator that made the folder. */
export function addressSetting(folder: string): string {
  const html = startOf(folder, "index.html");
  const [, generator = ""] = /<meta\s+name="generator"\s+content="([^"]{1,200})"/i.exec(html) ?? [];
  const above = path.dirname(folder);
  const has = (pattern: RegExp) =>
    [folder, above, path.dirname(above)].some((each) => namesIn(each).some((name) => pattern.test(name)));
  const found = addressSettings.find(([name, files]) => name.test(generator) || has(files));
  return found?.[2] ?? "the website's address in the generator's configuration";
}

const addressSettings: readonly (readonly [generator: RegExp, files: RegExp, setting: string])[] = [
  [/^astro/i, /^(?:_astro$|astro\.config\.)/, "`site` in astro.config"],
  [/^vitepress/i, /^\.vitepress$/, "`sitemap.hostname` in .vitepress/config"],
  [/^hugo/i, /^hugo\.(?:toml|ya?ml|json)$/, "`baseURL` in hugo.toml"],
  [/^docusaurus/i, /^docusaurus\.config\./, "`url` in docusaurus.config"],
  [/^gatsby/i, /^gatsby-config\./, "`siteMetadata.siteUrl` in gatsby-config"],
  [/^eleventy/i, /^(?:\.eleventy|eleventy\.config)\./, "the URL in Eleventy's data, such as _data/metadata"],
  [
    /^next/i,
    /^(?:_next$|next\.config\.|next-sitemap\.config\.)/,
    "`metadataBase` in the root layout, or `siteUrl` in next-sitemap.config",
  ],
  [/^nuxt/i, /^(?:_nuxt$|nuxt\.config\.)/, "`site.url` in nuxt.config"],
  [/^jekyll/i, /^_config\.yml$/, "`url` in _config.yml"],
  [/^hexo/i, /^_config\.landscape\.yml$/, "`url` in _config.yml"],
  [/^mkdocs/i, /^mkdocs\.ya?ml$/, "`site_url` in mkdocs.yml"],
  [/^svelte/i, /^svelte\.config\./, "`kit.prerender.origin` in svelte.config"],
];

// Returns the URL at which the folder is published: the directory of its homepage's canonical link or, without one, the shortest path below
// which most listed pages have a file.
function baseOf(folder: string, origin: string, own: string | undefined, pages: readonly string[]): string {
  if (own !== undefined) return new URL(".", own).href;
  const paths = pages.flatMap((url) => parseUrl(url)?.pathname ?? []).slice(0, mostFiles);
  const parts = (paths[0] ?? "/").split("/").slice(1, -1);
  const bases = ["/", ...parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}/`)];
  const isFile = (name: string) =>
    ["", ".html", "/index.html"].some((end) => typeof fileAt(folder, name.replace(/\/$/, "") + end) === "string");
  const found = (base: string) => paths.filter((each) => each.startsWith(base) && isFile(each.slice(base.length)));
  return origin + (bases.find((base) => found(base).length > paths.length / 2) ?? "/");
}

function* pagesIn(folder: string): Generator<string, void> {
  let count = 0;
  if (typeof fileAt(folder, "index.html") === "string") yield "index.html";
  for (const file of filesIn(folder)) {
    const name = path.relative(folder, file);
    if (!/\.html?$/i.test(name) || name === "index.html" || /(?:^|[\\/])[45]\d\d(?:\.html|[\\/])/.test(name)) continue;
    if (++count > mostFiles) return;
    yield name;
  }
}

function* urlsIn(text: string, pattern: RegExp): Generator<readonly [url: string, line: number], void> {
  const lineAt = lineCounter(text);
  for (const { 1: url = "", index } of text.matchAll(pattern)) yield [url, lineAt(index)];
}

function namesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).sort();
  } catch {
    return [];
  }
}

// The beginnings of the first files of each kind are enough to find the address.
const mostFiles = 20;
const mostBytes = 65_536;

function startOf(folder: string, name: string): string {
  const file = fileAt(folder, encodeURIComponent(name).replaceAll("%2F", "/"));
  return typeof file === "string" ? readStart(file, Buffer.alloc(mostBytes)) : "";
}
