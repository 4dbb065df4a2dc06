// Maps findings back to the files of a repository.
import path from "node:path";
import type { SiteFolder } from "../folder/site-files.ts";

/** A location in SARIF: a URI that is relative to a base. */
export interface FileLocation {
  readonly uri: string;
  readonly base: string;
  /** The path from the working directory, if the location is a file. */
  readonly file?: string | undefined;
}

// The working directory. GitHub treats it as the root of the repository:
// https://docs.github.com/en/code-security/code-scanning
const sourceRoot = "%SRCROOT%";

/** Finds the file of a finding, for reports that annotate files. */
export class FileLocations {
  readonly #folders: readonly SiteFolder[];
  /** The names of bases other than the working directory, by their URLs. */
  readonly bases: Map<string, string> = new Map();

  constructor(folders: readonly SiteFolder[]) {
    this.#folders = folders;
  }

  /** The location of a finding: the file of its example, or its sitemap. */
  of(sitemap: string, { file }: { readonly file?: string | undefined } = {}): FileLocation {
    if (file !== undefined) return fileLocation(file);
    // The fragment of a URL is not part of its file's name.
    const [url = ""] = sitemap.split("#", 1);
    const folder = this.#folders.find((each) => url.startsWith(each.url));
    if (folder !== undefined) {
      const name = withIndex(encodedOnce(url.slice(folder.url.length).replace(/\?.*$/s, "")));
      const root = encodedPath(path.relative(process.cwd(), folder.path));
      const uri = root === "" ? name : `${root}/${name}`;
      // Nothing above the working directory belongs to the repository.
      if (!uri.startsWith("..")) return { uri, base: sourceRoot, file: decoded(uri) };
    }
    const [, origin, rest = ""] = /^(https?:\/\/[^/?]+)\/?(.*)$/is.exec(url) ?? [];
    if (origin === undefined) return fileLocation(sitemap);
    const base = this.bases.get(`${origin}/`) ?? `WEBSITE${this.bases.size === 0 ? "" : this.bases.size + 1}`;
    this.bases.set(`${origin}/`, base);
    return { uri: encodedOnce(rest) || "./", base };
  }
}

function fileLocation(name: string): FileLocation {
  const file = path.relative(process.cwd(), name);
  return { uri: encodedPath(wellFormed(file)) || "./", base: sourceRoot, file };
}

// Percent-encodes a relative reference, but not twice. Writes `./` for leading slashes, and before a segment that looks like a scheme.
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

export function encodedPath(file: string): string {
  return file.split(path.sep).map(encodeURIComponent).join("/");
}

export function withIndex(name: string): string {
  return name === "" || name.endsWith("/") ? `${name}index.html` : name;
}
