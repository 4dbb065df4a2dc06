// All text that is generated from the tables of options and problems is up to date: `npm run tables` would change nothing.

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { generatedFiles, optionComments } from "../../scripts/tables.ts";
import { fixedLimits } from "../../src/model/fixed-limits.ts";
import { limitOptions } from "../../src/model/option-row.ts";
import { resolveOptions, resolvePageFilters, version } from "../../src/model/options.ts";
import { root } from "./pages.ts";

test.each([...(await generatedFiles())])("%s is what `npm run tables` writes", (file, text) => {
  expect(readFileSync(path.join(root, file), "utf8")).toBe(text);
});

const settings = resolveOptions();
test.each(
  Object.entries({
    Options: settings,
    PageFilters: resolvePageFilters(),
    Timeouts: settings.timeout,
    Limits: Object.fromEntries(limitOptions.map((row) => [row.name, row.default])),
    fixedLimits,
  }),
)("the comments of %s name every option and its default", (holder, defaults: object) => {
  const said = [...optionComments].filter(([name]) => name.startsWith(`${holder}.`));
  expect(said.map(([name]) => name.slice(holder.length + 1))).toEqual(Object.keys(defaults));
  for (const [name, { default: text }] of said) {
    const value: unknown = Reflect.get(defaults, name.slice(holder.length + 1));
    // Timeouts and limits have comments of their own.
    if (value === settings.timeout || value === settings.limits) continue;
    expect(text && new Function(`return ${text.replace("<version>", version)}`)(), name).toEqual(value);
  }
});
