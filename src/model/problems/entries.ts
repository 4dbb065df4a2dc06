// Problems with the lines of robots.txt and text sitemaps, and with single entries: their URLs, dates, other fields and extensions, and their number.
import { cut, loss, note, type ProblemRows, skipped } from "./row.ts";

export const lineProblems: ProblemRows = {
  "limit-robots-bytes": cut(
    "robots.txt is larger than {limit bytes}; the rest was not read",
    "Raise `limits.robotsBytes`. Search engines stop reading at 500 KiB, too.",
  ),
  "limit-line-length": loss(
    "Skipped a line of more than {limit} characters",
    "Raise `limits.lineLength`. The line may hold many URLs. Site owner: one URL per line.",
  ),
  "text-junk": skipped("Skipped a line that is not a URL: {value}", "Site owner: a text sitemap holds URLs only."),
  "text-extra": note("Took only the URL from a line: {value}", "Site owner: one URL per line, and nothing else."),
  "json-not-well-formed": cut(
    "The JSON is broken or cut off[ at line {line}]",
    "Try again; `body-short` beside it says that the transfer broke. Complete items were kept.",
  ),
  "robots-spelling": note("Accepted a misspelled Sitemap line: {value}", "Site owner: write `Sitemap: URL`."),
};

export const entryProblems: ProblemRows = {
  "url-missing": skipped("Skipped an entry without a URL", "Site owner: give every entry a `<loc>`."),
  "url-several": note("Several URLs in one entry; each counts as an entry: {value}", "Site owner: one `<loc>` each."),
  "element-repeated": note(
    "An element comes twice in one entry; the first one counts: {value}",
    "Site owner: write it once.",
  ),
  "news-repeated": loss("A second news story for one URL was skipped", "Site owner: one `<news:news>` in each entry."),
  "url-repeated": note(
    "A URL is listed more than once: {value}",
    "Site owner: list every URL once. The fields of the first entry count; images, videos and alternates of all of them were kept.",
  ),
  "limit-repeats": loss(
    "A URL is repeated more than {limit bytes} after its first entry; images, videos and alternates may be missing: {value}",
    "Site owner: list every URL once.",
  ),
  "no-entries": note("The sitemap lists nothing", "Site owner: repair the program that writes it, or remove it."),
  "url-relative": note("Resolved a relative URL: {value}", "Site owner: write absolute URLs; others drop this one."),
  "url-repaired": note("Repaired a URL: {value}", "Site owner: write `https://`, host and path, nothing around them."),
  "url-damaged": loss(
    "A URL holds bytes that could not be decoded: {value}",
    "Site owner: write the file in the character set that it declares, best UTF-8. The entry was kept with U+FFFD in their place.",
  ),
  "url-invalid": skipped("Skipped an invalid URL: {value}", "Site owner: correct or remove it."),
  "url-scheme": skipped("Skipped a URL that is not http or https: {value}", "Site owner: list web pages only."),
  "url-double-escaped": note("Decoded a URL that was escaped twice: {value}", "Site owner: escape `&` once: `&amp;`."),
  "protocol-url-length": note(
    "A URL longer than the {limit} characters that the protocol allows",
    "Site owner: shorten it; search engines may ignore it. It was kept.",
  ),
  "limit-url-length": loss("Skipped a URL of more than {limit} characters", "Raise `limits.urlLength`.", {
    skipsEntry: true,
  }),
  "date-invalid": note("Ignored an invalid date: {value}", "Site owner: write `2024-05-31` or `2024-05-31T12:00:00Z`."),
  "date-form": note(
    "Rewrote a date that is not in the form of the format: {value}",
    "Site owner: write dates as `2024-05-31` or `2024-05-31T12:00:00Z`, in RSS as `Fri, 31 May 2024 12:00:00 GMT`.",
  ),
  "date-no-offset": note("Took a time without a time zone as UTC: {value}", "Site owner: add `Z` or `+02:00`."),
  "date-zone": note(
    "Kept only the day of a time in an ambiguous or unknown time zone: {value}",
    "Site owner: write the offset, such as `+01:00`, instead of a name.",
  ),
  "priority-invalid": note("Ignored an invalid priority: {value}", "Site owner: write 0 to 1. It counts as 0.5."),
  "change-frequency-invalid": note("Ignored an invalid change frequency: {value}", "Site owner: use a protocol value."),
  "limit-text-length": loss("Left out a text of more than {limit} characters", "Raise `limits.xmlTextLength`."),
  "news-incomplete": note("Incomplete news story: {value}", "Site owner: add what is required. The story was kept."),
  "news-date-form": note(
    "Rewrote a publication date that is not in a form that Google reads: {value}",
    "Site owner: write it as `2024-05-31` or `2024-05-31T12:00:00+02:00`.",
  ),
  "image-incomplete": note("Skipped an image without a URL", "Site owner: give every image an `<image:loc>`."),
  "video-incomplete": note("Incomplete video: {value}", "Site owner: add what is required. The video was kept."),
  "video-invalid": note("Ignored an invalid field of a video: {value}", "Site owner: correct it. The video was kept."),
  "alternate-incomplete": note("Skipped an alternate page without language or URL", "Site owner: add what is missing."),
  "alternate-relative": note(
    "Resolved the relative URL of an alternate page: {value}",
    "Site owner: make it absolute.",
  ),
  "limit-video-values": loss(
    "More than {limit} values of one kind in a video; the rest was skipped: {value}",
    "Site owner: Google reads 32 tags of a video, and no list of this length.",
  ),
  "limit-images": loss("More than {limit} images on a page; the rest was skipped", "Raise `limits.images`."),
  "limit-videos": loss("More than {limit} videos on a page; the rest was skipped", "Raise `limits.videos`."),
  "limit-alternates": loss(
    "More than {limit} alternates of a page; the rest was skipped",
    "Raise `limits.alternates`.",
  ),
  "protocol-entries": note(
    "More than the {limit} entries that the protocol allows",
    "Site owner: split the sitemap; search engines may ignore the rest. All of it was read.",
  ),
  "limit-document-entries": loss("More than {limit} entries; the rest was not read", "Raise `limits.documentEntries`."),
};
