// A real Chromium, one for all tests of a file: Debian's package.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { orInCi } from "../support/installed.ts";

const { SITEGROVE_CHROMIUM } = process.env;
/** Of the browser, if there is one. */
export const executablePath: string | undefined = [
  SITEGROVE_CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((file) => existsSync(file));

/** Whether tests in a browser are left out. */
export const hasNoBrowser: boolean = !orInCi(executablePath !== undefined);
if (hasNoBrowser) console.warn("No Chromium is installed: the report is not looked at in a browser");

export async function launch(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  if (executablePath === undefined) throw new Error("no Chromium is installed: apt-get install chromium");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
}

export interface Look {
  readonly page: Page;
  /** Everything that was asked for, but for the page itself. */
  readonly requests: string[];
  /** What the page, or the browser about it, said. */
  readonly said: string[];
}

/** Opens a page from its file. The context is the caller's to close: `page.context().close()`. */
export async function look(browser: Browser, file: string, options: BrowserContextOptions = {}): Promise<Look> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const requests: string[] = [];
  const said: string[] = [];
  const address = pathToFileURL(file).href;
  page.on("request", (request) => request.url() !== address && requests.push(request.url()));
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("dialog", (dialog) => {
    said.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(address);
  return { page, requests, said };
}
