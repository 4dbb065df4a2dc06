// The tables of problems with a single document: with its bytes, its lines, its XML and its entries. `sitegrove/parse` reports no others.
import { cut, loss, note, type ProblemRows, skipped } from "./problem-row.ts";

// What was received instead of a sitemap. Any other value of `not-a-sitemap` is the name of a root element.
const notSitemaps = {
  html: "Got an HTML page, not a sitemap",
  json: "Got JSON, not a sitemap",
  pdf: "Got a PDF file, not a sitemap",
  image: "Got an image, not a sitemap",
  archive: "Got a zip file or another archive, not a sitemap",
  binary: "Got binary data, not a sitemap",
  "robots.txt": "Got a robots.txt, not a sitemap",
  "text without a URL": "Got text without a URL, not a sitemap",
  "XML without a root": "Got XML without a root element, not a sitemap",
  "a sitemap in place of robots.txt": "A sitemap served at /robots.txt is not accepted",
} as const;

/** A key of the messages of `not-a-sitemap`: a type, so that a misspelled one does not compile. */
export type NotSitemap = keyof typeof notSitemaps;

/** Problems with the bytes of a document: its length, its compression, its character set, and what kind of file it is. */
export const byteProblems: ProblemRows = {
  "body-short": cut("The response is shorter than announced", { temporary: true }),
  "body-reset": cut("The connection broke during the transfer", { temporary: true }),
  "limit-document-bytes": cut("Larger than {limit bytes}; the rest was not read", {
    hint: "(allow more with --max-bytes)",
  }),
  "body-no-length": note("The response has no length, so it may be cut off"),
  "protocol-size": note("Larger than the {limit bytes} that the protocol allows"),
  "coding-truncated": cut("The compressed data is cut off"),
  "coding-trailing": note("Ignored data after the end of the compressed data"),
  "coding-checksum": loss("The checksum of the compressed data is wrong"),
  "coding-damaged": cut("The compressed data is damaged"),
  "limit-encoding-layers": loss("Compressed more than {limit} times"),
  "coding-unknown": loss("Unknown content coding: {value}"),
  "coding-mismatch": note("Announced as {value}, but not compressed that way"),
  "charset-unsupported": loss("Unsupported character set: {value}"),
  "charset-conflict": note("Conflicting character sets: {value}"),
  "charset-invalid": note("Invalid {value}; the bytes were replaced with U+FFFD"),
  empty: loss("The document is empty"),
  "not-a-sitemap": loss("Got XML with the root element {value}, not a sitemap", { messageFor: notSitemaps }),
};

export const lineProblems: ProblemRows = {
  "limit-robots-bytes": cut("robots.txt is larger than {limit bytes}; the rest was not read"),
  "limit-line-length": loss("Skipped a line of more than {limit} characters"),
  "text-junk": skipped("lines that are not URLs")("Skipped a line that is not a URL: {value}"),
  "text-extra": note("Ignored extra text around a URL: {value}"),
  "json-not-well-formed": cut("The JSON is broken or cut off", {
    messageFor: { items: "The JSON has no items" },
  }),
  "robots-spelling": note("Accepted a misspelled Sitemap line: {value}"),
};

export const xmlProblems: ProblemRows = {
  "xml-doctype": note("Skipped a DOCTYPE"),
  "xml-dtd-refused": loss("Refused: the DOCTYPE declares entities"),
  "limit-xml-depth": loss("Elements nested more than {limit} levels deep; reading stopped"),
  "limit-xml-attributes": loss("An element has more than {limit} attributes; reading stopped"),
  "limit-xml-token": loss("Skipped a name or value of more than {limit} characters"),
  "xml-truncated": cut("The file is cut off[ at line {line}]"),
  "xml-mismatched-tag": loss("Mismatched tag: {value}"),
  "xml-malformed-tag": loss("Malformed tag: {value}"),
  "xml-unclosed-instruction": note("An XML declaration or instruction does not end in ?>: {value}"),
  "xml-comment-end": note("A comment ends in {value}, not -->"),
  "xml-stray-text": loss("Unescaped < in text"),
  "xml-bare-ampersand": note("Unescaped &: {value}"),
  "xml-html-entity": note("Decoded an HTML entity that XML does not define: {value}"),
  "xml-unknown-entity": note("Kept an unknown entity as text: {value}"),
  "xml-char-reference": note("Invalid character reference: {value}"),
  "xml-junk-before-root": note("Skipped text before the document: {value}"),
  "xml-junk-after-root": note("Unexpected content after the document: {value}"),
  "xml-namespace": note("Unexpected namespace: {value}"),
  "xml-root-name": note("Unexpected root element name: {value}"),
  "xml-element-name": note("Unexpected element name: {value}"),
  "xml-misplaced": note("Read an entry in an unexpected place[: {value}]"),
  "xml-entry-skipped": loss("Skipped a possible entry: {value}"),
  "xml-mixed": note("Lists both pages and sitemaps"),
  "xml-not-well-formed": loss("Not well-formed XML; reading stopped because of `strict`"),
};

export const entryProblems: ProblemRows = {
  "url-missing": skipped("entries without a URL")("Skipped an entry without a URL"),
  "url-several": note("Several URLs in one entry; each is listed: {value}"),
  "element-repeated": note("Repeated element in an entry; the first one is used: {value}"),
  "news-repeated": loss("Skipped a second news story for one URL"),
  "url-repeated": note("A URL is listed more than once: {value}"),
  "limit-repeats": loss(
    "Skipped the details of a URL repeated more than {limit} characters after its first entry: {value}",
  ),
  "no-entries": note("The sitemap lists nothing"),
  "url-relative": note("Resolved a relative URL: {value}"),
  "url-repaired": note("Repaired a URL: {value}"),
  "url-damaged": loss("A URL has bytes that could not be decoded: {value}"),
  "url-invalid": skipped("invalid URLs")("Skipped an invalid URL: {value}"),
  "url-scheme": skipped("URLs that are not http or https")("Skipped a URL that is not http or https: {value}"),
  "url-double-escaped": note("Decoded a URL that was escaped twice: {value}"),
  "protocol-url-length": note("A URL is longer than the {limit} characters that the protocol allows"),
  "limit-url-length": loss("Skipped a URL of more than {limit} characters", { skipsEntry: "URLs that are too long" }),
  "date-invalid": note("Ignored an invalid date: {value}"),
  "date-form": note("Converted a date from an unexpected format: {value}"),
  "date-no-offset": note("Assumed UTC for a time without a time zone: {value}"),
  "date-zone": note("Kept only the day, because the time zone is ambiguous or unknown: {value}"),
  "priority-invalid": note("Ignored an invalid priority: {value}"),
  "change-frequency-invalid": note("Ignored an invalid change frequency: {value}"),
  "limit-text-length": loss("Skipped text of more than {limit} characters"),
  "news-incomplete": note("Incomplete news story: {value}"),
  "news-date-form": note("Converted a publication date that Google cannot read: {value}"),
  "image-license": note("Ignored an image license that is not a URL: {value}"),
  "image-incomplete": note("Skipped an image without a URL"),
  "video-incomplete": note("Incomplete video: {value}"),
  "video-invalid": note("Ignored an invalid video field: {value}"),
  "alternate-incomplete": note("Skipped an alternate page without `rel`, language or URL"),
  "alternate-relative": note("Resolved the relative URL of an alternate page: {value}"),
  "limit-video-values": loss("A video has more than {limit} values in one field; the rest were skipped: {value}"),
  "limit-preferences": loss("More than {limit} AI preferences; the rest were skipped"),
  "limit-images": loss("A page has more than {limit} images; the rest were skipped"),
  "limit-videos": loss("A page has more than {limit} videos; the rest were skipped"),
  "limit-alternates": loss("A page has more than {limit} alternates; the rest were skipped"),
  "feed-next": loss("The next page of the feed was not read: {value}"),
  "protocol-entries": note("More than the {limit} entries that the protocol allows"),
  "limit-document-entries": loss("More than {limit} entries; the rest were not read"),
};
