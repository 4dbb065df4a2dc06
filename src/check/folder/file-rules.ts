// Checks a static site: whether every listed page has a file and is meant to be listed, whether every indexable page is listed, and whether
// the files contain the right address.
import type { HeaderList } from "../../model/exchange.ts";
import type { SitemapPage } from "../../model/page.ts";
import { TextSet } from "../../model/text-set.ts";
import { parseUrl } from "../../model/url.ts";
import type { CheckRun } from "../context.ts";
import type { SitemapFindings } from "../findings/findings.ts";
import { readPageHead } from "../pages/page-head.ts";
import { checkHead, isExcluded } from "../rules/pages.ts";
import { addressSetting, readFolderAddress, wrongAddresses } from "./folder-address.ts";
import type { SiteFiles } from "./site-files.ts";

/** Checks the pages of a static site by reading its files. */
export class FileRules {
  readonly #files: SiteFiles;
  readonly #run: CheckRun;
  readonly #listed = new Set<string>();
  // The URLs of pages whose files were checked. A file may have several.
  readonly #checked = new TextSet();

  constructor(files: SiteFiles, run: CheckRun) {
    this.#files = files;
    this.#run = run;
  }

  /** Checks a listed page. */
  check({ url, alternates = [], images = [] }: SitemapPage, findings: SitemapFindings): void {
    for (const image of images) {
      const own = this.#files.find(image.url, "page-image-missing");
      const why = own?.kind === "missing" && own.hint ? ` (${own.hint})` : "";
      if (own?.kind === "missing") findings.add("page-image-missing", url, image.url + why);
    }
    const answer = this.#files.find(url);
    if (answer?.kind === "missing")
      findings.add("page-missing-file", url, answer.hint, answer.isServed ? "warning" : undefined);
    if (answer?.kind === "redirect") {
      findings.add("page-redirect", url, `${answer.status} to ${answer.to}`, "error");
      // The file is listed, although under another URL.
      if (answer.file !== undefined) this.#listed.add(answer.file);
    }
    if (answer?.kind !== "file" && answer?.kind !== "rewritten") return;
    const { kind, file, robotsTags } = answer;
    if (file === undefined) return;
    this.#listed.add(file);
    if (!this.#files.isPage(file) || !this.#checked.add(url)) return;
    const head = readPageHead(url, headersOf(robotsTags), this.#files.read(file), this.#run.site.rewrite);
    // A file that is sent for many paths usually has a script that sets everything else.
    const unset = { canonical: undefined, refresh: undefined, alternates: noAlternates };
    const known = kind === "file" ? head : { ...head, ...unset };
    checkHead({ url, alternates }, known, this.#run, findings, this.#files.shown(file));
  }

  /** Reports indexable pages that no sitemap lists, after all listed pages were checked. */
  async finish(): Promise<void> {
    const { findings, tree, robots, time, settings, site } = this.#run;
    for (const { file, url } of this.#files.pages()) {
      if (await time.isOver()) return;
      if (this.#listed.has(file) || robots.blocked(url)?.isFirst) continue;
      const own = this.#files.find(url);
      if (own?.kind === "redirect") continue;
      // The host may send the file for `/a`, too, with other headers.
      const bare = this.#files.find(url.replace(/\.html?$/i, ""));
      const same = [own, bare].flatMap((each) => (each?.kind === "file" && each.file === file ? each.robotsTags : []));
      const html = this.#files.read(file);
      // A file without a doctype or `<html>` is not a page, but a fragment or a proof of ownership.
      if (!/<!doctype html|<html[\s>]/i.test(html)) continue;
      const { noindex, refresh, canonical = url } = readPageHead(url, headersOf(same), html, site.rewrite);
      const answer = this.#files.find(canonical);
      const isCanonical = answer?.kind === "file" && answer.file === file;
      if (isCanonical && refresh === undefined && !isExcluded(settings.agents[0] ?? "", noindex)) {
        findings.count("page-not-listed", tree.homepage, 1, { url, file: this.#files.shown(file) });
      }
    }
  }
}

/** Reports each wrong address of the website in its files, with the first file that contains it. */
export function checkAddress(files: SiteFiles, { findings, tree }: CheckRun): void {
  for (const folder of files.folders) {
    const wrong = wrongAddresses(readFolderAddress(folder.path), folder.url, folder.path);
    for (const origin of new Set(wrong.map((each) => each.origin))) {
      const { file, line } = wrong.find((each) => each.origin === origin)!;
      const website = parseUrl(folder.url)?.origin;
      const real = website === origin ? "which only your machine can reach" : `the website is ${website}`;
      const value = `your files name ${origin}, ${real}: set ${addressSetting(folder.path)}`;
      findings.count("address-wrong", tree.homepage, 1, { value, file: files.shown(file), line });
    }
  }
}

const noAlternates: ReadonlyMap<string, string> = new Map();

function headersOf(robotsTags: readonly string[]): HeaderList {
  return robotsTags.map((value) => ["x-robots-tag", value]);
}
