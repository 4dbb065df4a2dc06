// A website that was named without a scheme: https is used, or http if https does not answer there.
import type { SharedLimits } from "../fetch/limiter.ts";
import type { Options } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { lacksTls } from "../model/problem-table.ts";
import { parseUrl } from "../model/url.ts";
import type { Prepared } from "./prepare.ts";

export interface WorkingUrl {
  readonly url: string;
  /** Why https does not answer. */
  readonly failure?: Problem;
}

/** The https URL, or the same with http if only that answers. If neither does, the crawl reports the cause. */
export async function workingUrl(
  url: string,
  options: Options | undefined,
  shared?: SharedLimits,
): Promise<WorkingUrl> {
  const plain = url.replace(/^https:/i, "http:");
  if (plain === url) return { url };
  const failure = await failureAt(url, options, shared);
  if (failure === undefined) return { url };
  const isPlain = mayBePlain(failure, url) && (await failureAt(plain, options, shared)) === undefined;
  return { url: isPlain ? plain : url, failure };
}

function mayBePlain(failure: Problem, url: string): boolean {
  if (lacksTls(failure)) return true;
  const { code, value } = failure;
  if (code === "tls-certificate") return value === "ERR_TLS_CERT_ALTNAME_INVALID" || value === "HOSTNAME_MISMATCH";
  // A given port that refuses connections refuses both.
  return /^(?:connection-refused|connection-reset|timeout-(?:connect|tls))$/.test(code) && parseUrl(url)?.port === "";
}

// Undefined if there is any response. Whether a website is slow is for the crawl to find out: it must not take twice as long.
async function failureAt(url: string, options: Options = {}, shared?: SharedLimits): Promise<Problem | undefined> {
  const { save: _, resume: __, previous: ___, onEvent: ____, ...rest } = options;
  const { fetchDocument } = await import("./fetch-one.ts");
  const timeout = typeof rest.timeout === "number" ? { total: rest.timeout } : rest.timeout;
  const brief = { ...timeout, firstByte: Math.min(timeout?.firstByte ?? longestWait, longestWait) };
  const asked = { ...rest, retries: 0, timeout: brief };
  const found = await fetchDocument(new URL("/robots.txt", url).href, asked, shared);
  if (found.outcome === "found") await found.close();
  return found.outcome === "failed" || found.outcome === "refused" ? found.reason : undefined;
}

const longestWait = 12_000;

/** The same crawl, with what the website itself has to tell first: its scheme, and the host that its documents name. */
export async function settledStart(given: Prepared, shared?: SharedLimits): ReturnType<typeof withWorkingScheme> {
  const { prepared, problems } = await withWorkingScheme(given, shared);
  if (!prepared.settings.here) return { prepared, problems };
  return { prepared: await (await import("./here.ts")).withHere(prepared), problems };
}

/** The same crawl, with http for the websites that were named without a scheme and answer only there. */
async function withWorkingScheme(
  prepared: Prepared,
  shared: SharedLimits | undefined,
): Promise<{ readonly prepared: Prepared; readonly problems: readonly Problem[] }> {
  const plain = new Map<string, Problem>();
  for (const url of prepared.assumed) {
    const { origin = "" } = parseUrl(url) ?? {};
    if (plain.has(origin)) continue;
    const { url: working, failure } = await workingUrl(url, prepared.options, shared);
    if (working !== url && failure) plain.set(origin, problem("https-missing", { value: failure.message }));
  }
  if (plain.size === 0) return { prepared, problems: [] };
  const moved = (url: string) => (plain.has(parseUrl(url)?.origin ?? "") ? url.replace(/^https:/i, "http:") : url);
  const { homepage, sitemaps } = prepared.start;
  const start = { homepage: moved(homepage), sitemaps: sitemaps?.map(moved) };
  const startUrls = prepared.startUrls.map(moved);
  return { prepared: { ...prepared, start, startUrls, assumed: [] }, problems: [...plain.values()] };
}
