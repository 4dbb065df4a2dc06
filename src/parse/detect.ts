// What a document is, by its first characters. The URL only decides where the content does not: for robots.txt.
//   Lenient: white space and byte order marks before the document are skipped.
//   Lenient: text before an XML document, such as the warning of a program, is skipped.

/** `from` is where the document begins; for XML and text only. */
export type Detected =
  | { readonly as: "xml"; readonly from: number; readonly hasJunk: boolean }
  | { readonly as: "robots" | "text" }
  | { readonly as: "nothing"; readonly what: "json" | "binary" | "pdf" | "image" | "archive" }
  | { readonly as: "empty" };

/** How many characters are looked at, from the first that is not blank. */
const detectionLength: number = 8192;

/** What the text is the beginning of. `isRobots`: the document's URL is that of a robots.txt. Undefined: more is needed. */
export function detect(start: string, isRobots: boolean, isWhole: boolean): Detected | undefined {
  const from = firstCharacter(start);
  if (from === start.length) {
    if (!isWhole) return undefined;
    return isRobots ? { as: "robots" } : { as: "empty" };
  }
  if (start[from] === "<") return { as: "xml", from, hasJunk: false };
  if (isRobots) return { as: "robots" };
  if (!isWhole && start.length - from < detectionLength) return undefined;
  const text = start.slice(from, from + detectionLength);
  const what = otherFormat(text);
  if (what !== undefined) return { as: "nothing", what };
  const xml = text.search(xmlStart);
  return xml === -1 ? { as: "text" } : { as: "xml", from: from + xml, hasJunk: true };
}

/** The index of the first character that is neither white space nor a byte order mark. */
function firstCharacter(text: string): number {
  let at = 0;
  while (at < text.length && blank.test(text[at]!)) at++;
  return at;
}

function otherFormat(text: string): "json" | "binary" | "pdf" | "image" | "archive" | undefined {
  for (const [what, pattern] of signatures) if (pattern.test(text)) return what;
  return isBinary(text) ? "binary" : undefined;
}

// Control characters that no text has, and bytes that are no characters.
function isBinary(text: string): boolean {
  const sample = text.slice(0, 1024);
  let odd = 0;
  for (let at = 0; at < sample.length; at++) {
    const code = sample.charCodeAt(at);
    if (code < 0x09 || (code > 0x0d && code < 0x20 && code !== 0x1b) || code === 0xfffd) odd++;
  }
  return odd * 10 > sample.length;
}

const blank = /[\s\ufeff\u0000]/;
// The beginnings of an XML document. `<feed` and `<rss` alone would also be words of a text.
const xmlStart = /<(?:\?xml\s|!doctype\s|(?:[a-z][\w-]{0,30}:)?(?:urlset|sitemapindex|rss|feed|rdf|html)[\s>])/i;
const signatures = [
  ["json", /^(?:\{\s*(?:"|\})|\[\s*(?:["{[\]\d]))/],
  ["pdf", /^%PDF-/],
  ["image", /^(?:.PNG\r?\n|GIF8[79]a|\ufffd{3,4}.{0,4}(?:JFIF|Exif)|RIFF.{4}WEBP)/s],
  ["archive", /^(?:PK\u0003\u0004|Rar!|7z\ufffd\ufffd|BZh\d)/],
] as const;
