// Rules about a sample of the pages that are listed.
import { bounds } from "../bounds.ts";
import { type BuiltInRule, engines } from "../rule.ts";
import { sources } from "../sources.ts";

const days = bounds.pageOlder / (24 * 3600 * 1000);

export const pageRules: readonly BuiltInRule[] = [
  {
    id: "page-unreachable",
    severity: "error",
    basis: "practice",
    engines,
    sentence: "A listed page cannot be opened: not found, a server error, or no answer.",
    fix: "Take the page out of the sitemap, or repair it.",
    link: sources.searchConsole,
    needs: ["sample"],
  },
  {
    id: "page-redirect",
    severity: "warning",
    basis: "engine",
    engines,
    sentence: "Page with redirect: a listed page redirects to another URL.",
    fix: "List the URL that it leads to.",
    link: sources.buildSitemap,
    needs: ["sample"],
  },
  {
    id: "page-noindex",
    severity: "error",
    basis: "practice",
    engines,
    sentence: "Excluded by 'noindex' tag: a listed page asks not to be indexed.",
    fix: "Remove the noindex, or take the page out of the sitemap.",
    link: sources.noindex,
    needs: ["sample"],
  },
  {
    id: "page-canonical-elsewhere",
    severity: "warning",
    basis: "engine",
    engines,
    sentence: "Alternate page with proper canonical tag: a listed page names another URL as canonical.",
    fix: "List the canonical URL.",
    link: sources.canonical,
    needs: ["sample"],
  },
  {
    id: "page-hreflang-differs",
    severity: "info",
    basis: "engine",
    engines: ["google"],
    sentence: "The page and the sitemap name different alternate pages.",
    fix: "Keep one of the two, or make them equal.",
    link: sources.languages,
    needs: ["sample"],
  },
  {
    id: "page-lastmod-older",
    severity: "info",
    basis: "engine",
    engines: ["google"],
    sentence: `A page says that it changed more than ${days} days earlier than the sitemap says.`,
    fix: "Give each page the time of its last significant change.",
    link: sources.buildSitemap,
    needs: ["sample"],
  },
];
