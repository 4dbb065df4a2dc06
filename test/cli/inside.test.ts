// Most tests run the program inside their own process: what it prints there, and how it ends, is what a process prints.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../support/test-folder.ts";
import { runInside, startInside } from "./inside.ts";
import { sitegrove, sitegroveProcess } from "./program.ts";

const folder = newFolder();
writeFileSync(path.join(folder, "a.xml"), "<urlset><url><loc>https://example.org/ä</loc></url><url/></urlset>");

test.each([
  { words: ["parse", "-", "-f", "pages"], input: "https://example.org/1\nhttps://example.org/2\n" },
  { words: ["ls", "http://127.0.0.1:1/", "--retries", "0"], env: { NO_COLOR: "1", HTTP_PROXY: "http://127.0.0.1:2" } },
  { words: ["parse", path.join(folder, "a.xml"), "-o", "missing/b.csv", "-f", "csv"], cwd: folder },
])("$words gives the same output as in a process of its own", async ({ words, ...options }) => {
  const inside = await sitegrove(words, options);
  expect(inside).toEqual(await sitegroveProcess(words, options));
  expect(inside.stdout + inside.stderr).not.toBe("");
});

test("several runs at the same time have their own input, output and signals", async () => {
  const words = ["parse", "-", "-f", "pages"];
  const [stopped, other] = [1, 2].map(() => startInside(words, { env: { EXTRA: "1" } }));
  stopped?.stdin.write("https://example.org/1\n");
  other?.stdin.write("https://example.org/2\n");
  const between = await runInside(words, process.env, { input: "https://example.org/3\n" });
  expect(between).toEqual({ code: 0, stdout: "https://example.org/3\n", stderr: "" });
  stopped?.kill("SIGINT");
  expect((await stopped?.end)?.code).toBe(130);
  other?.stdin.end();
  expect(await other?.end).toEqual({ code: 0, stdout: "https://example.org/2\n", stderr: "" });
  expect(process.env["EXTRA"]).toBeUndefined();
});
