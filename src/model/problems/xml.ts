// Problems with XML as such: what is not well-formed, not allowed, or not named as the format says.
import { cut, loss, note, type ProblemRows } from "./row.ts";

export const xmlProblems: ProblemRows = {
  "xml-doctype": note("Skipped a document type declaration", "Remove it. Nothing in it was opened."),
  "xml-dtd-refused": loss(
    "Refused: the document declares entities",
    "Remove the document type declaration. Declared entities are a known attack.",
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
  "xml-truncated": cut("The file is cut off[ at line {line}]", "Try again. Complete entries were kept."),
  "xml-mismatched-tag": loss("Mismatched tag: {value}", "Close every element. Entries may be missing."),
  "xml-malformed-tag": loss("Malformed tag: {value}", "Validate the XML. Entries may be missing."),
  "xml-unclosed-instruction": note(
    "An XML declaration or instruction does not end in ?>: {value}",
    "End it in `?>`. It was accepted.",
  ),
  "xml-comment-end": note("A comment ends in {value}", "End it in `-->`. It was accepted."),
  "xml-stray-text": loss("Unescaped < in text", "Escape `<` as `&lt;`. Entries may be missing."),
  "xml-bare-ampersand": note("Unescaped &: {value}", "Escape `&` as `&amp;`; other readers stop here."),
  "xml-html-entity": note("Decoded an HTML entity that XML does not have: {value}", "Write the character."),
  "xml-unknown-entity": note("Kept an unknown entity as text: {value}", "Write the character."),
  "xml-char-reference": note("Invalid character reference: {value}", "Remove it. The value was ignored."),
  "xml-junk-before-root": note(
    "Skipped text before the document: {value}",
    "Remove it, often a blank line or a PHP warning.",
  ),
  "xml-junk-after-root": note(
    "Ignored text after the document: {value}",
    "Remove it. A second document in the file is not read.",
  ),
  "xml-namespace": note("Unexpected namespace: {value}", "Use the format's. It was accepted."),
  "xml-root-name": note("Unexpected root element name: {value}", "Use the format's. It was accepted."),
  "xml-element-name": note("Unexpected element name: {value}", "Write `<loc>`, not `<Loc>`."),
  "xml-misplaced": note(
    "Read an entry in an unexpected place[: {value}]",
    "Put `<url>` into `<urlset>`, `<sitemap>` into `<sitemapindex>`, and items of feeds into the channel.",
  ),
  "xml-mixed": note("Lists both pages and sitemaps", "Use two files. Both were read."),
  "xml-not-well-formed": loss("Not well-formed; reading stopped because of `strict`", "Read it without `strict`."),
};
