// URLs relative to the homepage, for `--strip-url`.

/** How a URL is shown. */
export type ShowUrl = (url: string) => string;

/** Shows a URL as it is. */
export const wholeUrl: ShowUrl = (url) => url;

/** Shows a URL below the homepage as a path that starts with a slash, any other URL unchanged. */
export function stripUrl(homepage: string): ShowUrl {
  const prefix = homepage.endsWith("/") ? homepage : `${homepage}/`;
  return (url) => (url.startsWith(prefix) ? url.slice(prefix.length - 1) : url);
}
