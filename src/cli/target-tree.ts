// The tree of a target: a website, given sitemaps, or an archive.
import type { Options } from "../model/options.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { Target } from "./target.ts";

/** For an archive, only the options about reading apply. */
export async function treeOf(target: Target, options: Options): Promise<SitemapTree> {
  const { buildTreeWhile, openTreeWhile } = await import("../tree/build.ts");
  const pagesLater = true;
  switch (target.kind) {
    case "website":
      return buildTreeWhile({ homepage: target.homepage }, options, { pagesLater });
    case "sitemaps":
      return buildTreeWhile({ sitemaps: target.urls }, options, { pagesLater });
    case "archive": {
      const { limits, signal, onEvent } = options;
      return openTreeWhile(target.path, { limits, signal, onEvent }, { verify: true, pagesLater });
    }
  }
}
