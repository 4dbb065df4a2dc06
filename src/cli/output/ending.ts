// The end of a run: whether the result is complete, what could not be read and why, why nothing was found, and what page filters did.
// On a terminal, losses are grouped; in pipes and logs, each of them is one line.
import type { PageFilter } from "../../crawl/page-filter.ts";
import type { CrawlEvent, DiscoveryRecord, FinishedEvent, UnreachableWebsite } from "../../model/event.ts";
import { counted, duration, grouped, size } from "../../model/figures.ts";
import type { Pattern } from "../../model/pattern.ts";
import {
  isComplete,
  isCutOff,
  isLossy,
  messageWithHint,
  type Problem,
  type ProblemCode,
  rootCauses,
  skippedBecause,
} from "../../model/problem.ts";
import { isReadSitemap, type Sitemap } from "../../model/sitemap.ts";
import { bareHost, parseUrl } from "../../model/url.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Messages } from "./messages.ts";

interface Loss {
  readonly url: string;
  readonly code: ProblemCode;
  readonly message: string;
  /** What is lost: a whole sitemap, a part of one, or sitemaps that discovery could not find. */
  readonly what: "not read" | "incomplete" | "discovery";
}

export class CrawlEnding {
  // Beyond a readable number, losses are only counted.
  readonly #losses: Loss[] = [];
  readonly #forgiven: ReadonlySet<ProblemCode>;
  #lossCount = 0;
  #unread = 0;
  #partial = 0;
  #minor = 0;
  readonly #skipped = new SkippedEntries();
  #found = false;
  /** The homepage, once it is known. */
  homepage: string | undefined;
  /** The URL of the website on the command line, perhaps with a path. */
  given: string | undefined;
  /** Whether feeds are read, too, with --feeds. */
  readsFeeds = false;
  #finished: FinishedEvent | undefined;
  /** Knows on which hosts the pages are, to warn if all of them are elsewhere. */
  readonly #hosts = new PageHosts();
  #crawlDelay: Problem | undefined;
  /** How URLs are shown: a local file may have a made-up one. */
  nameOf: (url: string) => string = (url) => url;
  /** Whether the output is kept even if nothing could be read, because it reports that. An archive is never kept then. */
  readonly reportsFailures: boolean = false;

  /** `forgiven` are problems that do not count as losses, because the user asked for them, as with --limit. */
  constructor(forgiven: readonly ProblemCode[] = []) {
    this.#forgiven = new Set(forgiven);
  }

  see(event: CrawlEvent): void {
    if (event.type === "start" && event.depth === 0) this.homepage = event.url;
    this.#hosts.see(event);
    if (event.type === "finished") this.#finished = event;
    if (event.type === "sitemap") this.#see(event.sitemap);
    if (event.type !== "problem") return;
    const { url, problem } = event;
    if (problem.code === "crawl-delay") this.#crawlDelay = problem;
    // This problem was found while the pages of an archive were listed, after its sitemaps were reported.
    if (this.#finished === undefined || !isLossy(problem.code)) return;
    this.#partial += 1;
    this.#lose({ url, code: problem.code, message: messageWithHint(problem), what: "incomplete" });
  }

  #see(sitemap: Sitemap): void {
    if (isReadSitemap(sitemap) || sitemap.kind === "invalid") this.#found = true;
    if (sitemap.kind === "invalid") {
      const { reason } = sitemap;
      if (this.#forgiven.has(reason.code)) return;
      if (isComplete([reason])) this.#minor += 1;
      else {
        this.#unread += reason.count ?? 1;
        this.#lose(lossOf(sitemap, reason, "not read"));
      }
      return;
    }
    const isRoot = sitemap.kind === "index" && sitemap.format === "website";
    const lossy = rootCauses(sitemap.problems.filter(({ code }) => isLossy(code) && !this.#forgiven.has(code)));
    if (lossy.length > 0 && !isRoot) this.#partial += 1;
    for (const problem of lossy) this.#lose(lossOf(sitemap, problem, isRoot ? "discovery" : "incomplete"));
    for (const problem of sitemap.problems) if (!isLossy(problem.code) && !this.#skipped.see(problem)) this.#minor += 1;
  }

  #lose(loss: Loss): void {
    this.#lossCount += 1;
    if (this.#losses.length < mostLosses) this.#losses.push({ ...loss, url: this.nameOf(loss.url) });
  }

  /** Whether discovery ended without a sitemap. If one of our limits ended it, there may still be one. */
  protected get foundNothing(): boolean {
    const hasEnded = this.#finished !== undefined && this.#limit === undefined;
    return !this.#found && hasEnded && !this.#losses.some(({ code }) => code === "limit-robots-bytes");
  }

  get #limit(): Problem | undefined {
    return this.#finished?.discovery.find(({ reason }) => reason?.code.startsWith("limit-"))?.reason;
  }

  // Sitemaps named with --sitemap count as found even if they cannot be fetched, so `#found` does not show whether the website answered.
  get #unreachable(): UnreachableWebsite | undefined {
    return this.readNothing ? this.#finished?.unreachable : undefined;
  }

  /** Whether no sitemap could be read at all. Old files are kept then. */
  get readNothing(): boolean {
    return this.#finished?.totals.sitemaps === 0;
  }

  get isComplete(): boolean {
    return this.#lossCount === 0;
  }

  get exitCode(): ExitCode {
    if (this.#unreachable !== undefined) return exitCodes.unreachable;
    // A document that could not be read, such as robots.txt, may list sitemaps.
    if (!this.isComplete) return exitCodes.incomplete;
    return this.foundNothing ? exitCodes.notFound : exitCodes.complete;
  }

  /** Prints how the run ended: how many pages, or other units, were listed, what was lost, and then the notes. */
  print(messages: Messages, listed: number, notes: readonly string[], unit = "page"): void {
    if (this.#unreachable !== undefined) {
      messages.say(unreachableReason(this.homepage, this.#unreachable), "bad");
      return;
    }
    const losses = messages.hasLog ? [] : this.#shownLosses();
    if (messages.isTerminal) this.#printGrouped(messages, losses, counted(listed, unit));
    else this.#printLines(messages, losses);
    this.#skipped.print(messages);
    const elsewhere = this.given === undefined ? undefined : this.#hosts.elsewhere(this.given);
    if (elsewhere !== undefined) messages.say(elsewhere, "bad");
    if (this.#crawlDelay !== undefined && !messages.hasLog) messages.say(messageWithHint(this.#crawlDelay), "quiet");
    for (const note of notes) messages.say(note, "quiet");
    if (!this.foundNothing) return;
    messages.say(`no sitemap found for ${this.homepage}`, "bad");
    for (const line of placesTried(this.#finished?.discovery ?? [])) messages.say(`  ${line}`);
    const { origin, pathname = "/" } = parseUrl(this.given ?? "") ?? {};
    if (pathname !== "/" && this.homepage === `${origin}/`)
      messages.say(`  To look below ${pathname}, too: --keep-path`, "quiet");
    messages.say("  If you know its address: sitegrove ls --sitemap URL", "quiet");
    if (!this.readsFeeds) messages.say("  To read feeds, too: --feeds", "quiet");
  }

  // Leaves out losses of discovery if a limit ended it, because the limit explains them. Adds why robots.txt could not be read.
  #shownLosses(): readonly Loss[] {
    if (!this.#found && this.#limit !== undefined) return this.#losses.filter(({ what }) => what !== "discovery");
    const robots = this.#finished?.discovery.find(({ by }) => by === "robots")?.reason;
    if (robots === undefined) return this.#losses;
    const why = startingSmall(robots.message);
    return this.#losses.map((loss) =>
      loss.code === "robots-unreachable" ? { ...loss, message: `${loss.message}: ${why}` } : loss,
    );
  }

  /** Says how many entries were skipped, even if there is nothing else to report. */
  printSkipped(messages: Messages): void {
    this.#skipped.print(messages);
  }

  #printLines(messages: Messages, losses: readonly Loss[]): void {
    for (const { url, message, what } of losses)
      messages.say(what === "discovery" ? message : `${url}: ${what}: ${message}`);
    if (!this.#found && this.#limit !== undefined) messages.say(messageWithHint(this.#limit));
    const more = this.#lossCount - this.#losses.length;
    if (more > 0 && !messages.hasLog) messages.say(`and ${grouped(more)} more; --log-file lists them all`);
    this.#printSummary(messages);
  }

  #printGrouped(messages: Messages, losses: readonly Loss[], listed: string): void {
    const { totals } = this.#finished ?? {};
    if (this.#found) {
      const sources = totals === undefined ? "" : ` from ${counted(totals.sitemaps, "sitemap")}`;
      const effort = totals === undefined ? "" : ` in ${duration(totals.duration)}, ${size(totals.wireBytes)}`;
      messages.say(`${listed}${sources}${effort}`, "good");
      if (totals !== undefined) sayProvenance(messages, totals.obtained);
    }
    this.#printSummary(messages);
    if (!this.#found && this.#limit !== undefined) messages.say(messageWithHint(this.#limit), "warning");
    const groups = groupedBy(losses, ({ code }) => code);
    for (const group of groups.slice(0, mostGroups)) {
      const [{ message, what }] = group;
      // Prints one headline if all messages are the same, or else a message for each.
      const isShared = group.every((loss) => loss.message === message);
      if (isShared) messages.say(`  ${message}`, "warning");
      if (what === "discovery") continue;
      for (const { url, message } of group.slice(0, mostInGroup))
        messages.say(isShared ? `    ${url}` : `  ${url}: ${message}`);
      if (group.length > mostInGroup) messages.say(`    and ${group.length - mostInGroup} more`);
    }
    if (groups.length > mostGroups) messages.say(`  and ${groups.length - mostGroups} more reasons`);
    if (this.#minor === 0 || messages.hasLog) return;
    messages.say(`${counted(this.#minor, "minor problem")}; -v lists ${this.#minor === 1 ? "it" : "them"}`, "quiet");
  }

  #printSummary(messages: Messages): void {
    if (this.#lossCount === 0 || !this.#found) return;
    const parts = [];
    if (this.#unread > 0) parts.push(`${counted(this.#unread, "sitemap")} could not be read`);
    if (this.#partial > 0) parts.push(`${counted(this.#partial, "sitemap")} could only be partly read`);
    messages.say(`incomplete: ${parts.join(", ") || "some sitemaps may be missing"}`, "warning");
  }
}

/** Detects a website whose pages seem to be elsewhere, as with a preview, by the host of the first page of each batch. */
class PageHosts {
  readonly #asked = new Set<string>();
  readonly #found = new Map<string, string>();

  see(event: CrawlEvent): void {
    // A host that the website redirects to also belongs to it.
    if (event.type === "request" && /^[^/]+\/\/[^/]+\/(?:robots\.txt)?$/.test(event.url))
      this.#asked.add(hostOf(event.url));
    const [page] = event.type === "pages" ? event.pages : [];
    if (page !== undefined && this.#found.size < mostLosses) this.#found.set(hostOf(page.url), page.url);
  }

  elsewhere(given: string): string | undefined {
    const [first] = this.#found.values();
    const isHere = (host: string) => host === hostOf(given) || this.#asked.has(host);
    if (first === undefined || [...this.#found.keys()].some(isHere)) return undefined;
    const { origin } = parseUrl(given) ?? {};
    const there = parseUrl(first)?.origin;
    return `WARNING: the pages are on ${there}, not on ${origin}; --here lists them on ${origin}`;
  }
}

function hostOf(url: string): string {
  return bareHost(parseUrl(url)?.host ?? "");
}

/** Counts the entries that were skipped, and says why. */
export class SkippedEntries {
  readonly #counts = new Map<string, number>();

  /** Returns whether entries with this problem are skipped. */
  see({ code, count = 1 }: Problem): boolean {
    const why = skippedBecause(code);
    if (why !== undefined) this.#counts.set(why, (this.#counts.get(why) ?? 0) + count);
    return why !== undefined;
  }

  /** Prints one line if there are any: `939 entries skipped: invalid URLs; -v lists them`. */
  print(messages: Messages, areListed: boolean = messages.hasLog): void {
    const reasons = [...this.#counts].sort(([, one], [, other]) => other - one);
    if (reasons.length === 0) return;
    const total = reasons.reduce((sum, [, count]) => sum + count, 0);
    const shown = reasons.map(([why, count]) => (reasons.length === 1 ? why : `${why} (${grouped(count)})`));
    const hint = areListed ? "" : `; -v lists ${total === 1 ? "it" : "them"}`;
    messages.say(`${counted(total, "entry", "entries")} skipped: ${shown.join(", ")}${hint}`, "quiet");
  }
}

// How many losses are kept and shown, which is enough to see what is wrong. The log has all of them.
const mostLosses = 1000;
const mostGroups = 10;
const mostInGroup = 5;

// Says how many documents were unchanged, or came from an archive. Says nothing if all were fetched.
function sayProvenance(messages: Messages, obtained: FinishedEvent["totals"]["obtained"]): void {
  const unchanged = obtained["not-modified"];
  const parts = [];
  if (unchanged > 0) parts.push(`${grouped(unchanged)} unchanged`);
  if (obtained.resumed > 0) parts.push(`${grouped(obtained.resumed)} from the archive`);
  if (parts.length > 0) messages.say(`${counted(obtained.fetched, "document")} fetched, ${parts.join(", ")}`, "quiet");
}

// For a document that was cut off, the message says how much of it was kept.
function lossOf(sitemap: Sitemap, problem: Problem, what: Loss["what"]): Loss {
  const { code } = problem;
  const pages = sitemap.kind === "pages" && isCutOff(code) ? sitemap.pageCount : undefined;
  const kept = pages === undefined ? "" : `; ${counted(pages, "page")} ${pages === 1 ? "was" : "were"} kept`;
  const declared = sitemap.declaredUrl === undefined ? "" : ` (declared as ${sitemap.declaredUrl})`;
  return { url: sitemap.url + declared, code, message: messageWithHint(problem) + kept, what };
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** Says in one sentence why nothing could be read from a website. */
function unreachableReason(homepage = "", { outcome, reason, documents }: UnreachableWebsite): string {
  const host = parseUrl(homepage)?.host ?? homepage;
  // Most documents were not even requested, so their number is not shown.
  if (reason.code === "rate-limited") return `${host}: ${startingSmall(reason.message)}`;
  if (reason.code === "http-401")
    return `Login required: ${host} answers 401; pass credentials in the URL or with --header`;
  if (outcome === "blocked") {
    const hint = /^(http-403|bot-check)$/.test(reason.code) ? "; try another --user-agent" : "";
    return `${host} refused ${documents === 1 ? "the request" : `all ${documents} requests`}: ${startingSmall(reason.message)}${hint}`;
  }
  // A reset is not a failure to connect, because the connection was open.
  const isConnection = /^(dns|connection(?!-reset)|proxy|tls)-|^timeout-(connect|tls)$/.test(reason.code);
  const what = isConnection ? "Could not connect to" : "Nothing could be read from";
  return `${what} ${host}: ${startingSmall(messageWithHint(reason))}`;
}

// Describes the URLs that were tried. Those found in the same way with the same outcome share a line, which names the first.
function placesTried(discovery: readonly DiscoveryRecord[]): string[] {
  const groups = groupedBy(discovery, (record) => `${record.by} ${answerInWords(record)}`);
  const lines = groups.slice(0, mostGroups).map(([first, ...others]) => {
    return `${first.url}${others.length === 0 ? "" : ` and ${others.length} more`}: ${answerInWords(first)}`;
  });
  return groups.length <= mostGroups ? lines : [...lines, `and ${groups.length - mostGroups} more`];
}

function answerInWords({ by, outcome, reason, status, sameAs }: DiscoveryRecord): string {
  if (sameAs !== undefined) return `same as ${sameAs}`;
  if (reason !== undefined) {
    const text = startingSmall(reason.message);
    return by === "robots" ? text.replace(/, not a sitemap$/, ", not a robots.txt") : text;
  }
  if (outcome === "absent") return `not found${status === undefined ? "" : ` (${status})`}`;
  return outcome === "not-a-sitemap" ? "not a sitemap" : outcome;
}

// Converts the first letter to lower case, except in abbreviations such as TLS or HTTP.
function startingSmall(sentence: string): string {
  return /^[A-Z][a-z]/.test(sentence) ? `${sentence[0]?.toLowerCase()}${sentence.slice(1)}` : sentence;
}

/** Returns notes about what page filters did, for the end of a run. `since` is the text of --since. */
export function filterNotes(filter: PageFilter, { since }: { readonly since?: unknown }): string[] {
  const { undated, robotsUnknown } = filter.counts;
  const [host, ...others] = filter.unknownHosts;
  const more = others.length === 0 ? "" : ` and ${counted(others.length, "other host")}`;
  const notes = [];
  if (filter.isLimitReached) notes.push(`stopped at --limit ${filter.listed}`);
  const them = undated === 1 ? "it" : "them";
  if (undated > 0)
    notes.push(`--since skipped ${counted(undated, "page")} without a date; --undated keep lists ${them}`);
  const unknown = counted(robotsUnknown, "page");
  if (robotsUnknown > 0) notes.push(`--allowed-for skipped ${unknown}: could not read robots.txt of ${host}${more}`);
  const { include, exclude, scope, allowedFor } = filter.settings;
  const reasons: Readonly<Record<string, string>> = {
    include: `match --include ${patternList(include)}${includeHint(filter)}`,
    exclude: `remain after --exclude ${patternList(exclude)}`,
    since: `match --since ${since}${startOf(since, filter)}`,
    scope: scope === "host" ? "are on the homepage's host (--same-host)" : "are on the homepage's domain (--same-site)",
    allowedFor: `are allowed for ${allowedFor} (--allowed-for)`,
  };
  const none = filter.empty.flatMap((name) => reasons[name] ?? []).join(" and ");
  if (none !== "") notes.push(`0 of ${counted(filter.seen, "page")} ${none}`);
  return notes;
}

// Says when a period begins, because `3m` are minutes.
function startOf(since: unknown, { settings }: PageFilter): string {
  if (settings.since === undefined || !/^\d+[a-z]+$/i.test(String(since))) return "";
  return ` (${new Date(settings.since).toISOString().slice(0, 16).replace("T", " ")} UTC)`;
}

/** Joins patterns: `'a' or 'b'`. */
export function patternList(patterns: readonly Pattern[]): string {
  return patterns.map((each) => `'${each}'`).join(" or ");
}

function includeHint({ settings, matchesInOtherCase }: PageFilter): string {
  if (settings.include.some((each) => /^(["']).*\1$/s.test(String(each)))) return "; the pattern contains quotes";
  if (matchesInOtherCase) return "; patterns are case-sensitive";
  // The help says what a pattern is, but most people try these first.
  const [text = ""] = settings.include.filter(
    (each) => typeof each === "string" && !/^(?:\*|https?:|\/.*\/$)/.test(each),
  );
  if (/^\^|\.\*/.test(String(text))) return "; a regular expression needs slashes around it";
  if (!String(text).includes("*")) return "";
  return `; with *, a pattern is for the whole URL: '*/${String(text).replace(/^\//, "")}'`;
}
