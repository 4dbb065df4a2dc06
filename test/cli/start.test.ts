// scripts/start.mjs, run on copies beside the built program. Installing and building a clone is not tested here.
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { type Ended, ended, program } from "./program.ts";

const clone = newFolder();
mkdirSync(path.join(clone, "scripts"));
for (const name of ["start.mjs", "example-site.mjs"]) {
  copyFileSync(path.join(import.meta.dirname, "../../scripts", name), path.join(clone, "scripts", name));
}
writeFileSync(path.join(clone, "scripts/prepare.mjs"), "export function prepare() {}\n");
symlinkSync(path.dirname(path.dirname(program)), path.join(clone, "dist"));

function npmStart(...words: string[]): Promise<Ended> {
  const { INIT_CWD: _, ...env } = process.env;
  return ended(spawn(process.execPath, [path.join(clone, "scripts/start.mjs"), ...words], { env, cwd: clone }));
}

test("npm start lists an example website, explains it, suggests what to try, and draws a picture", async () => {
  const { code, stdout, stderr } = await npmStart();
  expect(code).toBe(0);
  // Every format, the gzipped index, the redirect, what was kept of the broken child, and the missing one.
  for (const page of ["/trees/oak", "/journal/first-leaves", "/journal/last-frost", "/paths/south", "/shop/saplings"]) {
    expect(stdout).toContain(page);
  }
  expect(stdout).toMatch(/broken\.xml \(incomplete: .+\)\n\t+\S+\/broken\/kept\n/);
  expect(stdout).toMatch(/gone\.xml \(not read: .+404\)/);
  expect(stderr).toContain(said.exitCodeWas(3));
  expect(stderr).toContain(said.tryYourOwn);
  // It ends with a picture of the same website.
  const [, report = ""] = said.openReport.exec(stderr) ?? [];
  expect(readFileSync(report, "utf8")).toMatch(/^<!doctype html>[\s\S]*13 pages in 10 sitemaps/);
  rmSync(path.dirname(report), { recursive: true });
});

test("npm start with arguments runs the program, with its output and exit code", async () => {
  expect(await npmStart("ls", "--nope")).toMatchObject({ code: 2, stdout: "" });
});
