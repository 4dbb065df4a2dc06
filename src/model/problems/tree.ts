// Problems of a whole tree: how sitemaps hang together, budgets, what discovery could not reach, archives.
import type { ProblemRows } from "./row.ts";

export const treeProblems: ProblemRows = {
  cycle: {
    message: "The sitemap contains itself",
    fix: "Nothing is missing: its pages are listed already. Site owner: remove the reference.",
  },
  "limit-depth": {
    loss: true,
    message: "Sitemaps nested more than {limit} deep; this one was not fetched",
    fix: "Raise `limits.depth`.",
    hint: "allow more with --max-depth",
  },
  "limit-documents": {
    loss: true,
    message: "More than {limit} sitemaps; this one was not fetched[, nor were those after it: {count} in all]",
    fix: "Raise `limits.documents`, or choose sitemaps with `recurse`.",
    hint: "allow more with --max-sitemaps",
  },
  "limit-bytes": {
    loss: true,
    message: "More than {limit bytes} transferred; this one was not fetched[, nor were those after it: {count} in all]",
    fix: "Raise `limits.bytes`, or choose sitemaps with `recurse`.",
  },
  "limit-pages": {
    loss: true,
    message: "More than {limit} pages; reading stopped",
    fix: "Raise `limits.pages`, or choose sitemaps with `recurse`.",
  },
  "limit-time": {
    loss: true,
    cutOff: true,
    message: "Not done after {limit ms}; reading stopped",
    fix: "Raise `limits.time`, or choose sitemaps with `recurse`. What had arrived was kept.",
    hint: "allow more with --max-time",
  },
  "website-unreachable": {
    loss: true,
    message: "Nothing could be read from the website; whatever its sitemaps declare is missing",
    fix: "See `unreachable`, which says why. Where the website refuses programs: try another `userAgent`; ask the site owner for access.",
  },
  "robots-unreachable": {
    loss: true,
    message: "Could not read robots.txt; sitemaps that only it names are missing",
    fix: "Try again. Discovery went on without it, unless `strictRobots` is set.",
  },
  "crawl-delay": {
    message: "robots.txt asks for a pause of {limit ms} between requests, which are sent faster",
    fix: "Turn on `useCrawlDelay`, or set a `delay`.",
    hint: "--crawl-delay keeps it",
  },
  "homepage-unreachable": {
    loss: true,
    message: "Could not read the homepage; sitemaps that only it names are missing",
    fix: "Try again. Discovery went on without it.",
  },
  "homepage-cut": {
    loss: true,
    message: "The homepage was not read to its end, and may name more sitemaps: {value}",
    fix: "Try again. Discovery went on with what had been read.",
  },
  "homepage-too-many-links": {
    loss: true,
    message: "The homepage links to more than {limit} sitemaps; the others were not fetched",
    fix: "Name the others as sitemaps yourself. Site owner: list them in robots.txt or in an index.",
  },
  "homepage-link-invalid": {
    message: "The homepage links to a sitemap by something that is not a URL: {value}",
    fix: "Site owner: correct or remove the link.",
  },
  "known-path-unreachable": {
    message: "Could not try a well-known path, which may hold a sitemap: {value}",
    fix: "Try again, or name the sitemap.",
  },
  "archive-missing": {
    loss: true,
    message: "Not in the archive",
    fix: "Crawl again: the archive was made with other options, or is cut off.",
  },
  "archive-counts": {
    loss: true,
    message: "Not what the archive says it is: it counts other pages, or fewer problems",
    fix: "The archive was changed. Crawl again, or get it from where it came.",
  },
  "archive-digest": {
    loss: true,
    message: "Not what the archive says it was: its checksum is wrong",
    fix: "The file was changed or is damaged. Crawl again, or get the archive from where it came.",
  },
  "archive-revisit": {
    message: "The archive says that the document is unchanged, but its content is in another file",
    fix: "Join the archives with `cat`, in any order, and open the result.",
  },
  "archive-truncated": {
    loss: true,
    message: "The archive is cut off or damaged; what can be read of it is used",
    fix: "Crawl again.",
  },
};
