// Serves the files of a static site to a crawl, as if they were on the web.
import { createReadStream, realpathSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import type { Client } from "../../model/client.ts";
import type { Options } from "../../model/options.ts";
import { type Problem, problem } from "../../model/problem.ts";
import { parseUrl } from "../../model/url.ts";
import { encodedPath, withIndex } from "../findings/file-locations.ts";
import { fileAt } from "./folder-files.ts";
import type { SiteFolder } from "./site-files.ts";

/** Returns the URL of a file, if it is in one of the folders. */
export function mappedUrl(name: string, folders: readonly SiteFolder[]): string | undefined {
  const real = realpathSync.native(name);
  const folder = folders.find((each) => real.startsWith(each.path + path.sep));
  return folder && folder.url + encodedPath(real.slice(folder.path.length + 1));
}

type Content = AsyncIterable<Uint8Array> | undefined;

/** Returns crawl options that read the folders and, if `own` has content for a URL, that content. */
export function localOptions(folders: readonly SiteFolder[], own: (url: string) => Content = () => undefined): Options {
  const request: Client["request"] = async ({ url }) => {
    const found = own(url) ?? contentAt(url, folders);
    if (found !== undefined && "code" in found) return found;
    return { status: found === undefined ? 404 : 200, headers: [], body: found ?? Readable.from([]) };
  };
  return { client: { request }, retries: 0, concurrency: 1 };
}

// Returns the content of the file for a URL, a problem if the file cannot be served, or undefined if there is none.
function contentAt(url: string, folders: readonly SiteFolder[]): Content | Problem {
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
