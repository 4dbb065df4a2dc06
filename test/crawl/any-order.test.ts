// The same bytes for every order of arrival: test/support/any-order.ts. `SITEGROVE_SITES=1000` crawls more websites.
import { test } from "vitest";
import { checkWebsite } from "../support/any-order.ts";
import { some } from "../support/long.ts";

const count = Number(process.env["SITEGROVE_SITES"] ?? some(30, 2));
const part = Math.min(10, Math.ceil(count / 10));
const parts = Math.ceil(count / part);

// A failure names the number of its website.
test.each(Array.from({ length: parts }, (_, at) => [1 + at * part, (at + 1) * part]))(
  "websites %i to %i give the same output whatever arrives first, and from their archives",
  async (from, to) => {
    for (let number = from; number <= to; number++) await checkWebsite(number);
  },
);
