// Problems of a whole tree: how sitemaps hang together, budgets, what discovery could not reach, archives.
import { cut, loss, note, type ProblemRows } from "./row.ts";

export const treeProblems: ProblemRows = {
  cycle: note("The sitemap contains itself", "Site owner: remove the entry. Nothing is missing."),
  "limit-depth": loss("Sitemaps are nested more than {limit} deep; this one was not fetched", "Raise `limits.depth`.", {
    hint: "allow more with --max-depth",
  }),
  "limit-documents": loss(
    "More than {limit} sitemaps; this one was not fetched[, nor were the next ones: {count} in all]",
    "Raise `limits.documents`, or use `recurse`.",
    { hint: "allow more with --max-sitemaps" },
  ),
  "limit-bytes": loss(
    "More than {limit bytes} transferred; this one was not fetched[, nor were the next ones: {count} in all]",
    "Raise `limits.bytes`, or use `recurse`.",
  ),
  "limit-pages": loss("More than {limit} pages; reading stopped", "Raise `limits.pages`, or use `recurse`."),
  "limit-time": cut(
    "Not done after {limit ms}; reading stopped",
    "Raise `limits.time`, or use `recurse`. What arrived was kept.",
    { hint: "allow more with --max-time" },
  ),
  "website-unreachable": loss(
    "Nothing could be read from the website, so all its pages are missing",
    "See `unreachable` for the reason. If the website blocks bots, try another `userAgent` or ask for access.",
  ),
  "robots-unreachable": loss(
    "Could not read robots.txt, so some sitemaps may be missing",
    "Try again. Discovery continued, unless `strictRobots` is set.",
  ),
  "robots-unknown": note("Could not read the robots.txt of a host, so `allowedFor` skips its pages", "Try again."),
  "crawl-delay": note(
    "robots.txt asks for a Crawl-delay of {limit ms}; requests are sent faster",
    "Turn on `useCrawlDelay`, or set a `delay`.",
    { hint: "respect it with --crawl-delay" },
  ),
  "homepage-unreachable": loss("Could not read the homepage, so some sitemaps may be missing", "Try again."),
  "homepage-cut": loss("The homepage was not read to its end, so some sitemaps may be missing: {value}", "Try again."),
  "homepage-too-many-links": loss(
    "The homepage links to more than {limit} sitemaps; the rest was not fetched",
    "Pass the others yourself. Site owner: list them in robots.txt or an index.",
  ),
  "homepage-link-invalid": note("The homepage has an invalid sitemap link: {value}", "Site owner: fix or remove it."),
  "known-path-unreachable": note("Could not try a well-known path: {value}", "Try again, or pass the sitemap's URL."),
  "archive-missing": loss("Not in the archive", "Crawl again: the archive is cut off, or was made with other options."),
  "archive-counts": loss(
    "Not what the archive recorded: other pages, or other problems",
    "The archive was changed: crawl again, or get the original.",
  ),
  "archive-digest": loss(
    "Not what the archive recorded: the checksum is wrong",
    "The file is damaged or was changed: crawl again, or get the original.",
  ),
  "archive-revisit": note(
    "The archive refers to content in another file",
    "Join the archives with `cat`, in any order.",
  ),
  "archive-truncated": loss("The archive is cut off or damaged; the readable part is used", "Crawl again."),
};
