// Which errors of zlib are about the data.
import { expect, test } from "vitest";
import { isDamagedGzip } from "../../src/archive/gunzip.ts";

test.each([
  ["Z_DATA_ERROR", true],
  ["Z_BUF_ERROR", true],
  ["Z_NEED_DICT", true],
  // Too little memory: another time, the same data can be read.
  ["Z_MEM_ERROR", false],
  ["ENOSPC", false],
])("%s: damaged is %s", (code, isDamaged) => {
  expect(isDamagedGzip(Object.assign(new Error(), { code }))).toBe(isDamaged);
});
