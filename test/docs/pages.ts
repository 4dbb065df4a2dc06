// The documentation as data: its pages, and in them the fenced blocks, tables, links and headings.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export const root: string = path.join(import.meta.dirname, "../..");

export interface Page {
  /** Relative to the repository. */
  readonly file: string;
  readonly text: string;
}

export interface Block {
  readonly page: string;
  /** The line number of its first line of code, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** README.md and similar files, the skill, and everything in docs/. */
export const pages: readonly Page[] = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  "skills/sitegrove/SKILL.md",
  ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && !file.startsWith("node_modules"))
    .map((file) => `docs/${file}`),
].map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") }));

export function page(file: string): Page {
  const found = pages.find((candidate) => candidate.file === file);
  if (found === undefined) throw new Error(`There is no ${file}`);
  return found;
}

/** The fenced blocks of a page, in order. */
export function blocksOf({ file, text }: Page): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^(\s*)(`{3,})(\S*)/.exec(lines[at] as string);
    if (fence === null) continue;
    const [, indent = "", ticks = "", language = ""] = fence;
    const end = lines.findIndex((line, index) => index > at && line.trim() === ticks);
    if (end === -1) throw new Error(`${file}:${at + 1}: a fenced block without an end`);
    const code = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    blocks.push({ page: file, line: at + 2, language, code: code.join("\n") });
    at = end;
  }
  return blocks;
}

/** The text of a page without its fenced blocks. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^(\s*)(`{3,})[^\n]*\n[\s\S]*?\n\s*\2\s*$/gm, "");
}

/** The rows of all tables below a heading, or of the whole page: cells without their padding. */
export function tableRows(text: string): string[][] {
  const rows: string[][] = [];
  const lines = text.split("\n");
  for (const [at, line] of lines.entries()) {
    const isHeader = /^\|[-:| ]+\|$/.test(lines[at + 1] ?? "");
    if (!line.startsWith("|") || isHeader || /^\|[-:| ]+\|$/.test(line)) continue;
    // A pipe inside of code is written with a backslash.
    rows.push(
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
  }
  return rows;
}

/** What follows a heading, up to the next one of its level. */
export function section({ file, text }: Page, heading: string): string {
  const start = text.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`${file} has no heading "${heading}"`);
  const level = /^#+/.exec(heading)?.[0] ?? "";
  const rest = text.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level.length}} `, "m"));
  return end === -1 ? rest : rest.slice(0, end);
}

/** The content of a cell that is a single code span. */
export function codeOf(cell: string | undefined): string | undefined {
  return /^`([^`]+)`$/.exec(cell ?? "")?.[1];
}
