// The limits of the protocols for a sitemap and a robots.txt. The limit for URLs is in url.ts.

/** https://www.sitemaps.org/protocol.html#index: entries of one sitemap or index. */
export const protocolEntries = 50_000;

/** https://www.sitemaps.org/protocol.html#index: bytes of one sitemap or index, decompressed. */
export const protocolBytes = 52_428_800;

/** https://www.rfc-editor.org/rfc/rfc9309#section-2.5 and what Google reads of a robots.txt: 500 KiB. */
export const robotsTxtBytes = 512_000;
