import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { defaultLimits, type Options, resolveOptions, version } from "../src/options.ts";

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
  [{ useRobot: true }, "Unknown option `useRobot`"],
  [{ use_robots: true }, "Unknown option `use_robots`; did you mean `useRobots`?"],
  [{ useRobots: "yes" }, 'Expected `useRobots` to be true or false, got `"yes"` (string)'],
  [{ concurrency: 0 }, "Expected `concurrency.perHost` to be a number from 1 and up, got `0` (number)"],
  [{ concurrency: Number.NaN }, "Expected `concurrency.perHost` to be a number from 1 and up, got `NaN` (number)"],
  [{ delay: -1 }, "Expected `delay` to be a number from 0 and up, got `-1` (number)"],
  [{ limits: { depht: 3 } }, "Unknown option `limits.depht`"],
  [{ limits: { depth: "3" } }, 'Expected `limits.depth` to be a number from 0 and up, got `"3"` (string)'],
  [
    { network: "open" },
    'Expected `network` to be one of "default", "allow-private", "public-only", got `"open"` (string)',
  ],
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
])("%j is refused: %s", (options, expected) => {
  expect(message(options)).toBe(expected);
});

test.each([
  { headers: { authorization: "secret\r\nx: y" } },
  { headers: { authorization: "secret\0" } },
  { headers: { cookie: "secret\u010a" } },
  { userAgent: "secret\nx" },
  { proxy: "secret://x" },
])("N7: %j is refused, and its value is not shown", (options) => {
  expect(message(options)).toMatch(/^Expected `/);
  expect(message(options)).not.toContain("secret");
});

test("N7: a header name with a line end is refused", () => {
  expect(message({ headers: { "x\r\ny": "1" } })).toMatch(/^Expected `headers` to be/);
});

test("X3: every limit can be 0, and 0 means zero", () => {
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
