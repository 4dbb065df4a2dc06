import { expect, test } from "vitest";
import type { OptionRow } from "../src/model/option-row.ts";
import { checkOption } from "../src/model/option-row.ts";
import { optionSections } from "../src/model/option-table.ts";
import { type Options, resolveStreamOptions as resolveOptions, type Settings, version } from "../src/model/options.ts";
import { defaultLimits } from "../src/model/parse-options.ts";
import { oddValues } from "./support/odd-values.ts";
import * as exported from "./support/options-module.ts";

function refusal(call: () => unknown): Error {
  try {
    call();
    return new Error("accepted");
  } catch (error) {
    return error as Error;
  }
}

const message = (options: unknown): string => refusal(() => resolveOptions(options as Options)).message;

test("every option has a default", () => {
  const settings = resolveOptions();
  expect(settings).toMatchObject({
    useRobots: true,
    knownPaths: "always",
    useHomepage: true,
    path: "ignore",
    retries: 3,
    network: "default",
    store: "auto",
  });
  expect(settings.concurrency).toEqual({ perHost: 4, total: 16 });
  expect(settings.userAgent).toContain(`sitegrove/${version}`);
});

test.each([
  [{ useRobot: true }, "Unknown option `useRobot`; did you mean `useRobots`?"],
  [{ robots: true }, "Unknown option `robots`"],
  [JSON.parse('{ "__proto__": 1 }'), /^Unknown option `__proto__`/],
  [{ constructor: 1 }, "Unknown option `constructor`"],
  [{ concurrency: { perhost: 2 } }, "Unknown option `concurrency.perhost`; did you mean `concurrency.perHost`?"],
  [{ limits: { urlLength: 3 } }, "Unknown option `limits.urlLength`"],
  [{ useRobots: "yes" }, 'Expected `useRobots` to be true or false, got `"yes"`'],
  [{ useRobots: null }, "Expected `useRobots` to be true or false, got `null`"],
  [{ concurrency: 0 }, "Expected `concurrency` to be a number, 1 or greater, got `0` (number)"],
  [{ timeout: 0 }, "Expected `timeout` to be a number, 1 or greater, got `0` (number)"],
  [{ timeout: { idle: 0.5 } }, "Expected `timeout.idle` to be a number, 1 or greater, got `0.5` (number)"],
  [{ concurrency: "4" }, 'Expected `concurrency` to be a number or an object, got `"4"`'],
  [
    { concurrency: { perHost: Number.NaN } },
    "Expected `concurrency.perHost` to be a number, 1 or greater, got `NaN` (number)",
  ],
  [{ delay: -1 }, "Expected `delay` to be a number, 0 or greater, got `-1` (number)"],
  [{ limits: { depth: "3" } }, 'Expected `limits.depth` to be a number, 0 or greater, got `"3"`'],
  [{ limits: 3 }, "Expected `limits` to be an object, got `3` (number)"],
  [{ limits: [3] }, "Expected `limits` to be an object, got `[object Array]` (object)"],
  [{ tls: { ca: [1] } }, "Expected `tls.ca` to be a list of strings, got `[object Array]` (object)"],
  [{ network: "open" }, 'Expected `network` to be one of "default", "allow-private", "public-only", got `"open"`'],
  [{ headers: "x: y" }, /^Expected `headers` to be headers/],
  [{ headers: [["a", "b", "c"]] }, "Expected `headers` to hold pairs of a name and a value"],
  [{ recurse: true }, "Expected `recurse` to be a function, got `true` (boolean)"],
  [{ signal: {} }, "Expected `signal` to be an AbortSignal, got `[object Object]` (object)"],
  [{ save: 5 }, "Expected `save` to be a path, got `5` (number)"],
  [{ client: {} }, "Expected `client` to be an object with a `request` function, got `[object Object]` (object)"],
  [
    { extraKnownPaths: ["//evil.example/x"] },
    'Expected `extraKnownPaths` to be a list of paths on the website, got `"//evil.example/x"`',
  ],
  [null, "Expected `options` to be an object, got `null`"],
])("%j is refused: %s", (options, expected) => {
  if (typeof expected === "string") expect(message(options)).toBe(expected);
  else expect(message(options)).toMatch(expected);
});

const patterns = ["include", "exclude", "includeSitemap", "excludeSitemap"];
const taken: Record<string, readonly string[]> = {
  "a number as text": ["userAgent", "save", "previous", "resume", "tls.ca", "allowedFor", ...patterns],
  "a regular expression": patterns,
  "a date": ["since"],
};

function eachRow(visit: (row: OptionRow, path: string, wrap: (options: object) => object, others: string[]) => void) {
  const walk = (rows: readonly OptionRow[], prefix: string, wrap: (options: object) => object) => {
    const names = rows.map(({ name }) => name);
    for (const row of rows) {
      visit(row, prefix + row.name, wrap, names);
      if (row.members) walk(row.members, `${row.name}.`, (options) => wrap({ [row.name]: options }));
    }
  };
  walk(
    optionSections.flatMap(({ rows }) => rows),
    "",
    (options) => options,
  );
}

const odd = { ...oddValues, "a number as text": () => "3".repeat(1000) };
test.each(Object.entries(odd))("no option accepts %s, and all say so in the same form", (what, make) => {
  eachRow((row, path, wrap) => {
    if (taken[what]?.includes(path)) return;
    const error = refusal(() => resolveOptions(wrap({ [row.name]: make() })));
    expect(error, path).toMatchObject({ name: "SitemapError", code: "invalid-option" });
    expect(error.message, path).toMatch(/^(Expected `|Unknown option `)/);
    expect(error.message.length, path).toBeLessThan(300);
  });
  const whole = refusal(() => resolveOptions(make() as Options));
  if (what !== "an object with an unknown name" && what !== "an object without a prototype")
    expect(whole, "options").toMatchObject({ code: "invalid-option" });
});

test("every misspelled option gets a suggestion, even a nested one", () => {
  eachRow(({ name }, path, wrap, others) => {
    const prefix = path.slice(0, path.length - name.length);
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const swapped = `${name[1]}${name[0]}${name.slice(2)}`;
    for (const typed of [`${name}s`, name.slice(0, -1), name.toUpperCase(), snake, swapped]) {
      if (others.includes(typed)) continue;
      const expected = `Unknown option \`${prefix}${typed}\`; did you mean \`${path}\`?`;
      expect(message(wrap({ [typed]: undefined }))).toBe(expected);
    }
  });
});

test("options may be frozen, without a prototype, inherited, or a module namespace", () => {
  const defaults = Object.freeze({ retries: 1, limits: Object.freeze({ depth: 2 }) });
  const bare = Object.assign(Object.create(null), defaults);
  class Own {
    retries = 1;
    limits = { depth: 2 };
  }
  for (const options of [defaults, bare, Object.create(defaults), new Own()])
    expect(resolveOptions(options)).toMatchObject(defaults);
  expect(resolveOptions(exported)).toMatchObject({ retries: 1 });
});

const pairs: [string, string][] = [
  ["Authorization", "a"],
  ["X-Y", "b"],
];
test.each([
  ["an object", Object.fromEntries(pairs)],
  ["Headers", new Headers(pairs)],
  ["a Map", new Map(pairs)],
  ["pairs", pairs],
])("headers may be %s", (_, headers) => {
  expect(resolveOptions({ headers }).headers).toEqual({ authorization: "a", "x-y": "b" });
});

test("headers of the same name are joined", () => {
  const headers = [...pairs, ["authorization", "c"]] as [string, string][];
  expect(resolveOptions({ headers }).headers).toEqual({ authorization: "a, c", "x-y": "b" });
});

test("a proxy may be a URL object", () => {
  expect(resolveOptions({ proxy: new URL("http://proxy.example:8080") }).proxy).toBe("http://proxy.example:8080/");
});

test("an option that is undefined counts as not given", () => {
  eachRow(({ name }, path, wrap) => {
    expect(resolveOptions(wrap({ [name]: undefined })), path).toEqual(resolveOptions());
  });
});

test("every default passes its own check", () => {
  for (const row of optionSections.flatMap(({ rows }) => rows)) {
    const value = resolveOptions()[row.name as keyof Settings];
    if (value !== undefined && row.name !== "limits") expect(checkOption(row, value), row.name).toEqual(value);
  }
});

test.each([
  { headers: { authorization: "secret\r\nx: y" } },
  { headers: { authorization: "secret\0" } },
  { headers: { cookie: "secret\u010a" } },
  { userAgent: "secret\nx" },
  { proxy: "secret://x" },
])("%j is refused, and its value is not shown", (options) => {
  expect(message(options)).toMatch(/^Expected `/);
  expect(message(options)).not.toContain("secret");
});

test.each(["x\r\ny", "", "Transfer-Encoding", "content-length", "Host", "connection", "proxy-authorization"])(
  "a header called %j is refused, because it could split the request",
  (name) => {
    expect(message({ headers: { [name]: "1" } })).toMatch(/^Expected `headers` to be/);
  },
);

test("every limit can be 0, and 0 means zero", () => {
  for (const name of ["pages", "sitemaps", "depth", "bytes", "documentBytes", "time"]) {
    expect(resolveOptions({ limits: { [name]: 0 } }).limits).toEqual({ ...defaultLimits, [name]: 0 });
  }
});

test("a number for concurrency, delay or timeout sets their common form", () => {
  expect(resolveOptions({ concurrency: 2, delay: 100, timeout: 5000 })).toMatchObject({
    concurrency: { perHost: 2, total: 8 },
    delay: { milliseconds: 100, random: false },
    timeout: { connect: 10_000, total: 5000 },
  });
});
