import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { homepageOf, isHttpUrl, resolveUrl, trimUrl, urlKey, withoutCredentials } from "../src/model/url.ts";
import { resolveListedUrl, UrlResolver } from "../src/model/url-forms.ts";
import { some } from "./support/long.ts";
import { Random } from "./support/random.ts";

const base = "https://example.org/maps/sitemap.xml?v=1#top";
const resolve = (text: string, from: string | undefined = base) => resolveUrl(text, from, 8192);

describe("what counts as a URL", () => {
  test.each([
    ["https://example.org/", "http://example.org", "HTTPS://Example.ORG/Ä", "https://bücher.example/"],
    ["https://example.org/a b", "https://example.org/%zz", "https://example.org/?q=<>\"'", "http://example.org\\x"],
    ["https://user:secret@example.org:8443/", "http://a@b@c/", "http://unix:/var/run/docker.sock:/x"],
    ["http://[2001:db8::1]/", "http://127.1/"],
  ])("%s and the like do, and are not rewritten", (...texts) => {
    expect(texts.map((text) => resolve(text))).toEqual(texts.map((url) => ({ url })));
    expect(texts.filter(isHttpUrl)).toEqual(texts);
  });

  test.each([
    ["/a", "https://example.org/a"],
    ["a/b?c", "https://example.org/maps/a/b?c"],
    ["../a", "https://example.org/a"],
    ["./a/./b/../c", "https://example.org/maps/a/c"],
    ["?x=1", "https://example.org/maps/sitemap.xml?x=1"],
    ["#part", "https://example.org/maps/sitemap.xml?v=1#part"],
    ["//cdn.example/a", "https://cdn.example/a"],
    ["\\\\cdn.example\\a", "https://cdn.example/a"],
    ["/\\cdn.example/a", "https://cdn.example/a"],
    ["https:/a", "https://example.org/a"],
    ["https:a", "https://example.org/maps/a"],
    ["http:/\\other.example", "http://other.example/"],
    ["http:other.example", "http://other.example/"],
    ["www.example.org/x", "https://example.org/maps/www.example.org/x"],
    ["/été/日本?q=ü", "https://example.org/été/日本?q=ü"],
    ["a b", "https://example.org/maps/a b"],
    ["/:23", "https://example.org/:23"],
    ["%7Ea", "https://example.org/maps/%7Ea"],
  ])("lenient: %s is resolved against the document, and reported", (text, url) => {
    expect(resolve(text)).toEqual({ url, problem: "url-relative" });
    expect(isHttpUrl(text)).toBe(false);
  });

  test.each<[problem: string, texts: readonly string[]]>([
    ["url-scheme", ["file:///etc/passwd", "ftp://example.org/", "data:text/xml,<urlset/>", "JaVaScRiPt:alert(1)"]],
    ["url-scheme", ["mailto:a@example.org", "unix:/var/run/docker.sock", "blob:https://example.org/1", "about:blank"]],
    ["url-scheme", ["view-source:https://example.org/", "example.org:8080/x", "httpx://example.org/"]],
    ["url-invalid", ["", "//", "http://", "https://?x", "http://a b/", "http://[::1", "http://[fe80::1%25eth0]/"]],
    ["url-invalid", ["http://example.org:99999/", "http://example.org:x/", "http://1.2.3.256/", "http://%00/"]],
    // A URL parser would drop these characters, or they were lost before.
    ["url-invalid", ["https://example.org/\nx", "ht\ttp://example.org/", "java\nscript:x", "/a\r/b", "/a\0"]],
    ["url-invalid", ["/\u007f", "/caf\ufffd", "https://ex%20ample.org/"]],
  ])("%s is reported for %j", (problem, texts) => {
    expect(texts.map((text) => resolve(text))).toEqual(texts.map(() => ({ problem })));
  });

  test("nothing is resolved without the document's URL", () => {
    for (const text of ["/a", "a", "//example.org/", "?x"]) {
      expect(resolveUrl(text, undefined, 8192)).toEqual({ problem: "url-invalid" });
    }
  });

  test("the user name and password of a document's URL are not passed on", () => {
    const resolved = { url: "https://example.org/a", problem: "url-relative" };
    expect(resolve("/a", "https://user:secret@example.org/b")).toEqual(resolved);
  });

  test("the length is checked before the URL is parsed", () => {
    const url = (length: number) => `https://example.org/${"x".repeat(length - 20)}`;
    expect(resolve(url(2047))).toEqual({ url: url(2047) });
    expect(resolve(url(2048))).toEqual({ url: url(2048), problem: "protocol-url-length" });
    expect(resolve(url(8192))).toEqual({ url: url(8192), problem: "protocol-url-length" });
    expect(resolve(url(8193))).toEqual({ problem: "limit-url-length" });
    expect(resolve("../".repeat(350_000))).toEqual({ problem: "limit-url-length" });
    expect(resolve("é".repeat(8180))).toEqual({ problem: "limit-url-length" });
    expect(resolveUrl("", undefined, 0)).toEqual({ problem: "url-invalid" });
    expect(resolveUrl("/", base, 0)).toEqual({ problem: "limit-url-length" });
  });
});

// `URL.canParse` of Node 20 and 22 gives another answer once it is compiled.
test("a host with an umlaut is valid, even after many others", () => {
  for (let index = 0; index < 20_000; index++) resolve(`https://example.org/${index}`);
  expect(resolve("https://bücher.example/")).toEqual({ url: "https://bücher.example/" });
  expect(urlKey("https://bücher.example/")).toBe("https://xn--bcher-kva.example/");
});

test("UrlResolver returns the same as resolveListedUrl, whatever it has resolved before", () => {
  const piece = fc.constantFrom(..."http:// https:// // / ? # \\ : @ % . \t a b.example 1".split(" "), " ");
  const texts = fc.array(
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(texts, (all) => {
      const resolver = new UrlResolver(base, 20);
      for (const text of all) {
        const expected = resolveListedUrl(text, base, 20);
        expect(resolver.resolve(text)).toBe(expected.url);
        expect(resolver.problem).toBe(expected.problem);
      }
    }),
    { numRuns: some(1000) },
  );
});

describe("trimUrl", () => {
  test.each([
    ["https://example.org/", "https://example.org/"],
    ["  \n\t\r\f\v https://example.org/ \r\n", "https://example.org/"],
    ["\u00a0\u200b\ufeffa\u2060\u200d\u3000\u2028\u0085", "a"],
    ["\u200e/é\u202f", "/é"],
    ["é", "é"],
    ["a b", "a b"],
    [" \u200b ", ""],
    ["", ""],
  ])("%j becomes %j", (text, trimmed) => {
    expect(trimUrl(text)).toBe(trimmed);
  });

  test("control characters are not white space, and are kept", () => {
    expect(trimUrl("\0a\u007f")).toBe("\0a\u007f");
  });
});

describe("two URLs are the same", () => {
  test.each([
    ["https://example.org", "https://EXAMPLE.org/"],
    ["https://example.org:443/a", "https://example.org/a"],
    ["http://example.org:80/a", "HTTP://example.org/a"],
    ["https://example.org/~a", "https://example.org/%7Ea"],
    ["https://example.org/%7ea?%41", "https://example.org/~a?A"],
    ["https://example.org/%c3%a9", "https://example.org/é"],
    ["https://example.org/a#b", "https://example.org/a"],
    ["https://example.org/a/../b", "https://example.org/b"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
    ["http://2130706433/", "http://127.0.0.1/"],
    ["https://example.org./a", "https://example.org/a"],
    ["http://localhost.:80/", "http://localhost/"],
  ])("if they are %s and %s", (one, other) => {
    expect(urlKey(one)).toBe(urlKey(other));
  });

  test.each([
    ["https://example.org/a", "http://example.org/a"],
    ["https://example.org/a", "https://example.org/A"],
    ["https://example.org/a", "https://example.org/a/"],
    ["https://example.org/a", "https://example.org/a?"],
    ["https://example.org/a%2Fb", "https://example.org/a/b"],
    ["https://example.org/a%23b", "https://example.org/a"],
    ["https://example.org:444/", "https://example.org/"],
    ["https://example.org../", "https://example.org/"],
    ["https://u@example.org/", "https://example.org/"],
  ])("but not if they are %s and %s", (one, other) => {
    expect(urlKey(one)).not.toBe(urlKey(other));
  });

  test("if they differ only in needless percent-encoding, or in the case of its digits", () => {
    for (let byte = 0; byte < 256; byte += 1) {
      const digits = byte.toString(16).padStart(2, "0");
      const character = String.fromCharCode(byte);
      const expected = /[A-Za-z0-9._~-]/.test(character) ? character : `%${digits.toUpperCase()}`;
      for (const written of [digits, digits.toUpperCase(), digits.replace(/^[a-f]/, (digit) => digit.toUpperCase())])
        expect(urlKey(`https://example.org/x%${written}?y%${written}`)).toBe(
          `https://example.org/x${expected}?y${expected}`,
        );
    }
  });

  test("the key of a key is that key", () => {
    const part = fc.constantFrom(..."a / .. ? # % %% %4 1 %25 %41 %34 %61 %2e %e9 é @ :8 &amp;".split(" "), " ");
    const urls = fc.array(part).map((parts) => `https://example.org/${parts.join("")}`);
    const isStable = (url: string) => urlKey(urlKey(url)) === urlKey(url);
    fc.assert(fc.property(fc.oneof(urls, fc.string()), isStable), { numRuns: some(1000) });
  });

  test.each(["no url%7E", "https://example.org/%%61", "https://example.org/%4%31", "https://example.org/%%34"])(
    "%s is its own key",
    (text) => expect(urlKey(text)).toBe(text),
  );
});

describe("user names and passwords are not shown", () => {
  test.each([
    ["https://example.org/@x", "https://example.org/@x"],
    ["https://user:secret@example.org/a?b#c", "https://example.org/a?b#c"],
    ["https://secret@example.org/", "https://example.org/"],
    ["http://user:se@cret@example.org/", "http://example.org/"],
    ["http:user:secret@example.org/", "http://example.org/"],
    ["http:\\\\user:secret@example.org\\", "http://example.org/"],
    ["ftp://user:secret@example.org/", "ftp://example.org/"],
    ["http://user:secret@[", "http://["],
    ["http://user:secret@ex ample.org/", "http://ex ample.org/"],
    ["http://user:sec/ret@example.org/", "http://example.org/"],
    ["http://user:s@c ret@example.org/", "http://example.org/"],
    ["http://user:sec@r [?et@example.org/", "http://example.org/"],
    ["//user:secret@example.org/", "//example.org/"],
    ["mailto:a@example.org", "mailto:a@example.org"],
    ["no at", "no at"],
  ])("%s is shown as %s", (url, shown) => {
    expect(withoutCredentials(url)).toBe(shown);
  });
});

test("the homepage of a URL is its origin", () => {
  expect(homepageOf("https://user@Example.org:443/a/b?c#d")).toBe("https://example.org/");
  expect(homepageOf("http://127.0.0.1:8080")).toBe("http://127.0.0.1:8080/");
});

test("URLs joined without a URL parser are the same as with one", () => {
  const parts = [..."a / // . .. /.. %2e %2E. \\ ? # : @ [ < é 語 ' | http:".split(" "), " "];
  const bases = ["https://example.org/", "https://example.org/a/b.xml?c=d#e", "http://x.example:81/é/ü?q"];
  for (let number = 0; number < some(20_000, 5000); number++) {
    const random = new Random(number);
    const text = trimUrl(Array.from({ length: 1 + random.below(6) }, () => random.pick(parts)).join(""));
    const base = random.pick(bases);
    const { url } = resolveUrl(text, base, 8192);
    if (url !== undefined) expect([text, new URL(url).href]).toEqual([text, new URL(text, base).href]);
    else if (text !== "" && !/^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(text))
      expect([text, URL.canParse(encodeNonAscii(text), base)]).toEqual([text, false]);
  }
});

// `URL.canParse` of some releases refuses hosts with such letters.
function encodeNonAscii(text: string): string {
  return text.replaceAll(/[^\0-\x7f]+/g, encodeURIComponent);
}
