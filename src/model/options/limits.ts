// Limits of one document, on the way to one, and of one website (budgets). Each is reported when it is reached.
import { robotsTxtBytes } from "../protocol-limits.ts";
import type { OptionRow } from "./row.ts";

export const documentLimits: readonly OptionRow[] = [
  { name: "robotsBytes", default: robotsTxtBytes, text: "Bytes of robots.txt." },
  {
    name: "documentBytes",
    default: 104_857_600,
    text: "Bytes of one document, transferred and decoded.",
    more: "The protocol allows half of it.",
    flags: [
      { flags: "--max-bytes <n>", text: "maximum size of one document, decoded: 5000, 64k, 50M", value: "bytes" },
    ],
  },
  {
    name: "documentEntries",
    default: 1_000_000,
    text: "Entries of one document.",
    more: "The protocol allows 50,000.",
  },
  { name: "encodingLayers", default: 3, text: "Layers of compression." },
  { name: "urlLength", default: 8_192, text: "Characters of a URL.", more: "The protocol allows fewer than 2,048." },
  { name: "lineLength", default: 16_384, text: "Characters of a line of robots.txt or a text sitemap." },
  { name: "xmlDepth", default: 256, text: "Nesting depth of XML elements." },
  { name: "xmlAttributes", default: 1_000, text: "Attributes of one XML element." },
  { name: "xmlNameLength", default: 1_024, text: "Characters of an XML name." },
  {
    name: "xmlTextLength",
    default: 65_536,
    text: "Characters of an XML attribute's value, or of the text of an element.",
  },
  { name: "images", default: 1_000, text: "Images of one page." },
  { name: "videos", default: 100, text: "Videos of one page." },
  { name: "alternates", default: 1_000, text: "Alternates of one page." },
];

export const deliveryLimits: readonly OptionRow[] = [
  { name: "robotsRedirects", default: 5, text: "Redirects on the way to robots.txt." },
  { name: "redirects", default: 10, text: "Redirects on the way to any other document." },
  { name: "retryAfter", default: 60_000, text: "The longest `Retry-After` that is waited for, in milliseconds." },
];

export const websiteLimits: readonly OptionRow[] = [
  {
    name: "depth",
    default: 11,
    text: "Nesting depth of sitemap indexes.",
    flags: [{ flags: "--max-depth <n>", text: "maximum nesting of sitemap indexes", value: "number" }],
  },
  {
    name: "documents",
    default: 50_000,
    text: "Sitemaps in the tree of one website: those that are shown twice and those that are refused count, too.",
    flags: [{ flags: "--max-sitemaps <n>", text: "maximum number of sitemaps", value: "number" }],
  },
  { name: "bytes", default: Number.POSITIVE_INFINITY, text: "Bytes of one website, as transferred." },
  { name: "pages", default: Number.POSITIVE_INFINITY, text: "Pages of one website." },
  {
    name: "time",
    default: Number.POSITIVE_INFINITY,
    // What a time budget cut off is missing in the archive, too; a replay takes its own time.
    shapesTree: false,
    text: "Milliseconds for one website.",
    more: "Fetching, reading and checking end then, and so does the opening of an archive; what was found is still written.",
    flags: [{ flags: "--max-time <seconds>", text: "maximum time for the whole website", value: "seconds" }],
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
