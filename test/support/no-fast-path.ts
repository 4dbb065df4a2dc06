// Stands in for src/parse/fast/create-fast-path.ts in the project "no fast path" (vitest.config.ts).
export { noFastPath as usualFastPath } from "../../src/parse/fast/fast-path.ts";
