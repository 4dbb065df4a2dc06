// Opens one side of a diff: recognizes its form, and chooses how to read its pages.

import { SitemapError, systemReason } from "../model/errors.ts";
import type { CrawlEvent } from "../model/event.ts";
import type { Options } from "../model/options.ts";
import { buildTreeWhile, openTreeWhile } from "../tree/build.ts";
import { isTree } from "../tree/tree.ts";
import { kindOfFile } from "./archive-magic.ts";
import { type DiffSide, isBytes, isTarget, type OpenSideOptions, type Side } from "./diff-side.ts";
import { FileSide } from "./file-side.ts";
import { NdjsonSide } from "./ndjson-side.ts";
import { TreeSide } from "./tree-side.ts";

export function openSide(source: DiffSide | Side, options: OpenSideOptions): Side {
  const { crawl = {}, column, signal = crawl.signal, onEvent, onProblems } = options;
  if (isSide(source)) return source;
  if (isTree(source)) return new TreeSide(source);
  if (isBytes(source)) return new FileSide(source, { crawl, column, signal, onProblems });
  if (typeof source !== "string" || isTarget(source)) {
    const both = (event: CrawlEvent) => {
      crawl.onEvent?.(event);
      onEvent?.(event);
    };
    return new TreeSide(({ recurse, ...building }) => {
      const chosen: Options["recurse"] = (child, context) => {
        recurse?.(child, context);
        return crawl.recurse === undefined ? true : crawl.recurse(child, context);
      };
      return buildTreeWhile(source, { ...crawl, signal, onEvent: both, recurse: chosen }, building);
    });
  }
  const kind = kindOf(source);
  const { limits, rewrite } = crawl;
  if (kind === "archive")
    return new TreeSide((building) => openTreeWhile(source, { limits, rewrite, signal, onEvent }, building));
  if (kind === "ndjson") return new NdjsonSide(source, rewrite);
  return new FileSide(source, { crawl, column, signal, onProblems }, kind === "table");
}

function isSide(source: DiffSide | Side): source is Side {
  return typeof source === "object" && "scan" in source;
}

function kindOf(file: string): ReturnType<typeof kindOfFile> {
  try {
    return kindOfFile(file);
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const reason = isMissing ? "there is no such file" : systemReason(cause);
    throw new SitemapError("invalid-file", `${file} cannot be read: ${reason}`, { cause });
  }
}
