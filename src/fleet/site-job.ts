// What a fleet works on: one job is one website; its result is one summary.
import { createHash, randomUUID } from "node:crypto";
import { type CrawlTarget, prepare, withoutScheme } from "../crawl/prepare.ts";
import { isJsonObject } from "../model/json.ts";
import { oneOf, optionsIn, unexpected, urlText } from "../model/option-checks.ts";
import type { Options } from "../model/options.ts";
import type { ProblemCode } from "../model/problem.ts";
import type { RobotsPreference } from "../model/sitemap.ts";
import { homepageOf, isHttpUrl, urlKey, withAssumedScheme, withoutCredentials } from "../model/url.ts";

/** One website to be read. Plain data: a queue may keep it anywhere. */
export interface SiteJob {
  /** Made from the normalized URL of the homepage, or those of the given sitemaps. Its hash is part of file names. */
  readonly key: string;
  readonly homepage: string;
  /** Its sitemaps, if they are given instead of found. */
  readonly sitemaps?: readonly string[] | undefined;
  /** Whether to use http if https does not answer, because the website was named without a scheme. */
  readonly mayBePlain?: boolean | undefined;
}

// The keys of given sitemaps begin with this, so that they never equal the key of a homepage.
const sitemapsMark = "sitemaps ";

/**
 * Reads a job from a journal or a queue, which may contain anything. Undefined if it has no website, or if its key belongs to another one:
 * the result would be published as that website's.
 */
export function storedJob({ key, homepage, sitemaps, mayBePlain }: Record<string, unknown>): SiteJob | undefined {
  const isUrl = (value: unknown): value is string => typeof value === "string" && isHttpUrl(value);
  if (typeof key !== "string" || key === "" || !isUrl(homepage)) return undefined;
  const urls = Array.isArray(sitemaps) && sitemaps.length > 0 && sitemaps.every(isUrl) ? { sitemaps } : {};
  // If the list of sitemaps was lost, the homepage must not be read instead.
  if (key.startsWith(sitemapsMark) && !("sitemaps" in urls)) return undefined;
  const job = { key, homepage, ...urls, ...(mayBePlain === true && { mayBePlain }) };
  const [first] = "sitemaps" in urls ? urls.sitemaps : [];
  const isOwnHomepage = first === undefined || homepage === homepageOf(first);
  return key === keyOf(job) && isOwnHomepage ? job : undefined;
}

// The same sitemaps in another order are the same website.
function keyOf({ homepage, sitemaps }: Omit<SiteJob, "key">): string {
  return sitemaps === undefined ? urlKey(homepage) : sitemapsMark + [...new Set(sitemaps.map(urlKey).sort())].join(" ");
}

/**
 * - `complete`: everything declared was read
 * - `incomplete`: something could not be read, or a limit ended the crawl or the check
 * - `none`: the website responded but has no sitemap
 * - `unreachable`: the website could not be reached
 * - `blocked`: the website refused all requests
 * - `failed`: sitegrove itself failed, or its output did
 * - `quarantined`: the process died five times while reading the website, so it was set aside
 */
export type SiteOutcome = "complete" | "incomplete" | "none" | "unreachable" | "blocked" | "failed" | "quarantined";

export const siteOutcomes: readonly SiteOutcome[] = [
  ...(["complete", "incomplete", "none", "unreachable", "blocked", "failed", "quarantined"] as const),
];

/** Why a part of a website could not be read. */
export interface SiteReason {
  readonly code: ProblemCode | "internal";
  /** The message of the first occurrence. */
  readonly message: string;
  readonly count: number;
}

/** The result of one website. */
export interface SiteSummary {
  readonly site: string;
  readonly key: string;
  readonly outcome: SiteOutcome;
  readonly pages: number;
  readonly sitemaps: number;
  /** Sitemaps that could not be read. */
  readonly invalid: number;
  readonly requests: number;
  readonly wireBytes: number;
  /** In milliseconds. */
  readonly duration: number;
  /** ISO 8601. */
  readonly finishedAt: string;
  /** The attempt that gave this result. */
  readonly attemptId: string;
  /** Why something is missing: at most ten reasons, the most frequent first. */
  readonly reasons: readonly SiteReason[];
  /** Paths of the outputs, relative to their folder, by kind: `pages`, `changes`, `sitemaps`, `archive`, `findings`. */
  readonly files: Readonly<Record<string, string>>;
  /** Why the archive of the earlier run was not used, so that everything was requested. Absent if it was used, or there was none. */
  readonly previousError?: string;
  /** What robots.txt says about how pages may be used: at most 20 lines. */
  readonly preferences?: readonly RobotsPreference[];
  /** How many rules failed in the check, by severity. */
  readonly findings?: Readonly<Record<string, number>>;
}

/** Whether a stored value is a summary. Fields of later versions are accepted. */
export function isSummary(value: unknown): value is SiteSummary {
  return isJsonObject(value) && Object.entries(summaryFields).every(([name, isValid]) => isValid(value[name]));
}

const isText = (value: unknown) => typeof value === "string";
const isCount = (value: unknown) => typeof value === "number" && value >= 0 && Number.isFinite(value);
const isTexts = (value: unknown) => isJsonObject(value) && Object.values(value).every(isText);
const isReason = (value: unknown) =>
  isJsonObject(value) && isText(value["code"]) && isText(value["message"]) && isCount(value["count"]);
const isPreference = (value: unknown) =>
  isJsonObject(value) && isText(value["field"]) && isTexts(value["values"] ?? {});

const summaryFields: Readonly<Record<keyof SiteSummary, (value: unknown) => boolean>> = {
  site: (value) => typeof value === "string" && isHttpUrl(value),
  key: isText,
  outcome: (value) => siteOutcomes.includes(value as SiteOutcome),
  pages: isCount,
  sitemaps: isCount,
  invalid: isCount,
  requests: isCount,
  wireBytes: isCount,
  duration: isCount,
  finishedAt: isText,
  attemptId: isText,
  reasons: (value) => Array.isArray(value) && value.every(isReason),
  files: (value) => isJsonObject(value) && Object.values(value).every(isOwnPath),
  previousError: (value = "") => isText(value),
  preferences: (value = []) => Array.isArray(value) && value.every(isPreference),
  findings: (value = {}) => isJsonObject(value) && Object.values(value).every(isCount),
};

/** Whether a name stays below the folder or prefix of the outputs. Names from a journal, a queue or a bucket may be anything. */
export function isOwnPath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !/^\/|^[a-z]:|(^|\/)\.{0,2}(\/|$)|[\0\\]/i.test(value);
}

/** What robots.txt says about AI, such as `ai-train=no`. Each appears once, even if it applies to several crawlers; long ones are left out. */
export function preferenceNames({ preferences = [] }: Pick<SiteSummary, "preferences">): string[] {
  const names = preferences.flatMap(({ field, values = { [field]: "" } }) =>
    Object.entries(values).map(([key, value]) => (value === "" ? key : `${key}=${value}`)),
  );
  return [...new Set(names)].filter(({ length }) => length < 50);
}

/** Whether the outcome is the fault of sitegrove or of this machine, not of the website. */
export function isFailure(outcome: SiteOutcome): boolean {
  return outcome === "failed" || outcome === "quarantined";
}

/** The summary of a website from which nothing was read. `message` says why sitegrove or its output failed, if so. */
export function emptySummary(
  { homepage, key }: SiteJob,
  attemptId: string,
  outcome: SiteOutcome,
  message?: string,
  count = 1,
): SiteSummary {
  return {
    site: homepage,
    key,
    outcome,
    pages: 0,
    sitemaps: 0,
    invalid: 0,
    requests: 0,
    wireBytes: 0,
    duration: 0,
    finishedAt: new Date().toISOString(),
    attemptId,
    reasons: message === undefined ? [] : [{ code: "internal", message, count }],
    files: {},
  };
}

/**
 * Makes a job for a homepage, or for sitemaps, which are a website of their own. Returns undefined if the text is not a website.
 * `example.org` means `https://example.org/`, or http if https does not answer; `localhost:3000` means `http://localhost:3000/`. With
 * `path: "keep"` or `"only"`, `https://example.org/a/` is a separate website.
 */
export function siteJob(website: CrawlTarget, options: { readonly path?: Options["path"] } = {}): SiteJob | undefined {
  optionsIn("options", options, ["path"]);
  const given = urlText(website);
  if (isJsonObject(given) && "sitemaps" in given) return jobOfSitemaps(website);
  const text = isJsonObject(given) ? urlText(given["homepage"]) : given;
  if (typeof text !== "string") throw unexpected("website", "a text, a URL or sitemaps", website);
  const path = oneOf(["ignore", "keep", "only"])("path", options.path ?? "ignore");
  const trimmed = text.trim();
  const url = withAssumedScheme(trimmed);
  if (trimmed === "" || /\s/.test(trimmed) || !isHttpUrl(url)) return undefined;
  const named = withoutCredentials(url);
  const found = path !== "ignore" ? new URL(named.replace(/#.*$/s, "")).href : homepageOf(named);
  // `..` is not a host, although `new URL` accepts it.
  if (/^\.|\.\./.test(new URL(found).hostname)) return undefined;
  if (url !== trimmed && !isHostName(trimmed, new URL(found))) return undefined;
  const mayBePlain = url !== trimmed && /^https:/.test(found);
  return { key: urlKey(found), homepage: found, ...(mayBePlain && { mayBePlain }) };
}

/** Returns what to crawl. A website that was named without a scheme gets none, so that the crawl finds out which one works. */
export function targetOf({ homepage, sitemaps, mayBePlain }: SiteJob): CrawlTarget {
  const asNamed = (url: string) => (mayBePlain ? withoutScheme(url) : url);
  return sitemaps === undefined ? asNamed(homepage) : { sitemaps: sitemaps.map(asNamed) };
}

function jobOfSitemaps(website: CrawlTarget): SiteJob {
  const { start, assumed } = prepare(website);
  const { sitemaps = [], homepage } = start;
  const mayBePlain = assumed.length === sitemaps.length;
  return { key: keyOf({ homepage, sitemaps }), homepage, sitemaps, ...(mayBePlain && { mayBePlain }) };
}

// `word`, `4`, `1.5` and `me@example.org` are valid as URLs, too (`4` is 0.0.0.4), but are hardly meant as websites.
function isHostName(text: string, { host, hostname }: URL): boolean {
  const [written = ""] = text.split(/[/?#\\]/, 1);
  // `1,example.org` is a row of a table, although `new URL` accepts it.
  if (/[@,;]/.test(written)) return false;
  // A host of digits and dots must have been written as that address.
  if (/^[\d.]+$/.test(hostname) && written.replace(/:\d*$/, "") !== hostname) return false;
  return /[.:]|^localhost$/.test(host);
}

/**
 * The name of an attempt, part of the names of its files. The random part tells apart attempts with the same number: by machines that share
 * a bucket, each with its own journal, or on a server that lost its last second of data.
 */
export function attemptIdOf(key: string, starts: number): string {
  return `${keyHash(key)}-${starts}-${randomUUID().slice(0, 6)}`;
}

/** A short name for a key, the same on every machine: 16 hexadecimal digits. */
export function keyHash(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}
