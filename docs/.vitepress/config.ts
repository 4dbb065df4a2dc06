// The documentation as a site: `npm run docs`. The pages are the Markdown files beside this folder, and read the same on a
// code host; what they link to outside of it (sources, tests) is published with the site as plain text.
import path from "node:path";
import { sourceAddress } from "./source-address.ts";
import { labelCells, type Token } from "./table-labels.ts";

// Where the site will live: `DOCS_BASE=/sitegrove/ npm run docs`.
const { DOCS_BASE: base = "/" } = process.env;
const root = path.join(import.meta.dirname, "../..");

// The playground takes the rules of a check with it, and not what fetches a sample of pages for them.
const withoutNode = {
  name: "without-node",
  enforce: "pre" as const,
  resolveId: (name: string) => (/^node:|\/(?:crawl|fetch)\//.test(name) ? "\0nothing" : undefined),
  load: (id: string) =>
    id === "\0nothing" ? { code: "export default {}", syntheticNamedExports: "default" } : undefined,
};

// What is used of markdown-it.
interface Markdown {
  core: {
    ruler: { push(name: string, rule: (state: { tokens: Token[]; env: { relativePath: string } }) => void): void };
  };
}

// Not `defineConfig`: the tests read this without vitepress.
export default {
  title: "sitegrove",
  description: "From a website's homepage to every page its sitemaps declare.",
  base: base,
  lang: "en",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}mark.svg` }]],
  vite: { worker: { plugins: () => [withoutNode] } },
  themeConfig: {
    logo: "/mark.svg",
    externalLinkIcon: true,
    search: { provider: "local" },
    nav: [
      { text: "Getting started", link: "/getting-started" },
      { text: "The command line", link: "/command-line" },
      { text: "The library", link: "/library" },
      { text: "API", link: "/api/sitegrove" },
    ],
    sidebar: {
      "/": [
        {
          text: "Use it",
          items: [
            { text: "Getting started", link: "/getting-started" },
            { text: "Recipes", link: "/recipes" },
            { text: "The command line", link: "/command-line" },
            { text: "Output formats", link: "/output" },
            { text: "Archives and changes", link: "/archives" },
            { text: "An audit", link: "/audit" },
            { text: "Migrations", link: "/migration" },
            { text: "Check", link: "/check" },
            { text: "Report", link: "/report" },
            { text: "Many sites", link: "/fleet" },
            { text: "Agents and models", link: "/agents" },
            { text: "Playground", link: "/playground" },
          ],
        },
        {
          text: "Library",
          items: [
            { text: "The library", link: "/library" },
            { text: "Options", link: "/options" },
            { text: "Problems", link: "/problems" },
          ],
        },
        {
          text: "API",
          items: ["sitegrove", "check", "diff", "report", "fleet", "parse"].map((name) => {
            return { text: name === "sitegrove" ? name : `sitegrove/${name}`, link: `/api/${name}` };
          }),
        },
        {
          text: "Reference",
          items: [
            { text: "Coming from Ultimate Sitemap Parser", link: "/coming-from-ultimate-sitemap-parser" },
            { text: "Where it runs", link: "/platforms" },
            { text: "Security", link: "/security" },
            { text: "Versions", link: "/stability" },
          ],
        },
        { text: "Inside", items: [{ text: "For contributors", link: "/inside/how-it-works" }] },
      ],
      "/inside/": [
        {
          text: "Inside",
          items: [
            { text: "How it works", link: "/inside/how-it-works" },
            { text: "Formats", link: "/inside/formats" },
            { text: "Leniency", link: "/inside/leniency" },
            { text: "Fetching", link: "/inside/fetching" },
            { text: "The fast path", link: "/inside/fast-path" },
            { text: "Performance", link: "/inside/performance" },
          ],
        },
        { text: "Use it", items: [{ text: "Getting started", link: "/getting-started" }] },
      ],
    },
    outline: [2, 3],
  },
  markdown: {
    config(markdown: Markdown) {
      markdown.core.ruler.push("labels-of-cells", ({ tokens }) => labelCells(tokens));
      markdown.core.ruler.push("links-to-sources", ({ tokens, env }) => {
        for (const link of tokens.flatMap(({ children }) => children ?? [])) {
          const target = link.type === "link_open" ? link.attrGet("href") : null;
          if (target === null) continue;
          const address = sourceAddress(root, path.join("docs", path.dirname(env.relativePath)), target);
          if (address === undefined) continue;
          link.attrSet("href", address);
          link.attrSet("target", "_self");
        }
      });
    },
  },
};
