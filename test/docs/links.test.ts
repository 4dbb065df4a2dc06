// Every link to a page, heading or file has a target, every page can be reached, and no conflict of a merge is left.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Page, page, pages, proseOf, root } from "./pages.ts";

test.each(pages)("every link in $file has a target", (page) => {
  const broken = linksOf(page).filter((target) => !leadsSomewhere(page, target));
  expect(broken).toEqual([]);
});

test("every page of docs/ can be reached from its index", () => {
  const linked = new Set(linksOf(page("docs/index.md")).map((target) => `docs/${target}`));
  const others = pages.map(({ file }) => file).filter((file) => file.startsWith("docs/") && file !== "docs/index.md");
  expect(others.filter((file) => !linked.has(file))).toEqual([]);
});

test("every page of docs/ is in the site's navigation", async () => {
  const { default: site } = await import("../../docs/.vitepress/config.ts");
  const navigation = JSON.stringify(site.themeConfig?.sidebar);
  const missing = pages
    .map(({ file }) => /^docs\/(.+)\.md$/.exec(file)?.[1])
    .filter((name) => name !== undefined && name !== "index" && !navigation.includes(`"/${name}"`));
  expect(missing).toEqual([]);
});

test("the playground links only to existing pages", () => {
  const source = readFileSync(path.join(root, "docs/.vitepress/theme/playground/playground.ts"), "utf8");
  const linked = [...source.matchAll(/([\w-]+)\.html/g)].map((match) => `docs/${match[1]}.md`);
  expect(linked).not.toEqual([]);
  expect(linked.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

test.each(pages)("$file has no table without a header, and no merge conflict marker", (page) => {
  expect(proseOf(page)).not.toMatch(/\n\n\|[-:| ]+\|\n/);
  expect(page.text).not.toMatch(/^(?:<{7}|={7}|>{7})/m);
});

function linksOf(page: Page): string[] {
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, (code) => "x".repeat(code.length));
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)]
    .map((match) => match[1] as string)
    .filter((target) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere(from: Page, target: string): boolean {
  const [file = "", anchor] = target.split("#");
  const to = file === "" ? from.file : path.join(path.dirname(from.file), file);
  if (!existsSync(path.join(root, to))) return false;
  if (anchor === undefined || !to.endsWith(".md")) return true;
  return headings(page(to)).includes(anchor) || page(to).text.includes(`<a id="${anchor}">`);
}

// As code hosts and VitePress make them, for the plain headings that we write.
function headings(page: Page): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] as string)
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(/\s+/g, "-"),
  );
}
