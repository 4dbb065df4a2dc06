import { type Case, files, finds, home, robots, sitemap } from "./case.ts";

const said = (lines: string) =>
  files({ "/robots.txt": `${robots("/sitemap.xml")}\n${lines}`, "/sitemap.xml": sitemap("/") });

export const aiCases: readonly Case[] = [
  finds(
    ["robots-preference-invalid", 5, "License: /license.xml", { severity: "warning" }],
    said(`License: /license.xml
      User-agent: *
      Content-Signal: ai-train=false
      Content-Signal: search
      Content-Signal:
      Content-Usage: train-ai=no`),
    said(`License: ${home}license.xml
      User-agent: *
      Content-Signal: search=yes,ai-train=no,use=reference,later=perhaps
      Content-Usage: /blog/ train-ai=n, bots=y`),
  ),
  // The other cases have a User-agent line first.
  finds(
    ["robots-preference-misplaced", 2, "Content-Usage: train-ai=n", { severity: "info" }],
    { routes: { "/robots.txt": "Content-Usage: train-ai=n\nContent-Signal: search=yes\n" } },
    { routes: { "/robots.txt": `License: ${home}a.xml\nUser-agent: *\nContent-Signal: search=yes\n` } },
  ),
  finds(
    ["robots-preference-conflict", 2, "Content-Usage: train-ai=y", { severity: "warning" }],
    said(`User-agent: a
      User-agent: b
      Content-Signal: ai-train=no
      User-agent: B
      Content-Usage: train-ai=y
      Content-Signal: search=yes, search=no`),
    said(`User-agent: a
      Content-Signal: ai-train=no, search=yes
      Content-Usage: train-ai=n
      Content-Usage: /free/ train-ai=y
      User-agent: b
      Content-Signal: ai-train=yes`),
  ),
];
