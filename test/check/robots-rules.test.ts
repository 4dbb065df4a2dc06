// The rules of robots.txt: the examples of RFC 9309, and robots-parser as a second opinion.
import fc from "fast-check";
import robotsParserModule from "robots-parser";
import { expect, test } from "vitest";
import { RobotsRules } from "../../src/check/robots-rules.ts";

// Its types describe another kind of module than it is.
const robotsParser = robotsParserModule as unknown as (
  url: string,
  text: string,
) => { isAllowed(url: string, agent: string): boolean | undefined };

test.each([
  ["Disallow: /", "/a", false],
  ["Disallow:", "/a", true],
  ["Disallow: /a", "/abc", false],
  ["Disallow: /a/", "/a", true],
  ["Allow: /a\nDisallow: /a/b", "/a/b/c", false],
  ["Disallow: /a\nAllow: /a/b", "/a/b/c", true],
  ["Disallow: /p\nAllow: /p", "/p", true],
  ["Disallow: /*.php$", "/x.php", false],
  ["Disallow: /*.php$", "/x.php?a", true],
  ["Disallow: /*.php", "/x.php?a", false],
  ["Disallow: /a*b*c", "/aXbYcZ", false],
  ["Disallow: /a*b$", "/axbxb", false],
  ["Disallow: /$", "/", false],
  ["Disallow: /$", "/a", true],
  ["Disallow: /k%c3%a4", "/kä", false],
  ["Disallow: /kä", "/k%C3%A4", false],
  ["Disallow: /", "/robots.txt", true],
  ["Disallow: /a # not /b", "/b", true],
])("%j for %s: %s", (rules, path, allowed) => {
  expect(new RobotsRules(`User-agent: *\n${rules}`, "Googlebot").allows(path)).toBe(allowed);
});

test("a crawler's own groups are joined, and count instead of those of all others", () => {
  const text =
    "User-agent: *\nDisallow: /\n\nUser-agent: googlebot\nDisallow: /a\n\nUser-agent: x\nUser-agent: GoogleBot/2.1\nDisallow: /b";
  const rules = new RobotsRules(text, "Googlebot");
  expect(["/a", "/b", "/c"].map((path) => rules.allows(path))).toEqual([false, false, true]);
  expect(new RobotsRules(text, "bingbot").allows("/c")).toBe(false);
});

test("robots-parser agrees", () => {
  const path = fc
    .string({ unit: fc.constantFrom("a", "b", "/", "*"), minLength: 1, maxLength: 6 })
    .map((text) => `/${text}`);
  const line = fc
    .tuple(fc.constantFrom("Allow", "Disallow"), path, fc.constantFrom("", "$"))
    .map(([key, value, end]) => `${key}: ${value}${end}`);
  const asked = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 8 }).map((text) => `/${text}`);
  fc.assert(
    fc.property(fc.array(line, { maxLength: 5 }), asked, (lines, url) => {
      const text = `User-agent: *\n${lines.join("\n")}`;
      const parser = robotsParser("https://example.org/robots.txt", text);
      expect(new RobotsRules(text, "Googlebot").allows(url)).toBe(
        parser.isAllowed(`https://example.org${url}`, "Googlebot"),
      );
    }),
    { numRuns: 500 },
  );
});
