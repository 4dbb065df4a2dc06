import { expect, test } from "vitest";
import { isLossy, ProblemLog, problem, problemCodes } from "../src/problem.ts";

test("a problem has a sentence with its facts", () => {
  expect(problem("limit-depth", { limit: 11 })).toEqual({
    code: "limit-depth",
    message: "Sitemaps are nested deeper than 11",
    limit: 11,
  });
  expect(problem("http-404", { status: 404 })).toEqual({
    code: "http-404",
    message: "The website answered with status 404",
    status: 404,
  });
});

test("what a website wrote is cut where it is long, and never in the middle of a character", () => {
  const { value } = problem("text-junk", { value: `${"x".repeat(199)}😀tail` });
  expect(value).toBe(`${"x".repeat(199)}…`);
});

test("a log keeps one problem for each code, with its first place and its count", () => {
  const log = new ProblemLog();
  log.add("date-invalid", { line: 3, value: "soon" });
  log.add("url-relative", { line: 4, value: "/x" });
  log.add("date-invalid", { line: 9, value: "later" });
  expect(log.toArray()).toMatchObject([
    { code: "date-invalid", line: 3, value: "soon", count: 2 },
    { code: "url-relative", line: 4, value: "/x" },
  ]);
  expect(log.complete).toBe(true);
  log.add("xml-truncated");
  expect(log.complete).toBe(false);
});

test("codes are words in kebab-case, and no sentence is left without its facts", () => {
  for (const code of problemCodes()) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    const facts = { value: "V", limit: 1, status: 2, retryAfter: "T" };
    expect(problem(code, facts).message).not.toMatch(/[{}]|unknown$/);
  }
});

test("a repair is no loss", () => {
  expect(isLossy("url-relative")).toBe(false);
  expect(isLossy("xml-bare-ampersand")).toBe(false);
  expect(isLossy("xml-truncated")).toBe(true);
});
