// If a website was named without a scheme, uses https, or http if https does not answer. The first request to it decides, and its
// response is kept for the crawl.
import type { Fetcher } from "../fetch/fetcher.ts";
import type { DocumentRequest, Fetched } from "../model/exchange.ts";
import type { Options, Settings } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { lacksTls } from "../model/problem-table.ts";
import { parseUrl, withoutCredentials } from "../model/url.ts";
import { type Prepared, prepare } from "./prepare.ts";

/** A crawl whose scheme is known. */
export interface SettledScheme {
  readonly prepared: Prepared;
  /** Why http is used instead of https. */
  readonly problems: readonly Problem[];
  readonly fetcher: Fetcher;
  /** The responses so far, for the crawl. */
  readonly answers: readonly Fetched[];
  /** Why the last https URL that was tried does not answer. */
  readonly failure?: Problem | undefined;
}

/** Decides the scheme. If neither scheme answers, the crawl reports why https does not. `open` creates a fetcher for start URLs. */
export async function settleScheme(
  given: Prepared,
  open: (prepared: Prepared) => Fetcher,
  signal: AbortSignal,
): Promise<SettledScheme> {
  // The URL that is being tried. A failure that may be due to https is not retried there, because http comes next.
  let tried: string | undefined;
  const trying = (prepared: Prepared): Fetcher => {
    const retry: Settings["retry"] = (failure, attempt) =>
      tried !== undefined && mayWorkWithHttp(failure, tried) ? false : prepared.settings.retry?.(failure, attempt);
    return open({ ...prepared, settings: { ...prepared.settings, retry } });
  };
  let prepared: Prepared = { ...given, assumed: [] };
  let fetcher = trying(prepared);
  const answers = new Map<string, Fetched>();
  const problems: Problem[] = [];
  let failure: Problem | undefined;
  try {
    for (const url of given.assumed) {
      const { origin } = new URL(url);
      if (answers.has(origin)) continue;
      tried = url;
      const answer = await fetcher.fetch({ ...firstRequest(prepared, url), signal });
      answers.set(origin, answer);
      failure = noAnswer(answer);
      if (failure === undefined || !mayWorkWithHttp(failure, url)) continue;
      const plain = movedToHttp(prepared, origin);
      const other = trying(plain);
      const plainAnswer = await other.fetch({ ...firstRequest(plain, withHttp(url)), signal }).catch(async (error) => {
        await other.close();
        throw error;
      });
      const works = noAnswer(plainAnswer) === undefined;
      await (works ? fetcher : other).close();
      if (!works) continue;
      // The bodies of other responses ended with their fetcher.
      answers.clear();
      answers.set(origin, plainAnswer);
      problems.push(problem("https-missing", { value: failure.message }));
      [fetcher, prepared] = [other, plain];
    }
  } catch (error) {
    await fetcher.close();
    throw error;
  }
  tried = undefined;
  return { prepared, problems, fetcher, answers: [...answers.values()], failure };
}

/** Returns the https URL, or the same URL with http if only that answers, and why https does not. */
export async function workingUrl(
  url: string,
  options: Options,
): Promise<{ readonly url: string; readonly failure: Problem | undefined }> {
  const { save: _, resume: __, previous: ___, onEvent: ____, ...rest } = options;
  const { Fetcher } = await import("../fetch/fetcher.ts");
  const open = ({ settings, startUrls }: Prepared) => new Fetcher({ settings, start: startUrls });
  const { signal = new AbortController().signal } = options;
  const given = { ...prepare(url, rest), assumed: /^https:/i.test(url) ? [url] : [] };
  const { prepared, fetcher, failure } = await settleScheme(given, open, signal);
  await fetcher.close();
  return { url: prepared.startUrls[0] as string, failure };
}

// Returns the first request of the crawl, or one for robots.txt if the crawl uses neither that nor the homepage.
function firstRequest({ start, settings }: Prepared, url: string): DocumentRequest {
  const bare = withoutCredentials(url).replace(/#.*$/s, "");
  if (start.sitemaps !== undefined) return { url: bare, role: "sitemap" };
  if (!settings.useRobots && settings.useHomepage) return { url: start.homepage, role: "homepage" };
  return { url: new URL("/robots.txt", bare).href, role: "robots" };
}

function movedToHttp(prepared: Prepared, origin: string): Prepared {
  const moved = (url: string) => (parseUrl(url)?.origin === origin ? withHttp(url) : url);
  const { homepage, sitemaps } = prepared.start;
  const start = { homepage: moved(homepage), sitemaps: sitemaps?.map(moved) };
  return { ...prepared, start, startUrls: prepared.startUrls.map(moved) };
}

function withHttp(url: string): string {
  return url.replace(/^https:/i, "http:");
}

// A document, a redirect, "not found" and "access denied" count as answers; other errors do not.
function noAnswer(answer: Fetched): Problem | undefined {
  return answer.outcome === "failed" || answer.outcome === "refused" ? answer.reason : undefined;
}

function mayWorkWithHttp(failure: Problem, url: string): boolean {
  if (lacksTls(failure)) return true;
  const { code, value } = failure;
  if (code === "tls-certificate") return value === "ERR_TLS_CERT_ALTNAME_INVALID" || value === "HOSTNAME_MISMATCH";
  // A port in the URL is the same for both schemes: if it refuses connections, http would fail, too.
  return /^(?:connection-refused|connection-reset|timeout-(?:connect|tls))$/.test(code) && parseUrl(url)?.port === "";
}
