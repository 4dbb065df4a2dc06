// Writes the comparison with peers into README.md and docs/inside/performance.md, between two comments, so that nobody has to copy it. Both
// pages are about a million pages of a website; for any other number, the tables are only printed.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const start = "<!-- measured: npm run bench:site -- --write -->";
const end = "<!-- end of what was measured -->";

/** Writes the results that have a `title`. The first result must be the floor. */
export function writePeerTables({ results, pages, rounds }) {
  const [floor] = results;
  const shown = results.filter(({ title, complete }) => title !== undefined && complete);
  const ratio = ({ seconds }) => rounded(seconds / floor.seconds);
  const rows = shown.map((result) => [result.title, ratio(result), rounded(result.peak)]);
  const write = pages === 1_000_000 ? replace : show;
  write("README.md", table(["", "× floor", "peak MB"], rows));

  const list = shown.find(({ own }) => own === "ls");
  const fastest = Math.min(...shown.filter(({ peer }) => peer !== undefined).map(({ seconds }) => seconds));
  const sentence = `${pages.toLocaleString("en-US")} pages, served by nginx; the median of ${rounds} runs, one for the slower peers. The floor takes ${rounded(floor.seconds)} s; \`sitegrove ls -f pages\` is
${rounded(fastest / list.seconds)} times as fast as the fastest peer.`;
  const more = shown.map((result) => [result.title, rounded(result.seconds), ratio(result), rounded(result.peak)]);
  write("docs/inside/performance.md", `${sentence}\n\n${table(["", "seconds", "× floor", "peak MB"], more)}`);
}

function show(name, text) {
  console.log(`\n${name}:\n\n${text}`);
}

function replace(name, text) {
  const file = path.join(root, name);
  const page = readFileSync(file, "utf8");
  const [before, rest = ""] = page.split(start);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error(`${name} has no place for it: ${start} … ${end}`);
  writeFileSync(file, `${before}${start}\n\n${text}\n\n${end}${after}`);
  process.stderr.write(`${name} was written\n`);
}

function table(columns, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`.replace("|  |", "| |");
  const alignment = `|${columns.map((_, column) => (column === 0 ? "---" : "--:")).join("|")}|`;
  return [line(columns), alignment, ...rows.map(line)].join("\n");
}

// Rounds to two digits, because the third is different in every run.
function rounded(number) {
  return number >= 100 ? String(Math.round(number)) : String(Number(number.toPrecision(2)));
}
