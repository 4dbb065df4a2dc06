// Loaded before the program (`node --import`): at the end, writes the peak of memory and the CPU time to the file that is named.
import { writeFileSync } from "node:fs";
import { peakMemory } from "./child.mjs";

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const file = process.env.SITEGROVE_BENCH_PEAK;
  if (file !== undefined) writeFileSync(file, JSON.stringify({ peak: peakMemory(), cpu: (user + system) / 1e6 }));
});
