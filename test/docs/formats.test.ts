// docs/inside/formats.md against the parser: each form of a URL on the page becomes what the page says, in XML, in a feed and, where it is
// absolute, in robots.txt.
import { describe, expect, test } from "vitest";
import { parsePieces } from "../support/parsed.ts";
import { page, tableRows } from "./pages.ts";

const section = page("docs/inside/formats.md")
  .text.split(/^## /m)
  .find((text) => text.startsWith("URLs"));
const forms = [
  ...tableRows(section ?? "").map(([written = "", becomes = "", reported = ""]) => ({
    written: code(written) ?? "",
    becomes: code(becomes),
    reported: code(reported),
  })),
  ...["url-invalid", "url-scheme"].flatMap((reported) => {
    const list = section?.split(new RegExp(`Skipped as\\s\`${reported}\`: `))[1]?.split(/`\. /)[0] ?? "";
    return [...`${list}\``.matchAll(/`([^`]+)`/g)].map(([, written = ""]) => ({
      written,
      becomes: undefined,
      reported,
    }));
  }),
];

describe("forms of URLs", () => {
  test("the page has examples of URLs", () => {
    expect(forms.length).toBeGreaterThan(20);
  });

  test.each(forms)("$written becomes $becomes", ({ written, becomes, reported }) => {
    const escaped = written.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const documents = [
      `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${escaped}</loc></url></urlset>`,
      `<rss><channel><item><link>${escaped}</link></item></channel></rss>`,
    ];
    for (const document of documents) {
      const { pages, codes } = parsePieces([document]);
      expect(pages.map(({ url }) => url)).toEqual(becomes === undefined ? [] : [becomes]);
      expect(codes).toEqual(reported === undefined ? [] : [reported]);
    }
    const url = "https://example.org/maps/robots.txt";
    const { sitemaps, codes } = parsePieces([`Sitemap: ${written}`], { url });
    expect(sitemaps).toEqual(becomes === undefined ? [] : [{ url: becomes }]);
    if (becomes === undefined) expect(codes).toEqual([reported]);
  });
});

function code(cell: string): string | undefined {
  return /`([^`]+)`/.exec(cell)?.[1]?.replaceAll("\\|", "|");
}
