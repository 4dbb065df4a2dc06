// Makes the headers of requests. The caller's `headers`, user name and password are sent only to the origins of the start URLs (for http,
// also to https on the same host), and never after a redirect from another website.
import zlib from "node:zlib";
import type { Settings } from "../model/options.ts";
import { bareHost } from "../model/url.ts";

/** Returns the headers of a request to `origin`. `isAnonymous` means that another website led there. */
export type RequestHeaders = (origin: string, isAnonymous: boolean) => Readonly<Record<string, string>>;

export function requestHeaders(settings: Settings, start: readonly URL[]): RequestHeaders {
  const common = { "user-agent": settings.userAgent, accept, "accept-encoding": acceptEncoding };
  const trustedHeaders = new Map<string, Readonly<Record<string, string>>>();
  // If several start URLs of one origin have a user name, the first one is used.
  const authorizations = new Map<string, string>();
  for (const url of start) {
    const own = basicAuthorization(url);
    for (const origin of trustedOrigins(url)) {
      if (own !== undefined && !authorizations.has(origin)) authorizations.set(origin, own);
      const authorization = authorizations.get(origin);
      trustedHeaders.set(origin, { ...common, ...(authorization && { authorization }), ...settings.headers });
    }
  }
  return (origin, isAnonymous) => (isAnonymous ? undefined : trustedHeaders.get(origin)) ?? common;
}

function trustedOrigins({ origin, protocol, port, hostname }: URL): string[] {
  return protocol === "http:" && port === "" ? [origin, `https://${hostname}`] : [origin];
}

/** Whether a redirect stays on its website: on the same origin, or on the default ports of the same host, with or without `www.`. */
export function staysOnWebsite(from: URL, to: URL): boolean {
  const isSameHost = bareHost(from.hostname) === bareHost(to.hostname);
  return from.origin === to.origin || (isSameHost && from.port === "" && to.port === "");
}

// Prefers sitemaps, feeds and text, but accepts anything, so that no website refuses the request because of its type.
const accept =
  "application/xml, text/xml;q=0.9, application/rss+xml;q=0.9, application/atom+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";

// Node has zstd since version 22.15.
const acceptEncoding = "createZstdDecompress" in zlib ? "gzip, deflate, br, zstd" : "gzip, deflate, br";

/** Returns the value of `authorization` for the user name and password of a URL, if it has any. */
export function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64")}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
