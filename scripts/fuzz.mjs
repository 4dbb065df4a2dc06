// npm run fuzz -- [COUNT] [FIRST]: runs COUNT cases (20,000), from the number FIRST on (any): broken documents, innocent entries between
// damaged ones, documents in turns, bytes in every coding, dates, headers, homepages, archives and websites (test/support/fuzz.ts).
// npm run fuzz -- 60m: as many as there is time for, in minutes; a case that fails does not end it.
// A case that fails is printed with its number: `npm run fuzz -- 1 NUMBER` runs it again. Exit code 1 where one failed.
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
