// Maps namespaces to vocabularies. Formats are matched by namespace and local name, regardless of the prefix.
//   Lenient: common wrong namespaces, and missing ones, count as the right ones.
import type { XmlName } from "./xml/names.ts";

/** A set of element names that belong together. */
export type Vocabulary = "sitemap" | "news" | "image" | "video" | "xhtml" | "rss" | "rdf" | "atom" | "dc" | "foreign";

export interface Resolved {
  readonly vocabulary: Vocabulary;
  /** Whether the namespace is exactly the one that the format requires. */
  readonly exact: boolean;
}

/**
 * Returns the vocabulary of an element. `own` is the vocabulary of the document's root, `ownNamespace` its namespace: elements
 * of that namespace, and elements without a prefix, belong to `own` unless their namespace says otherwise.
 */
export function vocabularyOf(name: XmlName, own: Vocabulary, ownNamespace: string): Resolved {
  const known = knownVocabulary(name.namespace);
  // Lenient: the root may have the namespace of another format, or inherit that of an HTML page.
  if (known?.vocabulary !== own && name.prefix === "" && name.namespace === ownNamespace && known !== undefined) {
    return { vocabulary: own, exact: false };
  }
  if (known !== undefined) return known;
  // RSS has no namespace: https://www.rssboard.org/rss-specification
  if (name.namespace === "" && name.bound && own === "rss") return { vocabulary: "rss", exact: true };
  if (name.prefix === "") return { vocabulary: own, exact: name.namespace === ownNamespace && own === "rss" };
  // Lenient: a usual prefix without a declaration, or with a wrong one.
  const usual = usualPrefixes.get(name.prefix.toLowerCase());
  if (usual !== undefined) return { vocabulary: usual, exact: false };
  if (name.namespace === ownNamespace) return { vocabulary: own, exact: false };
  return { vocabulary: "foreign", exact: true };
}

export function knownVocabulary(namespace: string): Resolved | undefined {
  if (namespace === "") return undefined;
  const exact = namespaces.get(namespace);
  if (exact !== undefined) return { vocabulary: exact, exact: true };
  const normal = normalize(namespace);
  const vocabulary = namespaces.get(normal) ?? mistakes.find(([pattern]) => pattern.test(normal))?.[1];
  return vocabulary === undefined ? undefined : { vocabulary, exact: false };
}

// Undoes common variations: https for http, upper case, white space, a trailing slash, a missing `www`.
function normalize(namespace: string): string {
  if (namespace.length > 200) return "";
  return namespace
    .trim()
    .toLowerCase()
    .replace(/^https:/, "http:")
    .replace(/^http:\/\/(?=sitemaps\.org|google\.com)/, "http://www.")
    .replace(/\/$/, "");
}

const namespaces: ReadonlyMap<string, Vocabulary> = new Map([
  // https://www.sitemaps.org/protocol.html
  ["http://www.sitemaps.org/schemas/sitemap/0.9", "sitemap"],
  // https://developers.google.com/search/docs/crawling-indexing/sitemaps
  ["http://www.google.com/schemas/sitemap-news/0.9", "news"],
  ["http://www.google.com/schemas/sitemap-image/1.1", "image"],
  ["http://www.google.com/schemas/sitemap-video/1.1", "video"],
  ["http://www.w3.org/1999/xhtml", "xhtml"],
  // https://web.resource.org/rss/1.0/spec
  ["http://purl.org/rss/1.0/", "rss"],
  ["http://purl.org/net/rss1.1#", "rss"],
  ["http://my.netscape.com/rdf/simple/0.9/", "rss"],
  ["http://channel.netscape.com/rdf/simple/0.9/", "rss"],
  ["http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf"],
  // https://www.rfc-editor.org/rfc/rfc4287, and its draft 0.3
  ["http://www.w3.org/2005/Atom", "atom"],
  ["http://purl.org/atom/ns#", "atom"],
  ["http://purl.org/dc/elements/1.1/", "dc"],
  ["http://purl.org/dc/terms/", "dc"],
]);

// Common mistakes in the namespaces above: other hosts, versions and files. Compared after `normalize`.
const mistakes: readonly (readonly [RegExp, Vocabulary])[] = [
  [/^http:\/\/www\.(?:google\.com|sitemaps\.org)\/schemas\/(?:sitemap|siteindex|sitemapindex)(?![\w-])/, "sitemap"],
  [/^http:\/\/www\.(?:google\.com|sitemaps\.org)\/schemas\/sitemap-news(?![\w-])/, "news"],
  [/^http:\/\/www\.(?:google\.com|sitemaps\.org)\/schemas\/sitemap-images?(?![\w-])/, "image"],
  [/^http:\/\/www\.(?:google\.com|sitemaps\.org)\/schemas\/sitemap-video(?![\w-])/, "video"],
  [/^http:\/\/www\.w3\.org\/(?:tr\/xhtml1|2002\/08\/xhtml\/)/, "xhtml"],
  [/^http:\/\/(?:purl\.org\/rss\/|(?:my|channel)\.netscape\.com\/rdf\/simple\/)/, "rss"],
  [
    /^http:\/\/(?:backend\.userland\.com|blogs\.law\.harvard\.edu\/tech\/rss|www\.rssboard\.org\/rss-specification)/,
    "rss",
  ],
  [/^http:\/\/(?:www\.w3\.org\/2005\/atom|purl\.org\/atom\/ns)/, "atom"],
  [/^http:\/\/purl\.org\/dc\/(?:elements|terms)/, "dc"],
];

const usualPrefixes: ReadonlyMap<string, Vocabulary> = new Map<string, Vocabulary>([
  ...(["news", "image", "video", "xhtml", "atom", "dc", "rdf", "rss"] as const).map((name) => [name, name] as const),
  ["dcterms", "dc"],
]);
