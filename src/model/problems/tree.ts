// Problems of a whole tree: how sitemaps hang together, budgets, what discovery could not reach, archives.
import { cut, loss, note, type ProblemRows } from "./row.ts";

export const treeProblems: ProblemRows = {
  cycle: note("The sitemap contains itself", "Nothing is missing. Site owner: remove the reference."),
  "limit-depth": loss("Sitemaps nested more than {limit} deep; this one was not fetched", "Raise `limits.depth`.", {
    hint: "allow more with --max-depth",
  }),
  "limit-documents": loss(
    "More than {limit} sitemaps; this one was not fetched[, nor were those after it: {count} in all]",
    "Raise `limits.documents`, or choose sitemaps with `recurse`.",
    { hint: "allow more with --max-sitemaps" },
  ),
  "limit-bytes": loss(
    "More than {limit bytes} transferred; this one was not fetched[, nor were those after it: {count} in all]",
    "Raise `limits.bytes`, or choose sitemaps with `recurse`.",
  ),
  "limit-pages": loss("More than {limit} pages; reading stopped", "Raise `limits.pages`, or use `recurse`."),
  "limit-time": cut(
    "Not done after {limit ms}; reading stopped",
    "Raise `limits.time`, or choose sitemaps with `recurse`. What had arrived was kept.",
    { hint: "allow more with --max-time" },
  ),
  "website-unreachable": loss(
    "Nothing could be read from the website; whatever its sitemaps declare is missing",
    "See `unreachable`, which says why. Where the website refuses programs: try another `userAgent`; ask the site owner for access.",
  ),
  "robots-unreachable": loss(
    "Could not read robots.txt, so some sitemaps may be missing",
    "Try again. Discovery went on without it, unless `strictRobots` is set.",
  ),
  "robots-unknown": note(
    "Could not read the robots.txt of a host; `allowedFor` leaves out its pages",
    "Try again. A robots.txt that is missing (4xx) allows everything; one that cannot be reached allows nothing.",
  ),
  "crawl-delay": note(
    "robots.txt asks for a pause of {limit ms} between requests, which are sent faster",
    "Turn on `useCrawlDelay`, or set a `delay`.",
    { hint: "--crawl-delay keeps it" },
  ),
  "homepage-unreachable": loss("Could not read the homepage, so some sitemaps may be missing", "Try again."),
  "homepage-cut": loss("The homepage was not read to its end, and may name more sitemaps: {value}", "Try again."),
  "homepage-too-many-links": loss(
    "The homepage links to more than {limit} sitemaps; the others were not fetched",
    "Name the others as sitemaps yourself. Site owner: list them in robots.txt or in an index.",
  ),
  "homepage-link-invalid": note(
    "The homepage links to a sitemap by something that is not a URL: {value}",
    "Site owner: correct or remove the link.",
  ),
  "known-path-unreachable": note(
    "Could not try a well-known path, which may hold a sitemap: {value}",
    "Try again, or name the sitemap.",
  ),
  "archive-missing": loss("Not in the archive", "Crawl again: the archive was made with other options, or is cut off."),
  "archive-counts": loss(
    "Not what the archive says it is: it counts other pages, or fewer problems",
    "The archive was changed. Crawl again, or get it from where it came.",
  ),
  "archive-digest": loss(
    "Not what the archive says it was: its checksum is wrong",
    "The file was changed or is damaged. Crawl again, or get the archive from where it came.",
  ),
  "archive-revisit": note(
    "The archive says that the document is unchanged, but its content is in another file",
    "Join the archives with `cat`, in any order, and open the result.",
  ),
  "archive-truncated": loss("The archive is cut off or damaged; what can be read of it is used", "Crawl again."),
};
