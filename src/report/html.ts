// Building blocks of the page: HTML that inserted values cannot break, the style sheet, and texts from a website: short, without control
// characters, and with percent-encoded letters decoded.
import { counted, grouped } from "../model/figures.ts";
import { isHttpUrl } from "../model/url.ts";
import { printable } from "../write/printable.ts";

/**
 * HTML that is safe to insert; only this file creates it. A template escapes every value, unless it is HTML from a
 * template. Values may be in text and in attributes with double quotes, as in all our templates.
 */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Marks our own content as HTML: the style sheet, the script, and JSON that is safe where it is inserted. */
  static trusted(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** The values of a template. Lists are joined; absent values are empty. */
export type Value = Html | string | number | undefined | false | readonly Value[];

/** `` html`<b>${name}</b>` ``. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return Html.trusted(strings.reduce((text, part, index) => `${text}${toText(values[index - 1])}${part}`));
}

function toText(value: Value): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map(toText).join("");
  return escaped(String(value));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]!);
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * The only style sheet of the report. Its policy forbids `style=` attributes: an element with its own position gets an
 * id, and a rule in this sheet.
 */
export class StyleSheet {
  readonly #rules = { wide: new Set<string>(), narrow: new Set<string>() };

  /** `narrow` is for phones, in place of the wide one. */
  add(selector: string, declarations: string, width: "wide" | "narrow" = "wide"): void {
    this.#rules[width].add(`${selector}{${declarations}}`);
  }

  /** `base` has the rules of every report. */
  toString(base: string): string {
    const [wide, narrow] = [[...this.#rules.wide].join(""), [...this.#rules.narrow].join("")];
    return `${compact(base)}${wide}${narrow && `@media screen and (max-width:640px){${narrow}}`}`;
  }
}

// Two decimals of a percentage are precise to a tenth of a pixel.
export function percentage(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}

function compact(css: string): string {
  return css
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,>]) ?/g, "$1")
    .replaceAll(/: /g, ":")
    .trim();
}

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

/**
 * The caps of the page: bytes of a text, as it is written in the page, and lengths of lists. A large website has about 280 kB, and none
 * can exceed a megabyte.
 */
export const caps = {
  text: 200,
  /** Bytes of a text in a long list. */
  rowText: 100,
  /** Bytes of the name of a section. */
  name: 48,
  tiles: 400,
  rows: 200,
  discovery: 80,
  preferences: 20,
  /** Examples and sitemaps of a rule, and of each rule once those of all rules take this many bytes. */
  examplesOfRule: 20,
  occurrencesOfRule: 10,
  fewOfRule: 2,
  allOfRules: 12_000,
  hosts: 12,
  languages: 12,
  changes: 20,
} as const;

/** Replaces the middle of a text that is too long. A URL that contains it is not linked. */
const cutMark = "…";

/**
 * At most this many bytes in the page: the beginning and the end of a text, and its length. A percent-encoded letter
 * takes six or nine characters: if there is no room for them, the letter itself counts, and is never cut in two.
 */
export function fitted(text: string, most: number = caps.text): string {
  const shown = printable(text);
  if (weight(shown) <= most) return shown;
  const readable = readableUrl(text);
  if (weight(readable) <= most) return readable;
  const head = taken(readable, Math.ceil(most * 0.7));
  // A short label shows only its beginning.
  if (most < 60) return `${head}${cutMark}`;
  const end = [...readable.slice(-most)].reverse();
  const tail = [...taken(end, Math.floor(most * 0.2))].reverse().join("");
  return `${head}${cutMark}${tail} (${text.length} characters)`;
}

/** Shortens all texts of an object. */
export function withShortTexts<T extends object>(item: T, most?: number): T {
  const short = (value: unknown) => (typeof value === "string" ? fitted(value, most) : value);
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, short(value)])) as T;
}

// Returns as many characters as fit.
function taken(characters: Iterable<string>, most: number): string {
  let text = "";
  let left = most;
  for (const character of characters) {
    left -= weight(character);
    if (left < 0) break;
    text += character;
  }
  return text;
}

function weight(text: string): number {
  return Buffer.byteLength(escaped(text));
}

/** The URL with percent-encoded letters of other alphabets decoded, if the result is text. */
export function readableUrl(url: string): string {
  if (!/%[89a-f]/i.test(url)) return printable(url);
  return printable(
    url.replaceAll(/(?:%[89a-f][0-9a-f])+/gi, (encoded) => {
      try {
        const decoded = decodeURIComponent(encoded);
        return unfitForUrls.test(decoded) ? encoded : decoded;
      } catch {
        return encoded;
      }
    }),
  );
}

// Characters that stay encoded: white space, controls, unassigned and private ones, and those that change the direction of writing.
const unfitForUrls = /[\p{C}\p{Z}]/u;

/** Dates and ages for people. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** `3 days`, `9 months`, `4.5 years`. */
export function age(days: number): string {
  if (days < 1) return "less than a day";
  // Months and years start at two, so that the singular is never needed.
  const months = Math.round(days / 30.44);
  if (months < 2) return counted(days, "day");
  if (months < 24) return `${months} months`;
  const years = days / 365.25;
  return `${years < 10 ? Math.max(2, Number(years.toFixed(1))) : Math.round(years)} years`;
}

/** `27%`, `< 1%`, `> 99%`: never 0 or 100 unless it is exact. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = (part / whole) * 100;
  if (part > 0 && share < 1) return "< 1%";
  if (part < whole && share > 99) return "> 99%";
  return `${Math.round(share)}%`;
}

/** `49 k`, `1.2 M`: if space is short. */
export function brief(count: number): string {
  if (count < 10_000) return grouped(count);
  const [value, unit] =
    count < 999_500 ? [count / 1000, "k"] : count < 999_500_000 ? [count / 1e6, "M"] : [count / 1e9, "G"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
