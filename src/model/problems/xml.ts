// Problems with XML as such: what is not well-formed, not allowed, or not named as the format says.
import { cut, loss, note, type ProblemRows } from "./row.ts";

export const xmlProblems: ProblemRows = {
  "xml-doctype": note("Skipped a document type declaration", "Site owner: remove it. What it names was not opened."),
  "xml-dtd-refused": loss(
    "Refused: the document declares entities",
    "Site owner: remove the document type declaration. Declared entities are a known attack; nothing was read.",
  ),
  "limit-xml-depth": loss("Elements nested more than {limit} deep; reading stopped", "Raise `limits.xmlDepth`."),
  "limit-xml-attributes": loss(
    "An element with more than {limit} attributes; reading stopped",
    "Raise `limits.xmlAttributes`.",
  ),
  "limit-xml-token": loss(
    "Skipped a name or value of more than {limit} characters",
    "Raise `limits.xmlNameLength` or `limits.xmlTextLength`.",
  ),
  "xml-truncated": cut(
    "The file is cut off[ at line {line}]",
    "Try again; `body-short` beside it says that the transfer broke. Complete entries were kept, the cut one was not.",
  ),
  "xml-mismatched-tag": loss(
    "End tag without its start tag: {value}",
    "Site owner: close every element. Entries that are certain were kept: compare the number of pages.",
  ),
  "xml-malformed-tag": loss("Malformed tag: {value}", "Site owner: validate the XML. Compare the number of pages."),
  "xml-unclosed-instruction": note(
    "An XML declaration or instruction ends without a question mark: {value}",
    "Site owner: end it in `?>`. It was read as if it did.",
  ),
  "xml-comment-end": note("A comment ends in {value}", "Site owner: end comments in `-->`. It was read as if it did."),
  "xml-stray-text": loss("Unescaped < in text", "Site owner: escape `<` as `&lt;`. Compare the number of pages."),
  "xml-bare-ampersand": note("Unescaped &: {value}", "Site owner: escape `&` as `&amp;`; other programs stop here."),
  "xml-html-entity": note("Decoded an HTML entity that XML does not have: {value}", "Site owner: write the character."),
  "xml-unknown-entity": note("Kept an unknown entity as text: {value}", "Site owner: write the character."),
  "xml-char-reference": note(
    "A character reference to no character: {value}",
    "Site owner: remove control characters from the data. The value that holds it was left out.",
  ),
  "xml-junk-before-root": note(
    "Skipped text before the document: {value}",
    "Site owner: keep warnings and blank lines of the server's program out of the file.",
  ),
  "xml-junk-after-root": note(
    "Ignored text after the document: {value}",
    "Site owner: end the file with the root element. A second document in the same file is not read.",
  ),
  "xml-namespace": note("Unexpected namespace: {value}", "Site owner: use that of the format. It was accepted."),
  "xml-root-name": note("Unexpected root element name: {value}", "Site owner: use the format's. It was accepted."),
  "xml-element-name": note("Unexpected element name: {value}", "Site owner: write `<loc>`, not `<Loc>`."),
  "xml-misplaced": note(
    "Read an entry in an unexpected place[: {value}]",
    "Site owner: put `<url>` into `<urlset>` and `<sitemap>` into `<sitemapindex>`, each with its `<loc>`; in feeds, items into the channel.",
  ),
  "xml-mixed": note("Lists both pages and sitemaps", "Site owner: separate them. Both were read."),
  "xml-not-well-formed": loss("Not well-formed; reading stopped because of `strict`", "Read it without `strict`."),
};
