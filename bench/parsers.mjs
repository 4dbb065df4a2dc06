// Who parses in `npm run bench`, each as a function from a document to the number of its pages. Tokenisers get handlers that do
// nothing but count, so that no work is spared because nobody listens; the others give their entries with all their fields.
import { Readable } from "node:stream";
import { distModule } from "./setup.mjs";

/**
 * `bar` is how many times as fast ours has to be. Tokenisers are held to it with namespaces, because ours has them; without, they
 * are shown for comparison. `input` is what the parser is handed: `texts` and `bytes` come in pieces of 64 KB, `text` is the
 * whole document as a string.
 */
export const parsers = {
  parseSitemap: { input: "text", yields: "pages", load: loadOwnParser },
  streamPages: { input: "bytes", yields: "pages", load: loadOwnReader },
  saxes: { input: "texts", yields: "tokens", bar: 1.5, load: () => loadSaxes(true) },
  "saxes, no namespaces": { input: "texts", yields: "tokens", load: () => loadSaxes(false) },
  sax: { input: "texts", yields: "tokens", bar: 4, load: () => loadSax(true) },
  "sax, no namespaces": { input: "texts", yields: "tokens", load: () => loadSax(false) },
  htmlparser2: { input: "texts", yields: "tokens", load: loadHtmlparser2 },
  sitemap: { input: "bytes", yields: "pages", bar: 10, load: loadSitemap },
  sitemapd: { input: "bytes", yields: "pages", bar: 10, load: loadSitemapd },
  "fast-xml-parser": { input: "text", yields: "objects", load: loadFastXmlParser },
};

const url = "https://www.example.org/sitemap.xml";
const unlimited = { documentBytes: Number.POSITIVE_INFINITY };

async function loadOwnParser() {
  const { parseSitemap } = await distModule("index.js");
  return (text) => parseSitemap(text, { url, limits: unlimited }).pages.length;
}

// From bytes to pages: compression, character set and format are found out as well, and nothing is kept.
async function loadOwnReader() {
  const { streamPages } = await distModule("index.js");
  return async (pieces) => {
    const client = { request: async () => ({ status: 200, headers: [], body: Readable.from(pieces) }) };
    let pages = 0;
    for await (const _page of streamPages({ sitemaps: [url] }, { client, limits: unlimited })) pages++;
    return pages;
  };
}

async function loadSaxes(xmlns) {
  const { SaxesParser } = await import("saxes");
  return (texts) => {
    const parser = new SaxesParser({ xmlns });
    let pages = 0;
    let others = 0;
    parser.on("opentag", (tag) => {
      if (tag.name === "url") pages++;
    });
    for (const event of ["closetag", "text", "cdata"]) parser.on(event, () => others++);
    parser.on("error", throwIt);
    for (const text of texts) parser.write(text);
    parser.close();
    return pages;
  };
}

async function loadSax(xmlns) {
  const { default: sax } = await import("sax");
  return (texts) => {
    const parser = sax.parser(true, { xmlns });
    let pages = 0;
    let others = 0;
    parser.onopentag = (tag) => {
      if (tag.name === "url") pages++;
    };
    parser.onclosetag = parser.ontext = parser.oncdata = () => others++;
    parser.onerror = throwIt;
    for (const text of texts) parser.write(text);
    parser.close();
    return pages;
  };
}

// It knows no namespaces: names come with their prefixes.
async function loadHtmlparser2() {
  const { Parser } = await import("htmlparser2");
  return (texts) => {
    let pages = 0;
    let others = 0;
    const parser = new Parser(
      {
        onopentag(name) {
          if (name === "url") pages++;
        },
        onclosetag: () => others++,
        ontext: () => others++,
      },
      { xmlMode: true },
    );
    for (const text of texts) parser.write(text);
    parser.end();
    return pages;
  };
}

async function loadSitemap() {
  const { XMLToSitemapItemStream } = await import("sitemap");
  return async (pieces) => {
    let pages = 0;
    for await (const _item of Readable.from(pieces).pipe(new XMLToSitemapItemStream({ logger: false }))) pages++;
    return pages;
  };
}

async function loadSitemapd() {
  const { parseSitemap } = await import("sitemapd/parse");
  return async (pieces) => {
    let pages = 0;
    const limits = { maxDecodedBytes: Number.MAX_SAFE_INTEGER, maxEntries: Number.MAX_SAFE_INTEGER };
    for await (const event of parseSitemap(pieces, limits)) if (event._tag === "url") pages++;
    return pages;
  };
}

// With the options that sitemapper 4.1.6 gives it.
async function loadFastXmlParser() {
  const { XMLParser } = await import("fast-xml-parser");
  return (text) => {
    const isArray = (name) => name === "sitemap" || name === "url";
    return new XMLParser({ isArray, removeNSPrefix: true }).parse(text).urlset.url.length;
  };
}

function throwIt(error) {
  throw error;
}
