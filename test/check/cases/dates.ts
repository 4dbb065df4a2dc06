import { type Case, dated, entry, finds, home, many, site } from "./case.ts";

const minute = (number: number) => new Date(Date.UTC(2026, 5, 1) + number * 60_000).toISOString();

const goodDates = "2024 2024-05 2024-05-31 2024-05-31T10:00Z 2024-05-31T10:00:00+02:00 2024-05-31T10:00:00.123Z"
  .split(" ")
  .map((date, number) => dated(`/${number}`, date));

export const dateCases: readonly Case[] = [
  finds(["lastmod-invalid", 1, "yesterday"], site(dated("/a", "yesterday"))),
  finds(
    ["lastmod-form", 3, "2017-06-20-04:00"],
    site(dated("/a", "2017-06-20-04:00"), dated("/b", "31.05.2024"), dated("/c", "May 31, 2024")),
    site(...goodDates),
  ),
  finds(["lastmod-no-offset", 1, "2024-05-31T10:00:00"], site(dated("/a", "2024-05-31T10:00:00")), site(...goodDates)),
  finds(
    ["lastmod-future", 2, `${home}a`],
    site(dated("/a", "2026-06-16T12:00:01Z"), dated("/b", "2030-01-01")),
    site(dated("/a", "2026-06-16T12:00:00Z"), dated("/b", "2026-06-16"), dated("/c", "2026-06-15T23:59:00-12:00")),
  ),
  finds(
    ["lastmod-zero", 2, `${home}a`],
    site(dated("/a", "1970-01-01T00:00:00Z"), dated("/b", "1990-12-31")),
    site(dated("/a", "1991-01-01")),
  ),
  finds(
    ["lastmod-all-identical", 1, "48 of 50 at 2026-05-01T10:00:00.000Z"],
    site(...many(50, (number) => dated(`/${number}`, number < 48 ? "2026-05-01T10:00:00Z" : minute(number)))),
    site(...many(9, (number) => dated(`/${number}`, "2026-05-01T10:00:00Z"))),
  ),
  finds(
    ["lastmod-all-identical", 1, "95 of 100 at 2026-05-01T00:00:00.000Z", { what: "most, but not nearly all" }],
    site(...many(100, (number) => dated(`/${number}`, number < 5 ? minute(number) : "2026-05-01"))),
    site(...many(100, (number) => dated(`/${number}`, number < 6 ? minute(number) : "2026-05-01"))),
  ),
  finds(
    ["lastmod-generated", 1, "60 of 60 within 60 s"],
    site(...many(60, (number) => dated(`/${number}`, `2026-06-15T02:00:${String(number).padStart(2, "0")}Z`))),
    site(...many(60, (number) => dated(`/${number}`, `2026-06-13T02:00:${String(number).padStart(2, "0")}Z`))),
  ),
  finds(
    ["lastmod-generated", 1, "60 of 60 within 60 s", { what: "spread over hours" }],
    site(...many(60, (number) => dated(`/${number}`, `2026-06-15T11:59:${number % 2 === 0 ? "01" : "59"}Z`))),
    site(...many(60, (number) => dated(`/${number}`, `2026-06-15T0${number % 10}:00:00Z`))),
  ),
  finds(
    ["lastmod-missing", 1, "no date: 67% of 3 pages"],
    site("/a", dated("/b", "2026-06-01T10:00:00Z")),
    site(dated("/a", "2026-06-01T10:00:00Z")),
  ),
  finds(
    ["lastmod-date-only", 1, "19 of 20 dates"],
    site(...many(20, (number) => dated(`/${number}`, number === 0 ? "2026-06-01T10:00:00Z" : "2026-06-01"))),
    site(...many(20, (number) => dated(`/${number}`, number < 2 ? "2026-06-01T10:00:00Z" : "2026-06-01"))),
  ),
  finds(
    ["priority-invalid", 2, "1.5"],
    site(entry("/a", "<priority>1.5</priority>"), entry("/b", "<priority>high</priority>")),
    site(entry("/a", "<priority>1.0</priority>"), entry("/b", "<priority>0</priority>")),
  ),
  finds(
    ["changefreq-invalid", 1, "sometimes"],
    site(...["weekly", "sometimes"].map((often) => entry(`/${often}`, `<changefreq>${often}</changefreq>`))),
  ),
  finds(
    ["priority-ignored", 1, undefined, { what: "the default, written out" }],
    site(entry("/a", "<priority>0.5</priority>")),
  ),
  finds(
    ["priority-ignored", 1, undefined, { what: "a change frequency" }],
    site(entry("/a", "<changefreq>daily</changefreq>"), entry("/b", "<priority>0.1</priority>")),
    site(entry("/a", "<lastmod>2026-06-01</lastmod>")),
  ),
];
