// Problems with XML as such: what is not well-formed, not allowed, or not named as the format says.
import type { ProblemRows } from "./row.ts";

export const xmlProblems: ProblemRows = {
  "xml-doctype": {
    message: "Skipped a document type declaration",
    fix: "Nothing: what it names was not opened. Site owner: sitemaps need none.",
  },
  "xml-dtd-refused": {
    loss: true,
    message: "Refused: the document declares entities",
    fix: "Site owner: remove the document type declaration. Declared entities are a known attack; nothing was read.",
  },
  "limit-xml-depth": {
    loss: true,
    message: "Elements nested more than {limit} deep; reading stopped",
    fix: "Raise `limits.xmlDepth`; it may be an attack.",
  },
  "limit-xml-attributes": {
    loss: true,
    message: "An element with more than {limit} attributes; reading stopped",
    fix: "Raise `limits.xmlAttributes`; it may be an attack.",
  },
  "limit-xml-token": {
    loss: true,
    message: "Skipped a name or value of more than {limit} characters",
    fix: "Raise `limits.xmlNameLength` or `limits.xmlTextLength`; it may be an attack.",
  },
  "xml-truncated": {
    loss: true,
    cutOff: true,
    message: "The file is cut off[ at line {line}]",
    fix: "Try again; `body-short` beside it says that the transfer broke. Complete entries were kept, the cut one was not.",
  },
  "xml-mismatched-tag": {
    loss: true,
    message: "End tag without its start tag: {value}",
    fix: "Site owner: close every element. Entries that are certain were kept: compare the number of pages.",
  },
  "xml-malformed-tag": {
    loss: true,
    message: "Malformed tag: {value}",
    fix: "Site owner: validate the XML. It was read as far as it is clear: compare the number of pages.",
  },
  "xml-unclosed-instruction": {
    message: "An XML declaration or instruction ends without a question mark: {value}",
    fix: "Site owner: end it in `?>`. It was read as if it did.",
  },
  "xml-comment-end": {
    message: "A comment ends in {value}",
    fix: "Site owner: end comments in `-->`. It was read as if it did.",
  },
  "xml-stray-text": {
    loss: true,
    message: "Unescaped < in text",
    fix: "Site owner: escape `<` as `&lt;`. It was read as text: compare the number of pages.",
  },
  "xml-bare-ampersand": {
    message: "Unescaped &: {value}",
    fix: "Site owner: escape `&` as `&amp;`; other programs stop here.",
  },
  "xml-html-entity": {
    message: "Decoded an HTML entity that XML does not have: {value}",
    fix: "Site owner: write the character itself, or a numeric reference.",
  },
  "xml-unknown-entity": {
    message: "Kept an unknown entity as text: {value}",
    fix: "Site owner: write the character itself, or a numeric reference.",
  },
  "xml-char-reference": {
    message: "A character reference to no character: {value}",
    fix: "Site owner: remove control characters from the data. The value that holds it was left out.",
  },
  "xml-junk-before-root": {
    message: "Skipped text before the document: {value}",
    fix: "Site owner: keep warnings and blank lines of the server's program out of the file.",
  },
  "xml-junk-after-root": {
    message: "Ignored text after the document: {value}",
    fix: "Site owner: end the file with the root element. A second document in the same file is not read.",
  },
  "xml-namespace": {
    message: "Unexpected namespace: {value}",
    fix: "Site owner: declare the namespace of the format. The element was accepted.",
  },
  "xml-root-name": {
    message: "Unexpected root element name: {value}",
    fix: "Site owner: write it as in the format. It was accepted.",
  },
  "xml-element-name": {
    message: "Unexpected element name: {value}",
    fix: "Site owner: write it as in the format, `<loc>` and not `<Loc>`. It was accepted.",
  },
  "xml-misplaced": {
    message: "Read an entry in an unexpected place[: {value}]",
    fix: "Site owner: put `<url>` into `<urlset>` and `<sitemap>` into `<sitemapindex>`, each with its `<loc>`; in feeds, items into the channel.",
  },
  "xml-mixed": {
    message: "Lists both pages and sitemaps",
    fix: "Site owner: list sitemaps in an index, pages in a sitemap. Both were read.",
  },
  "xml-not-well-formed": {
    loss: true,
    message: "Not well-formed; reading stopped because of `strict`",
    fix: "Read it without `strict`. What came before was kept.",
  },
};
