// npm run fuzz -- [COUNT] [FIRST]: runs COUNT cases (default: 20,000), starting with number FIRST (default: random). The cases are in
// test/support/fuzz.ts: broken documents, intact entries between damaged ones, bytes in every coding, dates, headers, archives and more.
// npm run fuzz -- 60m: runs cases for 60 minutes, however many fail. With COUNT, a run ends after more than 20 failures.
// Prints the number of each case that fails: `npm run fuzz -- 1 NUMBER` repeats it. The exit code is 1 if a case failed.
import { fileURLToPath } from "node:url";
import { importTypeScript } from "./ts.mjs";

const { fuzz } = await importTypeScript(fileURLToPath(new URL("../test/support/fuzz.ts", import.meta.url)));

const [amount = "20000", from] = process.argv.slice(2);
const minutes = /^(\d+)m$/.exec(amount)?.[1];
const count = minutes === undefined ? Number(amount) : Number.POSITIVE_INFINITY;
const first = from === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(from);
if (!(count >= 1) || !(minutes !== undefined || Number.isInteger(count)) || !Number.isInteger(first)) {
  console.error("Usage: npm run fuzz -- [COUNT | MINUTESm] [FIRST]");
  process.exit(2);
}

const start = performance.now();
const end = minutes === undefined ? Number.POSITIVE_INFINITY : start + Number(minutes) * 60_000;
const step = 1;
const counts = {};
let failed = 0;
let told = 0;
let done = 0;

function tell() {
  told = done;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const classes = Object.entries(counts).map(([name, number]) => `${name} ${number}`);
  console.log(`${done} cases from ${first}, ${failed} failed: ${seconds} s (${classes.join(", ")})`);
}

while (done < count && performance.now() < end) {
  try {
    await fuzz(Math.min(step, count - done), first + done, counts);
  } catch (error) {
    console.error(error.message);
    console.error(error.cause);
    process.exitCode = 1;
    failed += 1;
    if (minutes === undefined && failed > 20) break;
  }
  done += Math.min(step, count - done);
  if (done - told >= 10_000) tell();
}
tell();
