// Parts that all sections of the report use: URLs, sentences with code, tables that scroll.
import { isHttpUrl } from "../../model/url.ts";
import { type Html, html, type Value } from "../html.ts";
import { cutMark, readableUrl } from "../text.ts";

/** A URL of the website: a link if it is complete. `shown`: its text, by default the URL itself. */
export function urlLink(url: string, shown: string = url): Html {
  const text = readableUrl(shown);
  if (url.includes(cutMark) || !isHttpUrl(url)) return html`<bdi class="url">${text}</bdi>`;
  return html`<a class="url" href="${url}">${text}</a>`;
}

/** The URL without the common beginning of all URLs of the website. */
export function withoutOrigin(url: string, homepage: string): string {
  const origin = /^https?:\/\/[^/?#]*/i.exec(homepage)?.[0];
  return origin !== undefined && url.startsWith(`${origin}/`) ? url.slice(origin.length) : url;
}

/** A sentence of ours, with `code` between backticks. */
export function prose(sentence: string): Html {
  return html`${sentence.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** A table that scrolls if it is too wide; `label` names it. */
export function table(label: string, head: Value, rows: Value, className: string = ""): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table class="${className}"><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A part of the page. */
export function part(id: string, title: string, content: Value): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${content}</section>`;
}

/** `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
