import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readServerRules } from "../../src/check/server-rules.ts";
import { newFolder } from "../support/test-folder.ts";

test("lines of a host's configuration that are too long are reported, and the others are read", () => {
  const folder = newFolder();
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  write("package.json", "{}");
  write("_redirects", `/${":a/:b/".repeat(16_500)} /x\n/${" ".repeat(200_000)}x\n/old /new 301\n`);
  write("netlify.toml", `[[redirects]]\nfrom = "/a"\nto = "/b"\nx${" ".repeat(200_000)}=${" ".repeat(200_000)}\n`);
  write("vercel.json", JSON.stringify({ redirects: [{ source: `/${":a".repeat(33_000)}`, destination: "/x" }] }));
  const { redirects, notUnderstood } = readServerRules(folder);
  expect(notUnderstood).toEqual(["_redirects:1", "_redirects:2", "netlify.toml:4", "vercel.json: redirects[0]"]);
  expect(redirects.map(({ matches }) => matches("/old") ?? matches("/a"))).toEqual(["/new", "/b"]);
});
