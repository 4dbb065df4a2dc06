// Rules report what is certain even if documents are missing, and one fault is one finding.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { notCheckedSentences } from "../../src/check/findings/words.ts";
import { readPageHead } from "../../src/check/pages/page-head.ts";
import { dated, entry, files, home, index, links, many, robots, site, sitemap } from "./cases/case.ts";
import { checked, type Website } from "./checked.ts";

const found = async (website: Website) =>
  Object.fromEntries((await checked(website)).findings.map(({ rule, count }) => [rule, count]));

test("a missing return link between two pages that were read is reported, even if other sitemaps could not be read", async () => {
  const en = entry("/en", links({ en: "/en", de: "/de", fr: "/fr" }));
  const result = await checked(
    files({
      "/sitemap.xml": index("/a.xml", "/gone.xml", "/page.xml"),
      "/a.xml": sitemap("/", en, entry("/de", links({ de: "/de" }))),
      "/page.xml": { body: "<!doctype html><html><body>Oops</body></html>", headers: { "content-type": "text/html" } },
    }),
  );
  expect(result.complete).toBe(false);
  const counts = Object.fromEntries(result.findings.map(({ rule, count }) => [rule, count]));
  expect(counts).toMatchObject({ "hreflang-no-return": 1, "sitemap-unreachable": 1, "sitemap-is-html": 1 });
  // A sitemap that could not be read may list `/fr`.
  expect(counts).not.toHaveProperty("hreflang-target-unlisted");
  const { notChecked } = result;
  expect(notChecked.map(({ rule }) => rule)).toContain("hreflang-target-unlisted");
  expect(new Set(notChecked.map(({ reason }) => reason))).toEqual(
    new Set([`every sitemap is needed, and ${home}gone.xml and 1 other sitemap could not be read`]),
  );
});

test("if robots.txt lists a sitemap that does not exist, the finding names one that does", async () => {
  const { findings } = await checked({
    routes: { "/robots.txt": robots("/old.xml"), "/sitemap.xml": sitemap("/", "/a") },
    crawl: { knownPaths: "always" },
  });
  const lost = findings.find(({ rule }) => rule === "sitemap-unreachable");
  expect([lost?.sitemap, lost?.examples[0]?.value]).toEqual([
    `${home}old.xml`,
    expect.stringContaining(`${home}sitemap.xml exists`),
  ]);
});

test("equal dates at the time of generation are one finding, not two", async () => {
  const now = "2026-06-15T11:59:30Z";
  const same = await found(site(...many(60, (at) => dated(`/${at}`, now))));
  expect(same).toMatchObject({ "lastmod-all-identical": 1 });
  expect(same).not.toHaveProperty("lastmod-generated");
});

test("a transfer that was cut off is one finding, although it also breaks the compression and the XML", async () => {
  const whole = gzipSync(sitemap("/", ...many(2000, (at) => `/${(at * 7919) % 10_007}`)));
  const cut = await found(files({ "/sitemap.xml": whole.subarray(0, whole.length / 2) }));
  expect((cut["sitemap-cut-off"] ?? 0) + (cut["sitemap-compression"] ?? 0)).toBe(1);
  expect(Object.keys(cut).filter((rule) => /cut-off|compression|xml|well-formed/.test(rule))).toHaveLength(1);
});

test("findings are sorted by severity, then by the number of affected pages", async () => {
  const { findings, rules } = await checked(
    site(
      "/a%zz",
      ...many(3, (at) => `/f${at}#x`),
      ...many(5, (at) => `/t${at}?utm_source=x`),
      "/p?PHPSESSID=1",
      "/cart",
    ),
  );
  const order = findings.map(({ rule }) => rule);
  const expected = ["url-percent-invalid", "url-tracking-parameter", "url-fragment", "url-session-id", "url-utility"];
  expect(order.filter((rule) => expected.includes(rule))).toEqual(expected);
  // The number of affected pages decides, not the order of the rules.
  const ids = rules.map(({ id }) => id);
  expect(ids.indexOf("url-fragment")).toBeLessThan(ids.indexOf("url-tracking-parameter"));
});

test("a page that robots.txt blocks is one finding, even if it is also a page like a cart or login", async () => {
  const { routes } = site("/cart", "/login", "/search?q=a");
  const counts = await found({
    routes: { ...routes, "/robots.txt": `${robots("/sitemap.xml")}\nUser-agent: *\nDisallow: /cart\n` },
  });
  expect(counts).toMatchObject({ "url-robots-disallowed": 1, "url-utility": 2 });
});

test("a noindex is reported with the line of its tag, and <base> does not affect a Link header", () => {
  const html =
    '<base href="/deep/">\n<meta name="color" content="none">\n<meta name="otherbot" content="noindex">\n<meta name="robots" content="noindex">';
  const { noindex, canonical } = readPageHead(`${home}a`, [["link", "<b>; rel=canonical"]], html);
  expect([noindex.get("robots"), canonical]).toEqual([4, `${home}b`]);
});

const alternate = (path: string) => entry(path, links({ en: "/en", de: "/de" }));

test("a missing return link is not reported if it may be in a sitemap that could not be read", async () => {
  const routes = { "/plain.xml": sitemap("/", "/de"), "/en.xml": sitemap(alternate("/en")) };
  const partial = await checked(files({ "/sitemap.xml": index("/plain.xml", "/en.xml", "/de.xml"), ...routes }));
  expect(partial.findings.map(({ rule }) => rule)).not.toContain("hreflang-no-return");
  expect(partial.notChecked.map(({ rule }) => rule)).toContain("hreflang-no-return");
  const whole = await found(files({ "/sitemap.xml": index("/plain.xml", "/en.xml"), ...routes }));
  expect(whole).toMatchObject({ "hreflang-no-return": 1 });
});

test("rules about most pages of a website are skipped unless it was read completely", async () => {
  const image = "<image:image><image:loc>https://example.org/logo.png</image:loc></image:image>";
  const days = many(12, (at) => entry(`/d${at}`, `<lastmod>2026-01-${10 + at}</lastmod>${image}`));
  for (const [entries, expected] of [
    [many(12, (at) => `/${at}`), ["lastmod-missing"]],
    [days, ["image-placeholder", "lastmod-date-only"]],
  ] as const) {
    const routes = { "/a.xml": sitemap("/", ...entries) };
    const rules = async (...children: string[]) => {
      const { findings, notChecked } = await checked(files({ "/sitemap.xml": index(...children), ...routes }));
      const own = (list: readonly { readonly rule: string }[]) =>
        expected.filter((rule) => list.some((each) => each.rule === rule));
      return [own(findings), own(notChecked)];
    };
    expect(await rules("/a.xml")).toEqual([expected, []]);
    expect(await rules("/a.xml", "/gone.xml")).toEqual([[], expected]);
  }
});

test("equal dates are not reported for a document that was cut off", async () => {
  const entries = many(20, (at) => entry(`/${at}`, "<lastmod>2026-01-01T00:00:00Z</lastmod>"));
  const whole = sitemap("/", ...entries);
  expect(await found(files({ "/sitemap.xml": whole }))).toMatchObject({ "lastmod-all-identical": 1 });
  const cut = await found(files({ "/sitemap.xml": whole.slice(0, -30) }));
  expect(cut).not.toHaveProperty("lastmod-all-identical");
  const children = many(12, (at) => `<sitemap><loc>${home}${at}.xml</loc><lastmod>2026-01-01</lastmod></sitemap>`);
  expect(await found(files({ "/sitemap.xml": index(...children) }))).toMatchObject({ "index-lastmod-identical": 1 });
  const part = await found(files({ "/sitemap.xml": index(...children).slice(0, -30) }));
  expect(part).not.toHaveProperty("index-lastmod-identical");
});

test("robots.txt is not reported to list no sitemap if a line is invalid, or a part was not read", async () => {
  const own = async (text: string) => found({ routes: { "/robots.txt": text, "/sitemap.xml": sitemap("/") } });
  expect(await own("User-agent: *\n")).toHaveProperty("robots-no-sitemap");
  const invalid = await own("Sitemap: ftp://example.org/sitemap.xml\n");
  expect(invalid).toHaveProperty("url-invalid");
  expect(invalid).not.toHaveProperty("robots-no-sitemap");
  const long = await own(`${"# comment\n".repeat(60_000)}Sitemap: ${home}sitemap.xml\n`);
  expect(long).toHaveProperty("robots-too-large");
  expect(long).not.toHaveProperty("robots-no-sitemap");
});

test("if images are on too many hosts, the rules about hosts are listed as not checked", async () => {
  const image = (host: string) => `<image:image><image:loc>https://${host}/a.jpg</image:loc></image:image>`;
  const entries = (count: number) => many(count, (at) => entry(`/${at}`, image(`h${at}.example.net`)));
  const reasons = async (count: number) =>
    (await checked(site(...entries(count)))).notChecked.filter(({ rule }) => rule.startsWith("image-"));
  expect(await reasons(900)).toEqual([]);
  expect((await reasons(1001)).map(({ rule }) => rule)).toEqual(["image-private-host", "image-other-host"]);
});

test("a check that ran out of time lists rules that it did not reach, but none that were not requested", async () => {
  const late = await checked({ ...site("/a"), check: { time: 0 } });
  const rules = late.notChecked.map(({ rule }) => rule);
  expect(rules).toContain("url-fragment");
  expect(rules.filter((rule) => rule.startsWith("page-"))).toEqual([]);
  const [sentence = ""] = notCheckedSentences(late).filter((each) => each.includes("time limit"));
  expect(sentence).toMatch(/^Not checked, because the time limit was reached: [a-z-]+(?:, [a-z-]+){19} and \d+ more$/);
});

test("a robots.txt that was not requested is not called unreadable", async () => {
  const { notChecked } = await checked({ ...site("/a"), sitemaps: [`${home}sitemap.xml`] });
  expect(notChecked).toContainEqual({ rule: "url-robots-disallowed", reason: "robots.txt was not read" });
});
