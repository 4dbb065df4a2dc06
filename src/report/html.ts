// The building blocks of the page: HTML that values cannot break, the style sheet, and texts of websites, which are shortened, stripped of
// control characters, and shown with percent-encoded letters decoded.
import { counted, grouped } from "../model/figures.ts";
import { isHttpUrl } from "../model/url.ts";
import { printable } from "../write/printable.ts";

/**
 * HTML that is safe to insert. The template `html` creates it: it escapes every value that is not HTML itself. Values may be in text and in
 * attributes with double quotes.
 */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Creates HTML without escaping, for the style sheet and for `html`, which has escaped its values. */
  static trusted(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** A value in a template. Lists are joined; `undefined` and `false` insert nothing. */
export type Value = Html | string | number | undefined | false | readonly Value[];

/** Creates HTML from a template: `` html`<b>${name}</b>` ``. */
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

/** The only style sheet of the report. The content security policy forbids `style` attributes, so positions are rules for ids. */
export class StyleSheet {
  readonly #rules = { wide: new Set<string>(), narrow: new Set<string>() };

  /** Adds a rule. A `narrow` rule overrides the `wide` one on narrow screens. */
  add(selector: string, declarations: string, width: "wide" | "narrow" = "wide"): void {
    this.#rules[width].add(`${selector}{${declarations}}`);
  }

  /** Returns the style sheet. `base` has the rules that all reports share. */
  toString(base: string): string {
    const [wide, narrow] = [[...this.#rules.wide].join(""), [...this.#rules.narrow].join("")];
    return `${base}${wide}${narrow && `@media screen and (max-width:640px){${narrow}}`}`;
  }
}

/** Formats a position for the style sheet. Two decimals of a percentage are precise to a tenth of a pixel. */
export function percentage(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}

/** Links an http or https URL, unless it was shortened. The text of the link is the URL without the origin of the homepage. */
export function urlLink(url: string, homepage: string): Html {
  const text = readableUrl(withoutOrigin(url, homepage));
  if (url.includes(cutMark) || !isHttpUrl(url)) return html`<bdi class="url">${text}</bdi>`;
  return html`<a class="url" href="${url}">${text}</a>`;
}

/** Removes scheme and host from a URL on the host of the homepage. */
export function withoutOrigin(url: string, homepage: string): string {
  const origin = /^https?:\/\/[^/?#]*/i.exec(homepage)?.[0];
  return origin !== undefined && url.startsWith(`${origin}/`) ? url.slice(origin.length) : url;
}

/** Formats a sentence of the program. Backticks enclose code. */
export function prose(sentence: string): Html {
  return html`${sentence.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** A column: its name and class. Its cells are numbers unless the class is `text`; narrow screens hide `minor` columns. */
export type Column = readonly [name: string, className?: "text" | "minor" | "text minor"];

/** A row. The first cell is its header, which is indented by the `level`. */
export interface TableRow {
  readonly cells: readonly Value[];
  readonly id?: string;
  readonly className?: "bad" | "other" | undefined;
  readonly level?: number;
}

/** Creates a table that scrolls if it is too wide, and a last row if there are `others`. Screen readers call it `label`. */
export function table(label: string, columns: readonly Column[], rows: readonly TableRow[], others: number = 0): Html {
  const head = columns.map(([name, className]) => html`<th scope="col"${attribute("class", className)}>${name}</th>`);
  const body = rows.map(({ cells: [header, ...values], id, className, level = 0 }) => {
    const cells = values.map((value, at) => html`<td${attribute("class", columns[at + 1]?.[1])}>${value}</td>`);
    const indent = level > 0 ? `d${Math.min(5, level)}` : "";
    return html`<tr${attribute("id", id)}${attribute("class", className)}><th scope="row"${attribute("class", indent)}>${header}</th>${cells}</tr>`;
  });
  const last =
    others > 0 && html`<tr class="other"><th colspan="${columns.length}">other (${grouped(others)})</th></tr>`;
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}${last}</tbody></table></div>`;
}

function attribute(name: string, value: string = ""): Html {
  return value === "" ? html`` : html` ${name}="${value}"`;
}

/** Creates a list of URLs with remarks, and a last item if there are `others`. */
export function urlList(
  items: readonly { readonly url: string; readonly remark?: string | undefined }[],
  homepage: string,
  others: number,
): Html {
  const shown = items.map(
    ({ url, remark }) =>
      html`<li>${urlLink(url, homepage)}${remark !== undefined && html`<span class="place"><bdi>${remark}</bdi></span>`}</li>`,
  );
  return html`<ul class="examples">${shown}${others > 0 && html`<li class="soft">other (${grouped(others)})</li>`}</ul>`;
}

export function part(id: string, title: string, content: Value): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${content}</section>`;
}

/**
 * About how many items of each list, and bytes of each text, are in a report at most. With these, the page of a large website has about
 * 280 kB, and none has more than a megabyte.
 */
export const caps = {
  /** Bytes of a text, and of the name of a section, as they are written in the page. */
  text: 180,
  name: 48,
  tiles: 300,
  rows: 200,
  discovery: 60,
  examplesOfRule: 10,
  occurrencesOfRule: 10,
  /** Once the examples of all rules take this many bytes, further rules have one. The same applies to sitemaps. */
  allOfRules: 25_000,
  changes: 20,
} as const;

/** Replaces the middle of a text that is too long. A URL with this character is not linked. */
const cutMark = "…";

/**
 * Shortens a text to roughly this many bytes in the page: its beginning, its end, and its length. Percent-encoded letters are decoded first,
 * because they take six or nine characters each and must not be cut in two.
 */
export function fitted(text: string, most: number = caps.text): string {
  const shown = isHttpUrl(text) ? encodedUrl(text) : printable(text);
  if (weight(shown) <= most) return shown;
  const readable = readableUrl(shown);
  if (weight(readable) <= most) return readable;
  const head = taken(readable, Math.ceil(most * 0.7));
  // A short label has room only for the beginning.
  if (most < 60) return `${head}${cutMark}`;
  const end = [...readable.slice(-most)].reverse();
  const tail = [...taken(end, Math.floor(most * 0.2))].reverse().join("");
  return `${head}${cutMark}${tail} (${text.length} characters)`;
}

// Percent-encodes what `printable` would escape, because a link with `\\u202e` in it leads elsewhere.
function encodedUrl(url: string): string {
  const encoded = Array.from(url, (each) => (printable(each) === each ? each : encodeURIComponent(each))).join("");
  return encoded.replaceAll("##[", "##%5B");
}

/** Shortens the values of an object that are texts. */
export function withShortTexts<T extends object>(item: T, most?: number): T {
  const short = (value: unknown) => (typeof value === "string" ? fitted(value, most) : value);
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, short(value)])) as T;
}

// Returns as many characters as fit into this many bytes.
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

// Returns how many bytes a text takes in the page.
function weight(text: string): number {
  return Buffer.byteLength(escaped(text));
}

/** Decodes percent-encoded non-ASCII letters in a URL. */
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

// These stay encoded: white space, control characters, unassigned and private characters, and those that change the direction of writing.
const unfitForUrls = /[\p{C}\p{Z}]/u;

export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** Formats an age: `3 days`, `9 months`, `4.5 years`. */
export function age(days: number): string {
  if (days < 1) return "less than a day";
  // Months and years start at two, so that the singular is never needed.
  const months = Math.round(days / 30.44);
  if (months < 2) return counted(days, "day");
  if (months < 24) return `${months} months`;
  const years = days / 365.25;
  return `${years < 10 ? Math.max(2, Number(years.toFixed(1))) : Math.round(years)} years`;
}

/** Formats a share: `27%`, `< 1%`, `> 99%`. Says 0% or 100% only if that is exact. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = (part / whole) * 100;
  if (part > 0 && share < 1) return "< 1%";
  if (part < whole && share > 99) return "> 99%";
  return `${Math.round(share)}%`;
}

/** Formats a number for small spaces: `49k`, `1.2M`. */
export function brief(count: number): string {
  if (count < 10_000) return grouped(count);
  const [value, unit] =
    count < 999_500 ? [count / 1000, "k"] : count < 999_500_000 ? [count / 1e6, "M"] : [count / 1e9, "B"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}
