// Defines the cases of rules: a website that a rule must report, and similar ones that must pass.
import type { Severity } from "../../../src/check/rules/rule.ts";
import type { RuleId } from "../../../src/check/rules/rule-id.ts";
import {
  atom,
  child,
  dated,
  entry,
  home,
  index,
  links,
  robots,
  rss,
  richUrlset as sitemap,
} from "../../support/documents.ts";
import type { Route } from "../../support/site.ts";
import type { Website } from "../checked.ts";

export interface Case {
  readonly rule: RuleId;
  /** What is special about the case, if a rule has several. */
  readonly what?: string;
  readonly fires: Website;
  /** Similar websites that must pass. A plain website is always tested, too. */
  readonly near: readonly Website[];
  /** The number of occurrences in all sitemaps. */
  readonly count: number;
  readonly severity?: Severity;
  /** The URL or value of the first example; undefined if there is none. */
  readonly example: string | RegExp | undefined;
}

type Found = readonly [rule: RuleId, count: number, example: Case["example"], more?: Pick<Case, "what" | "severity">];

/** Creates a case: the rule, its count and its first example; the website that fails, and those that must pass. */
export function finds([rule, count, example, more]: Found, fires: Website, ...near: readonly Website[]): Case {
  return { rule, count, example, fires, near, ...more };
}

export { atom, child, dated, entry, home, index, links, robots, rss, sitemap };

/** A website with robots.txt and one sitemap of these entries, after the homepage. */
export function site(...entries: readonly string[]): Website {
  return files({ "/sitemap.xml": sitemap("/", ...entries) });
}

/** A website whose robots.txt names its sitemaps: `/sitemap.xml`, unless others are given. */
export function files(routes: Readonly<Record<string, Route>>, named: readonly string[] = ["/sitemap.xml"]): Website {
  return { routes: { "/robots.txt": robots(...named), ...routes } };
}

/** A website with one document, which robots.txt names. */
export function doc(text: Route, path = "/sitemap.xml"): Website {
  return files({ [path]: text }, [path]);
}

/** A website with two sitemaps of these entries, after the homepage. */
export function two(one: readonly string[], other: readonly string[]): Website {
  return files({ "/a.xml": sitemap("/", ...one), "/b.xml": sitemap(...other) }, ["/a.xml", "/b.xml"]);
}

/** Creates `count` entries with a function. */
export function many(count: number, make: (number: number) => string): string[] {
  return Array.from({ length: count }, (_, number) => make(number));
}
