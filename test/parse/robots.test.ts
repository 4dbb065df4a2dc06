import { describe, expect, test } from "vitest";
import type { AllLimits } from "../../src/model/options.ts";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { type ProblemCode, ProblemLog } from "../../src/model/problem.ts";
import { RobotsParser } from "../../src/parse/robots.ts";
import { parseRobots } from "../../src/parse/robots-rules.ts";
import { inEveryCut } from "../support/cuts.ts";
import { parsed } from "../support/parsed.ts";

const robotsUrl = "https://example.org/robots.txt";

/** Reads a text, split in many ways. */
function read(text: string, limits: Partial<AllLimits> = {}, earlier: ProblemCode[] = []) {
  return inEveryCut(text, (pieces) => {
    const problems = new ProblemLog();
    for (const code of earlier) problems.add(code);
    const parser = new RobotsParser({
      url: robotsUrl,
      limits: { ...defaultLimits, ...limits },
      strict: false,
      problems,
    });
    const entries = [...pieces.map((piece) => parser.write(piece)), parser.end()];
    expect(entries.flatMap((batch) => batch.pages)).toEqual([]);
    return {
      urls: entries.flatMap((batch) => batch.sitemaps).map((sitemap) => sitemap.url),
      outcome: parser.outcome,
      complete: problems.complete,
      problems: problems
        .toArray()
        .map(({ code, line, count = 1 }) => `${code}:${line}${count > 1 ? ` ×${count}` : ""}`),
      delays: ["sitegrove", "other", "*"].map((name) => parser.robots.delayFor(name)),
    };
  });
}

const urlsOf = (text: string) => read(text).urls;
const [a, b] = ["https://example.org/a.xml", "https://cdn.example/b.xml.gz"];

// https://www.sitemaps.org/protocol.html#submit_robots
//   "The Sitemap directive is independent of the user-agent line, so it doesn't matter where you place it in your file."
describe("Sitemap lines", () => {
  test("spec: Sitemap lines are read anywhere, in order, each URL once", () => {
    const text = `Sitemap: ${a}\nUser-agent: *\nDisallow: /x\nSitemap: ${b}\nDisallow: /y\nsitemap: ${a}\n`;
    const outcome = { kind: "index", format: "robots" };
    expect(read(text)).toMatchObject({ urls: [a, b], outcome, complete: true, problems: ["url-repeated:6"] });
  });

  test.each(["sitemap", "SITEMAP", "SiteMap", "\ufeffSitemap", "  Sitemap", "\tSitemap ", "Sitemap\t"])(
    "lenient: the key may be %j, in any case and with white space around it",
    (key) => {
      expect(read(`${key}: ${a}\n${key}:${b}`)).toMatchObject({ urls: [a, b], problems: [] });
    },
  );

  // As in Google's parser: any key that starts with `sitemap` or `site-map`.
  const keys = ["Sitemaps", "Site-map", "site-maps", "sitemap-index", "Sitemap_1", "SITEMAP URL", "sitemap.xml"];
  test.each([
    ...keys.map((key) => `${key}: ${a}\n`),
    ...[`Sitemap ${a}`, `sitemap\t  ${a}`, `Sitemap ${a} # main`],
    ...[`"${a}"`, `<${a}>`, `' ${a} '`].map((value) => `Sitemap: ${value}`),
  ])("lenient: other keys, a missing colon and quotes are accepted and reported: %j", (line) => {
    expect(read(line)).toMatchObject({ urls: [a], problems: ["robots-spelling:1"] });
  });

  test.each([
    ...["a b", "a, b", "a,b", "a;b", "a | b", "a\tb", '"a" <b>', "'a','b'", "aSitemap:b", "a sitemap: b"],
    ...["Sitemap: a site-map:b", "a b,", "a, b;"],
  ])("lenient: several URLs in one line are read and reported: %j", (form) => {
    const line = `Sitemap: ${form.replaceAll(/(?<![a-z])[ab](?![a-z])/g, (name) => (name === "a" ? a : b))}`;
    expect(read(line)).toMatchObject({ urls: [a, b], problems: ["robots-spelling:1"] });
    expect(parseRobots(line).sitemaps).toEqual([a, b]);
  });

  test.each([
    [`${a},`, a],
    [`${a};`, a],
    [`${a} ;`, a],
    [`${a}?x=1&amp;y=2&amp;z`, `${a}?x=1&y=2&z`],
    [`[main](${a})`, a],
    [`<loc>${a}</loc>`, a],
    [`<sitemap><loc>${a}</loc></sitemap>`, a],
  ])("lenient: text after a URL, and escapes in it, are removed and reported: %j", (written, url) => {
    expect(read(`Sitemap: ${written}`)).toMatchObject({ urls: [url], problems: ["robots-spelling:1"] });
    expect(parseRobots(`Sitemap: ${written}`).sitemaps).toEqual([url]);
  });

  test.each([`${a}?x=1&y=2;3`, `${a}?x=1&copy=2`, `${a}?sitemap=${b}`, `${a}?from=${b},c`])("%j is one URL", (url) => {
    expect(read(`Sitemap: ${url}`)).toMatchObject({ urls: [url], problems: [] });
  });

  const map = "https://example.org/sitemap.xml";
  const named = (key: string) => `${key}: ${map}`;
  test.each([
    ...["Video Sitemap", "XML-Sitemap", "My-sitemap", "Google News Site Map", "site_map", "* Sitemap"].map(named),
    ...["Stiemap", "Sietmap", "Map", "Index", ""].map(named),
    ...[
      `Sitemap\uff1a ${map}`,
      `Sitemap=${map}`,
      `Sitemap = ${map}`,
      map,
      `  ${map}  `,
      `<${map}>`,
      `${map} # main`,
      `"${map}",`,
    ],
    ...["Allow:", "Disallow: ", "User-agent: *", "Crawl-delay: 10", "Host: example.org", "Allow: /x"].flatMap(
      (before) => [`${before} Sitemap: ${map}`, `${before} sitemap:${map}`],
    ),
    ...[`Sitemap:\n${map}`, `Sitemap: \n\n # of all\n\t${map}`, `Allow: Sitemap:\r\n  ${map}`, `sitemap\n${map}`],
  ])("lenient: a line that clearly names a sitemap is read and reported: %j", (text) => {
    const result = read(`User-agent: *\n${text}\nDisallow: /x`);
    expect(result.urls).toEqual([map]);
    expect(result.problems).toMatchObject([`robots-spelling:${1 + text.split("\n").length}`]);
    expect(parseRobots(text).sitemaps).toEqual([map]);
  });

  test.each([
    `Disallow: /xSitemap: ${a}`,
    `Disallow: /sitemap: ${a}`,
    `User-agent: *\\nDisallow:\\nSitemap: ${a}`,
    `User-agent: *<br>Sitemap: ${a}<br>`,
    ...["Sitemp", "Sitenap", "itemap", "Siteemap", "Site\u00admap", "Site\tmap", "Sitem\u0430\u0440"].map(
      (key) => `${key}: ${a}`,
    ),
  ])("lenient: a Sitemap line that is misspelled or inside another line is read and reported: %j", (text) => {
    const { urls, problems } = read(text);
    expect(urls).toEqual([a]);
    expect(problems).toEqual(["robots-spelling:1"]);
  });

  test.each([
    `<pre>User-agent: *\nSitemap: ${a}</pre>`,
    `<p>User-agent: *</p><p>Sitemap: ${a}</p>`,
    `<!DOCTYPE html><html><body>User-agent: *<br>Sitemap: ${a}<br></body></html>`,
  ])("lenient: a Sitemap line in HTML is read and reported: %j", (text) => {
    const result = parsed(text, { url: robotsUrl });
    expect(result.sitemaps?.map(({ url }) => url)).toEqual([a]);
    expect(result.codes).toEqual(["robots-spelling"]);
  });

  test("lenient: after a Sitemap line without a URL, the next line may be a path", () => {
    expect(read("Sitemap:\n/a.xml\nSitemap:\n\nmaps/b.xml\nSitemap:\nDisallow: /c.xml\nSitemap:")).toMatchObject({
      urls: [a, "https://example.org/maps/b.xml"],
      problems: ["url-relative:2 ×2", "robots-spelling:2 ×2", "url-missing:6 ×2"],
    });
  });

  test("a rule on the same line as a Sitemap line is also read", () => {
    const robots = parseRobots(`User-agent: * Sitemap: ${a}\nDisallow: /x Sitemap: ${b}\nAllow: Sitemap: ${map}`);
    expect(robots.sitemaps).toEqual([a, b, map]);
    expect(["/x", "/y"].map((path) => robots.isAllowed(path, "Bot"))).toEqual([false, true]);
  });

  test("in an HTML page, a URL alone on a line is not a sitemap", () => {
    const result = parsed(`<html>\n${map}\nVideo sitemap: ${map}\n</html>`, { url: robotsUrl });
    expect(result).toMatchObject({ outcome: { kind: "invalid" }, sitemaps: [] });
  });

  test("several URLs in one line are checked separately", () => {
    expect(read(`Sitemap: ${a}, https://[/ ${b}, ${a}`)).toMatchObject({
      urls: [a, b],
      problems: ["url-invalid:1", "url-repeated:1", "robots-spelling:1"],
    });
  });

  const c = "https://example.org/maps/b.xml";
  test.each<[what: string, text: string, urls: string[], problems: string[]]>([
    ["two words need no colon", "Sitemap /a.xml", [a], ["url-relative:1", "robots-spelling:1"]],
    ["more words need a colon", "Sitemap is at /a.xml\nSitemap", [], []],
    ["lenient: relative URLs are resolved", "Sitemap: /a.xml\nSitemap: maps/b.xml", [a, c], ["url-relative:1 ×2"]],
    ["lenient: the scheme may be missing", "Sitemap: //cdn.example/b.xml.gz", [b], ["url-relative:1"]],
    ["lenient: no host", "Sitemap: https:///a.xml\nSitemap: https:///maps/b.xml", [a, c], ["url-repaired:1 ×2"]],
    ["a path that looks like a host is not repaired", "Sitemap: https:///other.example/c", [], ["url-invalid:1"]],
    ["another scheme", "Sitemap: ftp://example.org/a.xml\nSitemap: javascript:alert(1)", [], ["url-scheme:1 ×2"]],
    ["no URL", `Sitemap: https://[\nSitemap: https://example.org/\0.xml\nSitemap: ${a}`, [a], ["url-invalid:1 ×2"]],
    ["nothing", 'Sitemap:\nSitemap: \nSitemap: # none\nSitemap:#none\nSitemap: ""', [], ["url-missing:1 ×5"]],
    [
      "other keys name no sitemap",
      `Feed: ${a}\nSite: ${a}\nItems: ${a}\nSitename: ${a}\nx ${a}\n: ${a}\nAllow: ${a}`,
      [],
      [],
    ],
    ["a homepage alone on a line", "https://example.org\nhttps://example.org/\nexample.org/a.xml", [], []],
    ["comments are ignored", `# Sitemap: ${a}\n #Sitemap: ${a}`, [], []],
  ])("%s", (_, text, urls, problems) => {
    expect(read(text)).toMatchObject({ urls, problems });
  });
});

// https://www.rfc-editor.org/rfc/rfc9309#section-2.2 `EOL = *WS [comment] NL`
test("a # after white space starts a comment; any other # is part of the URL", () => {
  const text = `Sitemap: ${a} # main\nSitemap: ${b}#part\nSitemap: ${b}?x#y\t#z # w`;
  expect(urlsOf(text)).toEqual([a, `${b}#part`, `${b}?x#y`]);
});

test.each(["\r", "\n", "\r\n"])("%j ends a line", (end) => {
  expect(urlsOf(["User-agent: *", `Sitemap: ${a}`, "", `Sitemap: ${b}`].join(end))).toEqual([a, b]);
});

test.each(["", "\n", "User-agent: *\nDisallow:\n", "<html>\n<p>Sitemaps</p>\n"])(
  "%j names no sitemaps, which is not a problem",
  (text) => {
    expect(read(text)).toMatchObject({ urls: [], outcome: { kind: "index" }, complete: true, problems: [] });
  },
);

describe("limits", () => {
  test("if robots.txt is cut off inside a Sitemap line, that line is not used", () => {
    expect(read(`Sitemap: ${a}\nSitemap: https://cdn.exam`, {}, ["limit-robots-bytes"]).urls).toEqual([a]);
  });

  test("URLs and entries have the same limits as in other documents", () => {
    expect(read(`Sitemap: ${b}\nSitemap: ${a}\n`, { urlLength: a.length })).toMatchObject({
      urls: [a],
      problems: ["limit-url-length:1"],
    });
    expect(read(`Sitemap: ${a}\nSitemap: ${b}\nSitemap: /c\n`, { documentEntries: 1 })).toMatchObject({
      urls: [a],
      complete: false,
      problems: ["limit-document-entries:2"],
    });
  });
});

describe("Crawl-delay", () => {
  const delays = (text: string) => read(text).delays;

  // https://www.rfc-editor.org/rfc/rfc9309#section-2.2.1
  //   "If no matching group exists, crawlers MUST obey the group with a user-agent line with the "*" value, if present."
  test("comes from the group for this crawler, otherwise from the group for *", () => {
    const text = "User-agent: *\nCrawl-delay: 1\nDisallow: /\n\nUser-agent: SiteGrove\nCrawl-delay: 2.5\nDisallow:\n";
    expect(delays(text)).toEqual([2500, 1000, 1000]);
  });

  test.each<[what: string, text: string, delays: (number | undefined)[]]>([
    [
      "a group for this crawler without a delay replaces the group for *",
      "User-agent: *\nCrawl-delay: 1\nAllow: /\nUser-agent: sitegrove\nDisallow: /x\n",
      [undefined, 1000, 1000],
    ],
    [
      "does not end a group",
      "User-agent: sitegrove\nCrawl-delay: 3\nUser-agent: other\nDisallow: /\n",
      [3000, 3000, undefined],
    ],
    [
      "several crawlers may share a group, which neither blank lines nor Sitemap lines end",
      "user-agent: a\n\nUserAgent: other/1.0\nSitemap: /a\nuser agent: *\nDisallow: /\n\ncrawl-delay: 4 # s",
      [4000, 4000, 4000],
    ],
    [
      "if groups of one crawler are merged, the first delay counts",
      "User-agent: *\nDisallow: /a\nUser-agent: *\nCrawl-delay: 5\nDisallow: /b\nUser-agent: *\nCrawl-delay: 6\n",
      [5000, 5000, 5000],
    ],
  ])("%s", (_, text, expected) => {
    expect(delays(text)).toEqual(expected);
  });

  test.each(["-1", "soon", "", "NaN", "1e9", "Infinity"])("%j is not a delay", (value) => {
    expect(delays(`User-agent: *\nCrawl-delay: ${value}\n`)[2]).toBeUndefined();
  });

  test("preferences belong to the group that they are in, however it is written", () => {
    for (const name of ["sitegrove, others", "SiteGrove bot", "sitegrove/1.0"]) {
      const text = `User-agent: ${name}\nCrawl-delay: 3\nDisalow: /a\nUser-agent: *\n`;
      expect(delays(text)[0]).toBe(3000);
      expect(parseRobots(text).isAllowed("/a", "sitegrove")).toBe(false);
    }
  });

  test("names such as `constructor` are ordinary names", () => {
    const text = "User-agent: __proto__\nCrawl-delay: 7\nDisallow: /\n__proto__: 1\nconstructor: 2\n";
    expect(read(text)).toMatchObject({ urls: [], delays: [undefined, undefined, undefined] });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("preferences about the use of pages", () => {
  const values = { search: "yes", "ai-train": "no" };
  const signal = { field: "Content-Signal", value: "search=yes,ai-train=no", values };
  test.each<[what: string, text: string, preferences: object[]]>([
    ["before all groups", "Content-Signal: search=yes,ai-train=no\nUser-agent: *", [{ ...signal, line: 1 }]],
    ["in a group", "User-agent: *\nContent-Signal: search=yes,ai-train=no", [{ ...signal, line: 2, agents: ["*"] }]],
    [
      "in groups of several crawlers",
      "User-agent: GPTBot/1.0\nUser-Agent: ClaudeBot\ncontent-signal: search=yes,ai-train=no\nUser-agent: b\nAllow: /\nContent-Usage: train-ai=n",
      [
        { ...signal, line: 3, agents: ["GPTBot", "ClaudeBot"] },
        { field: "Content-Usage", value: "train-ai=n", values: { "train-ai": "n" }, line: 6, agents: ["b"] },
      ],
    ],
    [
      "with a path, unknown keys, repeated keys, keys without a value",
      "User-agent: a\nContent-Usage: /ai/* Train-AI = y, bots=n;x, ,search # why",
      [
        {
          field: "Content-Usage",
          value: "/ai/* Train-AI = y, bots=n;x, ,search",
          values: { "train-ai": "y", bots: "n;x", search: "" },
          path: "/ai/*",
          line: 2,
          agents: ["a"],
        },
      ],
    ],
    [
      "a license belongs to no group",
      `User-agent: a\nDisallow:\nLicense: ${a}\nContent-Signal:`,
      [
        { field: "License", value: a, line: 3 },
        { field: "Content-Signal", value: "", values: {}, line: 4, agents: ["a"] },
      ],
    ],
    ["none", "Licenses: a\nContent: b", []],
  ])("are read: %s", (_, text, preferences) => {
    expect(read(text)).toMatchObject({ problems: [] });
    expect(read(text).outcome).toEqual({
      kind: "index",
      format: "robots",
      ...(preferences.length > 0 && { preferences }),
    });
    expect(parseRobots(text).preferences).toEqual(preferences);
  });

  test("change no rule, and their number is limited", () => {
    const robots = parseRobots(
      `User-agent: a\nContent-Signal: search=no\nUser-agent: b\nDisallow: /\n${"License: x\n".repeat(5000)}`,
    );
    expect(["a", "b"].map((agent) => robots.isAllowed("/", agent))).toEqual([false, false]);
    expect(robots.preferences).toHaveLength(1000);
  });

  test("are a reported loss beyond the limit", () => {
    const result = parsed(`${"License: x\n".repeat(1000)}License: y\nLicense: z`, { url: robotsUrl });
    expect(result.problems).toMatchObject([{ code: "limit-preferences", limit: 1000, line: 1001, count: 2 }]);
    expect(result.complete).toBe(false);
    expect(parsed("License: x\n".repeat(1000), { url: robotsUrl }).problems).toEqual([]);
  });

  test("with the URL of the robots.txt, parseRobots also returns sitemaps with relative URLs", () => {
    const text = "Sitemap: //cdn.example.org/a.xml\nSitemap: /b.xml\nSitemap: c.xml";
    const url = "http://example.org/robots.txt";
    const sitemaps = ["http://cdn.example.org/a.xml", "http://example.org/b.xml", "http://example.org/c.xml"];
    expect(parseRobots(text, { url }).sitemaps).toEqual(sitemaps);
    expect(parseRobots(text, { url: new URL(url) }).sitemaps).toEqual(sitemaps);
    expect(parsed(text, { url }).sitemaps.map((sitemap) => sitemap.url)).toEqual(sitemaps);
  });

  test("parseRobots also returns sitemaps with absolute URLs", () => {
    expect(parseRobots(`Sitemap: ${a}\nSitemap: <${b}>\nSitemap: /c.xml\nSitemap: ${a}`).sitemaps).toEqual([a, b]);
  });
});
