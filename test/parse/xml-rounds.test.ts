// Entries that are alike are read in a shortcut. Whatever comes between them, the result must be that of reading each alone.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePieces, urlset } from "../support/parsed.ts";

const field = fc.constantFrom(
  "<lastmod>2024-01-02</lastmod>",
  "<lastmod/>",
  "<lastmod>&#0;</lastmod>",
  "<changefreq>daily</changefreq>",
  "<priority>0.3</priority>",
  "<priority>&amp;</priority>",
  '<xhtml:link rel="alternate" hreflang="de" href="https://example.org/de?a&amp;b"/>',
  '<xhtml:link rel="alternate" hreflang="fr" href="https://example.org/fr"></xhtml:link>',
  '<xhtml:link rel="alternate" hreflang="it" href="https://example.org/it" xmlns:y="urn:y"/>',
  "<image:image><image:loc>https://example.org/i.jpg</image:loc><image:title><![CDATA[a & b]]></image:title></image:image>",
  "<news:news><news:title>a &amp;lt; b</news:title></news:news>",
  '<news:news xmlns:news="urn:other"><news:title>T</news:title></news:news>',
  '<x:news xmlns:x="http://www.google.com/schemas/sitemap-news/0.9"><x:title>X</x:title></x:news>',
  "<unknown><loc>https://no.example/</loc></unknown>",
  "<!-- c -->",
  "text",
  "<stray",
  "</stray>",
  "<url>",
);
const shape = fc.record({
  fields: fc.array(field, { maxLength: 4 }),
  space: fc.constantFrom("", "\n", "\n  ", "\r\n"),
  open: fc.constantFrom("<url>", "<url>", "<url>", '<url a="b">', '<url xmlns="">', "<wrap><url>", "<urlset><url>"),
});

// Each run of entries has one shape, so that the shortcut is taken, and shapes change in between.
const runs = fc.array(fc.record({ shape, times: fc.integer({ min: 1, max: 6 }) }), { minLength: 1, maxLength: 5 });

function build(list: { shape: { fields: string[]; space: string; open: string }; times: number }[]): string[] {
  let number = 0;
  return list.flatMap(({ shape: { fields, space, open }, times }) =>
    Array.from({ length: times }, () => {
      const close = open.startsWith("<wrap>")
        ? "</url></wrap>"
        : open.startsWith("<urlset>")
          ? "</url></urlset>"
          : "</url>";
      const loc = `<loc>https://example.org/${number++}</loc>`;
      return [open, loc, ...fields, close].join(space);
    }),
  );
}

test("runs of entries that are alike give what one character at a time gives", () => {
  fc.assert(
    fc.property(runs, fc.integer({ min: 1, max: 400 }), (list, size) => {
      const text = urlset(...build(list));
      const whole = parsePieces([text]);
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, n) =>
        text.slice(n * size, (n + 1) * size),
      );
      expect(parsePieces(pieces)).toEqual(whole);
      // No shortcut is longer than a piece of one character.
      expect(parsePieces([...text])).toEqual(whole);
    }),
    { numRuns: 500 },
  );
});

test("an entry is read alike, whatever entries came before it", () => {
  fc.assert(
    fc.property(runs, shape, (list, last) => {
      const before = list.map((run) => ({ ...run, shape: { ...run.shape, fields: closed(run.shape.fields) } }));
      const alone = { ...last, fields: closed(last.fields) };
      const entries = build([...before, { shape: alone, times: 3 }]);
      const all = parsePieces([urlset(...entries)]).pages;
      const tail = parsePieces([urlset(...entries.slice(-3))]).pages;
      expect(tail.length === 0 ? [] : all.slice(-tail.length)).toEqual(tail);
    }),
    { numRuns: 500 },
  );
});

// Without fields that leave something open.
function closed(fields: string[]): string[] {
  return fields.filter((text) => text !== "<url>" && text !== "<stray" && text !== "</stray>");
}
