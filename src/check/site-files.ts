// A static site in folders: which file a URL maps to, as on servers of static sites, and which files are pages. Links cannot lead out of
// their folder. Memory grows with the names of the pages, not with their content.
import fs, { type Dirent } from "node:fs";
import path from "node:path";
import { systemReason } from "../model/errors.ts";
import { type Problem, problem } from "../model/problem.ts";
import { parseUrl } from "../model/url.ts";
import { bounds } from "./bounds.ts";
import { readServerRules, type ServerRules } from "./server-rules.ts";

/** A folder whose files map to URLs. */
export interface SiteFolder {
  /** The beginning of the URLs; ends in a slash. */
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
  /** Called for each file that was read. */
  readonly onFile?: (() => void) | undefined;
}

/** What a server would send. */
type Answer =
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "redirect"; readonly to: string; readonly status: number }
  /** Another file, by a rule of the server. */
  | { readonly kind: "rewritten" }
  /** `hint`: why, if that helps. */
  | { readonly kind: "missing"; readonly hint?: string | undefined };

interface Folder extends SiteFolder {
  /** As given. */
  readonly name: string;
  readonly rules: ServerRules;
}

export class SiteFiles {
  readonly #folders: readonly Folder[];
  readonly #isIncluded: (name: string) => boolean;
  readonly #onFile: (() => void) | undefined;
  readonly #buffer = Buffer.alloc(bounds.pageBytes);
  // URLs are written without `.html`.
  #isClean = false;
  #hints = mostHints;

  constructor({ folders, pages = [], ignore = [], onFile }: SiteFilesOptions) {
    this.#folders = folders.map(({ url, path: name }) => {
      const real = fs.realpathSync.native(name);
      return { url, name, path: real, rules: readServerRules(real) };
    });
    const [wanted, unwanted] = [pages.map(glob), ignore.map(glob)];
    this.#isIncluded = (name) =>
      (wanted.length === 0 || wanted.some((each) => each.test(name))) && !unwanted.some((each) => each.test(name));
    this.#onFile = onFile;
  }

  get notUnderstood(): readonly string[] {
    return this.#folders.flatMap(({ rules }) => rules.notUnderstood);
  }

  /** Undefined if the URL is in none of the folders. */
  find(url: string): Answer | undefined {
    const parsed = parseUrl(url);
    let answer: Answer | undefined;
    for (const folder of this.#folders) {
      if (parsed === null || !parsed.href.startsWith(folder.url)) continue;
      answer = this.#findIn(folder, parsed.pathname.slice(new URL(folder.url).pathname.length));
      if (answer.kind !== "missing") break;
    }
    return answer;
  }

  /** Whether a file is checked. */
  isPage(file: string): boolean {
    const folder = this.#folders.find((each) => isInside(file, each.path));
    return folder !== undefined && /\.x?html?$/i.test(file) && this.#isIncluded(nameIn(folder, file));
  }

  /** All files that are pages by their names: no error pages, and nothing in folders of frameworks. */
  *pages(): Generator<{ readonly file: string; readonly url: string }, void> {
    const seen = new Set<string>();
    for (const folder of this.#folders) {
      const { cleanUrls, trailingSlash } = folder.rules;
      for (const file of filesIn(folder.path)) {
        const name = nameIn(folder, file);
        if (seen.has(file) || notPage.test(name) || !this.isPage(file)) continue;
        seen.add(file);
        const shown = name.replace(/(?:^|(?<=\/))index\.html?$/i, "");
        const clean = this.#isClean || cleanUrls ? shown.replace(/\.html?$/i, "") : shown;
        const isPlain = trailingSlash === undefined || clean === "" || /\.\w+$/.test(clean);
        const written = isPlain ? clean : clean.replace(/\/?$/, trailingSlash ? "/" : "");
        yield { file, url: folder.url + encodeURI(written).replaceAll(/[?#]/g, encodeURIComponent) };
      }
    }
  }

  /** The path of a file, relative to its folder as given. */
  shown(file: string): string {
    const folder = this.#folders.find((each) => isInside(file, each.path));
    return folder === undefined ? file : path.join(folder.name, nameIn(folder, file));
  }

  /** The beginning of a file. Empty if it cannot be read. */
  read(file: string): string {
    this.#onFile?.();
    try {
      const descriptor = fs.openSync(file, "r");
      try {
        const bytes = this.#buffer.subarray(0, fs.readSync(descriptor, this.#buffer));
        const mark = bytes.toString("hex", 0, 2);
        return new TextDecoder({ fffe: "utf-16le", feff: "utf-16be" }[mark]).decode(bytes);
      } finally {
        fs.closeSync(descriptor);
      }
    } catch {
      return "";
    }
  }

  #findIn({ path: root, rules }: Folder, name: string): Answer {
    const { cleanUrls, trailingSlash } = rules;
    const forced = redirected(rules, name, true);
    if (forced !== undefined) return forced;
    const isFolder = name === "" || name.endsWith("/");
    if (cleanUrls && name.endsWith(".html")) {
      const clean = `/${name.replace(/(?:(?:^|\/)index)?\.html$/, "")}`;
      return { kind: "redirect", to: trailingSlash && clean !== "/" ? `${clean}/` : clean, status: 308 };
    }
    if (name !== "" && trailingSlash === !isFolder && !/\.\w+$/.test(name)) {
      return { kind: "redirect", to: isFolder ? `/${name.slice(0, -1)}` : `/${name}/`, status: 308 };
    }
    const html = trailingSlash === undefined && isFolder ? [] : [`${name.replace(/\/$/, "")}.html`];
    const names = isFolder ? [`${name}index.html`, ...html] : [name, ...html, `${name}/index.html`];
    for (const each of names) {
      const file = fileAt(root, each);
      if (typeof file !== "string") continue;
      if (errorPage.test(each)) return { kind: "missing", hint: `${each} is an error page` };
      if (each === html[0]) this.#isClean = true;
      return { kind: "file", file };
    }
    const moved = redirected(rules, name, false);
    if (moved !== undefined || this.#hints-- <= 0) return moved ?? { kind: "missing" };
    const like = names.map((each) => likeIn(root, each)).find((each) => each !== undefined);
    return { kind: "missing", hint: like && `the name of ${like} differs in case` };
  }
}

// Each requires listing a whole folder.
const mostHints = 20;

function redirected({ redirects }: ServerRules, name: string, isForced: boolean): Answer | undefined {
  for (const redirect of redirects) {
    const to = redirect.isForced === isForced ? redirect.matches(`/${name}`) : undefined;
    if (to === undefined || redirect.status >= 400) continue;
    return redirect.status === 200 ? { kind: "rewritten" } : { kind: "redirect", to, status: redirect.status };
  }
  return undefined;
}

/** The real path of a file by its percent-encoded name, never outside of the folder; undefined if there is none. */
export function fileAt(folder: string, encoded: string): string | Problem | undefined {
  try {
    const named = path.join(folder, decodeURIComponent(encoded));
    const file = fs.realpathSync.native(named);
    if (!isInside(file, folder)) return problem("not-local", { value: "it is outside of its folder" });
    // Web servers are case-sensitive, some file systems are not.
    if (file !== named && file.toLowerCase() === named.toLowerCase()) return undefined;
    const stat = fs.statSync(file);
    if (stat.isFile()) fs.accessSync(file, fs.constants.R_OK);
    if (stat.isFile()) return file;
    return stat.isDirectory() ? undefined : problem("not-local", { value: "it is not a regular file" });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const isMissing = ["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ERR_INVALID_ARG_VALUE"].includes(code);
    return isMissing || error instanceof URIError ? undefined : problem("not-local", { value: systemReason(error) });
  }
}

function likeIn(folder: string, encoded: string): string | undefined {
  try {
    const name = decodeURIComponent(encoded);
    const found = fs.readdirSync(path.join(folder, path.dirname(name)));
    const own = path.basename(name);
    return found.find((each) => each !== own && each.toLowerCase() === own.toLowerCase());
  } catch {
    return undefined;
  }
}

// Links are not followed: what they lead to inside of the folder is found where it is.
function* filesIn(folder: string): Generator<string, void> {
  for (const entry of entriesOf(folder)) {
    // Those of frameworks, of the system and of packages.
    if (/^[_.]|^node_modules$/.test(entry.name)) continue;
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(file);
    else if (entry.isFile()) yield file;
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true }).sort((one, two) => (one.name < two.name ? -1 : 1));
  } catch {
    return [];
  }
}

function isInside(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

function nameIn(folder: SiteFolder, file: string): string {
  return path.relative(folder.path, file).split(path.sep).join("/");
}

// Sent by servers with that status, for any URL.
const errorPage = /^[45]\d\d(?:\.html?|\/index\.html?)$/i;
// Error pages, and the fallback of an application.
const notPage = /(?:^|\/)(?:200|[45]\d\d|50x)(?:\.html?|\/index\.html?)$/i;

// `**` for any folders, `*` and `?` inside of a name; a pattern without a slash is a name anywhere, and a folder is everything in it.
function glob(pattern: string): RegExp {
  const whole = pattern.replace(/^\.?\//, "");
  const body = (whole.replace(/\/$/, "").includes("/") ? whole : `**/${whole}`)
    .replace(/\/$/, "")
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll(/\*\*\/|\*\*|\*|\?/g, (part) => ({ "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" })[part]!);
  return new RegExp(`^${body}(?:/.*)?$`);
}
