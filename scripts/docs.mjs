// npm run docs: builds the documentation site in docs/.vitepress/dist, with a page for each listing of api/, and the source files that
// pages link to under /source. Any static server can serve it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { apiPage } from "./api.mjs";
import { checkSite } from "./check-site.mjs";
import { install } from "./prepare.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const site = path.join(root, "docs/.vitepress/dist");

install("docs");
run("node_modules/typescript/bin/tsc", ["-p", "docs/.vitepress"]);
const { DOCS_BASE: base = "/" } = process.env;
const apiPages = path.join(root, "docs/api");
mkdirSync(apiPages, { recursive: true });
try {
  for (const file of readdirSync(path.join(root, "api"))) {
    const name = file.replace(".d.ts", "");
    const listing = readFileSync(path.join(root, "api", file), "utf8");
    const entryPoint = name === "sitegrove" ? name : `sitegrove/${name}`;
    writeFileSync(path.join(apiPages, `${name}.md`), apiPage(entryPoint, listing));
  }
  run("docs/node_modules/vitepress/bin/vitepress.js", ["build", "docs"]);
} finally {
  rmSync(apiPages, { recursive: true, force: true });
}
cpSync(path.join(root, "schema"), path.join(site, "schema"), { recursive: true });
// Pages link to the manifests and dashboards beside them.
for (const name of readdirSync(path.join(root, "docs"))) {
  if (/\.(?:yaml|json)$/.test(name)) cpSync(path.join(root, "docs", name), path.join(site, name));
}
for (const name of published()) publish(name);
await checkSite(site, base);
process.stdout.write(`${path.relative(process.cwd(), site) || "."}/index.html\n`);

// Returns the files and folders of the repository that pages may link to, except for the pages themselves.
function published() {
  const hidden = /^(\.|node_modules$|dist$|docs$|coverage$|package-lock\.json$)/;
  return readdirSync(root).filter((name) => !hidden.test(name));
}

// Publishes a file as text, and a folder with a list of its contents.
function publish(name) {
  const from = path.join(root, name);
  const to = path.join(site, "source", name);
  if (!statSync(from).isDirectory()) {
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(from, `${to}.txt`);
    return;
  }
  const inside = readdirSync(from).filter((file) => file !== "node_modules");
  mkdirSync(to, { recursive: true });
  writeFileSync(path.join(to, "index.html"), listing(name, inside));
  for (const file of inside) publish(path.join(name, file));
}

function listing(folder, names) {
  const items = names.map((name) => {
    const isFolder = statSync(path.join(root, folder, name)).isDirectory();
    return `<li><a href="${encodeURI(name)}${isFolder ? "/index.html" : ".txt"}">${name}</a></li>`;
  });
  return `<!doctype html>\n<meta charset="utf-8">\n<title>${folder}</title>\n<h1>${folder}</h1>\n<ul>\n${items.join("\n")}\n</ul>\n`;
}

function run(script, args) {
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error(`${script} ended with ${status}`);
}
