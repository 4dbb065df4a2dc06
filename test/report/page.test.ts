// Opens the report from a file in a real browser.
// Needs a browser, more than a second.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/model/client.ts";
import { pageOf } from "../../src/report/html-page.ts";
import { reportFacts, reportHtml } from "../../src/report/report-tree.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { isLong } from "../support/long.ts";
import { newFolder } from "../support/test-folder.ts";
import { hasNoBrowser, launch, look } from "./browser.ts";
import { shop, shopHome } from "./shop.ts";
import { chineseAndArabic, everythingFails, home, hostile, nothingThere, threePages } from "./websites.ts";

const folder = newFolder();
const now = "2026-10-05T06:12:00Z";
const fileOf = (name: string) => path.join(folder, `${name}.html`);
const archive = path.join(folder, "shop.warc.gz");

const websites: Readonly<Record<string, () => Client>> = {
  "three pages": threePages,
  "everything fails": everythingFails,
  "nothing there": nothingThere,
  "chinese and arabic": chineseAndArabic,
  hostile,
};

// Trying hundreds of well-known paths would take most of the time.
const crawl = { retries: 0, knownPaths: "if-needed" } as const;

let browser: Browser;
beforeAll(async () => {
  for (const [name, client] of Object.entries(websites)) {
    await using tree = await sitemapTreeForHomepage(home, { client: client(), ...crawl });
    writeFileSync(fileOf(name), await reportHtml(tree, { check: { now } }));
  }
  await using earlier = await sitemapTreeForHomepage(shopHome, { client: shop(700), ...crawl });
  await using tree = await sitemapTreeForHomepage(shopHome, { client: shop(1000), ...crawl, save: archive });
  writeFileSync(fileOf("shop"), await reportHtml(tree, { check: { now }, previous: earlier }));
  if (!hasNoBrowser) browser = await launch();
});
afterAll(() => browser?.close());

const axeSource: string = axe.source;

// Code that runs in the page is a string, because this file is checked against the types of Node.js.
const openAll = 'for (const each of document.querySelectorAll("details")) each.open = true';

const hiddenExamples =
  '[...document.querySelectorAll(".examples li > *")].filter((each) => each.getBoundingClientRect().right > innerWidth).length';

const guidelines = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Returns what axe-core finds, as lines. */
async function violations(page: Page, rules: object): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource);
  return page.evaluate(`axe
    .run(${JSON.stringify(rules)})
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => id + ": " + html.slice(0, 200) + " " + failureSummary)))`);
}

/** How to look at a page. `used` are the rules of axe-core. */
type Manner = { colorScheme: "light" | "dark"; viewport: { width: number; height: number }; used: object | undefined };

describe.skipIf(hasNoBrowser)("in Chromium", () => {
  const rules = { runOnly: guidelines };
  // Dark mode changes only colors, a narrow window everything else. Checking colors takes longest.
  const light: Manner = { colorScheme: "light", viewport: { width: 1280, height: 900 }, used: rules };
  const colors = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };
  const dark: Manner = { ...light, colorScheme: "dark", used: colors };
  const uncolored = { ...rules, rules: { "color-contrast": { enabled: false } } };
  const narrow: Manner = { ...light, viewport: { width: 390, height: 844 }, used: uncolored };
  const small = Object.keys(websites);

  // The long run tries every page in every way. Other runs try the largest page in the light, and the other ways on a small one.
  test.each<{ names: string[]; ways: Manner[] }>(
    isLong
      ? [{ names: ["shop", ...small], ways: [light, dark, narrow] }]
      : [
          { names: ["shop"], ways: [light] },
          { names: ["everything fails"], ways: [dark] },
          { names: ["three pages"], ways: [narrow] },
          { names: small, ways: [{ ...narrow, used: undefined }] },
        ],
  )("the page about $names loads nothing, logs nothing, and is accessible", async ({ names, ways }) => {
    for (const name of names) {
      const { page, requests, said } = await look(browser, fileOf(name));
      for (const { colorScheme, viewport, used } of ways) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await page.evaluate(openAll);
        if (used !== undefined) expect(await violations(page, used)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
        // Lists would hide what does not fit.
        expect(await page.evaluate(hiddenExamples)).toBe(0);
      }
      expect([requests, said]).toEqual([[], []]);
    }
  });

  test("on a narrow screen, every kind of change is visible, and no tile is empty", async () => {
    await using tree = await openTree(archive);
    const facts = await reportFacts(tree, { check: { now } });
    const side = { pages: 20_000, sitemaps: 1, complete: false };
    const changes = { added: 12_345, removed: 12_345, changed: 12_345, moved: 12_345, unknown: 12_345, expired: 0 };
    const totals = { ...changes, sitemaps: 0, changedOnlyLastModified: 0, before: side, after: side };
    const sections = ["products", "collections"].map((name) => ({ name: `${shopHome}${name}/`, changes }));
    const none = { otherSections: 0, fields: {}, sitemaps: [], examples: [] };
    writeFileSync(fileOf("changes"), pageOf({ ...facts, changes: { totals, sections, ...none } }));
    const { page } = await look(browser, fileOf("changes"));
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.locator("#since thead th:visible").allTextContents()).toContain("Unknown");
    expect(
      await page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#since .scroll'))",
      ),
    ).toBe(0);
    const right = (selector: string) =>
      page.evaluate(`document.querySelector("${selector}").getBoundingClientRect().right`);
    expect(await right("#since .figures > :last-child")).toBe(await right("#since .figures > :nth-child(2)"));
  });

  test("findings can be opened, and everything is open in print", async () => {
    const { page } = await look(browser, fileOf("shop"));
    const pdf = await page.pdf({ format: "A4" });
    // If the findings were closed, three pages would be enough.
    expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0).toBeGreaterThan(6);
    const first = page.locator(".finding").first();
    await first.locator("summary").click();
    expect(await first.getByText("Fix", { exact: true }).isVisible()).toBe(true);
  });

  test('"Download the data" gives what the page shows of the facts', async () => {
    const { page } = await look(browser, fileOf("shop"));
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByText("Download the data").click()]);
    expect(file.suggestedFilename()).toBe("shop.example.org-2026-10-05.json.gz");
    const { changes, ...downloaded } = JSON.parse(gunzipSync(readFileSync(await file.path())).toString());
    await using tree = await openTree(archive);
    // The archive has the times of the run, so they are the same in both.
    const facts = await reportFacts(tree, { check: { now } });
    expect(downloaded).toEqual(JSON.parse(JSON.stringify(facts)));
    expect(changes.totals.added).toBeGreaterThan(200);
  });

  test("attacks in URLs, titles and dates are inert and readable", async () => {
    const { page, requests, said } = await look(browser, fileOf("hostile"));
    await page.evaluate(openAll);
    for (const selector of [".leaf", ".finding summary", "#map-tiles .name"]) {
      for (const each of (await page.locator(selector).all()).slice(0, 5)) await each.hover({ force: true });
    }
    const facts = await page.evaluate<{ text: string; longest: number; schemes: string[] }>(`({
      pwned: "pwned" in globalThis,
      scripts: document.scripts.length,
      styles: document.querySelectorAll("style").length,
      strangers: document.querySelectorAll("img, iframe, object, embed, form, base, link, audio, video, foreignObject").length,
      handlers: [...document.querySelectorAll("*")].flatMap((element) => [...element.attributes])
        .filter(({ name }) => name.startsWith("on") || name === "style").length,
      schemes: [...new Set([...document.links].map(({ protocol }) => protocol))].sort(),
      bidi: /[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff]/.test(document.body.textContent),
      text: document.body.innerText,
      longest: Math.max(...document.body.innerText.split("\\n").map(({ length }) => length)),
    })`);
    expect(facts).toMatchObject({ pwned: false, scripts: 0, styles: 1, strangers: 0, handlers: 0, bidi: false });
    expect(facts.schemes.filter((scheme) => !/^(?:data|file|https?):$/.test(scheme))).toEqual([]);
    // The attacks are shown as text.
    expect(facts.text).toContain("<img src=x onerror=pwned=1>");
    expect(facts.text).toContain("\\u202egnp.exe");
    expect(facts.longest).toBeLessThan(2000);
    expect([requests, said]).toEqual([[], []]);
  });

  test("the content security policy forbids everything but the page's own style sheet, whatever gets into the page", async () => {
    const html = readFileSync(fileOf("three pages"), "utf8");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? "";
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^;]+; base-uri 'none'; form-action 'none'$/);
    const broken = fileOf("broken on purpose");
    const attack = `<img src="https://evil.example/x.png" onerror="pwned=1"><script>pwned=1</script><style>body{display:none}</style><b style="color:red" onclick="pwned=1">b</b><form action="https://evil.example/"><input name="a"></form>`;
    writeFileSync(broken, html.replace("</main>", `${attack}</main>`));
    const { page, said } = await look(browser, broken);
    expect(await page.evaluate('"pwned" in globalThis')).toBe(false);
    expect(await page.locator("h1").isVisible()).toBe(true);
    expect(said.filter((line) => line.includes("Content Security Policy")).length).toBeGreaterThanOrEqual(4);
  });

  test("the area of a tile is its share of the pages, and the hatched part its share of flawed ones", async () => {
    await using tree = await openTree(archive);
    const { sections } = await reportFacts(tree, { check: { now } });
    const { page } = await look(browser, fileOf("shop"));
    const leaves: { pages: number; flawed: number; number: number; parent: number }[] = [];
    let number = 0;
    const visit = (section: typeof sections, parent: number) => {
      const own = number++;
      if (section.sections === undefined) leaves.push({ ...section, number: own, parent });
      for (const child of section.sections ?? []) visit(child, own);
    };
    visit(sections, -1);
    const boxes: { area: number; height: number; hatched: number }[] = await page.evaluate(
      `${JSON.stringify(leaves.map((leaf) => leaf.number))}.map((own) => {
        const tile = document.querySelector("#t" + own);
        const { width, height } = tile.getBoundingClientRect();
        // The hatched part is inside the border.
        return { area: width * height, height: tile.clientHeight, hatched: tile.querySelector("i")?.getBoundingClientRect().height ?? 0 };
      })`,
    );
    expect(leaves.length).toBeGreaterThan(50);
    for (const [index, leaf] of leaves.entries()) {
      const { area, height, hatched } = boxes[index]!;
      // Only tiles of one group are compared, because the names of groups take space.
      for (const [other, sibling] of leaves.entries()) {
        if (sibling.parent !== leaf.parent || leaf.pages < 10 || sibling.pages < 10) continue;
        const ratio = area / boxes[other]!.area / (leaf.pages / sibling.pages);
        expect(Math.abs(ratio - 1)).toBeLessThan(0.1);
      }
      if (leaf.flawed > 0 && height > 30)
        expect(hatched / height).toBeCloseTo(Math.max(0.01, leaf.flawed / leaf.pages), 1);
      else if (leaf.flawed === 0) expect(hatched).toBe(0);
    }
  });

  test("the keyboard reaches everything, and a group's name leads to its row in the table", async () => {
    const { page } = await look(browser, fileOf("shop"));
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.className")).toBe("skip");
    const name = page.locator("a.name").first();
    await name.focus();
    await page.keyboard.press("Enter");
    const target = await page.evaluate('document.querySelector(":target").getBoundingClientRect().height');
    expect(target).toBeGreaterThan(20);
    await page.locator(".finding summary").first().focus();
    await page.keyboard.press("Enter");
    expect(await page.locator(".finding[open]").count()).toBe(1);
  });
});

test("the page has the same numbers as check -f json", async () => {
  const { stdout } = await sitegrove(["check", archive, "-f", "json", "--fail-on", "never", "--now", now]);
  const check = JSON.parse(stdout);
  const html = readFileSync(fileOf("shop"), "utf8");
  const grouped = (count: number) => count.toLocaleString("en-US");
  expect(html).toContain(`${grouped(check.pageCount)} pages in ${grouped(check.sitemapCount)} sitemaps.`);
  for (const severity of ["error", "warning", "info"])
    expect(html.match(new RegExp(`class="finding ${severity}"`, "g"))?.length).toBe(check.rulesFailed[severity]);
  const counts = new Map<string, number>();
  for (const { rule, count } of check.findings) counts.set(rule, (counts.get(rule) ?? 0) + count);
  for (const [rule, count] of counts) {
    const row = new RegExp(`id="rule-${rule}"><summary>.*?class="count">([\\d,]+)<`).exec(html);
    expect([rule, row?.[1]]).toEqual([rule, grouped(count)]);
  }
  expect(html.match(/id="rule-/g)?.length).toBe(counts.size);
});

test("an archive of a website without sitemaps gives the same page, with the time of the attempt", async () => {
  const file = fileOf("nothing").replace(/html$/, "warc");
  await (await sitemapTreeForHomepage(home, { client: nothingThere(), save: file })).close();
  const page = async () => {
    await using tree = await openTree(file);
    return await reportHtml(tree);
  };
  const began = Date.now();
  const first = await page();
  // Waits until the clock has moved on.
  while (Date.now() <= began) await new Promise(setImmediate);
  expect(await page()).toBe(first);
  const tried = /^WARC-Type: response[\s\S]*?^WARC-Date: (.*?)\r$/m.exec(readFileSync(file, "utf8"))?.[1];
  expect(first).toContain(`datetime="${tried}"`);
});
