import { type Case, files, home, robots, sitemap } from "./case.ts";

const said = (...lines: readonly string[]) =>
  files({ "/robots.txt": `${robots("/sitemap.xml")}\n${lines.join("\n")}`, "/sitemap.xml": sitemap("/") });

export const aiCases: readonly Case[] = [
  {
    rule: "robots-preference-invalid",
    fires: said(
      "License: /license.xml",
      "User-agent: *",
      "Content-Signal: ai-train=false",
      "Content-Signal: search",
      "Content-Signal:",
      "Content-Usage: train-ai=no",
    ),
    near: said(
      `License: ${home}license.xml`,
      "User-agent: *",
      "Content-Signal: search=yes,ai-train=no,use=reference,later=perhaps",
      "Content-Usage: /blog/ train-ai=n, bots=y",
    ),
    count: 5,
    severity: "warning",
    example: "License: /license.xml",
  },
  {
    rule: "robots-preference-misplaced",
    // The rules of the other cases begin with a group.
    fires: { routes: { "/robots.txt": "Content-Usage: train-ai=n\nContent-Signal: search=yes\n" } },
    near: { routes: { "/robots.txt": `License: ${home}a.xml\nUser-agent: *\nContent-Signal: search=yes\n` } },
    count: 2,
    severity: "info",
    example: "Content-Usage: train-ai=n",
  },
  {
    rule: "robots-preference-conflict",
    fires: said(
      "User-agent: a",
      "User-agent: b",
      "Content-Signal: ai-train=no",
      "User-agent: B",
      "Content-Usage: train-ai=y",
      "Content-Signal: search=yes, search=no",
    ),
    near: said(
      "User-agent: a",
      "Content-Signal: ai-train=no, search=yes",
      "Content-Usage: train-ai=n",
      "Content-Usage: /free/ train-ai=y",
      "User-agent: b",
      "Content-Signal: ai-train=yes",
    ),
    count: 2,
    severity: "warning",
    example: "Content-Usage: train-ai=y",
  },
  {
    rule: "llms-differs",
    fires: {
      ...files({
        "/sitemap.xml": sitemap("/", "/a", "/b/"),
        "/llms.txt": `# T\n- [A](${home}a.html.md)\n- [C](/c)\n- [Home](${home})\n`,
      }),
      crawl: { useLlms: true },
    },
    near: {
      ...files({ "/sitemap.xml": sitemap("/", "/a"), "/llms.txt": `# T\n- [A](/a/index.md)\n- [Home](/#top)\n` }),
      crawl: { useLlms: true, useFeeds: true },
    },
    count: 2,
    severity: "info",
    example: `${home}c`,
  },
];
