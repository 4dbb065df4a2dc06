// npm run docs: the documentation as a site in docs/.vitepress/dist, with the API reference under /api and the files that
// pages link to under /source. Serve it with any static server: `npx vitepress preview docs`.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { checkSite } from "./check-site.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const site = path.join(root, "docs/.vitepress/dist");

run("node_modules/vitepress/bin/vitepress.js", ["build", "docs"]);
const { DOCS_BASE: base = "/" } = process.env;
run("node_modules/typedoc/bin/typedoc", [
  ...["--out", path.join(site, "api")],
  ...["--sourceLinkTemplate", `${base}source/src/{path}.txt`],
  ...["--titleLink", `${base}index.html`, "--favicon", "docs/public/mark.svg"],
]);
cpSync(path.join(root, "schema"), path.join(site, "schema"), { recursive: true });
// Manifests and dashboards that a page links to, beside it.
for (const name of readdirSync(path.join(root, "docs"))) {
  if (/\.(?:yaml|json)$/.test(name)) cpSync(path.join(root, "docs", name), path.join(site, name));
}
for (const name of published()) publish(name);
await checkSite(site, base);
process.stdout.write(`${path.relative(process.cwd(), site) || "."}/index.html\n`);

// What is in the repository for people to read, but for the pages themselves.
function published() {
  const hidden = /^(\.|node_modules$|dist$|docs$|coverage$|package-lock\.json$)/;
  return readdirSync(root).filter((name) => !hidden.test(name));
}

// A file as text; a folder with a list of what is in it.
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
  if (status !== 0) process.exit(status ?? 1);
}
