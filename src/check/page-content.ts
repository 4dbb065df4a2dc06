// Digests the pages of a static site, to tell whether a build changed them.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { visibleContent } from "../pages/visible-content.ts";
import type { SiteFiles } from "./site-files.ts";

/** Returns a digest of the file at a URL of a static site. If the host sends no file, describes what it does instead. */
export function contentIn(files: SiteFiles, url: string): string {
  const answer = files.find(url);
  if (answer?.kind === "redirect") return `redirect ${answer.to}`;
  if (answer?.kind !== "file") return answer?.kind ?? "elsewhere";
  const bytes = readFileSync(answer.file);
  const isHtml = /\.x?html?$/i.test(answer.file);
  return createHash("sha256")
    .update(isHtml ? visibleContent(bytes.toString("utf8")) : bytes)
    .digest("base64");
}
