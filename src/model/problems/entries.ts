// Problems with the lines of robots.txt and text sitemaps, and with single entries: their URLs, dates, other fields and extensions, and their number.
import { cut, loss, note, type ProblemRows, skipped } from "./row.ts";

export const lineProblems: ProblemRows = {
  "limit-robots-bytes": cut(
    "robots.txt is larger than {limit bytes}; the rest was not read",
    "Raise `limits.robotsBytes`. Google also stops at 500 KiB.",
  ),
  "limit-line-length": loss(
    "Skipped a line of more than {limit} characters",
    "Raise `limits.lineLength`. Write one URL per line.",
  ),
  "text-junk": skipped("Skipped a line that is not a URL: {value}", "List only URLs."),
  "text-extra": note("Took only the URL from a line: {value}", "Write one URL per line, and nothing else."),
  "json-not-well-formed": cut("The JSON is broken or cut off[ at line {line}]", "Try again. Complete items were kept."),
  "robots-spelling": note("Accepted a misspelled Sitemap line: {value}", "Write `Sitemap: URL`."),
};

export const entryProblems: ProblemRows = {
  "url-missing": skipped("Skipped an entry without a URL", "Add a `<loc>`."),
  "url-several": note("Several URLs in one entry; each is listed: {value}", "Write one `<loc>` per entry."),
  "element-repeated": note("Repeated element in an entry; the first one counts: {value}", "Write it once."),
  "news-repeated": loss("A second news story for one URL was skipped", "Write one `<news:news>` per entry."),
  "url-repeated": note(
    "A URL is listed more than once: {value}",
    "List it once. The first entry's fields count; images, videos and alternates of all were kept.",
  ),
  "limit-repeats": loss(
    "A URL is repeated more than {limit bytes} after its first entry; images, videos and alternates may be missing: {value}",
    "List it once.",
  ),
  "no-entries": note("The sitemap lists nothing", "Fix the generator, or remove it."),
  "url-relative": note("Resolved a relative URL: {value}", "Write absolute URLs; other readers drop this one."),
  "url-repaired": note("Repaired a URL: {value}", "Write a plain absolute URL."),
  "url-damaged": loss(
    "A URL has bytes that could not be decoded: {value}",
    "Write UTF-8, or the declared character set. The entry was kept, with U+FFFD for the bytes.",
  ),
  "url-invalid": skipped("Skipped an invalid URL: {value}", "Fix or remove it."),
  "url-scheme": skipped("Skipped a URL that is not http or https: {value}", "List web pages only."),
  "url-double-escaped": note("Decoded a URL that was escaped twice: {value}", "Escape once: `&amp;`."),
  "protocol-url-length": note(
    "A URL longer than the {limit} characters that the protocol allows",
    "Shorten it; search engines may ignore it. It was kept.",
  ),
  "limit-url-length": loss("Skipped a URL of more than {limit} characters", "Raise `limits.urlLength`.", {
    skipsEntry: true,
  }),
  "date-invalid": note("Ignored an invalid date: {value}", "Write `2024-05-31` or `2024-05-31T12:00:00Z`."),
  "date-form": note(
    "Rewrote a date in an unexpected format: {value}",
    "Write `2024-05-31T12:00:00Z`; in RSS, `Fri, 31 May 2024 12:00:00 GMT`.",
  ),
  "date-no-offset": note("Took a time without a time zone as UTC: {value}", "Add `Z` or `+02:00`."),
  "date-zone": note(
    "Kept only the day of a time in an ambiguous or unknown time zone: {value}",
    "Write an offset, such as `+01:00`.",
  ),
  "priority-invalid": note("Ignored an invalid priority: {value}", "Write 0 to 1. The default 0.5 was used."),
  "change-frequency-invalid": note("Ignored an invalid change frequency: {value}", "Use a protocol value."),
  "limit-text-length": loss("Left out a text of more than {limit} characters", "Raise `limits.xmlTextLength`."),
  "news-incomplete": note("Incomplete news story: {value}", "Add the missing fields. It was kept."),
  "news-date-form": note(
    "Rewrote a publication date in a format that Google does not read: {value}",
    "Write `2024-05-31` or `2024-05-31T12:00:00+02:00`.",
  ),
  "image-incomplete": note("Skipped an image without a URL", "Add an `<image:loc>`."),
  "video-incomplete": note("Incomplete video: {value}", "Add the missing fields. It was kept."),
  "video-invalid": note("Ignored an invalid field of a video: {value}", "Fix it. The video was kept."),
  "alternate-incomplete": note("Skipped an alternate page without language or URL", "Add what is missing."),
  "alternate-relative": note("Resolved the relative URL of an alternate page: {value}", "Make it absolute."),
  "limit-video-values": loss(
    "More than {limit} values of one kind in a video; the rest was skipped: {value}",
    "Shorten the list; Google reads 32 tags.",
  ),
  "limit-images": loss("More than {limit} images on a page; the rest was skipped", "Raise `limits.images`."),
  "limit-videos": loss("More than {limit} videos on a page; the rest was skipped", "Raise `limits.videos`."),
  "limit-alternates": loss(
    "More than {limit} alternates of a page; the rest was skipped",
    "Raise `limits.alternates`.",
  ),
  "protocol-entries": note(
    "More than the {limit} entries that the protocol allows",
    "Split the sitemap; search engines may ignore the rest. It was read.",
  ),
  "limit-document-entries": loss("More than {limit} entries; the rest was not read", "Raise `limits.documentEntries`."),
};
