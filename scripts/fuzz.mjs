// npm run fuzz -- [COUNT] [FIRST]: runs COUNT mutated documents (20,000) through the parser, from the case FIRST on (any).
// A case that fails is printed with its number: `npm run fuzz -- 1 NUMBER` runs it again. Exit code 1 where one failed.
import { register } from "tsx/esm/api";

register();
const { fuzz } = await import("../test/support/fuzz.ts");

const count = Number(process.argv[2] ?? 20_000);
const first = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isInteger(count) || !Number.isInteger(first) || count < 1) {
  console.error("Usage: npm run fuzz -- [COUNT] [FIRST]");
  process.exit(2);
}

const step = 10_000;
const start = performance.now();
try {
  for (let done = 0; done < count; done += step) {
    await fuzz(Math.min(step, count - done), first + done);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${Math.min(done + step, count)} of ${count} documents, from case ${first}: ${seconds} s`);
  }
} catch (error) {
  console.error(error.message);
  console.error(error.cause);
  process.exitCode = 1;
}
