// The format `ndjson`: one page per line, as JSON, with the URL of its sitemap added. https://github.com/ndjson/ndjson-spec
// Lossless and printable: terminal control characters are escaped as in JSON.
import type { PageWriter } from "./batch.ts";
import { openPageJson, textJson } from "./page-json.ts";
import { jsonOf } from "./printable.ts";

export function ndjsonWriter(): PageWriter {
  return {
    header: "",
    write({ sitemap, pages }) {
      const end = `,"sitemap":${textJson(sitemap)}}\n`;
      let lines = "";
      for (const page of pages) lines += openPageJson(page) + end;
      return lines;
    },
    writeReferences(sitemap, references) {
      return references.map((reference) => `${jsonOf({ kind: "sitemap", ...reference, sitemap })}\n`).join("");
    },
  };
}
