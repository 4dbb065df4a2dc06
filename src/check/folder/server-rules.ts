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

/** What a host does with the paths of a website. Each file of its configuration adds rows. */
export class ServerRules {
  /** Undefined if the host is unknown. */
  readonly host: Host | undefined;
  readonly redirects: PathRules<Redirect>;
  /** The values of X-Robots-Tag headers; undefined if it is not certain that the path has them. */
  readonly robotsTags: PathRules<string | undefined>;
  /** Whether `/a.html` redirects to `/a`. */
  cleanUrls = false;
  /** Whether URLs end in a slash; undefined if both are served. */
  trailingSlash: boolean | undefined;
  /** Whether files decide about trailing slashes: if there is `a/index.html`, `/a` redirects to `/a/`. */
  followsFiles: boolean;
  /** What is not understood, such as a row: `netlify.toml: redirects[1]`. */
  readonly notUnderstood: string[] = [];
  /** What is not understood about X-Robots-Tag headers. */
  readonly unknownHeaders: string[] = [];
  /** Whether something that is not understood may serve paths without a file. */
  mayServeOthers = false;

  constructor(url: string, host: Host | undefined, followsFiles: boolean) {
    this.host = host;
    this.followsFiles = followsFiles;
    this.redirects = new PathRules(url, host === "cloudflare-pages");
    this.robotsTags = new PathRules(url, host === "cloudflare-pages");
  }

  /** Reports something that is not understood, and may serve any path. */
  misread(what: string): void {
    this.notUnderstood.push(what);
    this.mayServeOthers = true;
  }

  /** Adds a redirect. `from` and `to` are undefined if a part of the row is not understood. */
  addRedirect(place: string, from: unknown, to: unknown, status: unknown, isForced: boolean | undefined): void {
    const isKnown = typeof to === "string" && Number.isInteger(status) && (status as number) >= 200;
    const redirect = { to: String(to), isConditional: !isKnown, status: Number(status), isForced, place };
    if (typeof from !== "string" || !this.redirects.add(from, redirect)) this.misread(place);
    else if (!isKnown) this.notUnderstood.push(place);
  }

  /** Adds a header, if it is one for robots. `value` is undefined if it is not certain that the path has it. */
  addHeader(place: string, from: unknown, name: unknown, value: unknown): void {
    if (typeof name !== "string" || name.trim().toLowerCase() !== "x-robots-tag") return;
    const tag = typeof value === "string" ? value.trim() : undefined;
    const isAdded = typeof from === "string" && this.robotsTags.add(from, tag);
    if (!isAdded || tag === undefined) this.unknownHeaders.push(place);
  }
}

/** Reads the rules for a folder that is published at `url`. `_redirects` and `_headers` are in it; other files may be above it. */
export function readServerRules(folder: string, url: string, given?: Host): ServerRules {
  const projects = projectFolders(folder);
  const hosts = given === undefined ? hostsOf(folder, projects) : [given];
  if (hosts.length > 1) {
    const rules = new ServerRules(url, undefined, false);
    rules.misread("files of several hosts: choose one with --host");
    return rules;
  }
  const [host] = hosts;
  const hasTable = hasAny([folder], ["_redirects", "_headers"]);
  const rules = new ServerRules(url, host, host === undefined ? hasTable : host !== "vercel");
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
  if (host === "cloudflare-pages" && hasAny([folder], ["_worker.js"])) rules.misread("_worker.js");
  for (const name of host === undefined ? [] : programs[host]) if (hasAny(projects, [name])) rules.misread(name);
  return rules;
}

// Files and folders of a project with programs that may answer any request.
const programs: Readonly<Record<Host, readonly string[]>> = {
  netlify: ["netlify/edge-functions", ".netlify/edge-functions", ".netlify/v1/edge-functions"],
  "cloudflare-pages": ["functions"],
  vercel: ["middleware.js", "middleware.ts"],
  "github-pages": [],
};

// Configurations of servers that are not supported, each with the lines that may decide what is sent for a path.
const configurations: readonly (readonly [string, RegExp])[] = [
  [".htaccess", /^\s*(?:action|alias|directory|fallback|options|proxy|redirect|rewrite|(?:set|add)handler)/i],
  ["web.config", /\S/],
  ["staticwebapp.config.json", /\S/],
];

function noteConfiguration(file: string, routing: RegExp, rules: ServerRules): void {
  const lines = linesOf(file, rules);
  if (lines.some((line) => routing.test(line))) rules.misread(path.basename(file));
  if (lines.some((line) => /^[^#]*x-robots-tag/i.test(line))) rules.unknownHeaders.push(path.basename(file));
}

// Recognizes the host by its files. `_redirects` alone is not enough, because Netlify and Cloudflare Pages both use it.
function hostsOf(folder: string, projects: readonly string[]): Host[] {
  const found: Host[] = [];
  if (hasAny(projects, ["netlify.toml"])) found.push("netlify");
  if (hasAny(projects, ["vercel.json"])) found.push("vercel");
  const isCloudflare = hasAny(projects, ["wrangler.toml", "wrangler.json", "wrangler.jsonc"]);
  if (isCloudflare || hasAny([folder], ["_routes.json", "_worker.js"])) found.push("cloudflare-pages");
  return found.length === 0 && hasAny([folder], ["CNAME"]) ? ["github-pages"] : found;
}

function hasAny(folders: readonly string[], names: readonly string[]): boolean {
  return folders.some((folder) => names.some((name) => existsSync(path.join(folder, name))));
}

// Returns the folders from this one up to the root of its project.
function projectFolders(folder: string): string[] {
  const above = path.dirname(folder);
  const isRoot = folder === above || hasAny([folder], ["package.json", ".git"]);
  return isRoot ? [folder] : [folder, ...projectFolders(above)];
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
    rules.addRedirect(`_redirects:${index + 1}`, from, isSimple ? to : undefined, status, isForced);
  }
}

// Reads headers from a file in which each path is followed by its headers, indented.
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
      rules.addHeader(place, pattern, name.replace("!", ""), isRemoved ? undefined : value.join(":"));
    }
  }
}

function readNetlify(file: string, rules: ServerRules): void {
  const value = readObject(file, rules, parseToml);
  for (const [index, row] of listIn(value["redirects"]).entries()) {
    const { from, to, status = 301, force = false, ...conditions } = row;
    const isSimple = Object.keys(conditions).length === 0;
    rules.addRedirect(`netlify.toml: redirects[${index}]`, from, isSimple ? to : undefined, status, force === true);
  }
  for (const [index, { for: pattern, values }] of listIn(value["headers"]).entries())
    for (const [name, each] of Object.entries(objectOf(values)))
      rules.addHeader(`netlify.toml: headers[${index}]`, pattern, name, each);
  const build = objectOf(value["build"]);
  if (listIn(value["edge_functions"]).length > 0 || build["edge_functions"] !== undefined)
    rules.misread("netlify.toml: edge_functions");
  const processing = objectOf(build["processing"]);
  if (processing["skip_processing"] === true || objectOf(processing["html"])["pretty_urls"] === false)
    rules.followsFiles = false;
}

function readVercel(file: string, rules: ServerRules): void {
  const value = readObject(file, rules, JSON.parse);
  for (const key of ["routes", "bulkRedirectsPath"]) if (value[key] !== undefined) rules.misread(`vercel.json: ${key}`);
  rules.cleanUrls ||= value["cleanUrls"] === true;
  if (typeof value["trailingSlash"] === "boolean") rules.trailingSlash ??= value["trailingSlash"];
  for (const key of ["redirects", "rewrites", "headers"]) {
    for (const [index, row] of listIn(value[key]).entries()) {
      const { source, destination, permanent, statusCode, has, missing } = row;
      const place = `vercel.json: ${key}[${index}]`;
      const isSimple = has === undefined && missing === undefined;
      // Converts the source to the syntax of the other files.
      const from = typeof source === "string" && isSimple ? source.replace(/\(\.\*\)$/, "*") : undefined;
      const to = typeof destination === "string" ? destination.replaceAll("$1", ":splat") : undefined;
      const status = statusCode ?? (permanent === false ? 307 : 308);
      if (key === "redirects") rules.addRedirect(place, from, to, status, true);
      else if (key === "rewrites") rules.addRedirect(place, from, to, 200, false);
      else for (const each of listIn(row["headers"])) rules.addHeader(place, from, each["key"], each["value"]);
    }
  }
}

type Fields = Readonly<Record<string, unknown>>;

// Parses a file. A file that cannot be parsed is reported: its host would not deploy it, either.
function readObject(file: string, rules: ServerRules, parse: (text: string) => unknown): Fields {
  const lines = linesOf(file, rules);
  try {
    return lines.length === 0 ? {} : objectOf(parse(lines.join("\n")));
  } catch {
    rules.misread(path.basename(file));
    return {};
  }
}

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
    const stat = statSync(file, { throwIfNoEntry: false });
    // Reading a pipe would wait for a writer.
    if (!stat?.isFile()) return [];
    if (stat.size <= largestFile) return readFileSync(file, "utf8").split(/\r?\n/);
    rules.misread(path.basename(file));
  } catch (error) {
    rules.misread(`${path.basename(file)}: ${systemReason(error)}`);
  }
  return [];
}
