import { type Case, entry, home, many, site } from "./case.ts";

const dated = (path: string, date: string) => entry(path, `<lastmod>${date}</lastmod>`);
const minute = (number: number) => new Date(Date.UTC(2026, 5, 1) + number * 60_000).toISOString();

export const dateCases: readonly Case[] = [
  {
    rule: "lastmod-invalid",
    fires: site(dated("/a", "yesterday")),
    near: site(dated("/a", "2026-06-01T10:00:00Z")),
    example: "yesterday",
    count: 1,
  },
  {
    rule: "lastmod-form",
    fires: site(dated("/a", "2017-06-20-04:00"), dated("/b", "31.05.2024"), dated("/c", "May 31, 2024")),
    near: site(
      ...[
        "2024",
        "2024-05",
        "2024-05-31",
        "2024-05-31T10:00Z",
        "2024-05-31T10:00:00+02:00",
        "2024-05-31T10:00:00.123Z",
      ].map((date, number) => dated(`/${number}`, date)),
    ),
    count: 3,
    example: "2017-06-20-04:00",
  },
  {
    rule: "lastmod-no-offset",
    fires: site(dated("/a", "2024-05-31T10:00:00")),
    near: site(dated("/a", "2024-05-31T10:00:00Z"), dated("/b", "2024-05-31")),
    count: 1,
    example: "2024-05-31T10:00:00",
  },
  {
    rule: "lastmod-future",
    fires: site(dated("/a", "2026-06-16T12:00:01Z"), dated("/b", "2030-01-01")),
    near: site(
      dated("/a", "2026-06-16T12:00:00Z"),
      dated("/b", "2026-06-16"),
      dated("/c", "2026-06-15T23:59:00-12:00"),
    ),
    count: 2,
    example: `${home}a`,
  },
  {
    rule: "lastmod-zero",
    fires: site(dated("/a", "1970-01-01T00:00:00Z"), dated("/b", "1990-12-31")),
    near: site(dated("/a", "1991-01-01")),
    count: 2,
    example: `${home}a`,
  },
  {
    rule: "lastmod-all-identical",
    fires: site(...many(50, (number) => dated(`/${number}`, number < 48 ? "2026-05-01T10:00:00Z" : minute(number)))),
    near: site(...many(49, (number) => dated(`/${number}`, "2026-05-01T10:00:00Z"))),
    count: 1,
    example: "48 of 50 at 2026-05-01T10:00:00.000Z",
  },
  {
    rule: "lastmod-all-identical",
    what: "most, but not nearly all",
    fires: site(...many(100, (number) => dated(`/${number}`, number < 5 ? minute(number) : "2026-05-01"))),
    near: site(...many(100, (number) => dated(`/${number}`, number < 6 ? minute(number) : "2026-05-01"))),
    count: 1,
    example: "95 of 100 at 2026-05-01T00:00:00.000Z",
  },
  {
    rule: "lastmod-generated",
    fires: site(...many(60, (number) => dated(`/${number}`, `2026-06-15T02:00:${String(number).padStart(2, "0")}Z`))),
    near: site(...many(60, (number) => dated(`/${number}`, `2026-06-13T02:00:${String(number).padStart(2, "0")}Z`))),
    count: 1,
    example: "60 of 60 within 60 s",
  },
  {
    rule: "lastmod-generated",
    what: "spread over hours",
    fires: site(...many(60, () => "").map((_, number) => dated(`/${number}`, "2026-06-15T11:59:59Z"))),
    near: site(...many(60, (number) => dated(`/${number}`, `2026-06-15T0${number % 10}:00:00Z`))),
    count: 1,
    example: "60 of 60 within 60 s",
  },
  {
    rule: "lastmod-missing",
    fires: site("/a", dated("/b", "2026-06-01T10:00:00Z")),
    near: site(dated("/a", "2026-06-01T10:00:00Z")),
    count: 2,
    example: "67 % of 3 pages",
  },
  {
    rule: "lastmod-date-only",
    fires: site(...many(20, (number) => dated(`/${number}`, number === 0 ? "2026-06-01T10:00:00Z" : "2026-06-01"))),
    near: site(...many(20, (number) => dated(`/${number}`, number < 2 ? "2026-06-01T10:00:00Z" : "2026-06-01"))),
    count: 19,
    example: "19 of 20 dates",
  },
  {
    rule: "priority-invalid",
    fires: site(entry("/a", "<priority>1.5</priority>"), entry("/b", "<priority>high</priority>")),
    near: site(entry("/a", "<priority>1.0</priority>"), entry("/b", "<priority>0</priority>")),
    count: 2,
    example: "1.5",
  },
  {
    rule: "changefreq-invalid",
    fires: site(entry("/a", "<changefreq>sometimes</changefreq>")),
    near: site(entry("/a", "<changefreq>weekly</changefreq>")),
    example: "sometimes",
    count: 1,
  },
  {
    rule: "priority-ignored",
    what: "the default, written out",
    fires: site(entry("/a", "<priority>0.5</priority>")),
    near: site("/a"),
    count: 1,
    example: undefined,
  },
  {
    rule: "priority-ignored",
    what: "a change frequency",
    fires: site(entry("/a", "<changefreq>daily</changefreq>"), entry("/b", "<priority>0.1</priority>")),
    near: site(entry("/a", "<lastmod>2026-06-01</lastmod>")),
    count: 1,
    example: undefined,
  },
];
