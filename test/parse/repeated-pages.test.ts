// Entries with the same URL in one sitemap become one page, with the details of all of them.
import { describe, expect, test } from "vitest";
import { readSitemap } from "../../src/crawl/read.ts";
import type { PageList } from "../../src/model/page-list.ts";
import { isLossy, ProblemLog } from "../../src/model/problem.ts";
import { createDocumentParser } from "../../src/parse/document.ts";
import { usualFastPath } from "../../src/parse/fast/token-reader.ts";
import { parseSitemap } from "../../src/parse/parse-sitemap.ts";
import { entry, richUrlset as urlset } from "../support/documents.ts";
import { noFastPath } from "../support/no-fast-path.ts";
import { parsed, parsePieces, urlsOf } from "../support/parsed.ts";

const one = "https://example.org/1";
const two = "https://example.org/2";
const video = (title: string, more = "") => `<video:video><video:title>${title}</video:title>${more}</video:video>`;
const image = (name: string) => `<image:image><image:loc>https://example.org/${name}.png</image:loc></image:image>`;
const news = (title: string) => `<news:news><news:title>${title}</news:title></news:news>`;
const link = (language: string) =>
  `<xhtml:link rel="alternate" hreflang="${language}" href="https://example.org/${language}"/>`;

describe("several entries with the same URL", () => {
  test("become one page, with the position and fields of the first and the details of all", () => {
    const result = parsed(
      urlset(
        entry(
          one,
          `<lastmod>2024</lastmod>${video("a", "<video:duration>1</video:duration>")}${link("de")}${news("x")}`,
        ),
        entry(two, image("two")),
        entry(one, `<lastmod>2025</lastmod><priority>1</priority>${video("b")}${image("i")}${news("y")}`),
        entry(one, `${video("b")}${image("i")}${image("j")}${link("fr")}${link("de")}`),
        entry(one, "<video:video><video:duration>1</video:duration><video:title>a</video:title></video:video>"),
      ),
    );
    expect(result.pages).toEqual([
      {
        url: one,
        lastModified: "2024",
        newsStory: { title: "x" },
        videos: [{ title: "a", duration: 1 }, { title: "b" }],
        images: [{ url: "https://example.org/i.png" }, { url: "https://example.org/j.png" }],
        alternates: [
          { language: "de", url: "https://example.org/de" },
          { language: "fr", url: "https://example.org/fr" },
        ],
      },
      { url: two, images: [{ url: "https://example.org/two.png" }] },
    ]);
    expect(result.problems).toContainEqual(expect.objectContaining({ code: "url-repeated", value: one, count: 3 }));
    // The news story `y`.
    expect(result.problems.filter(({ code }) => isLossy(code))).toMatchObject([{ code: "news-repeated" }]);
    expect(result.complete).toBe(false);
  });

  test("keep the first news story, whichever entry has it", () => {
    const result = parsed(urlset(entry(one), entry(two, news("z")), entry(one, news("x")), entry(one, news("y"))));
    expect(result.pages).toMatchObject([{ url: one, newsStory: { title: "x" } }, { url: two }]);
    expect(result.codes).toContain("news-repeated");
  });

  test("lose nothing if they repeat the same news story", () => {
    const result = parsed(urlset(entry(one, news("x")), entry(one, news("x"))));
    expect(result.codes).not.toContain("news-repeated");
    expect(result.complete).toBe(true);
  });

  test("are subject to limits as one merged page", () => {
    const entries = ["a", "b", "c", "d"].map((name) => entry(one, `${image(name)}${video(name)}${link(`x-${name}`)}`));
    const result = parsed(urlset(...entries), { limits: { images: 2, videos: 3, alternates: 1 } });
    expect(result.pages).toMatchObject([{ images: { length: 2 }, videos: { length: 3 }, alternates: { length: 1 } }]);
    expect(result.problems).toMatchObject([
      { code: "video-incomplete" },
      { code: "url-repeated", count: 3 },
      { code: "limit-alternates", limit: 1, count: 3 },
      { code: "limit-images", limit: 2, count: 2 },
      { code: "limit-videos", limit: 3 },
    ]);
    expect(result.complete).toBe(false);
  });

  test("are counted the same with `urlsOnly`", () => {
    const text = urlset(entry(one, video("a")), entry(two), entry(one, video("b")));
    expect(parsePieces([text], { urlsOnly: true }).pages).toEqual([one, two].map((url) => ({ url })));
  });
});

describe("repeated pages far apart", () => {
  // 45 pages of 64,000 characters each. The first one is repeated after each of these places.
  const large = (...places: number[]) => {
    const text = "x".repeat(64_000);
    const entries = Array.from({ length: 45 }, (_, n) =>
      entry(
        `https://example.org/p${n}`,
        `<image:image><image:loc>/i${n}</image:loc><image:caption>${text}</image:caption></image:image>`,
      ),
    );
    for (const after of places.reverse())
      entries.splice(after + 1, 0, entry("https://example.org/p0", image(`more-${after}`)));
    return urlset(...entries);
  };

  test("are merged within one window; details beyond it are a reported loss, with and without the fast path", async () => {
    const near = large(10);
    const far = large(10, 40);
    for (const options of [{}, { fastPath: noFastPath }]) {
      const merged = parsePieces([near], options);
      expect(merged.complete).toBe(true);
      expect(merged.pages[0]?.images).toHaveLength(2);
      const result = parsePieces([far], options);
      expect(urlsOf(result)).toEqual(urlsOf(merged));
      expect(result.pages[0]?.images).toHaveLength(2);
      expect(result.problems).toContainEqual(
        expect.objectContaining({
          code: "limit-repeats",
          value: "https://example.org/p0",
          message: expect.stringContaining("more than 1,048,576 characters"),
        }),
      );
      expect(result.complete).toBe(false);
    }
    for (const result of [parseSitemap(far, { url: one }), await readSitemap(Buffer.from(far), { url: one })]) {
      expect(result).toMatchObject({ kind: "pages", complete: false });
      expect(result.kind === "pages" && result.pages[0]?.images).toHaveLength(2);
    }
  });

  test("are merged even if only a later entry declares a namespace", () => {
    const inline = (prefix: string) =>
      `<${prefix}:image xmlns:${prefix}="http://www.google.com/schemas/sitemap-image/1.1"><${prefix}:loc>/i.png</${prefix}:loc></${prefix}:image>`;
    const entries = [entry(one), entry(one, inline("image")), entry(two), entry(one), entry(two, inline("i"))].join("");
    const result = parsed(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries}</urlset>`);
    const images = [{ url: "https://example.org/i.png" }];
    expect(result.pages).toMatchObject([one, two].map((url) => ({ url, images })));
    expect(result.codes).toEqual(["url-relative", "url-repeated"]);
    expect(result.complete).toBe(true);
  });

  const pagesBeforeEnd = (text: string, urlsOnly: boolean): PageList => {
    const parser = createDocumentParser({ problems: new ProblemLog(), urlsOnly, fastPath: usualFastPath });
    const { lines, pages } = parser.write(text);
    return lines ?? pages;
  };

  test("are not merged with `urlsOnly`", () => {
    expect(pagesBeforeEnd(urlset(entry(one, image("i")), "<url>"), true)).toHaveLength(1);
    expect(pagesBeforeEnd(urlset(entry(one, image("i")), "<url>"), false)).toHaveLength(0);
  });
});
