// The rules of robots.txt for any crawler: RFC 9309, what Google's parser is known to do, and the plainest reading of the RFC as a second opinion.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRobots } from "../../src/parse/robots-rules.ts";
import { some } from "../support/long.ts";

const host = "https://example.org";
const isAllowed = (text: string, path: string, agent = "Bot") => parseRobots(text).isAllowed(host + path, agent);

/** Paths that a group with these rules lets its crawler fetch, and paths that it does not. */
type Case = readonly [rules: string, allowed: readonly string[], disallowed: readonly string[]];

const wholeSite = "Disallow: /\n";

describe("rules are read as in RFC 9309", () => {
  test.each<Case>([
    ["", ["/", "/a"], []],
    ["Disallow:", ["/", "/a"], []],
    ["Disallow:\nAllow:", ["/a"], []],
    ["Disallow: /", ["/robots.txt"], ["/", "/a", "/?q", ""]],
    ["Disallow: /a", ["/", "/b/a"], ["/a", "/abc", "/a/b", "/a?b"]],
    ["Disallow: /a/", ["/a", "/a?b"], ["/a/", "/a/b"]],
    ["disallow: /a\nDISALLOW: /b\ndIsAlLoW: /c", ["/d"], ["/a", "/b", "/c"]],
    ["Disallow: /a # not /b", ["/b"], ["/a"]],
    ["Disallow: /a#b", ["/b"], ["/a", "/ab"]],
    ["  Disallow  :  /a  ", ["/b"], ["/a"]],
    // The longest rule wins, in any order.
    ["Allow: /a\nDisallow: /a/b", ["/a", "/a/c"], ["/a/b", "/a/b/c"]],
    ["Disallow: /a\nAllow: /a/b", ["/a/b", "/a/b/c"], ["/a", "/a/c"]],
    ["Disallow: /x\nAllow: /x/", ["/x/"], ["/x"]],
    // Allow wins over a rule of the same length.
    ["Disallow: /p\nAllow: /p", ["/p"], []],
    ["Allow: /\nDisallow: /", ["/", "/a"], []],
    // Upper and lower case differ.
    ["Disallow: /A", ["/a"], ["/A"]],
    // Wildcards and the end.
    ["Disallow: /*.php$", ["/x.php?a", "/x.php/", "/x.php5", "/x.PHP"], ["/x.php", "/a/b.php", "/.php"]],
    ["Disallow: /*.php", ["/php/", "/index?php"], ["/x.php?a", "/x.php/", "/a/any.php.file.html", "/i?f=x.php"]],
    ["Disallow: /a*b*c", ["/acb", "/xabc"], ["/abc", "/aXbYcZ"]],
    ["Disallow: /a*b$", ["/axb/", "/a"], ["/ab", "/axbxb"]],
    ["Disallow: /a*$", ["/b"], ["/a", "/abc"]],
    ["Disallow: /a**b", ["/a"], ["/ab", "/axxb"]],
    ["Disallow: *", [], ["/", "/a"]],
    ["Disallow: /$", ["/a", "/?a"], ["/"]],
    ["Disallow: /a$b", ["/a", "/ab"], ["/a$b"]],
    ["Allow: /page\nDisallow: /*.htm", ["/page"], ["/page.htm"]],
    ["Allow: /x/page.\nDisallow: /*.html", ["/x/page.html"], ["/x/y.html"]],
    // Percent-encoding: section 2.2.2.
    ["Disallow: /k%c3%a4", ["/k"], ["/kä", "/k%C3%A4", "/k%c3%A4"]],
    ["Disallow: /kä", ["/ka"], ["/kä", "/k%C3%A4"]],
    ["Disallow: /%7Ejoe/", ["/joe/"], ["/~joe/", "/%7ejoe/"]],
    ["Disallow: /~joe/", ["/joe/"], ["/~joe/", "/%7ejoe/"]],
    ["Disallow: /%62%61%7A", ["/ba"], ["/baz"]],
    ["Disallow: /a%2Fb", ["/a/b"], ["/a%2fb"]],
    ["Disallow: /a%3Cd.html", ["/a"], ["/a%3cd.html"]],
    // Section 2.2.3: special characters are matched verbatim if they are percent-encoded.
    ["Disallow: /path/file-with-a-%2A.html", ["/path/file-with-a-b.html"], ["/path/file-with-a-*.html"]],
    ["Disallow: /path/foo-%24", ["/path/foo-"], ["/path/foo-$", "/path/foo-%24", "/path/foo-$/bar"]],
    ["Disallow: /a%2a$", ["/ab", "/a*b"], ["/a*", "/a%2A"]],
    ["Disallow: /a*b%2A*c$", ["/abc", "/abxc"], ["/ab*c", "/a*b%2a*c"]],
    // Characters that are not allowed in URLs, raw or encoded.
    [
      "Disallow: /a%3C%3E%22%7B%7D%60%7C%5C%5E",
      ["/a<>"],
      ['/a<>"{}`|\\^', "/a%3c%3e%22%7b%7d%60%7c%5c%5e", '/a<%3E"%7B}`|\\^z'],
    ],
    ['Disallow: /a<>"{}`|\\^', ["/a<>"], ['/a<>"{}`|\\^', "/a%3c%3e%22%7b%7d%60%7c%5c%5e"]],
    // `WS = %x20 / %x09`: any other space at the end belongs to the rule.
    ["Disallow: /a\u00a0\nDisallow: /b\u2002 \t", ["/a", "/b"], ["/a\u00a0", "/a%C2%A0x", "/b%E2%80%82"]],
    ["Disallow: /a\u00a0# comment", ["/a"], ["/a%c2%a0"]],
    ["Disallow: /a?b=https://example.org?c&d", ["/a?b"], ["/a?b=https://example.org?c&d=1"]],
  ])("%j allows and disallows the right paths", (rules, allowed, disallowed) => {
    const text = `User-agent: Bot\n${rules}\n`;
    expect(allowed.filter((path) => !isAllowed(text, path))).toEqual([]);
    expect(disallowed.filter((path) => isAllowed(text, path))).toEqual([]);
  });

  test("the groups for a crawler are merged, and replace the group for *", () => {
    const text =
      "User-agent: *\nDisallow: /\n\nUser-agent: googlebot\nDisallow: /a\n\nUser-agent: x\nUser-agent: GoogleBot/2.1\nDisallow: /b";
    expect(["/a", "/b", "/c"].map((path) => isAllowed(text, path, "Googlebot"))).toEqual([false, false, true]);
    expect(isAllowed(text, "/c", "bingbot")).toBe(false);
    expect(isAllowed(text, "/b", "x")).toBe(false);
  });

  test("other lines do not end a group, and rules outside groups are ignored", () => {
    const text = `Disallow: /early
User-agent: A
Crawl-delay: 3
Sitemap: https://example.org/sitemap.xml

User-agent: B

Disallow: /b

Noindex: /c
Disallow: /d
User-agent: C
Disallow: /c`;
    expect(["/early", "/b", "/c", "/d"].map((path) => isAllowed(text, path, "A"))).toEqual([true, false, true, false]);
    expect(["/early", "/b", "/c", "/d"].map((path) => isAllowed(text, path, "B"))).toEqual([true, false, true, false]);
    expect(["/b", "/c"].map((path) => isAllowed(text, path, "c"))).toEqual([true, false]);
    expect(isAllowed(text, "/b", "other")).toBe(true);
  });

  test("a group without rules allows its crawler everything", () => {
    expect(isAllowed("User-agent: *\nDisallow: /\n\nUser-agent: Bot\n", "/a")).toBe(true);
  });

  test.each(["\n", "\r\n", "\r"])("lines may end in %j, and the matching rule has its line number", (end) => {
    const text = ["# comment", "User-agent: *", "", "Allow: /a", "Disallow: /a/b # why"].join(end);
    const robots = parseRobots(text);
    expect(robots.matchingRule("/a/b/c", "Bot")).toEqual({ allows: false, path: "/a/b", line: 5 });
    expect(robots.matchingRule(`${host}/a`, "Bot")).toEqual({ allows: true, path: "/a", line: 4 });
    expect(robots.matchingRule("/c", "Bot")).toBeUndefined();
  });
});

// https://github.com/google/robotstxt: what the published tests of Google's parser hold, where RFC 9309 says nothing. Its tests expect
// otherwise in two places, for callers that have to encode URLs themselves: a URL with a character outside of ASCII matches no
// rule there, and `%62` is not `b`. RFC 9309, section 2.2.2, has both as examples of a match.
describe("rules are read as by Google's parser", () => {
  test.each<[text: string, agent: string, path: string, allowed: boolean]>([
    // Lines.
    ["user-agent: Bot\ndisallow: /", "Bot", "/x/y", false],
    ["foo: Bot\nbar: /", "Bot", "/x/y", true],
    ["user-agent Bot\ndisallow /", "Bot", "/x/y", false],
    ["useragent: Bot\ndisalow: /", "Bot", "/x", false],
    ["user agent: Bot\ndissallow: /", "Bot", "/x", false],
    ["user-agent: Bot\ndissalow: /a\ndiasllow: /b\ndisallaw: /c", "Bot", "/b", false],
    ["\uFEFFUser-agent: Bot\nDisallow: /", "Bot", "/x", false],
    // Names of crawlers.
    ["User-agent: BOT SPECIAL\nDisallow: /", "bot", "/a", false],
    [`User-agent: *\n${wholeSite}User-agent: Foo Bar\nAllow: /x/\n${wholeSite}`, "Foo", "/x/y", true],
    [`User-agent: *\n${wholeSite}User-agent: Foo Bar\nAllow: /x/\n${wholeSite}`, "Foo Bar", "/x/y", false],
    ["User-agent: * or all\nDisallow: /", "Bot", "/a", false],
    ["User-agent: *bot\nDisallow: /", "Bot", "/a", true],
    ["User-agent: MJ12bot\nDisallow: /", "MJ12bot", "/a", false],
    ["User-agent: Bot\nDisallow: /", "", "/a", true],
    ["User-agent: *\nAllow: /\nUser-agent: Bot\nDisallow: /", "Bot", "/a", false],
    ["User-agent: *\nAllow: /\nUser-agent: Bot\nDisallow: /", "Other", "/a", true],
    ["User-agent: A\nAllow: /\nUser-agent: B\nDisallow: /", "C", "/a", true],
    ["User-agent: *\nDisallow: /x/\nUser-agent: Bot\nDisallow: /y/", "Bot", "/x/page", true],
    // Allowing `index.html` also allows its folder.
    [`User-agent: Bot\n${wholeSite}Allow: /a/index.html`, "Bot", "/a/", true],
    [`User-agent: Bot\n${wholeSite}Allow: /a/index.html`, "Bot", "/a/index.html", true],
    [`User-agent: Bot\n${wholeSite}Allow: /a/index.html`, "Bot", "/a/index.htm", false],
    [`User-agent: Bot\n${wholeSite}Allow: /a/index.html`, "Bot", "/a/b", false],
    ["User-agent: Bot\nDisallow: /a/index.html", "Bot", "/a/", true],
    // Wildcards inside longer rules.
    ["User-agent: Bot\nDisallow: /foo/bar/quz\nAllow: /foo/*/qux", "Bot", "/foo/bar/quz", false],
    ["User-agent: Bot\nDisallow: /foo/bar/quz\nAllow: /foo/*/qux", "Bot", "/foo//quz", true],
    ["User-agent: Bot\nDisallow: /foo/bar$\nAllow: /foo/bar/qux", "Bot", "/foo/bar/", true],
    [`User-agent: Bot\n${wholeSite}Allow: /fish*.php`, "Bot", "/fishheads/catfish.php?parameters", true],
    [`User-agent: Bot\n${wholeSite}Allow: /fish*.php`, "Bot", "/Fish.PHP", false],
    [`User-agent: Bot\n${wholeSite}Allow: /fish*`, "Bot", "/fish.html?id=anything", true],
    [`User-agent: Bot\n${wholeSite}Allow: /fish*`, "Bot", "/?id=fish", false],
    [`User-agent: Bot\n${wholeSite}Allow: /$`, "Bot", "/", true],
    [`User-agent: Bot\n${wholeSite}Allow: /$`, "Bot", "/page.html", false],
  ])("in %j, for %s, %s is allowed: %s", (text, agent, path, allowed) => {
    expect(isAllowed(text, path, agent)).toBe(allowed);
  });

  test("only the first 16,663 characters of a line are read", () => {
    const path = `/x/${"a".repeat(16_649)}`;
    const text = `user-agent: Bot\ndisallow: ${path}/cut-off`;
    expect(isAllowed(text, `${path}/other`)).toBe(false);
    expect(isAllowed(text, "/other")).toBe(true);
  });

  test("only the first 500 KiB of a robots.txt are read", () => {
    const before = `User-agent: *\n${"#é\n".repeat(100_000)}`;
    const room = 512_000 - Buffer.byteLength(before);
    const filled = before + "#".repeat(room - "\nDisallow: /a\n".length);
    expect(isAllowed(`${filled}\nDisallow: /a\nDisallow: /b\n`, "/a")).toBe(false);
    expect(isAllowed(`${filled}\nDisallow: /a\nDisallow: /b\n`, "/b")).toBe(true);
  });
});

test("a hostile robots.txt is evaluated quickly", () => {
  const agents = Array.from({ length: 8000 }, (_, number) => `User-agent: bot${number}`).join("\n");
  const rules = Array.from({ length: 8000 }, (_, number) => `Disallow: /*${"a*".repeat(number % 5)}${number}$`).join(
    "\n",
  );
  const robots = parseRobots(`${agents}\n${rules}`);
  expect(robots.isAllowed(`/${"a".repeat(2000)}`, "bot7777")).toBe(true);
  const wild = parseRobots(`User-agent: *\nDisallow: /${"*a".repeat(8000)}$`);
  expect(wild.isAllowed(`/${"a".repeat(100_000)}b`, "x")).toBe(true);
});

test.each([[undefined], [42], [null]])("%j is refused as a robots.txt, URL or crawler name", (wrong) => {
  expect(() => parseRobots(wrong as never)).toThrow(/Expected `text`/);
  expect(() => parseRobots("").isAllowed(wrong as never, "Bot")).toThrow(/Expected `url`/);
  expect(() => parseRobots("").isAllowed("/", wrong as never)).toThrow(/Expected `agent`/);
});

/** RFC 9309 without regard to speed: each pattern is a regular expression, the longest one decides, and Allow wins a tie. */
function isAllowedByRfc(robots: string, url: string, agent: string): boolean {
  const groups = robots.split(/\n\n(?=User-agent)/).map((group) => {
    const lines = group.split("\n").map((line) => line.replace(/#.*/, "").trim().split(/: */));
    return {
      agents: lines.flatMap(([key, name = ""]) => (key === "User-agent" ? name.toLowerCase() : [])),
      rules: lines.flatMap(([key = "", pattern = ""]) =>
        /allow$/i.test(key) && pattern !== "" ? [{ key, pattern }] : [],
      ),
    };
  });
  const own = groups.filter(({ agents }) => agents.includes(agent.toLowerCase()));
  const chosen = own.length > 0 ? own : groups.filter(({ agents }) => agents.includes("*"));
  const matching = chosen
    .flatMap(({ rules }) => rules)
    .filter(({ pattern }) => {
      const literal = pattern
        .replace(/\$$/, "")
        .split("*")
        .map((part) => part.replaceAll(/[?$.]/g, "\\$&"));
      return new RegExp(`^${literal.join(".*")}${pattern.endsWith("$") ? "$" : ""}`).test(url);
    });
  const longest = Math.max(...matching.map(({ pattern }) => pattern.length));
  const deciding = matching.filter(({ pattern }) => pattern.length === longest);
  return deciding.length === 0 || deciding.some(({ key }) => /^allow$/i.test(key));
}

test("for any groups, the longest matching rule decides", () => {
  const text = (characters: readonly string[], maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...characters), maxLength });
  const path = text(["a", "b", "A", "/", "*", "?", "="], 6).map((rest) => `/${rest}`);
  const rule = fc
    .tuple(fc.constantFrom("Allow", "Disallow", "allow", "DISALLOW"), path, fc.constantFrom("", "$", " # x"))
    .map(([key, value, end]) => `${key}: ${value}${end}`);
  const agents = fc.array(fc.constantFrom("*", "Googlebot", "bingbot", "other"), { minLength: 1, maxLength: 2 });
  const group = fc
    .tuple(agents, fc.array(fc.oneof(rule, fc.constant("")), { minLength: 1, maxLength: 5 }))
    .map(([names, rules]) => [...names.map((name) => `User-agent: ${name}`), "Disallow:", ...rules].join("\n"));
  const asked = text(["a", "b", "A", "/", "?", "="], 8).map((rest) => `/${rest.replace(/\?+$/, "")}`);
  fc.assert(
    fc.property(
      fc.array(group, { maxLength: 3 }),
      asked,
      fc.constantFrom("Googlebot", "bingbot"),
      (groups, url, agent) => {
        const robots = groups.join("\n\n");
        expect(isAllowed(robots, url, agent)).toBe(isAllowedByRfc(robots, url, agent));
      },
    ),
    { numRuns: some(1000) },
  );
});
