import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  checkOption,
  defaultLimits,
  type Options,
  optionSections,
  resolveOptions,
  type Settings,
  version,
} from "../src/options.ts";

const message = (options: unknown): string => {
  try {
    resolveOptions(options as Options);
  } catch (error) {
    return (error as Error).message;
  }
  return "accepted";
};

test("everything has a default", () => {
  const settings = resolveOptions();
  expect(settings).toMatchObject({
    useRobots: true,
    useKnownPaths: true,
    useHomepage: true,
    normalizeHomepageUrl: true,
    retries: 3,
    network: "default",
    store: "auto",
  });
  expect(settings.concurrency).toEqual({ perHost: 4, total: 16 });
  expect(settings.userAgent).toContain(`sitegrove/${version}`);
});

test("an option that is undefined counts as not given", () => {
  expect(resolveOptions({ useRobots: undefined, limits: { depth: undefined } as object })).toEqual(resolveOptions());
});

test.each([
  [{ useRobot: true }, "Unknown option `useRobot`; did you mean `useRobots`?"],
  [{ use_robots: true }, "Unknown option `use_robots`; did you mean `useRobots`?"],
  [{ robots: true }, "Unknown option `robots`"],
  [JSON.parse('{ "__proto__": 1 }'), /^Unknown option `__proto__`/],
  [{ constructor: 1 }, "Unknown option `constructor`"],
  [{ concurrency: { perhost: 2 } }, "Unknown option `concurrency.perhost`; did you mean `concurrency.perHost`?"],
  [{ tls: { verfy: false } }, "Unknown option `tls.verfy`; did you mean `tls.verify`?"],
  [{ delay: { miliseconds: 5 } }, "Unknown option `delay.miliseconds`; did you mean `delay.milliseconds`?"],
  [{ timeout: { first_byte: 5 } }, "Unknown option `timeout.first_byte`; did you mean `timeout.firstByte`?"],
  [{ limits: { depht: 3 } }, "Unknown option `limits.depht`; did you mean `limits.depth`?"],
  [{ limits: { sitemaps: 3 } }, "Unknown option `limits.sitemaps`"],
  [{ useRobots: "yes" }, 'Expected `useRobots` to be true or false, got `"yes"` (string)'],
  [{ useRobots: null }, "Expected `useRobots` to be true or false, got `null` (null)"],
  [{ concurrency: 0 }, "Expected `concurrency` to be a number, 1 or greater, got `0` (number)"],
  [{ concurrency: "4" }, 'Expected `concurrency` to be a number or an object, got `"4"` (string)'],
  [
    { concurrency: { perHost: Number.NaN } },
    "Expected `concurrency.perHost` to be a number, 1 or greater, got `NaN` (number)",
  ],
  [{ delay: -1 }, "Expected `delay` to be a number, 0 or greater, got `-1` (number)"],
  [{ delay: { random: 1 } }, "Expected `delay.random` to be true or false, got `1` (number)"],
  [{ limits: { depth: "3" } }, 'Expected `limits.depth` to be a number, 0 or greater, got `"3"` (string)'],
  [{ limits: 3 }, "Expected `limits` to be an object, got `3` (number)"],
  [{ limits: [3] }, "Expected `limits` to be an object, got `[object Array]` (object)"],
  [{ tls: null }, "Expected `tls` to be an object, got `null` (null)"],
  [{ tls: { ca: [1] } }, "Expected `tls.ca` to be a list of strings, got `[object Array]` (object)"],
  [
    { network: "open" },
    'Expected `network` to be one of "default", "allow-private", "public-only", got `"open"` (string)',
  ],
  [{ network: ["default"] }, /^Expected `network` to be one of/],
  [{ headers: "x: y" }, /^Expected `headers` to be headers/],
  [{ headers: [["a", "b", "c"]] }, "Expected `headers` to hold pairs of a name and a value"],
  [{ recurse: true }, "Expected `recurse` to be a function, got `true` (boolean)"],
  [{ signal: {} }, "Expected `signal` to be an AbortSignal, got `[object Object]` (object)"],
  [{ save: 5 }, "Expected `save` to be a path, got `5` (number)"],
  [{ client: {} }, "Expected `client` to be an object with a `request` function, got `[object Object]` (object)"],
  [
    { extraKnownPaths: ["https://evil.example/x"] },
    'Expected `extraKnownPaths` to be a list of paths on the website, got `"https://evil.example/x"` (string)',
  ],
  [
    { extraKnownPaths: ["//evil.example/x"] },
    'Expected `extraKnownPaths` to be a list of paths on the website, got `"//evil.example/x"` (string)',
  ],
  [null, "Expected `options` to be an object, got `null` (null)"],
  [5, "Expected `options` to be an object, got `5` (number)"],
  [[], "Expected `options` to be an object, got `[object Array]` (object)"],
])("%j is refused: %s", (options, expected) => {
  if (typeof expected === "string") expect(message(options)).toBe(expected);
  else expect(message(options)).toMatch(expected);
});

test.each([
  ["an object", { Authorization: "a", "X-Y": "b" }],
  ["Headers", new Headers({ Authorization: "a", "X-Y": "b" })],
  [
    "a Map",
    new Map([
      ["Authorization", "a"],
      ["X-Y", "b"],
    ]),
  ],
  [
    "pairs",
    [
      ["Authorization", "a"],
      ["X-Y", "b"],
    ] as [string, string][],
  ],
])("headers may be %s", (_, headers) => {
  expect(resolveOptions({ headers }).headers).toEqual({ authorization: "a", "x-y": "b" });
});

test("headers of one name are one list", () => {
  expect(
    resolveOptions({
      headers: [
        ["Accept", "a"],
        ["accept", "b"],
      ],
    }).headers,
  ).toEqual({ accept: "a, b" });
});

test("a proxy may be a URL object", () => {
  expect(resolveOptions({ proxy: new URL("http://proxy.example:8080") }).proxy).toBe("http://proxy.example:8080/");
});

test("every option can be given as undefined", () => {
  const names = optionSections.flatMap(({ rows }) => rows.map(({ name }) => name));
  expect(resolveOptions(Object.fromEntries(names.map((name) => [name, undefined])))).toEqual(resolveOptions());
});

test("every default passes its own check", () => {
  for (const row of optionSections.flatMap(({ rows }) => rows)) {
    const value = resolveOptions()[row.name as keyof Settings];
    if (value !== undefined) expect(checkOption(row, value), row.name).toEqual(value);
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

test("a header name with a line end is refused", () => {
  expect(message({ headers: { "x\r\ny": "1" } })).toMatch(/^Expected `headers` to be/);
});

test("every limit can be 0, and 0 means zero", () => {
  for (const name of Object.keys(defaultLimits)) {
    expect(resolveOptions({ limits: { [name]: 0 } }).limits).toEqual({ ...defaultLimits, [name]: 0 });
  }
});

test("a number for concurrency, delay and timeout is the common form", () => {
  expect(resolveOptions({ concurrency: 2, delay: 100, timeout: 5000 })).toMatchObject({
    concurrency: { perHost: 2, total: 8 },
    delay: { milliseconds: 100, random: false },
    timeout: { connect: 10_000, total: 5000 },
  });
});

test("the version is that of the package", () => {
  expect(JSON.parse(readFileSync("package.json", "utf8")).version).toBe(version);
});
