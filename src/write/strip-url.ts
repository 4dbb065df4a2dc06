// URLs below the homepage, shown relative to it: what `--strip-url` asks for.

/** How a URL is shown. */
export type ShowUrl = (url: string) => string;

/** Shows a URL as it is. */
export const wholeUrl: ShowUrl = (url) => url;

/** Shows what lies below the homepage as a path that starts with a slash, everything else as it is. */
export function stripUrl(homepage: string): ShowUrl {
  const prefix = homepage.endsWith("/") ? homepage : `${homepage}/`;
  return (url) => (url.startsWith(prefix) ? url.slice(prefix.length - 1) : url);
}
