// Limits of one document, on the way to one, and of one website (budgets). Each is reported when it is reached.
import { robotsTxtBytes } from "../protocol-limits.ts";
import type { OptionRow } from "./row.ts";

export const documentLimits: readonly OptionRow[] = [
  { name: "robotsBytes", type: "number", default: robotsTxtBytes, text: "Bytes of robots.txt." },
  {
    name: "documentBytes",
    type: "number",
    default: 104_857_600,
    text: "Bytes of one document, transferred and decoded.",
    more: "The protocol allows half of it.",
    flags: [
      {
        flags: "--max-bytes <n>",
        group: "Limits",
        text: "maximum size of one document, decoded: 5000, 64k, 50M",
        value: "bytes",
      },
    ],
  },
  {
    name: "documentEntries",
    type: "number",
    default: 1_000_000,
    text: "Entries of one document.",
    more: "The protocol allows 50,000.",
  },
  { name: "encodingLayers", type: "number", default: 3, text: "Layers of compression." },
  {
    name: "urlLength",
    type: "number",
    default: 8_192,
    text: "Characters of a URL.",
    more: "The protocol allows fewer than 2,048.",
  },
  {
    name: "lineLength",
    type: "number",
    default: 16_384,
    text: "Characters of a line of robots.txt or a text sitemap.",
  },
  { name: "xmlDepth", type: "number", default: 256, text: "Nesting depth of XML elements." },
  { name: "xmlAttributes", type: "number", default: 1_000, text: "Attributes of one XML element." },
  { name: "xmlNameLength", type: "number", default: 1_024, text: "Characters of an XML name." },
  {
    name: "xmlTextLength",
    type: "number",
    default: 65_536,
    text: "Characters of an XML attribute's value, or of the text of an element.",
  },
  { name: "images", type: "number", default: 1_000, text: "Images of one page." },
  { name: "videos", type: "number", default: 100, text: "Videos of one page." },
  { name: "alternates", type: "number", default: 1_000, text: "Alternates of one page." },
];

export const deliveryLimits: readonly OptionRow[] = [
  { name: "robotsRedirects", type: "number", default: 5, text: "Redirects on the way to robots.txt." },
  { name: "redirects", type: "number", default: 10, text: "Redirects on the way to any other document." },
  {
    name: "retryAfter",
    type: "number",
    default: 60_000,
    text: "The longest `Retry-After` that is waited for, in milliseconds.",
  },
];

export const websiteLimits: readonly OptionRow[] = [
  {
    name: "depth",
    type: "number",
    default: 11,
    text: "Nesting depth of sitemap indexes.",
    flags: [{ flags: "--max-depth <n>", group: "Limits", text: "maximum nesting of sitemap indexes", value: "number" }],
  },
  {
    name: "documents",
    type: "number",
    default: 50_000,
    text: "Sitemaps in the tree of one website: those that are shown twice and those that are refused count, too.",
    flags: [{ flags: "--max-sitemaps <n>", group: "Limits", text: "maximum number of sitemaps", value: "number" }],
  },
  { name: "bytes", type: "number", default: Number.POSITIVE_INFINITY, text: "Bytes of one website, as transferred." },
  { name: "pages", type: "number", default: Number.POSITIVE_INFINITY, text: "Pages of one website." },
  {
    name: "time",
    type: "number",
    default: Number.POSITIVE_INFINITY,
    // What a time budget cut off is missing in the archive, too; a replay takes its own time.
    shapesTree: false,
    text: "Milliseconds for one website.",
    more: "Fetching, reading and checking end then, and so does the opening of an archive; what was found is still written.",
    flags: [
      {
        flags: "--max-time <seconds>",
        group: "Limits",
        text: "maximum time for the whole website",
        value: "seconds",
      },
    ],
  },
];

export const limitOptions: readonly OptionRow[] = [
  {
    name: "limits",
    type: "Partial<Limits>",
    settingType: "Limits",
    members: [...documentLimits, ...deliveryLimits, ...websiteLimits],
    defaultShown: "see [Limits](#limits)",
    shapesTree: true,
    text: "Limits and budgets. `0` means zero; `Infinity` means none.",
  },
];
