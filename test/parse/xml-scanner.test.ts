import fc from "fast-check";
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { ProblemLog } from "../../src/model/problem.ts";
import type { XmlHandler } from "../../src/parse/xml/names.ts";
import { XmlScanner } from "../../src/parse/xml/scanner.ts";
import { inEveryCut } from "../support/cuts.ts";
import { some } from "../support/long.ts";

/** The events of a scanner: elements open with their attributes, and close with their own text. */
type Event =
  | { type: "open"; namespace: string; local: string; attributes: Record<string, string> }
  | { type: "close"; local: string; text: string | undefined };

function scan(pieces: string[], strict = false) {
  const events: Event[] = [];
  const open: string[] = [];
  const texts: (string | undefined)[] = [];
  const problems = new ProblemLog();
  const handler: XmlHandler = {
    open({ namespace, local }, attributes) {
      const entries = Array.from({ length: attributes.count }, (_, n) => [attributes.name(n), attributes.value(n)]);
      events.push({ type: "open", namespace, local, attributes: Object.fromEntries(entries) });
      open.push(local);
      return true;
    },
    text: ({ value }) => void texts.push(value),
    close: () => void events.push({ type: "close", local: open.pop()!, text: texts.pop() }),
  };
  const scanner = new XmlScanner(handler, { limits: defaultLimits, strict, problems });
  for (const piece of pieces) scanner.write(piece);
  scanner.end();
  return { events, codes: problems.toArray().map(({ code }) => code) };
}

function scanBySaxes(document: string): Event[] {
  const events: Event[] = [];
  const texts: string[] = [];
  const parser = new SaxesParser({ xmlns: true });
  parser.on("opentag", (tag) => {
    const entries = Object.values(tag.attributes).map(({ name, value }) => [name, value]);
    events.push({ type: "open", namespace: tag.uri, local: tag.local, attributes: Object.fromEntries(entries) });
    texts.push("");
  });
  const add = (text: string) => {
    if (texts.length > 0) texts[texts.length - 1] += text;
  };
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("closetag", (tag) => {
    events.push({ type: "close", local: tag.local, text: texts.pop() });
  });
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(document).close();
  return events;
}

// Documents that are well-formed and have no document type declaration.
const space = fc.constantFrom("", " ", "\n", "\r\n", "\t ");
const word = fc.constantFrom("a", "b", "url", "loc", "lastmod", "x-y", "é", "_z", "n1");
const scraps = ["\n", "\r\n", "\r", ..."x é😀'\"ß>", "&amp;", "&lt;", "&#65;", "&#x1F600;", "] "];
const text = fc.array(fc.constantFrom(...scraps), { maxLength: 6 }).map((parts) => parts.join(""));
const misc = fc.constantFrom(
  "<!-- c -->",
  "<!---->",
  "<?pi d?>",
  "<?pi?>",
  "<![CDATA[a < b & c ]] > d]]>",
  "<![CDATA[]]>",
  "<![CDATA[\r\n]]>",
);
const attribute = fc
  .record({
    name: fc.constantFrom("href", "rel", "a", "xml:lang", "p:q"),
    value: fc.constantFrom("", "v", "a &amp; b", "x\ny", "\t", "&#10;", ">", "/", "it's", "é"),
    space,
  })
  .map(({ name, value, space }) => [name, ` ${space}${name}${space}=${space}"${value}"`] as const);
const declaration = fc.constantFrom('xmlns="urn:1"', 'xmlns=""', 'xmlns:p="urn:2"', 'xmlns:p="urn:3"', "");

const { element } = fc.letrec((tie) => ({
  element: fc
    .record({
      prefix: fc.constantFrom("", "", "p:"),
      name: word,
      attributes: fc.uniqueArray(attribute, { maxLength: 3, selector: ([name]) => name }),
      declaration,
      space,
      empty: fc.boolean(),
      content: fc.array(fc.oneof({ depthSize: "small" }, text, misc, tie("element")), { maxLength: 5 }),
    })
    .map(({ prefix, name, attributes, declaration, space, empty, content }) => {
      const tag = `${prefix}${name}${attributes.map(([, raw]) => raw).join("")}${declaration && ` ${declaration}`}${space}`;
      return empty ? `<${tag}/>` : `<${tag}>${content.join("")}</${prefix}${name}${space}>`;
    }),
}));
const document = fc
  .record({ head: fc.constantFrom("", '<?xml version="1.0"?>', "<!-- c -->\n"), element, tail: space })
  .map(({ head, element, tail }) => `${head}<p:root xmlns:p="urn:0">${element}${element}</p:root>${tail}`);

describe("well-formed documents without a document type declaration", () => {
  test("give the same elements, attributes and texts as saxes, and no problems", () => {
    fc.assert(
      fc.property(document, fc.array(fc.nat({ max: 200 }), { maxLength: 5 }), (xml, cuts) => {
        const places = [0, ...cuts.filter((cut) => cut < xml.length).sort((a, b) => a - b), xml.length];
        const pieces = places.slice(1).map((end, index) => xml.slice(places[index], end));
        const { events, codes } = scan(pieces);
        expect(codes).toEqual([]);
        expect(events).toEqual(scanBySaxes(xml));
      }),
      { numRuns: some(500) },
    );
  });

  test("are also accepted by `strict`", () => {
    fc.assert(
      fc.property(document, (xml) => {
        expect(scan([xml], true).codes).toEqual([]);
        expect(scan([...xml], true).codes).toEqual([]);
      }),
      { numRuns: some(200) },
    );
  });
});

test("prefixes can be redeclared and undeclared, and go out of scope with their element", () => {
  const xml = `<a xmlns="urn:1" xmlns:p="urn:2"><p:b xmlns:p="urn:3"><p:c/><d xmlns=""/></p:b><p:e/><f/></a>`;
  const { events } = inEveryCut(xml, (pieces) => scan(pieces));
  const opened = events.flatMap((event) => (event.type === "open" ? [`${event.namespace} ${event.local}`] : []));
  expect(opened).toEqual(["urn:1 a", "urn:3 b", "urn:3 c", " d", "urn:2 e", "urn:1 f"]);
});
