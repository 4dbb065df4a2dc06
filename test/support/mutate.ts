// Documents as websites break them: bytes that change, pieces that are lost, repeated, moved or mixed up, and markup where none
// was expected.
import type { Random } from "./random.ts";
import { words } from "./words.ts";

/** Returns a document, changed in one to six places. Foreign pieces come from `others`. */
export function mutateText(text: string, others: readonly string[], random: Random): string {
  let mutated = text;
  for (let count = random.below(6); count >= 0; count--) {
    mutated = random.pick(mutations)(mutated, random, random.pick(others));
    // Repeated repetitions grow fast.
    if (mutated.length > maxLength) mutated = mutated.slice(0, maxLength);
  }
  return mutated;
}

/** Bytes, changed in one to four places. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const mutated = [...bytes];
  for (let count = random.below(4); count >= 0 && mutated.length > 0; count--) {
    const at = random.below(mutated.length);
    const length = random.below(20);
    switch (random.below(6)) {
      case 0:
        mutated[at] = random.below(256);
        break;
      case 1:
        mutated[at] = (mutated[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 2:
        mutated.splice(at, length);
        break;
      case 3:
        mutated.splice(at, 0, ...Array.from({ length }, () => random.below(256)));
        break;
      case 4:
        mutated.splice(at, 0, ...mutated.slice(random.below(at + 1), at + length));
        break;
      case 5:
        mutated.length = at;
    }
  }
  return Uint8Array.from(mutated);
}

type Mutation = (text: string, random: Random, other: string) => string;

const maxLength = 12_000;

const mutations: readonly Mutation[] = [
  // A character changes, a piece is lost, repeated, moved, or comes from elsewhere.
  (text, random) => replace(text, random.below(text.length + 1), 1, character(random)),
  (text, random) => replace(text, random.below(text.length + 1), random.below(40), ""),
  (text, random) => {
    const [from, to] = piece(text, random);
    return replace(text, to, 0, text.slice(from, to).repeat(1 + random.below(3)));
  },
  (text, random) => {
    const [from, to] = piece(text, random);
    return replace(replace(text, from, to - from, ""), random.below(text.length), 0, text.slice(from, to));
  },
  (text, random, other) =>
    replace(text, random.below(text.length + 1), random.below(20), other.slice(...piece(other, random))),
  (text, random) => text.slice(0, random.below(text.length + 1)),
  (text, random) => text.slice(random.below(text.length + 1)),
  (text, random) => replace(text, random.below(text.length + 1), random.below(3), random.pick(tokens)),
  (text, random) => replace(text, random.below(text.length + 1), 0, random.pick(tokens).repeat(1 + random.below(400))),
  // Replaces, drops, opens or closes tags of the document.
  (text, random) => atTag(text, random, (tag, tags) => (tag === "" ? "" : random.pick(tags))),
  (text, random) => atTag(text, random, () => ""),
  (text, random) => atTag(text, random, (tag) => tag + tag),
  (text, random) =>
    atTag(text, random, (tag) => (tag.startsWith("</") ? tag.replace("/", "") : tag.replace("<", "</"))),
  (text, random) => atTag(text, random, (tag) => tag.toUpperCase()),
  (text, random) => atTag(text, random, (tag) => tag.slice(0, random.below(tag.length + 1))),
  (text, random) => atTag(text, random, (tag) => tag.repeat(1 + random.below(400))),
  (text, random) =>
    atTag(text, random, (tag) => tag.replace(/\s|>/, ` ${random.pick(tokens)}="${random.pick(tokens)}" `)),
  // Changes the values of the document.
  (text, random) => text.replace(/>[^<>]+</, `>${random.pick(values)}<`),
  (text, random) => replaceOne(text, /[^\s<>"']+/g, random, () => random.pick(values)),
  (text, random) =>
    replaceOne(text, /xmlns(?::\w+)?="[^"]*"/g, random, () =>
      random.pick(["", 'xmlns=""', 'xmlns="x"', 'xmlns:a="b"']),
    ),
  (text) => text.replaceAll("\n", "\r"),
  (text) => text.replaceAll(/\s+/g, ""),
  (text, random) => random.pick(tokens) + text,
  (text, random) => text + random.pick(tokens),
];

/** Pieces that break a document wherever they are. */
export const tokens: readonly string[] = [
  ..."<>&;\"'=/?!-[]#%:@ \t\r\n\f\0\u0001\u007f\u0085\u00a0\u200b\u2028\ufeff\ufffd\ud800\udc00é日",
  ...words(`
    </ /> <!-- --> -- <![CDATA[ ]]> <? ?> <!DOCTYPE <! <x <x> </x> <x/> <url> </url> <loc> </loc> <urlset> </urlset> <sitemapindex>
    <rss> <feed> <html> <item> <entry> <a:b:c> <:a> & &amp; &amp;amp; &#0; &#x110000; &#xD800; &#99999999999999999999; &#x &eacute;
    &a; http:// https://example.org/x // javascript: __proto__ constructor xmlns xmlns:xml xml:base Sitemap: \u{1f333}
  `),
  ...[
    "<?xml version='1.0'?>",
    "<!DOCTYPE urlset>",
    "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    "User-agent: *",
    "Crawl-delay: 1e9",
  ],
  ...["x".repeat(3000), "\n".repeat(50), " ".repeat(200)],
];

/** What elements and attributes may hold. */
export const values: readonly string[] = [
  ...words(`
    0 -1 1e309 NaN 0,5 2024-02-30 2024-05-01T24:00:00Z 01/02/2024 yesterday ALWAYS yes toString &lt;loc&gt; https://example.org/
    https:// http://[::1 / .. ? # ftp://x/ https://a@b@c/
  `),
  ...["", " ", "https://example.org/a b"],
  ...[`https://example.org/${"x".repeat(2100)}`, `https://example.org/${"y".repeat(8200)}`],
];

function character(random: Random): string {
  return random.below(2) === 0
    ? random.pick(tokens)
    : String.fromCharCode(random.below(random.below(8) === 0 ? 0x10000 : 0x80));
}

function piece(text: string, random: Random): [from: number, to: number] {
  const from = random.below(text.length + 1);
  return [from, Math.min(text.length, from + random.below(200))];
}

function replace(text: string, at: number, length: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + length);
}

function replaceOne(text: string, pattern: RegExp, random: Random, by: (found: string) => string): string {
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) return text;
  const { index, 0: whole } = random.pick(found);
  return replace(text, index, whole.length, by(whole));
}

function atTag(text: string, random: Random, by: (tag: string, tags: readonly string[]) => string): string {
  const tags = text.match(/<[^<>]*>/g) ?? [""];
  return replaceOne(text, /<[^<>]*>/g, random, (tag) => by(tag, tags));
}
