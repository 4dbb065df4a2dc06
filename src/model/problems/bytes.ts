// Problems with the bytes of a document: its length, its compression, its character set, and what it is.
import { cut, loss, note, type ProblemRows } from "./row.ts";

export const byteProblems: ProblemRows = {
  "body-short": cut(
    "The response is shorter than announced",
    "Try again. `Content-Length` may be wrong. What arrived was read.",
    { temporary: true },
  ),
  "body-reset": cut("The connection broke during the transfer", "Try again. What arrived was read.", {
    temporary: true,
  }),
  "limit-document-bytes": cut(
    "Larger than {limit bytes}; the rest was not read",
    "Raise `limits.documentBytes` (transferred and decoded bytes).",
    { hint: "allow more with --max-bytes" },
  ),
  "protocol-size": note(
    "Larger than the {limit bytes} that the protocol allows",
    "Split the sitemap; search engines may ignore it. It was read.",
  ),
  "coding-truncated": cut(
    "The compressed data is cut off",
    "Try again; the server may have been writing the file. What came before was read.",
  ),
  "coding-trailing": note("Ignored data after the end of the compressed data", "Compress the file again."),
  "coding-checksum": loss("The checksum of the compressed data is wrong", "Compress it again."),
  "coding-damaged": cut("The compressed data is damaged", "Compress it again. What came before was read."),
  "limit-encoding-layers": loss("Compressed more than {limit} times", "Raise `limits.encodingLayers`."),
  "coding-unknown": loss("Unknown content coding: {value}", "Use gzip, or none."),
  "coding-mismatch": note(
    "Announced as {value}, but not compressed that way",
    "Fix the `Content-Encoding` header. The document was read.",
  ),
  "charset-unsupported": loss("Unsupported character set: {value}", "Use UTF-8."),
  "charset-conflict": note(
    "Conflicting character sets: {value}",
    "Use one everywhere. The byte order mark wins over the header, the header over the XML declaration.",
  ),
  "charset-invalid": note("Invalid {value}; the bytes were replaced by U+FFFD", "Declare the character set in use."),
  empty: loss("The document is empty", "Fill it, or remove it from the index or robots.txt."),
  "not-a-sitemap": loss(
    "Got XML with the root element {value}, not a sitemap",
    "Open it: often an error page with status 200. Answer 404.",
    {
      messageFor: {
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
      },
    },
  ),
};
