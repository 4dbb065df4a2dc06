// One parsed document as JSON, written while it is read. `kind` and `format` are known at its end, so they come last;
// the order of fields does not matter in JSON. The shape is described by schema/output.json.
import type { SitemapPage } from "../model/page.ts";
import type { ParsedSitemap, SitemapReference } from "../model/sitemap.ts";
import { openPageJson } from "./page-json.ts";
import { jsonOf } from "./printable.ts";

/** The fields that are known once the document was read. */
export type ParsedEnd = Omit<Exclude<ParsedSitemap, { kind: "invalid" }>, "pages" | "sitemaps"> | ParsedInvalid;
type ParsedInvalid = Extract<ParsedSitemap, { kind: "invalid" }>;

export class ParsedJsonWriter {
  // The list that is being written, decided by the first entry. The other one waits: only a document against the
  // protocol has both.
  #open: "pages" | "sitemaps" | undefined;
  #waiting = "";

  pages(pages: readonly SitemapPage[]): string {
    return this.#take(
      "pages",
      pages.map((page) => `${openPageJson(page)}}`),
    );
  }

  sitemaps(references: readonly SitemapReference[]): string {
    return this.#take(
      "sitemaps",
      references.map((reference) => jsonOf(reference)),
    );
  }

  end(end: ParsedEnd): string {
    const fields = jsonOf(end).slice(1);
    if (end.kind === "invalid") return this.#open === undefined ? `{${fields}\n` : `\n],${fields}\n`;
    const needed = end.kind === "index" ? "sitemaps" : "pages";
    const first = this.#open === undefined ? `{"${needed}":[` : "\n";
    const other = this.#open === "pages" ? "sitemaps" : "pages";
    const needsOther = this.#waiting !== "" || (this.#open !== undefined && this.#open !== needed);
    return `${first}],${needsOther ? `"${other}":[${this.#waiting}\n],` : ""}${fields}\n`;
  }

  #take(list: "pages" | "sitemaps", items: readonly string[]): string {
    if (items.length === 0) return "";
    const text = items.join(",\n");
    if (this.#open === undefined) {
      this.#open = list;
      return `{"${list}":[\n${text}`;
    }
    if (this.#open === list) return `,\n${text}`;
    this.#waiting += `${this.#waiting === "" ? "" : ","}\n${text}`;
    return "";
  }
}
