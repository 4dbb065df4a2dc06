// The format of a document, by its first characters. The URL matters only for robots.txt.
//   Lenient: text before an XML document, such as the warning of a program, is skipped.

/** `from` is where the document begins. */
export type Detected =
  | { readonly as: "xml"; readonly from: number }
  | { readonly as: "text" }
  /** `what`: the format that it resembles, in case it has no line of a robots.txt. */
  | { readonly as: "robots"; readonly what?: string }
  | { readonly as: "nothing"; readonly what: "json" | "binary" | "pdf" | "image" | "archive" }
  | { readonly as: "empty" };

/** How many characters are examined. */
const detectionLength: number = 8192;

/**
 * The format of a document that begins with this text, without leading blanks. `isRobots`: its URL is that of a
 * robots.txt. Undefined if more text is needed.
 */
export function detect(start: string, isRobots: boolean, isWhole: boolean): Detected | undefined {
  if (start === "") {
    if (!isWhole) return undefined;
    return isRobots ? { as: "robots" } : { as: "empty" };
  }
  const isMarkup = start.startsWith("<");
  if (isMarkup && !isRobots) return { as: "xml", from: 0 };
  if (!isWhole && start.length < detectionLength) return undefined;
  const text = start.slice(0, detectionLength);
  // Lenient: a robots.txt may begin with markup, such as the warning of a program.
  if (isRobots && isMarkup) {
    return sitemapStart.test(text) ? { as: "xml", from: 0 } : { as: "robots", what: nameOfMarkup(text) };
  }
  const what = otherFormat(text);
  if (isRobots) return what === undefined ? { as: "robots" } : { as: "robots", what };
  if (what !== undefined) return { as: "nothing", what };
  const from = text.search(xmlStart);
  return from === -1 ? { as: "text" } : { as: "xml", from };
}

// The name of the first tag, usually that of an HTML page.
function nameOfMarkup(text: string): string {
  const name = /<!doctype\s+([a-z]+)|<([a-z]+)/i.exec(text);
  return (name?.[1] ?? name?.[2] ?? "markup").toLowerCase();
}

function otherFormat(text: string): "json" | "binary" | "pdf" | "image" | "archive" | undefined {
  for (const [what, pattern] of signatures) if (pattern.test(text)) return what;
  return isBinary(text) ? "binary" : undefined;
}

// Control characters that no text has, and the replacement character.
function isBinary(text: string): boolean {
  const sample = text.slice(0, 1024);
  let odd = 0;
  for (let at = 0; at < sample.length; at++) {
    const code = sample.charCodeAt(at);
    if (code < 0x09 || (code > 0x0d && code < 0x20 && code !== 0x1b) || code === 0xfffd) odd++;
  }
  return odd * 10 > sample.length;
}

// The first tags of an XML document. `<feed` and `<rss` alone could also be words of a text.
const xmlStart = /<(?:\?xml\s|!doctype\s|(?:[a-z][\w-]{0,30}:)?(?:urlset|sitemapindex|rss|feed|rdf|html)[\s>])/i;
const sitemapStart = /<(?:\?xml\s|(?:[a-z][\w-]{0,30}:)?(?:urlset|sitemapindex|rss|feed|rdf)[\s>])/i;
const signatures = [
  ["json", /^(?:\{\s*(?:"|\})|\[\s*(?:["{[\]\d]))/],
  ["pdf", /^%PDF-/],
  ["image", /^(?:.PNG\r?\n|GIF8[79]a|\ufffd{3,4}.{0,4}(?:JFIF|Exif)|RIFF.{4}WEBP)/s],
  ["archive", /^(?:PK\u0003\u0004|Rar!|7z\ufffd\ufffd|BZh\d)/],
] as const;
