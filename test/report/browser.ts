// Runs a real Chromium (Debian's package), one for all tests of a file.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { orInCi } from "../support/installed.ts";

const { SITEGROVE_CHROMIUM } = process.env;
/** The path of the browser, if there is one. */
export const executablePath: string | undefined = [
  SITEGROVE_CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((file) => existsSync(file));

/** Whether there is no browser, so that its tests are skipped. */
export const hasNoBrowser: boolean = !orInCi(executablePath !== undefined, "Chromium");

// The last one keeps the browser from looking up names, as it does to find updates.
const args = [
  ...["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

export async function launch(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  if (executablePath === undefined) throw new Error("no Chromium is installed: apt-get install chromium");
  return chromium.launch({ executablePath, args });
}

export interface Look {
  readonly page: Page;
  /** The URLs that were requested, without the page itself. */
  readonly requests: string[];
  /** Messages on the console, and dialogs. */
  readonly said: string[];
}

let window: Look | undefined;

/** Opens a page from its file, in a wide window. */
export async function look(browser: Browser, file: string): Promise<Look> {
  window ??= await open(browser);
  const { page, requests, said } = window;
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto("about:blank");
  requests.length = 0;
  said.length = 0;
  await page.goto(pathToFileURL(file).href);
  requests.splice(requests.indexOf(pathToFileURL(file).href), 1);
  return window;
}

async function open(browser: Browser): Promise<Look> {
  const page = await (await browser.newContext({ acceptDownloads: true })).newPage();
  const requests: string[] = [];
  const said: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("dialog", (dialog) => {
    said.push(dialog.message());
    void dialog.dismiss();
  });
  return { page, requests, said };
}
