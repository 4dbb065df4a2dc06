// What the configuration of a host for static websites says about URLs: `_redirects` and netlify.toml (Netlify, Cloudflare Pages),
// vercel.json. Simple forms are read: literal paths, `:name` for one part of a path and a star at the end. Lines that are not understood
// are reported.
//   https://docs.netlify.com/manage/routing/redirects/overview/, https://vercel.com/docs/project-configuration
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

export interface ServerRules {
  /** `status` 200: another file is sent. `isForced`: even if there is a file. */
  readonly redirects: readonly { matches(path: string): string | undefined; status: number; isForced: boolean }[];
  /** `/a.html` redirects to `/a`. */
  cleanUrls: boolean;
  /** Whether URLs end in a slash; undefined if both are served. */
  trailingSlash: boolean | undefined;
  /** The positions of lines that are not understood: `netlify.toml:12`. */
  readonly notUnderstood: readonly string[];
}

type Redirects = ServerRules["redirects"][number][];

/** For a static site in a folder. Only `_redirects` is in it; the others are in its project, next to it or above. */
export function readServerRules(folder: string): ServerRules {
  const redirects: Redirects = [];
  const notUnderstood: string[] = [];
  const rules: ServerRules = { redirects, cleanUrls: false, trailingSlash: undefined, notUnderstood };
  const add = (place: string, from: unknown, to: unknown, status: number, isForced: boolean) => {
    const matches = typeof from === "string" && typeof to === "string" ? matcher(from, to) : undefined;
    if (matches === undefined || !(status >= 200)) notUnderstood.push(place);
    else redirects.push({ matches, status, isForced });
  };
  readTable(path.join(folder, "_redirects"), add);
  for (const project of projectFolders(folder)) {
    readToml(path.join(project, "netlify.toml"), add, notUnderstood);
    const vercel = path.join(project, "vercel.json");
    if (existsSync(vercel) && !readVercel(vercel, add, rules)) notUnderstood.push("vercel.json");
  }
  return rules;
}

type Add = (place: string, from: unknown, to: unknown, status: number, isForced: boolean) => void;

// From the folder up to the root of its project.
function projectFolders(folder: string): string[] {
  const folders: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    folders.push(at);
    const isRoot = ["package.json", ".git"].some((name) => existsSync(path.join(at, name)));
    if (isRoot || at === path.dirname(at)) return folders;
  }
}

// `/from /to 301!`, one per line.
function readTable(file: string, add: Add): void {
  for (const [index, line] of linesOf(file).entries()) {
    if (line.length > longestLine) {
      add(`_redirects:${index + 1}`, undefined, undefined, 301, false);
      continue;
    }
    const [from, to, status = "301", ...rest] = line
      .replace(/(?:^|\s)#.*$/, "")
      .trim()
      .split(/\s+/);
    if (from === "" || from === undefined) continue;
    const isSimple = rest.length === 0 && /^\d{3}!?$/.test(status);
    add(`_redirects:${index + 1}`, from, isSimple ? to : undefined, Number.parseInt(status, 10), status.endsWith("!"));
  }
}

function readToml(file: string, add: Add, notUnderstood: string[]): void {
  const blocks: { readonly place: string; readonly values: Map<string, string> }[] = [];
  let values: Map<string, string> | undefined;
  for (const [index, line] of linesOf(file).entries()) {
    const place = `netlify.toml:${index + 1}`;
    if (line.length > longestLine) {
      notUnderstood.push(place);
      continue;
    }
    const [, key, double, single, bare = ""] =
      /^\s*(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s#]+.*?))\s*(?:#.*)?$/.exec(line) ?? [];
    if (/^\s*\[(?!redirects\.)/.test(line)) {
      values = /^\s*\[\[redirects\]\]/.test(line) ? new Map() : undefined;
      if (values !== undefined) blocks.push({ place, values });
    } else if (values !== undefined && key !== undefined) values.set(key, double ?? single ?? bare);
    else if (values !== undefined && !/^\s*(?:#|$)/.test(line)) values.set(line, "");
    else if (/^\s*redirects\s*=/.test(line)) notUnderstood.push(place);
  }
  for (const { place, values } of blocks) {
    const isSimple = [...values.keys()].every((key) => ["from", "to", "status", "force"].includes(key));
    const to = isSimple ? values.get("to") : undefined;
    add(place, values.get("from"), to, Number(values.get("status") ?? 301), values.get("force") === "true");
  }
}

/** Returns whether it is an object. */
function readVercel(file: string, add: Add, rules: ServerRules): boolean {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(linesOf(file).join("\n"));
    if (typeof value !== "object" || value === null) return false;
  } catch {
    return false;
  }
  rules.cleanUrls ||= value["cleanUrls"] === true;
  if (typeof value["trailingSlash"] === "boolean") rules.trailingSlash ??= value["trailingSlash"];
  for (const kind of ["redirects", "rewrites"]) {
    const list = value[kind];
    for (const [index, row] of (Array.isArray(list) ? list : []).entries()) {
      const { source, destination, permanent, statusCode, has, missing } = row ?? {};
      const isSimple = has === undefined && missing === undefined;
      const status = kind === "rewrites" ? 200 : (statusCode ?? (permanent === false ? 307 : 308));
      add(`vercel.json: ${kind}[${index}]`, source, isSimple ? destination : undefined, status, kind === "redirects");
    }
  }
  return true;
}

// Patterns of longer lines would take too long to read or to match.
const longestLine = 2000;

function linesOf(file: string): string[] {
  try {
    // A pipe would wait for a writer.
    return statSync(file).isFile() ? readFileSync(file, "utf8").split(/\r?\n/) : [];
  } catch {
    return [];
  }
}

// `/blog/:slug`, `/old/*` and `/old/:rest*`: returns where a path is sent to. Undefined for other patterns.
function matcher(from: string, to: string): ((path: string) => string | undefined) | undefined {
  if (from.length > longestLine) return undefined;
  const pattern = /^https?:\/\/[^/]+(\/.*)$/.exec(from)?.[1] ?? from;
  const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  const isOdd = names.some((name, index) => /^\d|^splat$/.test(name) || names.indexOf(name) !== index);
  if (isOdd || !/^\/[^*(){}[\]|\\^$+?]*\*?$/.test(pattern) || /[^/\w]\*$/.test(pattern)) return undefined;
  const source = pattern
    .replaceAll(".", "\\.")
    .replace(/\/?(?::(\w+))?\*$/, (_, name: string = "splat") => `(?:/(?<${name}>.*))?`)
    .replaceAll(/\/:(\w+)/g, "/(?<$1>[^/]+)");
  // A trailing slash makes no difference.
  const expression = new RegExp(`^${source.replace(/\/$/, "")}/?$`);
  return (name) => {
    const match = expression.exec(name);
    return match === null ? undefined : to.replaceAll(/:(\w+)\*?/g, (whole, key) => match.groups?.[key] ?? whole);
  };
}
