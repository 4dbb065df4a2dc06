// Lines of ndjson files: each field, also of news stories, images, videos and alternates, must be of the type in the table of page fields.
import { expect, test } from "vitest";
import { isPageLine } from "../../src/diff/ndjson-side.ts";
import { type FieldType, type FieldTypes, listFields, pageFieldRows } from "../../src/model/page-fields.ts";
import { allCsvColumns, csvWriter } from "../../src/write/csv.ts";
import { ndjsonWriter } from "../../src/write/pages.ts";
import { ParquetTables } from "../../src/write/parquet.ts";

type Fields = Record<string, unknown>;
const types: FieldTypes = Object.fromEntries(pageFieldRows.map(({ name, type }) => [name, type]));

function sample(type: FieldType): unknown {
  if (type === "number") return 1;
  if (type === "boolean") return true;
  if (type === "date") return "2024-05-31";
  if (type === "texts") return ["a", "b"];
  if (typeof type === "string") return "https://example.org/";
  if ("oneOf" in type) return type.oneOf[0];
  return "items" in type ? [samples(type.items)] : samples(type.fields);
}

function samples(fields: FieldTypes): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, sample(type)]));
}

// Every variant of an object in which one field, at any depth, has a wrong type.
function* spoiled(fields: FieldTypes, wrong: unknown): Generator<[path: string, Fields]> {
  for (const [name, type] of Object.entries(fields)) {
    yield [name, { ...samples(fields), [name]: wrong }];
    if (type === "texts") yield [`${name}[]`, { ...samples(fields), [name]: [wrong] }];
    if (typeof type !== "object" || "oneOf" in type) continue;
    for (const [path, inner] of spoiled("items" in type ? type.items : type.fields, wrong)) {
      yield [`${name}.${path}`, { ...samples(fields), [name]: "items" in type ? [inner] : inner }];
    }
  }
}

const full = samples(types);

test("a page with every field can be written as NDJSON, CSV and Parquet, and read back", () => {
  const batch = { sitemap: "s", pages: [full as never] };
  const line = JSON.parse(ndjsonWriter().write(batch));
  expect(line).toEqual({ ...full, sitemap: "s" });
  expect(isPageLine(line)).toBe(true);
  for (const explode of listFields) {
    const columns = allCsvColumns().filter((name) => name.startsWith(`${explode}.`));
    expect(csvWriter({ columns, explode }).write(batch)).not.toMatch(/^,|,,|,\n/);
  }
  expect(csvWriter({ columns: ["all"] }).write(batch)).not.toMatch(/^,|,,|,\n/);
  let bytes = 0;
  const tables = new ParquetTables(() => (some) => void (bytes += some.length));
  tables.addPages(batch, undefined);
  tables.finish();
  expect(bytes).toBeGreaterThan(0);
});

test("a line with a field of the wrong type is not a page", () => {
  for (const wrong of [null, Symbol.iterator, [[1]]]) {
    for (const [path, page] of spoiled(types, wrong)) {
      expect(isPageLine({ ...page, sitemap: "s" }), `${path} = ${String(wrong)}`).toBe(false);
    }
  }
});

test("a line may have unknown fields, and may lack all but its URL and sitemap", () => {
  expect(isPageLine({ url: "https://example.org/", sitemap: "s", later: [1], newsStory: { later: 1 } })).toBe(true);
  expect(isPageLine({ url: "https://example.org/" })).toBe(false);
  expect(isPageLine({ sitemap: "s" })).toBe(false);
});

test("a change frequency that the protocol does not define is refused, because it could break the line", () => {
  expect(isPageLine({ url: "https://example.org/", sitemap: "s", changeFrequency: '","x":"' })).toBe(false);
});
