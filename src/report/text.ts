// Texts of a website in the report: short, without control characters, and with percent-encoded letters decoded.
import { printable } from "../write/printable.ts";

/** Replaces the middle of a text that is too long. A URL that contains it is not linked. */
export const cutMark = "…";

const longest = 200;

/**
 * At most this many characters: the beginning and the end of a text, and its length. A percent-encoded letter takes six
 * or nine characters: if there is no room for them, the letter itself counts, and is never cut in two.
 */
export function shortened(text: string, most: number = longest): string {
  if (text.length <= most) return printable(text);
  const readable = readableUrl(text);
  if (readable.length <= most) return readable;
  const head = wholeCharacters(readable.slice(0, Math.ceil(most * 0.7)));
  // A short label shows only its beginning.
  if (most < 60) return printable(`${head}${cutMark}`);
  const tail = readable.slice(-Math.floor(most * 0.2));
  return printable(`${head}${cutMark}${wholeCharacters(tail)} (${text.length} characters)`);
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

// White space, controls, unassigned and private characters, and what changes the direction of writing.
const unfitForUrls = /[\p{C}\p{Z}]/u;

// A lone surrogate is not a character.
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}

/** Dates and ages for people. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** `3 days`, `9 months`, `4.5 years`. */
export function age(days: number): string {
  if (days < 1) return "less than a day";
  if (days < 45) return `${days} ${days === 1 ? "day" : "days"}`;
  const months = Math.round(days / 30.44);
  if (months < 24) return `${months} months`;
  const years = days / 365.25;
  return `${years < 10 ? Number(years.toFixed(1)) : Math.round(years)} years`;
}

/** `27 %`, `< 1 %`, `> 99 %`: never 0 or 100 unless it is exact. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = (part / whole) * 100;
  if (part > 0 && share < 1) return "< 1 %";
  if (part < whole && share > 99) return "> 99 %";
  return `${Math.round(share)} %`;
}

/** `49 k`, `1.2 M`: where space is short. */
export function brief(count: number): string {
  if (count < 10_000) return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  const [value, unit] =
    count < 999_500 ? [count / 1000, "k"] : count < 999_500_000 ? [count / 1e6, "M"] : [count / 1e9, "G"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** `120 ms`, `2,457 ms`, `31.8 s`. */
export function time(milliseconds: number): string {
  if (milliseconds < 10_000) return `${String(Math.round(milliseconds)).replaceAll(/\B(?=(\d{3})+$)/g, ",")} ms`;
  const seconds = milliseconds / 1000;
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
