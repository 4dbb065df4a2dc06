// Checks the documentation site after its build: every link must lead to a file. If Chromium is installed, also opens every page in it:
// none may report an error.
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Throws an error that lists everything that is wrong. */
export async function checkSite(site, base) {
  const pages = readdirSync(site, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html"));
  const wrong = pages.flatMap((page) => brokenLinks(site, page, base).map((link) => `${page}: nothing is at ${link}`));
  const executablePath = browsers.find((file) => existsSync(file));
  const own = pages.filter((page) => !page.startsWith("source/") && page !== "404.html");
  if (executablePath !== undefined) wrong.push(...(await openAll(site, base, own, executablePath)));
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  const how = executablePath === undefined ? "no browser is installed" : `${own.length} opened in a browser`;
  process.stdout.write(`${pages.length} pages, every link leads somewhere; ${how}\n`);
}

function brokenLinks(site, page, base) {
  const html = readFileSync(path.join(site, page), "utf8");
  const links = new Set(
    [...html.matchAll(/\b(?:href|src)="([^"]+)"/g)].map((match) => match[1].replaceAll("&amp;", "&")),
  );
  return [...links].filter((link) => {
    const target = new URL(link, new URL(page, `http://site${base}`));
    if (target.host !== "site") return false;
    return fileAt(site, base, target.pathname) === undefined;
  });
}

// Finds files like a static server: a folder stands for its index.html.
function fileAt(site, base, pathname) {
  if (!pathname.startsWith(base)) return undefined;
  const file = path.join(site, decodeURIComponent(pathname.slice(base.length)));
  if (!existsSync(file)) return undefined;
  if (!statSync(file).isDirectory()) return file;
  return existsSync(path.join(file, "index.html")) ? path.join(file, "index.html") : undefined;
}

async function openAll(site, base, pages, executablePath) {
  const server = await serve(site, base);
  // The browser must not look up names, as it does to find updates.
  const args = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"];
  const browser = await chromium.launch({ executablePath, args });
  const wrong = [];
  try {
    const tab = await browser.newPage();
    // Only a page that never loads may reach this timeout, even on a busy machine.
    tab.setDefaultTimeout(180_000);
    let open = "";
    tab.on("pageerror", (error) => wrong.push(`${open}: ${error.message}`));
    tab.on("console", (message) => message.type() === "error" && wrong.push(`${open}: ${message.text()}`));
    tab.on("requestfailed", (request) => {
      // The browser aborts prefetches when the next page is opened.
      if (request.failure()?.errorText !== "net::ERR_ABORTED") wrong.push(`${open}: could not load ${request.url()}`);
    });
    for (open of pages) {
      await tab.goto(`http://127.0.0.1:${server.address().port}${base}${open}`, { waitUntil: "load" });
      if ((await tab.locator("h1").first().textContent())?.trim() === "") wrong.push(`${open}: no heading`);
      for (const width of [390, 768, 1280]) {
        await tab.setViewportSize({ width, height: 900 });
        if (await tab.evaluate(isTooWide)) wrong.push(`${open}: wider than ${width} pixels`);
      }
    }
    const home = `http://127.0.0.1:${server.address().port}${base}`;
    wrong.push(...(await tryNavigation(tab, home)), ...(await tryPlayground(await browser.newPage(), home)));
  } finally {
    await browser.close();
    server.close();
  }
  return wrong;
}

// Navigates like a reader: from the first page through the sidebar to the options, then searches for a word.
async function tryNavigation(tab, home) {
  const wrong = [];
  await tab.goto(home);
  await tab.getByRole("link", { name: "options", exact: true }).click();
  await tab.waitForURL("**/options.html");
  const heading = tab.locator("h1", { hasText: "Options" });
  await heading.waitFor({ timeout: 10_000 }).catch(() => wrong.push("the sidebar leads nowhere"));
  await tab.keyboard.press("Control+k");
  await tab.locator("#localsearch-input").fill("coding-truncated");
  const found = tab.locator(".VPLocalSearchBox .result").first();
  await found.waitFor({ timeout: 10_000 }).catch(() => wrong.push("the search finds nothing"));
  return wrong;
}

// Tries an example with mistakes, by keyboard, and a compressed file. Neither the page nor its worker may open a connection.
async function tryPlayground(tab, home) {
  const wrong = [];
  const verdict = async (text) => {
    const found = tab.locator("#playground-verdict", { hasText: text });
    await found.waitFor({ timeout: 60_000 }).catch(() => wrong.push(`playground: not "${text}"`));
  };
  await tab.goto(`${home}playground.html`);
  await tab.locator("#playground-form[data-ready]").waitFor();
  await tab.getByRole("button", { name: /mistakes/ }).press("Enter");
  await verdict("XML sitemap: 4 pages, incomplete, 5 problems");
  for (const word of ["xml-truncated", "url-www-mismatch", "https://example.org/relative"]) {
    if ((await tab.locator("#playground-results", { hasText: word }).count()) === 0)
      wrong.push(`playground: no ${word}`);
  }
  const urls = Array.from({ length: 30_000 }, (_, number) => `https://example.org/${number}`).join("\n");
  const file = { name: "urls.txt.gz", mimeType: "application/gzip", buffer: gzipSync(urls) };
  await tab.setInputFiles("#playground-file", file);
  await verdict("Text sitemap: 30,000 pages, complete, no problems");
  const ask = (url) =>
    globalThis.fetch(url).then(
      () => true,
      () => false,
    );
  for (const place of [tab, ...tab.workers()]) {
    if (await place.evaluate(ask, home)) wrong.push("playground: a connection was allowed");
  }
  return wrong;
}

const types = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

async function serve(site, base) {
  const server = createServer((request, response) => {
    const file = fileAt(site, base, new URL(request.url, "http://site").pathname);
    // Browsers request the icon by themselves.
    if (file === undefined) return response.writeHead(request.url === "/favicon.ico" ? 204 : 404).end();
    response.writeHead(200, { "content-type": types[path.extname(file)] ?? "text/plain; charset=utf-8" });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

// Runs in the page. Returns whether the page, or a table in it, must be scrolled sideways.
function isTooWide() {
  const { document } = globalThis;
  const tables = [...document.querySelectorAll("table")];
  return [document.documentElement, ...tables].some((part) => part.scrollWidth > part.clientWidth + 1);
}
