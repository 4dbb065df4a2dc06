// The tree of a target: a website, given sitemaps, or an archive.
import type { Options } from "../options.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { Target } from "./target.ts";

/** For an archive, only the options about reading apply. */
export async function treeOf(target: Target, options: Options): Promise<SitemapTree> {
  const { openTreeWhile, sitemapTreeForHomepage, sitemapTreeFrom } = await import("../tree/build.ts");
  switch (target.kind) {
    case "website":
      return sitemapTreeForHomepage(target.homepage, options);
    case "sitemaps":
      return sitemapTreeFrom(target.urls, options);
    case "archive": {
      const { limits, signal, onEvent } = options;
      return openTreeWhile(target.path, { limits, signal, onEvent }, { verify: true });
    }
  }
}
