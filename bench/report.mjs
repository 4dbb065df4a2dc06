// Prints reports for people: tables, goals ("bars") that are met or not, and the machine they were measured on.
import { execFileSync } from "node:child_process";
import os from "node:os";

/** Prints a table. Columns of numbers are aligned right. */
export function printTable(heading, columns, rows) {
  const cells = [columns, ...rows.map((row) => row.map((cell) => (typeof cell === "number" ? short(cell) : cell)))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const isNumber = columns.map((_, column) => rows.some((row) => typeof row[column] === "number"));
  const line = (row) =>
    row
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
      .join("  ");
  console.log(`\n${heading}\n`);
  console.log(line(cells[0]).trimEnd());
  console.log(widths.map((width) => "-".repeat(width)).join("  "));
  for (const row of cells.slice(1)) console.log(line(row).trimEnd());
}

/** Prints what was promised and whether it was met. Sets the exit code to 1 if something was not. */
export function printBars(heading, bars) {
  const rows = bars.map(({ promise, value, met }) => [promise, value, met ? "met" : "NOT MET"]);
  printTable(heading, ["bar", "measured", ""], rows);
  if (bars.some(({ met }) => !met)) process.exitCode = 1;
}

export function printMachine() {
  const [cpu] = os.cpus();
  console.log(
    `Node ${process.version} on ${os.type()} ${os.arch()}, ${os.availableParallelism()} cores (${cpu?.model.trim() ?? "unknown"}), ` +
      `load ${os.loadavg()[0].toFixed(1)}, commit ${commit()}`,
  );
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function short(number) {
  if (number >= 1000) return Math.round(number).toLocaleString("en-US");
  return number.toFixed(number >= 100 ? 0 : number >= 10 ? 1 : 2);
}

function commit() {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return "unknown";
  }
}
