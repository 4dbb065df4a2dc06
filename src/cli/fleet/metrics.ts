// `--metrics 127.0.0.1:9464`: the figures of a run at `/metrics`, as Prometheus reads them.
// https://prometheus.io/docs/instrumenting/exposition_formats/
import { createServer } from "node:http";
import { firstByteBounds, type SiteResponses } from "../../fleet/site-responses.ts";
import { systemReason } from "../../model/errors.ts";
import { UsageError } from "../exit-codes.ts";
import type { FleetTotals } from "./totals.ts";

/** The figures of a running fleet. `lost`: leases that other workers took over. */
export interface RunningFigures extends Readonly<Record<"waiting" | "lost", number>> {
  readonly totals: FleetTotals;
  /** The websites that are being read. `since`: in milliseconds since 1970. */
  readonly active: readonly { readonly since: number; readonly isSlow: boolean }[];
  readonly responses: SiteResponses;
}

/** Serves metrics. `9464` alone is a port of this machine only. Returns a function that ends it. Throws a `UsageError` if it cannot listen. */
export async function serveMetrics(address: string, figures: () => RunningFigures): Promise<() => void> {
  const [, ipv6, named, port = ""] = /^(?:(?:\[([^\]]+)\]|([^:]+))?:)?(\d{1,5})$/.exec(address) ?? [];
  if (port === "") throw new UsageError(`--metrics takes an address, such as 127.0.0.1:9464, not ${address}`);
  const server = createServer(({ url }, response) => {
    const isKnown = url === "/metrics";
    response.writeHead(isKnown ? 200 : 404, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(isKnown ? metricsText(figures()) : "");
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error) => reject(new UsageError(`--metrics ${address}: ${systemReason(error)}`));
    server
      .unref()
      .once("error", refuse)
      .listen(Number(port), ipv6 ?? named ?? "127.0.0.1", resolve);
  });
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function metricsText({ totals, active, waiting, lost, responses }: RunningFigures): string {
  const slow = active.filter(({ isSlow }) => isSlow).length;
  const oldest = Math.min(Date.now(), ...active.map(({ since }) => since));
  const { buckets, sum, count } = responses.firstByte;
  const below = Object.fromEntries(buckets.map((each, at) => [`_bucket{le="${firstByteBounds[at]}"}`, each]));
  const firstByte = { ...below, '_bucket{le="+Inf"}': count, _sum: sum, _count: count };
  // Each family has one value, or values by their labels.
  const families: readonly (readonly [name: string, type: string, help: string, value: number | Counts])[] = [
    ["sites_total", "counter", "Finished websites, by outcome", labels("outcome", totals.outcomes)],
    ["sites_active", "gauge", "Websites in progress, by lane", labels("lane", { quick: active.length - slow, slow })],
    ["sites_waiting", "gauge", "Waiting websites", waiting],
    ["oldest_active_seconds", "gauge", "Age of the oldest website in progress", (Date.now() - oldest) / 1000],
    ["pages_total", "counter", "Pages of finished websites", totals.pages],
    ["bytes_total", "counter", "Bytes transferred for finished websites", totals.wireBytes],
    ["lease_losses_total", "counter", "Websites lost to other workers", lost],
    ["responses_total", "counter", "Responses, by status", labels("status", responses.statuses)],
    ["first_byte_seconds", "histogram", "Time to first byte", firstByte],
  ];
  const lines = families.flatMap(([name, type, help, value]) => {
    const rows = Object.entries(typeof value === "number" ? { "": value } : value);
    const values = rows.map(([end, each]) => `sitegrove_${name}${end} ${each}`);
    return [`# HELP sitegrove_${name} ${help}`, `# TYPE sitegrove_${name} ${type}`, ...values];
  });
  return `${lines.join("\n")}\n`;
}

type Counts = Readonly<Record<string, number>>;

/** Adds a label to counts: `{outcome="complete"}`. */
function labels(label: string, counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).map(([key, count]) => [`{${label}="${key}"}`, count]));
}
