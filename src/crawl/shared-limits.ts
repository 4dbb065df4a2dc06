// What the crawls of a fleet share. Loaded when a fleet begins.
export { SharedLimits } from "../fetch/shared-limits.ts";
