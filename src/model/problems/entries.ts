// Problems with single entries: their URLs, dates, other fields and extensions, and their number.
import type { ProblemRows } from "./row.ts";

export const entryProblems: ProblemRows = {
  "url-missing": {
    skipsEntry: true,
    message: "Skipped an entry without a URL",
    fix: "Site owner: give every entry a `<loc>`.",
  },
  "url-several": {
    message: "Several URLs in one entry; each was taken as an entry: {value}",
    fix: "Site owner: one `<loc>` in each entry.",
  },
  "element-repeated": {
    message: "An element comes twice in one entry; the first one counts: {value}",
    fix: "Site owner: write it once.",
  },
  "news-repeated": {
    loss: true,
    message: "A second news story for one URL was skipped",
    fix: "Site owner: one `<news:news>` in each entry.",
  },
  "url-repeated": {
    message: "A URL is listed more than once: {value}",
    fix: "Site owner: list every URL once. The fields of the first entry count; images, videos and alternates of all of them were kept.",
  },
  "limit-repeats": {
    loss: true,
    message:
      "A URL is repeated more than {limit bytes} after its first entry; images, videos and alternates may be missing: {value}",
    fix: "Site owner: list every URL once.",
  },
  "no-entries": {
    message: "The sitemap lists nothing",
    fix: "Site owner: repair the program that writes it, or remove it.",
  },
  "url-relative": {
    message: "Resolved a relative URL: {value}",
    fix: "Site owner: write absolute URLs; other programs drop relative ones.",
  },
  "url-repaired": {
    message: "Repaired a URL: {value}",
    fix: "Site owner: write `https://`, the host and the path, and nothing around them.",
  },
  "url-damaged": {
    loss: true,
    message: "A URL holds bytes that could not be decoded: {value}",
    fix: "Site owner: write the file in the character set that it declares, best UTF-8. The entry was kept with U+FFFD in their place.",
  },
  "url-invalid": {
    skipsEntry: true,
    message: "Skipped an invalid URL: {value}",
    fix: "Site owner: correct or remove it.",
  },
  "url-scheme": {
    skipsEntry: true,
    message: "Skipped a URL that is not http or https: {value}",
    fix: "Site owner: list web pages only.",
  },
  "url-double-escaped": {
    message: "Decoded a URL that was escaped twice: {value}",
    fix: "Site owner: escape `&` once, as `&amp;`.",
  },
  "protocol-url-length": {
    message: "A URL longer than the {limit} characters that the protocol allows",
    fix: "Site owner: shorten it; search engines may ignore it. It was kept.",
  },
  "limit-url-length": {
    loss: true,
    skipsEntry: true,
    message: "Skipped a URL of more than {limit} characters",
    fix: "Raise `limits.urlLength`.",
  },
  "date-invalid": {
    message: "Ignored an invalid date: {value}",
    fix: "Site owner: write dates as `2024-05-31` or `2024-05-31T12:00:00Z`. The page was kept.",
  },
  "date-form": {
    message: "Rewrote a date that is not in the form of the format: {value}",
    fix: "Site owner: write dates as `2024-05-31` or `2024-05-31T12:00:00Z`, in RSS as `Fri, 31 May 2024 12:00:00 GMT`.",
  },
  "date-no-offset": {
    message: "Took a time without a time zone as UTC: {value}",
    fix: "Site owner: add `Z` or an offset such as `+02:00`.",
  },
  "date-zone": {
    message: "Kept only the day of a time in an ambiguous or unknown time zone: {value}",
    fix: "Site owner: write the offset, such as `+01:00`, instead of a name.",
  },
  "priority-invalid": {
    message: "Ignored an invalid priority: {value}",
    fix: "Site owner: write a number from 0 to 1. The default, 0.5, is used.",
  },
  "change-frequency-invalid": {
    message: "Ignored an invalid change frequency: {value}",
    fix: "Site owner: use one of the seven values of the protocol.",
  },
  "limit-text-length": {
    loss: true,
    message: "Left out a text of more than {limit} characters",
    fix: "Raise `limits.xmlTextLength`. The page was kept.",
  },
  "news-incomplete": {
    message: "Incomplete news story: {value}",
    fix: "Site owner: add what the news extension requires. The story was kept as it is.",
  },
  "news-date-form": {
    message: "Rewrote a publication date that is not in a form that Google reads: {value}",
    fix: "Site owner: write it as `2024-05-31` or `2024-05-31T12:00:00+02:00`.",
  },
  "image-incomplete": {
    message: "Skipped an image without a URL",
    fix: "Site owner: give every image an `<image:loc>`.",
  },
  "video-incomplete": {
    message: "Incomplete video: {value}",
    fix: "Site owner: add what the video extension requires. The video was kept as it is.",
  },
  "video-invalid": {
    message: "Ignored an invalid field of a video: {value}",
    fix: "Site owner: correct it. The video was kept.",
  },
  "alternate-incomplete": {
    message: "Skipped an alternate page without language or URL",
    fix: "Site owner: give every `<xhtml:link>` both `hreflang` and `href`.",
  },
  "alternate-relative": {
    message: "Resolved the relative URL of an alternate page: {value}",
    fix: "Site owner: write the whole URL; search engines drop relative ones.",
  },
  "limit-video-values": {
    loss: true,
    message: "More than {limit} values of one kind in a video; the rest was skipped: {value}",
    fix: "Site owner: Google reads 32 tags of a video, and no list of this length.",
  },
  "limit-images": {
    loss: true,
    message: "More than {limit} images on a page; the rest was skipped",
    fix: "Raise `limits.images`.",
  },
  "limit-videos": {
    loss: true,
    message: "More than {limit} videos on a page; the rest was skipped",
    fix: "Raise `limits.videos`.",
  },
  "limit-alternates": {
    loss: true,
    message: "More than {limit} alternates of a page; the rest was skipped",
    fix: "Raise `limits.alternates`.",
  },
  "protocol-entries": {
    message: "More than the {limit} entries that the protocol allows",
    fix: "Site owner: split the sitemap; search engines may ignore the rest. All of it was read.",
  },
  "limit-document-entries": {
    loss: true,
    message: "More than {limit} entries; the rest was not read",
    fix: "Raise `limits.documentEntries`.",
  },
};
