// What page filters did, in sentences: said at the end, piped or not.
import type { PageFilter } from "../../crawl/page-filter.ts";
import { counted } from "../../model/figures.ts";
import type { PageFilterSettings } from "../../model/options.ts";
import type { Pattern } from "../../model/pattern.ts";

/** `flags`: as they were typed. */
export function filterNotes(filter: PageFilter, flags: { readonly since?: unknown }): string[] {
  const { undated, robotsUnknown } = filter.counts;
  const [host, ...others] = filter.unknownHosts;
  const more = others.length === 0 ? "" : ` and ${counted(others.length, "other host")}`;
  const notes = [];
  if (filter.reached) notes.push(`stopped at --limit ${filter.listed}`);
  if (undated > 0) notes.push(`--since left out ${counted(undated, "page")} without a date`);
  const unknown = counted(robotsUnknown, "page");
  if (robotsUnknown > 0) notes.push(`--allowed-for left out ${unknown}: could not read robots.txt of ${host}${more}`);
  if (filter.empty !== undefined)
    notes.push(`0 of ${counted(filter.seen, "page")} ${reason(filter, filter.empty, flags)}`);
  return notes;
}

function reason(filter: PageFilter, empty: keyof PageFilterSettings, flags: { readonly since?: unknown }): string {
  const { include, exclude, allowedFor } = filter.settings;
  switch (empty) {
    case "include":
      return `match --include ${inWords(include)}${hint(filter)}`;
    case "exclude":
      return `remain after --exclude ${inWords(exclude)}`;
    case "since":
      return `are dated ${flags.since} or later (--since)`;
    case "sameHost":
      return "are on the host of the homepage (--same-host)";
    case "sameSite":
      return "are on the domain of the homepage (--same-site)";
    default:
      return `are allowed for ${allowedFor} (--allowed-for)`;
  }
}

/** `'a' or 'b'`. */
export function inWords(patterns: readonly Pattern[]): string {
  return patterns.map((each) => `'${each}'`).join(" or ");
}

function hint({ settings, matchesInOtherCase }: PageFilter): string {
  if (settings.include.some((each) => /^(["']).*\1$/s.test(String(each))))
    return "; there are quotes around the pattern";
  return matchesInOtherCase ? "; it would match in another case" : "";
}
