// Problems with the bytes of a document: its length, its compression, its character set, and what it is.
import { cut, loss, note, type ProblemRows } from "./row.ts";

export const byteProblems: ProblemRows = {
  "body-short": cut(
    "The response is shorter than announced",
    "Try again. Site owner, if it stays: `Content-Length` is wrong, or the server stops too early. What had arrived was read.",
    { temporary: true },
  ),
  "body-reset": cut("The connection broke during the transfer", "Try again. What had arrived was read.", {
    temporary: true,
  }),
  "limit-document-bytes": cut(
    "Larger than {limit bytes}; the rest was not read",
    "Raise `limits.documentBytes`, which counts both the transferred and the decoded bytes.",
    { hint: "allow more with --max-bytes" },
  ),
  "protocol-size": note(
    "Larger than the {limit bytes} that the protocol allows",
    "Site owner: split the sitemap; search engines may ignore it. It was read all the same.",
  ),
  "coding-truncated": cut(
    "The compressed data is cut off",
    "Try again; the file may have been read while it was being written. What could be decompressed was read.",
  ),
  "coding-trailing": note("Ignored data after the end of the compressed data", "Site owner: compress the file again."),
  "coding-checksum": loss("The checksum of the compressed data is wrong", "Site owner: compress it again."),
  "coding-damaged": cut("The compressed data is damaged", "Site owner: compress it again. What came before was read."),
  "limit-encoding-layers": loss("Compressed more than {limit} times", "Raise `limits.encodingLayers`."),
  "coding-unknown": loss(
    "Unknown content coding: {value}",
    "Site owner: use gzip, or none. A document whose bytes show what it is was read (`coding-mismatch`).",
  ),
  "coding-mismatch": note(
    "Announced as {value}, but not compressed that way",
    "Site owner: fix the `Content-Encoding` header. The document was read as what it is.",
  ),
  "charset-unsupported": loss("Unsupported character set: {value}", "Site owner: use UTF-8."),
  "charset-conflict": note(
    "Conflicting character sets: {value}",
    "Site owner: name the same one everywhere. Of byte order mark, header and XML declaration the first counts.",
  ),
  "charset-invalid": note(
    "Invalid {value}; the bytes were replaced by U+FFFD",
    "Site owner: declare the character set in use. Look for U+FFFD in URLs and titles.",
  ),
  empty: loss("The document is empty", "Site owner: fill it, or remove it from the index or robots.txt."),
  "not-a-sitemap": loss(
    "Got XML with the root element {value}, not a sitemap",
    "Open it: often it is an error page with status 200. Site owner: answer 404 where there is no sitemap.",
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
