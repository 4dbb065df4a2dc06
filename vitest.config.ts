import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A test file may start servers and child processes: two at a time keep a small machine honest.
    maxWorkers: 2,
    // What runs concurrently waits for time limits, not for the machine.
    maxConcurrency: 20,
  },
});
