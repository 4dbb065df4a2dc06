// Reads what the host of a static website does with its URLs, from the files that configure it: `_redirects`, `_headers` and netlify.toml
// (Netlify), `_redirects` and `_headers` (Cloudflare Pages), vercel.json. Reports each row that is not understood.
//   https://docs.netlify.com/manage/routing/redirects/overview/, https://developers.cloudflare.com/pages/configuration/redirects/,
//   https://developers.cloudflare.com/pages/configuration/serving-pages/, https://vercel.com/docs/project-configuration
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parse as parseToml } from "smol-toml";
import { systemReason } from "../../model/errors.ts";
import type { Host } from "./folder-files.ts";
import { PathRules } from "./path-rules.ts";

export interface Redirect {
  readonly to: string;
  /** Whether the redirect is not fully understood, such as one with conditions. */
  readonly isConditional: boolean;
  /** The status of the response. With 200, the host sends the content of `to` instead of redirecting; 400 and higher are errors. */
  readonly status: number;
  /** Whether the redirect wins over a file at the same path; undefined if that depends on the host, which is unknown. */
  readonly isForced: boolean | undefined;
  /** Where the redirect is defined: `_redirects:3`. */
  readonly place: string;
}

export interface ServerRules {
  /** Undefined if the host is unknown. */
  readonly host: Host | undefined;
  readonly redirects: PathRules<Redirect>;
  /** The values of X-Robots-Tag headers; undefined if it is not certain that the path has them. */
  readonly robotsTags: PathRules<string | undefined>;
  /** Whether `/a.html` redirects to `/a`. */
  cleanUrls: boolean;
  /** Whether URLs end in a slash; undefined if both are served. */
  trailingSlash: boolean | undefined;
  /** Whether files decide about trailing slashes: if there is `a/index.html`, `/a` redirects to `/a/`. */
  followsFiles: boolean;
  /** What is not understood, such as a row: `netlify.toml: redirects[1]`. */
  readonly notUnderstood: string[];
  /** What is not understood about X-Robots-Tag headers. */
  readonly unknownHeaders: string[];
  /** Whether something that is not understood may serve paths without a file. */
  mayServeOthers: boolean;
}

/** Reads the rules for a folder that is published at `url`. `_redirects` and `_headers` are in it; other files may be above it. */
export function readServerRules(folder: string, url: string, given?: Host): ServerRules {
  const projects = projectFolders(folder);
  const has = (name: string) => projects.some((each) => existsSync(path.join(each, name)));
  const known = given ?? hostOf(folder, has);
  const host = known === "unclear" ? undefined : known;
  const isTable = ["_redirects", "_headers"].some((name) => existsSync(path.join(folder, name)));
  const isExact = host === "cloudflare-pages";
  const rules: ServerRules = {
    host,
    redirects: new PathRules(url, isExact),
    robotsTags: new PathRules(url, isExact),
    cleanUrls: false,
    trailingSlash: undefined,
    followsFiles: (host === undefined ? isTable && known !== "unclear" : host !== "vercel") === true,
    notUnderstood: known === "unclear" ? ["files of several hosts: choose one with --host"] : [],
    unknownHeaders: [],
    mayServeOthers: known === "unclear",
  };
  if (known === "unclear") return rules;
  if (host !== "vercel" && host !== "github-pages") {
    readRedirects(path.join(folder, "_redirects"), rules);
    readHeaders(path.join(folder, "_headers"), rules);
  }
  for (const project of projects) {
    if (host === "netlify") readNetlify(path.join(project, "netlify.toml"), rules);
    if (host === "vercel") readVercel(path.join(project, "vercel.json"), rules);
  }
  if (host === undefined)
    for (const [name, routing] of configurations) noteConfiguration(path.join(folder, name), routing, rules);
  if (host === "cloudflare-pages" && existsSync(path.join(folder, "_worker.js"))) noteUnread("_worker.js", rules);
  return rules;
}

// Configurations of servers that are not supported, each with the lines that may decide what is sent for a path.
const configurations: readonly (readonly [string, RegExp])[] = [
  [".htaccess", /^\s*(?:action|alias|directory|fallback|options|proxy|redirect|rewrite|(?:set|add)handler)/i],
  ["web.config", /\S/],
  ["staticwebapp.config.json", /\S/],
];

function noteConfiguration(file: string, routing: RegExp, rules: ServerRules): void {
  const lines = linesOf(file, rules);
  if (lines.some((line) => routing.test(line))) noteUnread(path.basename(file), rules);
  if (lines.some((line) => /^[^#]*x-robots-tag/i.test(line))) rules.unknownHeaders.push(path.basename(file));
}

// Reports something that may answer any request.
function noteUnread(name: string, rules: ServerRules): void {
  rules.notUnderstood.push(name);
  rules.mayServeOthers = true;
}

// Recognizes the host by its files. `_redirects` alone is not enough, because Netlify and Cloudflare Pages both use it.
function hostOf(folder: string, has: (name: string) => boolean): Host | "unclear" | undefined {
  const found = new Set<Host>();
  if (has("netlify.toml")) found.add("netlify");
  if (has("vercel.json")) found.add("vercel");
  if (["wrangler.toml", "wrangler.json", "wrangler.jsonc"].some(has)) found.add("cloudflare-pages");
  if (["_routes.json", "_worker.js"].some((name) => existsSync(path.join(folder, name)))) found.add("cloudflare-pages");
  if (found.size === 0 && existsSync(path.join(folder, "CNAME"))) found.add("github-pages");
  return found.size > 1 ? "unclear" : [...found][0];
}

// Returns the folders from this one up to the root of its project.
function projectFolders(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    folders.push(at);
    const isRoot = ["package.json", ".git"].some((name) => existsSync(path.join(at, name)));
    if (isRoot || at === path.dirname(at)) return folders;
  }
}

interface Row {
  readonly from: unknown;
  readonly to: unknown;
  readonly status: unknown;
  readonly isForced: boolean | undefined;
}

function addRedirect(rules: ServerRules, place: string, { from, to, status, isForced }: Row): void {
  const isKnown = typeof to === "string" && Number.isInteger(status) && (status as number) >= 200;
  const redirect = { to: String(to), isConditional: !isKnown, status: Number(status), isForced, place };
  const isMatched = typeof from === "string" && rules.redirects.add(from, redirect);
  if (!isKnown || !isMatched) rules.notUnderstood.push(place);
  if (!isMatched) rules.mayServeOthers = true;
}

// Reads redirects such as `/from /to 301!`, one per line.
function readRedirects(file: string, rules: ServerRules): void {
  const { host } = rules;
  for (const [index, line] of linesOf(file, rules).entries()) {
    const [from, to, code = host === "cloudflare-pages" ? "302" : "301", ...rest] = wordsOf(line);
    if (from === undefined) continue;
    const isSimple = rest.length === 0 && /^\d{3}!?$/.test(code);
    // Cloudflare Pages redirects even if there is a file. Netlify does so only if the redirect is forced with `!`.
    const isForced = host === "cloudflare-pages" || code.endsWith("!") || (host === "netlify" ? false : undefined);
    const status = Number.parseInt(code, 10);
    addRedirect(rules, `_redirects:${index + 1}`, { from, to: isSimple ? to : undefined, status, isForced });
  }
}

// Reads robots headers from a file in which each path is followed by its headers, indented.
function readHeaders(file: string, rules: ServerRules): void {
  let pattern: string | undefined;
  for (const [index, line] of linesOf(file, rules).entries()) {
    const place = `_headers:${index + 1}`;
    if (line.length > longestLine) rules.unknownHeaders.push(place);
    else if (/^\s*(?:#|$)/.test(line)) continue;
    else if (/^\S/.test(line)) pattern = line.trim();
    else {
      const [name = "", ...value] = line.split(":");
      // Cloudflare Pages does not send a header that a row removes with `!`, whichever row sets it.
      const isRemoved = /^\s*!/.test(name);
      addRobotsTag(rules, place, pattern, name.replace("!", ""), isRemoved ? undefined : value.join(":"));
    }
  }
}

function addRobotsTag(rules: ServerRules, place: string, pattern: unknown, name: unknown, value: unknown): void {
  if (typeof name !== "string" || name.trim().toLowerCase() !== "x-robots-tag") return;
  const tag = typeof value === "string" ? value.trim() : undefined;
  const isAdded = typeof pattern === "string" && rules.robotsTags.add(pattern, tag);
  if (!isAdded || tag === undefined) rules.unknownHeaders.push(place);
}

function readNetlify(file: string, rules: ServerRules): void {
  const value = readObject(file, rules, parseToml);
  for (const [index, row] of listIn(value["redirects"]).entries()) {
    const { from, to, status = 301, force = false, ...conditions } = row;
    const isSimple = Object.keys(conditions).length === 0;
    const place = `netlify.toml: redirects[${index}]`;
    addRedirect(rules, place, { from, to: isSimple ? to : undefined, status, isForced: force === true });
  }
  for (const [index, { for: pattern, values }] of listIn(value["headers"]).entries())
    for (const [name, each] of Object.entries(objectOf(values)))
      addRobotsTag(rules, `netlify.toml: headers[${index}]`, pattern, name, each);
  const processing = objectOf(objectOf(value["build"])["processing"]);
  if (processing["skip_processing"] === true || objectOf(processing["html"])["pretty_urls"] === false)
    rules.followsFiles = false;
}

function readVercel(file: string, rules: ServerRules): void {
  const value = readObject(file, rules, JSON.parse);
  for (const key of ["routes", "bulkRedirectsPath"])
    if (value[key] !== undefined) noteUnread(`vercel.json: ${key}`, rules);
  rules.cleanUrls ||= value["cleanUrls"] === true;
  if (typeof value["trailingSlash"] === "boolean") rules.trailingSlash ??= value["trailingSlash"];
  for (const key of ["redirects", "rewrites", "headers"]) {
    for (const [index, row] of listIn(value[key]).entries()) {
      const { source, destination, permanent, statusCode, has, missing } = row;
      const place = `vercel.json: ${key}[${index}]`;
      const isSimple = has === undefined && missing === undefined;
      // Converts the source to the syntax of the other files.
      const from = typeof source === "string" && isSimple ? source.replace(/\(\.\*\)$/, "*") : undefined;
      if (key === "headers") {
        for (const header of listIn(row["headers"])) addRobotsTag(rules, place, from, header["key"], header["value"]);
        continue;
      }
      const to = typeof destination === "string" ? destination.replaceAll("$1", ":splat") : undefined;
      const status = key === "rewrites" ? 200 : (statusCode ?? (permanent === false ? 307 : 308));
      addRedirect(rules, place, { from, to, status, isForced: key === "redirects" });
    }
  }
}

// Parses a file. A file that cannot be parsed is reported: its host would not deploy it, either.
function readObject(file: string, rules: ServerRules, parse: (text: string) => unknown): Fields {
  const lines = linesOf(file, rules);
  try {
    return lines.length === 0 ? {} : objectOf(parse(lines.join("\n")));
  } catch {
    rules.notUnderstood.push(path.basename(file));
    rules.mayServeOthers = true;
    return {};
  }
}

type Fields = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function listIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

// Longer lines count as not understood.
const longestLine = 2000;
const largestFile = 5_000_000;

function wordsOf(line: string): readonly (string | undefined)[] {
  if (line.length > longestLine) return [""];
  const words = line.replace(/(?:^|\s)#.*$/, "").trim();
  return words === "" ? [] : words.split(/\s+/);
}

function linesOf(file: string, rules: ServerRules): string[] {
  try {
    const stat = statSync(file);
    // Reading a pipe would wait for a writer.
    if (!stat.isFile()) return [];
    if (stat.size <= largestFile) return readFileSync(file, "utf8").split(/\r?\n/);
    rules.notUnderstood.push(path.basename(file));
    rules.mayServeOthers = true;
  } catch (error) {
    const isMissing = /^ENO(?:ENT|TDIR)$/.test(String((error as NodeJS.ErrnoException).code));
    if (isMissing) return [];
    rules.notUnderstood.push(`${path.basename(file)}: ${systemReason(error)}`);
    rules.mayServeOthers = true;
  }
  return [];
}
