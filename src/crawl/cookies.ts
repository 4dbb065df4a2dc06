// Keeps cookies in memory. https://www.rfc-editor.org/rfc/rfc6265#section-5
//   Stricter: only the websites of the start URLs set cookies and get them back. A website is a host with or without `www.`, on the
//   default ports; on any other port, it is an origin.
import { isIP } from "node:net";
import type { Fetched } from "../model/exchange.ts";
import { bareHost, parseUrl } from "../model/url.ts";

// With more cookies, the oldest are dropped.
const mostCookies = 100;
const longestCookie = 4096;

interface Cookie {
  readonly pair: string;
  readonly website: string;
  /** The host that set the cookie. Without a `domain`, the cookie is sent only to this host. */
  readonly host: string;
  readonly domain: string | undefined;
  readonly path: string;
  readonly secure: boolean;
  readonly expires: number;
}

export class Cookies {
  readonly #websites: ReadonlySet<string>;
  readonly #cookies = new Map<string, Cookie>();

  /** `startUrls` are the URLs that the caller gave. */
  constructor(startUrls: readonly string[]) {
    this.#websites = new Set(startUrls.flatMap((url) => websiteOf(parseUrl(url)) ?? []));
  }

  /** Whether the website of this URL may set cookies. */
  accepts(url: string): boolean {
    return this.#websites.has(websiteOf(parseUrl(url)) ?? "");
  }

  /** Stores the cookies of a response, unless its request omitted the caller's headers. */
  store(fetched: Fetched): void {
    if (fetched.anonymous) return;
    for (const [name, value] of fetched.headers ?? []) if (name === "set-cookie") this.#set(value, fetched.url);
  }

  /** Returns the `Cookie` header for a request, or undefined if no cookie matches. */
  headerFor(url: string): string | undefined {
    const target = this.#cookies.size === 0 ? null : parseUrl(url);
    if (target === null) return undefined;
    const sent = [...this.#cookies.values()].filter(
      (cookie) =>
        cookie.website === websiteOf(target) &&
        (target.hostname === cookie.host || isAtOrBelow(target.hostname, cookie.domain)) &&
        isInFolder(target.pathname, cookie.path) &&
        (!cookie.secure || target.protocol === "https:") &&
        cookie.expires > Date.now(),
    );
    // Cookies with longer paths come first, then those that were set earlier.
    sent.sort((one, two) => two.path.length - one.path.length);
    return sent.length === 0 ? undefined : sent.map(({ pair }) => pair).join("; ");
  }

  #set(text: string, url: string): void {
    const from = parseUrl(url);
    const [pair = "", ...rest] = text.split(";").map((part) => part.trim());
    const isPair =
      pair.length <= longestCookie && /^[^=\x00-\x08\x0a-\x1f\x7f]+=[^\x00-\x08\x0a-\x1f\x7f]*$/.test(pair);
    const website = websiteOf(from) ?? "";
    if (from === null || !isPair || !this.#websites.has(website)) return;
    const { hostname: host } = from;
    const attributes = new Map(
      rest.map((text) => {
        const [name = "", ...value] = text.split("=");
        return [name.trim().toLowerCase(), value.join("=").trim()];
      }),
    );
    const domain = attributes.get("domain")?.replace(/^\./, "").toLowerCase() || undefined;
    const secure = attributes.has("secure");
    if ((domain !== undefined && !isAtOrBelow(host, domain)) || (secure && from.protocol !== "https:")) return;
    const given = attributes.get("path") ?? "";
    const path = given.startsWith("/") ? given : from.pathname.slice(0, from.pathname.lastIndexOf("/")) || "/";
    const key = JSON.stringify([pair.slice(0, pair.indexOf("=")).trim(), domain ?? host, path, website]);
    const expires = expiryOf(attributes);
    if (expires <= Date.now()) this.#cookies.delete(key);
    else this.#cookies.set(key, { pair, website, host, domain, path, secure, expires });
    for (const oldest of this.#cookies.keys()) if (this.#cookies.size > mostCookies) this.#cookies.delete(oldest);
  }
}

function websiteOf(url: URL | null): string | undefined {
  return url?.port === "" ? bareHost(url.hostname) : url?.origin;
}

function isAtOrBelow(host: string, domain: string | undefined): boolean {
  return host === domain || (domain !== undefined && host.endsWith(`.${domain}`) && isIP(host) === 0);
}

function isInFolder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

function expiryOf(attributes: ReadonlyMap<string, string>): number {
  const age = attributes.get("max-age") ?? "";
  if (/^-?\d+$/.test(age)) return Date.now() + Number(age) * 1000;
  const date = Date.parse(attributes.get("expires") ?? "");
  return Number.isNaN(date) ? Number.POSITIVE_INFINITY : date;
}
