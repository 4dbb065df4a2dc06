// Problems with the lines of robots.txt and text sitemaps.
import type { ProblemRows } from "./row.ts";

export const lineProblems: ProblemRows = {
  "limit-robots-bytes": {
    loss: true,
    cutOff: true,
    message: "robots.txt is larger than {limit bytes}; the rest was not read",
    fix: "Raise `limits.robotsBytes`. Search engines stop reading at 500 KiB, too.",
  },
  "limit-line-length": {
    loss: true,
    message: "Skipped a line of more than {limit} characters",
    fix: "Raise `limits.lineLength`. The line may hold many URLs. Site owner: one URL per line.",
  },
  "text-junk": {
    skipsEntry: true,
    message: "Skipped a line that is not a URL: {value}",
    fix: "Site owner: a text sitemap holds URLs only.",
  },
  "text-extra": {
    message: "Took only the URL from a line: {value}",
    fix: "Site owner: one URL per line, without quotes, brackets or other columns.",
  },
  "robots-spelling": {
    message: "Accepted a misspelled Sitemap line: {value}",
    fix: "Site owner: write `Sitemap: URL`; other programs do not find it.",
  },
};
