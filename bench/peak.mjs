// `node --import` loads this before the program. At the end, it writes peak memory and CPU time to the file SITEGROVE_BENCH_PEAK.
import { writeFileSync } from "node:fs";
import { peakMemory } from "./child.mjs";

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const file = process.env.SITEGROVE_BENCH_PEAK;
  if (file !== undefined) writeFileSync(file, JSON.stringify({ peak: peakMemory(), cpu: (user + system) / 1e6 }));
});
