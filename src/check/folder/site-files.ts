// Maps the URLs of a static site to files in its folders, as its host does, and finds the files that are pages. Symbolic links cannot lead
// out of their folder. Memory grows with the names of the pages, not with their content.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { systemReason } from "../../model/errors.ts";
import { grouped } from "../../model/figures.ts";
import { parseUrl } from "../../model/url.ts";
import { visibleContent } from "../../pages/visible-content.ts";
import type { NotChecked } from "../findings/result.ts";
import { bounds } from "../rules/bounds.ts";
import { fileAt, filesIn, type Host, isInside, readStart } from "./folder-files.ts";
import { readServerRules, type ServerRules } from "./server-rules.ts";

/** A folder whose files map to URLs. */
export interface SiteFolder {
  /** The beginning of its URLs, with a slash at the end. */
  readonly url: string;
  readonly path: string;
}

/** A static site. */
export interface SiteFilesOptions {
  readonly folders: readonly SiteFolder[];
  /** Files that are pages, by patterns such as `blog/**`. @default all HTML files */
  readonly pages?: readonly string[] | undefined;
  /** Files to ignore. */
  readonly ignore?: readonly string[] | undefined;
  /** Where the website is published, which decides about slashes and redirects. @default recognized by its configuration */
  readonly host?: Host | undefined;
  /** Called before the file of a page is read. */
  readonly onFile?: (() => void) | undefined;
}

/** What a server would send. */
type Answer =
  /** The host sends a file, with these values of X-Robots-Tag headers. */
  | { readonly kind: "file"; readonly file: string; readonly robotsTags: readonly string[] }
  /** The host redirects. Without the redirect, it would send `file`. */
  | { readonly kind: "redirect"; readonly to: string; readonly status: number; readonly file?: string | undefined }
  /** The host sends the content of a different path, which is `file` if it is in the folder. */
  | { readonly kind: "rewritten"; readonly file?: string | undefined; readonly robotsTags: readonly string[] }
  /** There is no file, but a rule of the host that is not understood may send something. */
  | { readonly kind: "unclear" }
  /** There is a file, but it cannot be read. */
  | { readonly kind: "unreadable" }
  /** There is no file, or the host sends an error. `hint` says why, if that helps. `isServed` means that the host sends the homepage. */
  | { readonly kind: "missing"; readonly hint?: string | undefined; readonly isServed?: true };

type FileRule = "page-missing-file" | "page-image-missing";

interface Folder extends SiteFolder {
  /** The path as the caller gave it. */
  readonly name: string;
  readonly rules: ServerRules;
}

export class SiteFiles {
  readonly #folders: readonly Folder[];
  readonly #isIncluded: (name: string) => boolean;
  readonly #isNarrowed: boolean;
  readonly #onFile: (() => void) | undefined;
  readonly #buffer = Buffer.alloc(bounds.pageBytes);
  // Whether the sitemaps write URLs without `.html`.
  #isClean = false;
  #hints = mostHints;
  readonly #unclear = new Set<string>();
  // The rules that could not be checked for some URLs, because it is unclear what the host sends.
  readonly #unclearRules = new Set<FileRule>();
  readonly #rewrites = new Set<string>();
  #hasUnknownRewrites = false;
  // A file that is listed without its extension.
  #vercelName: string | undefined;
  #isApp: boolean | undefined;
  /** Files that exist but could not be read, each with the reason. */
  readonly unreadable: Set<string> = new Set();

  constructor({ folders, pages, ignore, host, onFile }: SiteFilesOptions) {
    this.#folders = folders.map(({ url, path: name }) => {
      const real = fs.realpathSync.native(name);
      return { url, name, path: real, rules: readServerRules(real, url, host) };
    });
    const [wanted, unwanted] = [(pages ?? []).map(glob), (ignore ?? []).map(glob)];
    this.#isNarrowed = (pages ?? ignore) !== undefined;
    this.#isIncluded = (name) =>
      (wanted.length === 0 || wanted.some((each) => each.test(name))) && !unwanted.some((each) => each.test(name));
    this.#onFile = onFile;
  }

  get folders(): readonly SiteFolder[] {
    return this.#folders;
  }

  get hasPages(): boolean {
    return this.pages().next().done === false;
  }

  /** What is not understood in the host's configuration, or could not be applied. */
  get notUnderstood(): readonly string[] {
    return [...this.#folders.flatMap(({ rules }) => rules.notUnderstood), ...this.#unclear];
  }

  /** What is not understood about X-Robots-Tag headers in the host's configuration. */
  get unknownHeaders(): readonly string[] {
    return this.#folders.flatMap(({ rules }) => rules.unknownHeaders);
  }

  /** Lists the rules that could not be fully checked with these files, after all pages were checked. */
  notChecked(): NotChecked[] {
    const all: NotChecked[] = [];
    if (!this.hasPages) {
      const excluded = "`files.pages` and `files.ignore` exclude all HTML files";
      all.push({ rule: "page-missing-file", reason: this.#isNarrowed ? excluded : "the folder has no HTML files" });
    }
    const unknown = listed(this.notUnderstood);
    const unclear = `some redirects are not understood (${unknown})`;
    if (unknown !== "") all.push({ rule: "page-redirect", reason: unclear });
    const service = "a service of the host may send files that are not in the folder";
    for (const rule of this.#unclearRules) all.push({ rule, reason: unknown === "" ? service : unclear });
    const rewrites = `some pages are rewritten (${listed([...this.#rewrites])})`;
    if (this.#rewrites.size > 0) all.push({ rule: "page-canonical-other", reason: rewrites });
    if (this.#hasUnknownRewrites) all.push({ rule: "page-noindex", reason: rewrites });
    if (this.#vercelName !== undefined)
      all.push({ rule: "page-missing-file", reason: withoutCleanUrls(this.#vercelName) });
    const headers = listed(this.unknownHeaders);
    if (headers !== "") all.push({ rule: "page-noindex", reason: `some headers are not understood (${headers})` });
    const reason = `some files could not be read (${listed([...this.unreadable])})`;
    if (this.unreadable.size > 0) all.push({ rule: "page-missing-file", reason }, { rule: "page-not-listed", reason });
    return all;
  }

  /** Returns what the host would send for a URL, to check a rule; undefined if the URL is in none of the folders. */
  find(url: string, rule: FileRule = "page-missing-file"): Answer | undefined {
    const parsed = parseUrl(url);
    let answer: Answer | undefined;
    for (const folder of this.#folders) {
      if (parsed === null || !parsed.href.startsWith(folder.url)) continue;
      answer = this.#findIn(folder, parsed.pathname.slice(new URL(folder.url).pathname.length));
      if (answer.kind !== "missing") break;
    }
    if (answer?.kind === "unclear") this.#unclearRules.add(rule);
    return answer;
  }

  /** Whether a file is an HTML page that the options include. */
  isPage(file: string): boolean {
    const folder = this.#folders.find((each) => isInside(file, each.path));
    return folder !== undefined && isHtml.test(file) && this.#isIncluded(nameIn(folder, file));
  }

  /** Yields all files that are pages, judging by their names. Skips error pages, and folders of frameworks. */
  *pages(): Generator<{ readonly file: string; readonly url: string }, void> {
    const seen = new Set<string>();
    for (const folder of this.#folders) {
      const { cleanUrls, trailingSlash, host } = folder.rules;
      for (const file of filesIn(folder.path)) {
        const name = nameIn(folder, file);
        if (seen.has(file) || notPage.test(name) || ownershipProof.test(name) || !this.isPage(file)) continue;
        seen.add(file);
        const shown = name.replace(/(?:^|(?<=\/))index\.html?$/i, "");
        const clean =
          this.#isClean || cleanUrls || host === "cloudflare-pages" ? shown.replace(/\.html?$/i, "") : shown;
        const isPlain = trailingSlash === undefined || clean === "" || /\.\w+$/.test(clean);
        const written = isPlain ? clean : clean.replace(/\/?$/, trailingSlash ? "/" : "");
        yield { file, url: folder.url + encodeURI(written).replaceAll(/[?#]/g, encodeURIComponent) };
      }
    }
  }

  /** Returns the path of a file, starting with its folder as the caller gave it. */
  shown(file: string): string {
    const folder = this.#folders.find((each) => isInside(file, each.path));
    return folder === undefined ? file : path.join(folder.name, nameIn(folder, file));
  }

  /** Returns the beginning of a file. If the file cannot be read, returns an empty string and adds it to `unreadable`. */
  read(file: string): string {
    this.#onFile?.();
    try {
      return readStart(file, this.#buffer);
    } catch (error) {
      this.unreadable.add(`${this.shown(file)}: ${systemReason(error)}`);
      return "";
    }
  }

  /** Returns a digest of the page at a URL, to tell whether a build changed it. If the host sends no file, describes what it does instead. */
  contentAt(url: string): string {
    const answer = this.find(url);
    if (answer?.kind === "redirect") return `redirect ${answer.to}`;
    const file = answer !== undefined && "file" in answer ? answer.file : undefined;
    if (file === undefined) return answer?.kind ?? "elsewhere";
    const bytes = fs.readFileSync(file);
    const content = isHtml.test(file) ? visibleContent(bytes.toString("utf8")) : bytes;
    return createHash("sha256").update(content).digest("base64");
  }

  #findIn(folder: Folder, name: string): Answer {
    const { path: root, name: shown, rules } = folder;
    const { cleanUrls, trailingSlash, host } = rules;
    const isFolder = name === "" || name.endsWith("/");
    const bare = `${name.replace(/\/$/, "")}.html`;
    const hasHtml = !isFolder || (name !== "" && (trailingSlash !== undefined || rules.followsFiles));
    const names = isFolder ? [`${name}index.html`] : [name, bare, `${name}/index.html`];
    if (isFolder && hasHtml) names.push(bare);
    let isUnreadable = false;
    const found = names.flatMap((each) => {
      const file = fileAt(root, each);
      if (typeof file === "object") {
        isUnreadable = true;
        this.unreadable.add(`${path.join(shown, each)}: ${file.value}`);
      }
      return typeof file === "string" ? [{ name: each, file }] : [];
    });
    const first = found[0];
    for (const { value, fill } of rules.redirects.match(`/${name}`)) {
      if (first !== undefined && value.isForced === undefined) this.#unclear.add(`${value.place}: choose --host`);
      if (first !== undefined && (!value.isForced || value.isConditional)) continue;
      if (value.isConditional) return { kind: "unclear" };
      if (value.status >= 400) return { kind: "missing", hint: `${value.place}: status ${value.status}` };
      if (value.status === 200) return this.#rewritten(folder, name, fill(value.to), value.place);
      return { kind: "redirect", to: fill(value.to), status: value.status, file: first?.file };
    }
    const redirect = (to: string, status = 308): Answer => ({ kind: "redirect", to, status, file: first?.file });
    if (cleanUrls && name.endsWith(".html")) {
      const clean = `/${name.replace(/(?:(?:^|\/)index)?\.html$/, "")}`;
      return redirect(trailingSlash && clean !== "/" ? `${clean}/` : clean);
    }
    if (name !== "" && trailingSlash === !isFolder && !/\.\w+$/.test(name))
      return redirect(isFolder ? `/${name.slice(0, -1)}` : `/${name}/`);
    if (first === undefined && isUnreadable) return { kind: "unreadable" };
    if (first === undefined && (rules.mayServeOthers || hostService.test(name))) return { kind: "unclear" };
    if (first === undefined) {
      const isServed = host === "cloudflare-pages" && typeof fileAt(root, "404.html") !== "string";
      // Cloudflare Pages takes a folder without 404.html for an application.
      if (isServed && this.#isApplication()) return this.#rewritten(folder, name, "/", "there is no 404.html");
      const served = isServed ? { isServed, hint: "the homepage is sent instead, because there is no 404.html" } : {};
      if (this.#hints-- <= 0) return { kind: "missing", ...served };
      const other = names.map((each) => nameInOtherCase(root, each)).find((each) => each !== undefined);
      return { kind: "missing", ...served, ...(other && { hint: `the name of ${other} differs in case` }) };
    }
    if (errorPage.test(first.name)) return { kind: "missing", hint: `${first.name} is an error page` };
    const namesFound = found.map((each) => each.name);
    const to = rules.followsFiles ? redirectByFiles(name, namesFound, host) : undefined;
    if (to === null) return { kind: "missing", hint: `${first.name} is served without the slash` };
    if (to !== undefined) return redirect(to, host === "cloudflare-pages" ? 308 : 301);
    if (first.name === bare) this.#isClean = true;
    if (first.name === bare && host === "vercel" && !cleanUrls) this.#vercelName ??= first.name;
    return { kind: "file", file: first.file, robotsTags: robotsTagsOf(rules, name) };
  }

  #rewritten({ path: root, url, rules }: Folder, name: string, to: string, place: string): Answer {
    this.#rewrites.add(place);
    const target = parseUrl(to, url)?.href.replace(/[?#].*$/s, "") ?? "";
    const path = target.startsWith(url) ? target.slice(url.length) : undefined;
    const names = path === undefined ? [] : path === "" ? ["index.html"] : [path, `${path}.html`, `${path}/index.html`];
    const file = names.map((each) => fileAt(root, each)).find((each) => typeof each === "string");
    if (file === undefined) this.#hasUnknownRewrites = true;
    return { kind: "rewritten", file, robotsTags: robotsTagsOf(rules, name) };
  }

  // Whether the homepage is the only page, so that its script probably shows the others.
  #isApplication(): boolean {
    const others = ({ path: root }: Folder) =>
      [...filesIn(root)].some(
        (file) => isHtml.test(file) && !notPage.test(file) && !/^index\.html?$/i.test(path.relative(root, file)),
      );
    this.#isApp ??= !this.#folders.some(others);
    return this.#isApp;
  }
}

// Returns the values of X-Robots-Tag headers; none if it is not certain that the path has them.
function robotsTagsOf({ robotsTags }: ServerRules, name: string): string[] {
  const values = Array.from(robotsTags.match(`/${name}`), ({ value }) => value);
  const tags = values.filter((value) => value !== undefined);
  return tags.length < values.length ? [] : tags;
}

function withoutCleanUrls(name: string): string {
  return `without \`cleanUrls\`, Vercel serves ${name} only with its extension, unless a framework adds a route`;
}

// Returns the path that a host redirects to because of the names of its files: null if it sends a 404, undefined if the path is right.
function redirectByFiles(name: string, found: readonly string[], host: Host | undefined): string | null | undefined {
  if (host === "cloudflare-pages" && /\.html$/.test(found[0] ?? "") && found[0] === name)
    return `/${name.replace(/(?:(?<=^|\/)index)?\.html$/, "")}`;
  const isHtml = found.includes(`${name.replace(/\/$/, "")}.html`);
  const isIndex = found.includes(`${name.replace(/\/?$/, name === "" ? "" : "/")}index.html`);
  if (name === "") return undefined;
  if (!name.endsWith("/")) return found[0] === `${name}/index.html` ? `/${name}/` : undefined;
  if (!isHtml || (isIndex && host !== "netlify")) return undefined;
  return host === "github-pages" ? null : `/${name.slice(0, -1)}`;
}

// Names the first few items of a list, and says how many more there are.
function listed(items: readonly string[], most = 10): string {
  const more = items.length > most ? ` and ${grouped(items.length - most)} more` : "";
  return items.slice(0, most).join(", ") + more;
}

// Each hint requires listing a whole folder.
const mostHints = 20;

function nameInOtherCase(folder: string, encoded: string): string | undefined {
  try {
    const name = decodeURIComponent(encoded);
    const found = fs.readdirSync(path.join(folder, path.dirname(name)));
    const own = path.basename(name);
    return found.find((each) => each !== own && each.toLowerCase() === own.toLowerCase());
  } catch {
    return undefined;
  }
}

function nameIn(folder: SiteFolder, file: string): string {
  return path.relative(folder.path, file).split(path.sep).join("/");
}

const isHtml = /\.x?html?$/i;
// Hosts send these files with an error status.
const errorPage = /^[45]\d\d(?:\.html?|\/index\.html?)$/i;
// Error pages, and the fallback page of an application (`200.html`).
const notPage = /(?:^|\/)(?:200|[45]\d\d|50x)(?:\.html?|\/index\.html?)$/i;

// Files by which a search engine or a service recognizes the owner of a website.
const ownershipProof =
  /^(?:google[\da-f]{16}|(?:yandex_|naver|pinterest-|baidu_verify_|wmail_|mailru-verification)[\w-]*)\.html?$/i;
// Paths at which hosts and frameworks send resized images, and the like.
const hostService = /^(?:_next\/image$|_vercel\/|_image$|_ipx\/|\.netlify\/|cdn-cgi\/)/;

// Converts a pattern to a regular expression. `**` matches any folders, `*` and `?` match inside a name. A pattern without a slash matches
// a name in any folder, and a folder matches everything in it.
function glob(pattern: string): RegExp {
  const whole = pattern.replace(/^\.?\//, "");
  const body = (whole.replace(/\/$/, "").includes("/") ? whole : `**/${whole}`)
    .replace(/\/$/, "")
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll(/\*\*\/|\*\*|\*|\?/g, (part) => ({ "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" })[part]!);
  return new RegExp(`^${body}(?:/.*)?$`);
}
