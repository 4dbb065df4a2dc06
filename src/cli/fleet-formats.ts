// The names that `sitegrove fleet` takes as values.

export const fleetFormats = ["ndjson", "csv", "parquet", "none"] as const;
export type FleetFormat = (typeof fleetFormats)[number];

/** Outcomes with which a website can be read again. */
export const retryNames = ["failed", "unreachable", "blocked", "incomplete", "none", "quarantined"] as const;

/** Flags about the network that count for every website. Without --concurrency, which is about websites here. */
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
];
