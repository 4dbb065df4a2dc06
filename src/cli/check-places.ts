// The files of sitemaps in a repository, for code scanning: below the folders of --map, or relative to the website.
import path from "node:path";
import type { LocalFolder } from "./check-target.ts";

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
