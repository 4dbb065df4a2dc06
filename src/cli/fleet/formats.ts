// The values of flags of `sitegrove fleet`.

export const fleetFormats = ["ndjson", "csv", "parquet", "none"] as const;
export type FleetFormat = (typeof fleetFormats)[number];

/** The outcomes that --retry accepts. */
export const retryNames = ["failed", "unreachable", "blocked", "incomplete", "none", "quarantined"] as const;

/** Network flags that apply to every website. Without --concurrency, which counts websites here. */
export const networkFlags: readonly string[] = [
  "--delay",
  "--crawl-delay",
  "--retries",
  "--timeout",
  "--allow-private",
  "--public-only",
  "--header",
  "--user-agent",
  "--proxy",
  "--insecure",
  "--ca",
];
