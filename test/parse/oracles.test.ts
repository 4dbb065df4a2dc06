// Another parser as an oracle: on documents that are well-formed, the URLs and dates that we give are the texts that sax (strict) finds in the
// same elements.
import fc from "fast-check";
import sax from "sax";
import { expect, test } from "vitest";
import { parseSitemap } from "../../src/parse/parse-sitemap.ts";
import { words } from "../support/words.ts";

interface Entry {
  readonly loc: string;
  readonly lastmod: string;
}

test("sax finds the same entries, however they are written", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(path(), date(), layout()), { minLength: 1, selector: ([url]) => url }),
      (drafts) => {
        const xml = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
${drafts.map(([url, lastmod, write]) => write(`https://example.org/${url}`, lastmod)).join("\n")}
</urlset>`;
        const parsed = parseSitemap(xml);
        expect(parsed).toMatchObject({ kind: "pages", format: "xml", complete: true, problems: [] });
        const ours = parsed.kind === "pages" ? parsed.pages : [];
        expect(ours.map(({ url, lastModified }) => ({ loc: url, lastmod: lastModified }))).toEqual(readWithSax(xml));
      },
    ),
    { numRuns: 50 },
  );
});

// Characters that have to be escaped, that lie outside of ASCII, and that only look like an entity.
function path(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(...words("a Z 7 - / ?q= & &page=2 < > \" ' ; é 日本 😀 ]] %20"));
  return (
    fc
      .array(piece, { minLength: 1, maxLength: 12 })
      .map((pieces) => pieces.join(""))
      // At the end of a URL that is taken for the rest of a CDATA section.
      .filter((text) => !text.endsWith("]]>"))
  );
}

function date(): fc.Arbitrary<string> {
  return fc.constantFrom("2024", "2024-05", "2024-05-31", "2024-05-31T12:30+02:00", "2024-05-31T12:30:45.123Z");
}

function layout(): fc.Arbitrary<(url: string, lastmod: string) => string> {
  return fc.constantFrom(
    (url, lastmod) => `<url><loc>${escaped(url)}</loc><lastmod>${lastmod}</lastmod></url>`,
    (url, lastmod) =>
      `<url >\n  <lastmod>\t${lastmod}\n</lastmod>\n  <loc\n>\n    ${escaped(url)}\n  </loc >\n</url\n>`,
    (url, lastmod) =>
      `<url><loc><![CDATA[${url.replaceAll("]]>", "]]]]><![CDATA[>")}]]></loc><lastmod>${lastmod}</lastmod></url>`,
    (url, lastmod) =>
      `<!-- <url><loc>no</loc></url> --><url><loc>${numeric(url)}</loc><?php no ?><lastmod>${lastmod}</lastmod></url>`,
    (url, lastmod) =>
      `<url id='1' x="&lt;loc>"><image:image><image:loc>https://example.org/i.png</image:loc></image:image><loc>${escaped(url)}</loc><lastmod>${lastmod}</lastmod></url>`,
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("]]>", "]]&gt;");
}

function numeric(text: string): string {
  return [...text].map((character) => `&#x${character.codePointAt(0)?.toString(16)};`).join("");
}

// The text of `loc` and `lastmod` for each `url`.
function readWithSax(xml: string): Entry[] {
  const entries: Entry[] = [];
  let texts: Record<string, string> = {};
  let open = "";
  const parser = sax.parser(true);
  parser.onopentag = ({ name }) => {
    open = name;
    if (name === "url") texts = {};
  };
  parser.ontext = (text) => {
    texts[open] = (texts[open] ?? "") + text;
  };
  parser.oncdata = parser.ontext;
  parser.onclosetag = (name) => {
    open = "";
    const { loc = "", lastmod = "" } = texts;
    if (name === "url") entries.push({ loc: loc.trim(), lastmod: lastmod.trim() });
  };
  parser.onerror = (error) => {
    throw error;
  };
  parser.write(xml).close();
  return entries;
}
