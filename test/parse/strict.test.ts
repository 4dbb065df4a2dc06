// `strict` against saxes, a parser that checks well-formedness and namespaces: both accept or both refuse. The cases are those of the
// XML specifications: characters, comments, instructions, sections, references, names, attributes and reserved prefixes.
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";
import { some } from "../support/long.ts";
import { mutateText } from "../support/mutate.ts";
import { parsed, parsePieces } from "../support/parsed.ts";
import { Random } from "../support/random.ts";
import { words } from "../support/words.ts";

const root = (content: string, attributes = "") =>
  `<urlset${attributes}><url><loc>https://e.example/1</loc></url>${content}</urlset>`;

function isWellFormed(text: string): boolean {
  let isFine = true;
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", () => {
    isFine = false;
  });
  try {
    parser.write(text).close();
  } catch {
    return false;
  }
  return isFine;
}

const list = (text: string) => text.split(" | ").map((content) => root(content));

// One of our limits also ends a document.
const isAccepted = (codes: readonly string[]) =>
  !codes.some((code) => /^(?:xml-not-well-formed|xml-truncated|limit-)/.test(code));

const odd = ["\u0000", "\u0001", "\u0008", "\u000b", "\u001f", "\ufffe", "\uffff", "\u007f", "\u0085", "\u2028", "😀"];
const cases: readonly string[] = [
  ...odd.map((character) => root(`<!-- ${character} -->`)),
  ...odd.map((character) => root(`<?a ${character}?>`)),
  ...odd.map((character) => root(`<x><![CDATA[${character}]]></x>`)),
  ...odd.map((character) => root(`<x>${character}</x>`)),
  ...odd.map((character) => root(`<url><loc>/${character}</loc></url>`)),
  ...odd.map((character) => root(`<x a="${character}"/>`)),
  ...odd.map((character) => root(`<x${character}/>`)),
  ...list("<?xml?> | <?XML a?> | <?xml version='1.0'?> | <?a:b c?> | <?1 a?> | <??> | <? a?> | <?a?> | <?a b?> | <?a"),
  ...list("<?b-c d?e?> | <?XmL c?> | <?xml-stylesheet href='x'?> | <!ELEMENT a> | <!-- \u{1f332} - \u0085 -->"),
  ...list("<!-- -- --> | <!-- a ---> | <!----> | <!---> | <!-- a --!> | <!-- - --> | <!- | <!-- a -- b --> | <!-- "),
  ...words("&a; &#0; &#x1; &#xFFFE; &#x110000; &#xD800; &#65; &#x41; &amp; & &; &#; &#x; &lt &nbsp;").flatMap(
    (text) => [root(`<x>${text}</x>`), root(`<url><loc>/${text}</loc></url>`), root(`<x a="${text}"/>`)],
  ),
  ...[
    ...["xmlns:xml='urn:x'", "xmlns:xml='http://www.w3.org/XML/1998/namespace'", "xmlns:xmlns='urn:x'", "xmlns:a=''"],
    ...["xmlns=''", "xmlns:a='http://www.w3.org/2000/xmlns/'", "xmlns='http://www.w3.org/XML/1998/namespace'"],
    ...[
      "xmlns:a='http://www.w3.org/XML/1998/namespace'",
      "a:b='c'",
      "xml:lang='de'",
      "a='1' a='2'",
      "1='a'",
      "a",
      "a=b",
    ],
    ...["xmlns:p='u' xmlns:q='u' p:a='1' q:a='2'", "a='<'", "a='1'b='2'", ":a='1'", "a:='1'", "a:b:c='1'", "a='b & c'"],
    "xmlns:a='u' a:b='c'",
  ].map((attributes) => root(`<x ${attributes}/>`)),
  ...list("<a:b/> | <xmlns:b/> | <xml:b/> | <:b/> | <a:/> | <a:b:c xmlns:a='u'/> | <1/> | <-/> | <a.b-c_1/> | <a%b/>"),
  ...list("<é/> | <a b> | <x></y> | <x></X> | <x></x b='c'> | </x> | <x | ]]> | <x>]]></x> | < x/> | <x>a < b</x>"),
  ...[
    ...[
      "<?xml version='1.0'?>",
      "<?xml version='2.0'?>",
      "<?xml version='1.0' encoding='1'?>",
      " <?xml version='1.0'?>",
    ],
    ...["<?xml encoding='UTF-8'?>", "<?xml version='1.0' standalone='maybe'?>", "<?xml version='1.0'>", "x"],
    ...[
      "<?xml encoding='UTF-8' version='1.0'?>",
      "<?xml version='1.0' a='b'?>",
      "<?xml version='1.0' standalone='no'?>",
    ],
    "<?xml\tversion = '1.1' encoding='iso-8859-1'\n standalone = \"yes\" ?>",
  ].map((before) => before + root("")),
  ...["x", "<x/>", "<!-- a -->", "<?a b?>", " \n", "&amp;", "<![CDATA[a]]>", "\u0000"].map((after) => root("") + after),
];

describe("strict", () => {
  test("agrees with saxes in every case", () => {
    const different = cases
      .map((text) => ({ text, ours: isAccepted(parsed(text, { strict: true }).codes), saxes: isWellFormed(text) }))
      .filter(({ ours, saxes }) => ours !== saxes);
    expect(different).toEqual([]);
  });

  const places = {
    "an instruction": (text: string) => `<urlset><?a ${text}?></urlset>`,
    "an instruction before the root": (text: string) => `<?xml-stylesheet ${text}?><urlset/>`,
    "a CDATA section that nobody wants": (text: string) => `<urlset><x><![CDATA[${text}]]></x></urlset>`,
    "a CDATA section": (text: string) => root(`<url><loc><![CDATA[https://example.org/${text}]]></loc></url>`),
    "a comment": (text: string) => `<urlset><!--${text}--></urlset>`,
    "a comment after the root": (text: string) => `<urlset/><!--${text}-->`,
    "a document type declaration": (text: string) => `<!DOCTYPE urlset SYSTEM "${text}"><urlset/>`,
    "a value": (text: string) => `<urlset><x y="${text}"/></urlset>`,
    "a text": (text: string) => `<urlset>${text}</urlset>`,
  };

  test.each(Object.entries(places))("refuses characters that XML does not allow in %s", (_, write) => {
    for (const text of ["\ud800", "\udc00", "\ud800x", "\udc00\ud800", "\u0001", "\ufffe", "\ud83d", "x\ud83d"]) {
      expect({ text, codes: parsed(write(text), { strict: true }).codes }).toMatchObject({
        codes: expect.arrayContaining(["xml-not-well-formed"]),
      });
    }
    expect(isAccepted(parsed(write("😀"), { strict: true }).codes)).toBe(true);
  });

  test("reports nothing after the first error, however the document is split", () => {
    for (const after of ["<a b c='<'/>", "<![CDATA[\u0001]]>", "<!x>", "</a b>", `<a b="${"c".repeat(300)}<d"/>`]) {
      const { codes } = parsed(`<urlset></urlset>${after}${" ".repeat(300)}`, { strict: true });
      expect({ after, codes }).toMatchObject({ codes: expect.not.arrayContaining(["xml-malformed-tag"]) });
    }
  });

  test("refuses malformed text between entries, however the document is split", () => {
    for (const flaw of ["words & more ]]> words", "words ]]> words", "words & words", "<?a?b?>"]) {
      const { codes } = parsed(`<urlset>${flaw}<url><loc>https://example.org/1</loc></url></urlset>`, { strict: true });
      expect(codes).toContain("xml-not-well-formed");
    }
  });

  test("lists the URLs between entries up to the first error, however the document is split", () => {
    for (const flaw of [
      "&#xD800;https://example.org/2",
      "https://example.org/2?a&b",
      "https://example.org/]]>",
      "\u0001",
    ]) {
      for (const after of ["<x/>", ""]) {
        const text = `<urlset> https://example.org/1 ${flaw} https://example.org/3 ${after}`;
        const { pages, codes } = parsed(text, { strict: true });
        expect({ flaw, urls: pages.map(({ url }) => url) }).toEqual({ flaw, urls: ["https://example.org/1"] });
        expect(codes).toContain("xml-not-well-formed");
      }
    }
  });

  test("refuses every mutated document that saxes refuses", () => {
    const different: string[] = [];
    for (let number = 0; number < some(1500, 600); number++) {
      const random = new Random(number);
      const text = mutateText(random.pick(cases), cases, random);
      if (!/^\s*<(?:\?xml\s|urlset)/.test(text) || text.includes("<!DOCTYPE")) continue;
      const { codes, outcome } = parsePieces([text], { strict: true });
      if (outcome.kind !== "invalid" && isAccepted(codes) && !isWellFormed(text)) different.push(text);
    }
    expect(different).toEqual([]);
  });
});
