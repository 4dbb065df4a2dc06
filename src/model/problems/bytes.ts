// Problems with the bytes of a document: its length, its compression, its character set, and what it is.
import type { ProblemRows } from "./row.ts";

export const byteProblems: ProblemRows = {
  "body-short": {
    loss: true,
    cutOff: true,
    temporary: true,
    message: "The response is shorter than announced",
    fix: "Try again. Site owner, if it stays: `Content-Length` is wrong, or the server stops too early. What had arrived was read.",
  },
  "body-reset": {
    loss: true,
    cutOff: true,
    temporary: true,
    message: "The connection broke during the transfer",
    fix: "Try again. What had arrived was read.",
  },
  "limit-document-bytes": {
    loss: true,
    cutOff: true,
    message: "Larger than {limit bytes}; the rest was not read",
    fix: "Raise `limits.documentBytes`, which counts both the transferred and the decoded bytes.",
    hint: "allow more with --max-bytes",
  },
  "protocol-size": {
    message: "Larger than the {limit bytes} that the protocol allows",
    fix: "Site owner: split the sitemap; search engines may ignore it. It was read all the same.",
  },
  "coding-truncated": {
    loss: true,
    cutOff: true,
    message: "The compressed data is cut off",
    fix: "Try again; the file may have been read while it was being written. What could be decompressed was read.",
  },
  "coding-trailing": {
    message: "Ignored data after the end of the compressed data",
    fix: "Site owner: compress the file again.",
  },
  "coding-checksum": {
    loss: true,
    message: "The checksum of the compressed data is wrong",
    fix: "Site owner: compress the file again. Everything was read, but may be damaged.",
  },
  "coding-damaged": {
    loss: true,
    cutOff: true,
    message: "The compressed data is damaged",
    fix: "Site owner: compress the file again. What came before the damage was read.",
  },
  "limit-encoding-layers": {
    loss: true,
    message: "Compressed more than {limit} times",
    fix: "Raise `limits.encodingLayers`; it may be an attack. The document was not read.",
  },
  "coding-unknown": {
    loss: true,
    message: "Unknown content coding: {value}",
    fix: "Site owner: use gzip, or none. A document whose bytes show what it is was read (`coding-mismatch`).",
  },
  "coding-mismatch": {
    message: "Announced as {value}, but not compressed that way",
    fix: "Site owner: fix the `Content-Encoding` header. The document was read as what it is.",
  },
  "charset-unsupported": {
    loss: true,
    message: "Unsupported character set: {value}",
    fix: "Site owner: use UTF-8. UTF-32 and UTF-7 are not read.",
  },
  "charset-conflict": {
    message: "Conflicting character sets: {value}",
    fix: "Site owner: name the same one everywhere. Of byte order mark, header and XML declaration the first counts.",
  },
  "charset-invalid": {
    message: "Invalid {value}; the bytes were replaced by U+FFFD",
    fix: "Site owner: declare the character set in use. Look for U+FFFD in URLs and titles.",
  },
  empty: {
    loss: true,
    message: "The document is empty",
    fix: "Site owner: fill it, or remove it from the index or robots.txt.",
  },
  "not-a-sitemap": {
    loss: true,
    message: "Got XML with the root element {value}, not a sitemap",
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
    fix: "Open it: often it is an error page with status 200. Site owner: answer 404 where there is no sitemap.",
  },
};
