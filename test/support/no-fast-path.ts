// Everything is read by the scanner. Stands in for src/parse/fast/token-reader.ts in the project "no fast path" (vitest.config.ts).
export const noFastPath = () => undefined;
export const usualFastPath = () => noFastPath();
