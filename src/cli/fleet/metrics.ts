// `--metrics 127.0.0.1:9464`: the figures of a run at `/metrics`, as Prometheus reads them.
// https://prometheus.io/docs/instrumenting/exposition_formats/
import { createServer, type Server } from "node:http";
import { firstByteBounds, type SiteResponses } from "../../fleet/site-responses.ts";
import { systemReason } from "../../model/errors.ts";
import { UsageError } from "../exit-codes.ts";
import type { FleetTotals } from "./totals.ts";

/** The figures of a run that goes on. */
export interface RunningFigures {
  readonly totals: FleetTotals;
  /** What is being read; `since` in milliseconds since 1970. */
  readonly active: readonly { readonly since: number; readonly isSlow: boolean }[];
  readonly waiting: number;
  /** How many wait to be read again because a process died. */
  readonly again: number;
  /** Leases that other workers have taken over. */
  readonly lost: number;
  readonly responses: SiteResponses;
}

/** `9464` is a port of this machine alone. Throws a `UsageError` where nobody can listen. */
export async function serveMetrics(address: string, figures: () => RunningFigures): Promise<Server> {
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
  return server;
}

function metricsText({ totals, active, waiting, again, lost, responses }: RunningFigures): string {
  const { outcomes, pages, wireBytes } = totals;
  const slow = active.filter(({ isSlow }) => isSlow).length;
  const oldest = Math.min(Date.now(), ...active.map(({ since }) => since));
  const { buckets, sum, count } = responses.firstByte;
  const below = Object.fromEntries(buckets.map((each, at) => [`_bucket{le="${firstByteBounds[at]}"}`, each]));
  return [
    ...family("sites_total", "counter", "Websites that ended, by outcome", labels("outcome", outcomes)),
    ...family(
      "sites_active",
      "gauge",
      "Websites being read, by lane",
      labels("lane", { quick: active.length - slow, slow }),
    ),
    ...family("sites_waiting", "gauge", "Websites that wait", { "": waiting }),
    ...family("sites_again", "gauge", "Websites to be read again in small groups", { "": again }),
    ...family("oldest_active_seconds", "gauge", "Age of the oldest website being read", {
      "": (Date.now() - oldest) / 1000,
    }),
    ...family("pages_total", "counter", "Pages of websites that ended", { "": pages }),
    ...family("bytes_total", "counter", "Transferred bytes of websites that ended", { "": wireBytes }),
    ...family("lease_losses_total", "counter", "Websites lost to other workers", { "": lost }),
    ...family("responses_total", "counter", "Responses, by status", labels("status", responses.statuses)),
    ...family("first_byte_seconds", "histogram", "Time to the first byte", {
      ...below,
      '_bucket{le="+Inf"}': count,
      _sum: sum,
      _count: count,
    }),
    "",
  ].join("\n");
}

/** `{outcome="complete"}`, with the number. */
function labels(label: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([key, count]) => [`{${label}="${key}"}`, count]));
}

function family(name: string, type: string, help: string, rows: Readonly<Record<string, number>>): string[] {
  const lines = Object.entries(rows).map(([end, value]) => `sitegrove_${name}${end} ${value}`);
  return [`# HELP sitegrove_${name} ${help}`, `# TYPE sitegrove_${name} ${type}`, ...lines];
}
