// Judges the URLs of pages, one at a time: their target and their spelling. Most need one scan of their characters
// (url-scan.ts) and a comparison with the beginning of the sitemap's own URL.
import { bareHost } from "../model/url.ts";
import { bounds } from "./bounds.ts";
import type { SitemapFindings } from "./findings.ts";
import { type Origin, readOrigin } from "./hosts.ts";
import type { RobotsAccess } from "./robots-access.ts";
import type { SitemapContext } from "./sitemap-context.ts";
import { has, type UrlScan } from "./url-scan.ts";

/** What is known about the website whose URLs are judged. */
export interface UrlSettings {
  /** The host of the homepage: whoever checks a website can open it, even if it is private. */
  readonly homeHost: string;
  /** Hosts for which cross-submission is set up. */
  readonly crossSubmit: ReadonlySet<string>;
  readonly robots: RobotsAccess;
}

export class UrlRules {
  readonly #settings: UrlSettings;
  // By the text before the path. Websites have few; a hostile one has many.
  readonly #origins = new Map<string, Origin | undefined>();
  readonly #sitemapHosts = new Set<string>();
  #lastText = "";
  #lastOrigin: Origin | undefined;

  constructor(settings: UrlSettings) {
    this.#settings = settings;
  }

  /** The following URLs are in this sitemap. */
  begin({ location }: SitemapContext): void {
    if (location !== undefined) this.#sitemapHosts.add(location.origin.host);
  }

  /** `scan` has read the URL. */
  see(url: string, scan: UrlScan, context: SitemapContext): void {
    const { findings } = context;
    const origin = this.#originOf(url, scan.hostEnd);
    if (origin !== undefined) {
      this.#judgeOrigin(url, origin, findings);
      this.#judgeLocation(url, origin, context);
    }
    judgeSpelling(url, scan, findings);
    judgeMeaning(url, scan, findings);
    const blocked = this.#settings.robots.blocked(url);
    if (blocked !== undefined) {
      findings.add("url-robots-disallowed", url, blocked.agents, blocked.isFirst ? undefined : "warning");
    }
  }

  /** Whether a sitemap on the host of a URL was read. */
  isKnownHost(url: string, hostEnd: number): boolean {
    const host = this.#originOf(url, hostEnd)?.host;
    return host !== undefined && this.#sitemapHosts.has(host);
  }

  #originOf(url: string, hostEnd: number): Origin | undefined {
    if (hostEnd === this.#lastText.length && url.startsWith(this.#lastText)) return this.#lastOrigin;
    const text = url.slice(0, hostEnd);
    let origin = this.#origins.get(text);
    if (origin === undefined && !this.#origins.has(text)) {
      origin = readOrigin(text);
      if (this.#origins.size >= mostOrigins) this.#origins.clear();
      this.#origins.set(text, origin);
    }
    this.#lastText = text;
    this.#lastOrigin = origin;
    return origin;
  }

  #judgeOrigin(url: string, origin: Origin, findings: SitemapFindings): void {
    if (origin.reach !== "public" && origin.host !== this.#settings.homeHost) {
      findings.add("url-private-host", url, origin.host, origin.reach === "private" ? undefined : "warning");
    }
    if (origin.hasCredentials) findings.add("url-credentials", withoutPassword(url));
    if (origin.isOddlyWritten) findings.add("url-not-normal", url);
  }

  #judgeLocation(url: string, origin: Origin, { location, findings, isGiven, submittedBy }: SitemapContext): void {
    if (location === undefined) return;
    if (origin.host !== location.origin.host) {
      const { crossSubmit } = this.#settings;
      if (crossSubmit.has(origin.host) || submittedBy.has(origin.host)) return;
      const isWww = bareHost(origin.host) === bareHost(location.origin.host);
      findings.add(isWww ? "url-www-mismatch" : "url-other-host", url, location.origin.host);
      return;
    }
    if (origin.scheme !== location.origin.scheme) findings.add("url-other-scheme", url, location.origin.scheme);
    else if (!isGiven && !url.startsWith(location.directory) && location.directory.length > location.start.length + 1) {
      const path = url.slice(this.#lastText.length);
      if (!(location.start + path).startsWith(location.directory)) {
        findings.add("url-outside-directory", url, location.directory);
      }
    }
  }
}

const mostOrigins = 10_000;

function judgeSpelling(url: string, scan: UrlScan, findings: SitemapFindings): void {
  const { kinds } = scan;
  if ((kinds & has.forbidden) !== 0) findings.add("url-not-escaped", url);
  else if ((kinds & has.nonAscii) !== 0) findings.add("url-not-escaped", url, undefined, "info");
  if ((kinds & has.percent) !== 0) {
    if (percentInvalid.test(url)) findings.add("url-percent-invalid", url);
    else if (percentTwice.test(url)) findings.add("url-percent-twice", url);
  }
  if ((kinds & has.slashDot) !== 0 && dotSegment.test(pathOf(url, scan))) findings.add("url-not-normal", url);
  if ((kinds & has.doubleSlash) !== 0) findings.add("url-double-slash", url);
  // The rule is about characters, of which percent-encoding makes three.
  if (url.length > bounds.yandexUrlLength && decodedLength(url) > bounds.yandexUrlLength) {
    findings.add("url-too-long-yandex", url);
  }
}

function judgeMeaning(url: string, scan: UrlScan, findings: SitemapFindings): void {
  const { query, fragment, kinds } = scan;
  if (fragment >= 0 && fragment < url.length - 1) findings.add("url-fragment", url);
  if (query >= 0) {
    const parameters = url.slice(query, fragment < 0 ? undefined : fragment);
    if (sessionParameter.test(parameters)) findings.add("url-session-id", url);
    if (trackingParameter.test(parameters)) findings.add("url-tracking-parameter", url);
  }
  if ((kinds & has.semicolon) !== 0 && /;jsessionid=/i.test(url)) findings.add("url-session-id", url);
  const path = pathOf(url, scan);
  if (asset.test(path)) findings.add("url-asset", url);
  if (utility.test(path) || (query >= 0 && searchQuery.test(url.slice(scan.hostEnd)))) findings.add("url-utility", url);
}

function pathOf(url: string, { hostEnd, query, fragment }: UrlScan): string {
  const end = query >= 0 ? query : fragment >= 0 ? fragment : url.length;
  return url.slice(hostEnd, end);
}

function decodedLength(url: string): number {
  // A character of UTF-8 begins with a byte that is not 10xxxxxx.
  return url.replaceAll(/%[89ab][0-9a-f]/gi, "").replaceAll(/%[0-9a-f]{2}/gi, "x").length;
}

// Examples of findings are printed: passwords must not be.
function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, "//…@");
}

const percentInvalid = /%(?![0-9a-f]{2})/i;
const percentTwice = /%25[0-9a-f]{2}/i;
const dotSegment = /\/\.\.?(?:\/|$)/;
const sessionParameter = /[?&](?:PHPSESSID|sid|session_?id|jsessionid|ASPSESSIONID[a-z]*|zenid|osCsid)=/i;
const trackingParameter = /[?&](?:utm_[a-z]+|gclid|fbclid|msclkid|yclid|_ga|_gl|mc_eid|ref)=/i;
const asset = /\.(?:css|js|mjs|json|map|png|jpe?g|gif|svg|webp|avif|woff2?|ico)$/i;
const utility =
  /^\/(?:[a-z]{2}(?:-[a-z]{2})?\/)?(?:cart|basket|checkout|log-?in|sign-?in|sign-?up|register|account|my-account|wp-admin|wp-login\.php|search)(?:\/|$)/i;
const searchQuery = /^\/[^?]*\?(?:s|q|query|search)=/i;
