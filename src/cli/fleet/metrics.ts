// `--metrics 127.0.0.1:9464`: the figures of a run at `/metrics`, as Prometheus reads them.
// https://prometheus.io/docs/instrumenting/exposition_formats/
import { createServer, type Server } from "node:http";
import type { FleetEvent } from "../../fleet/fleet-options.ts";
import { firstByteBounds } from "../../fleet/site-responses.ts";
import { systemReason } from "../../model/errors.ts";
import { UsageError } from "../exit-codes.ts";
import type { FleetTotals } from "./totals.ts";

/** What is not learned from events. */
export interface MetricFigures {
  totals(): FleetTotals;
  waiting(): number;
  /** Leases that other workers have taken over. */
  lost(): number;
  suspects(): number;
}

export class FleetMetrics {
  readonly #figures: MetricFigures;
  readonly #active = new Map<string, { readonly since: number; isSlow: boolean }>();
  readonly #statuses = new Map<string, number>();
  readonly #firstByte = { buckets: firstByteBounds.map(() => 0), sum: 0, count: 0 };
  readonly #server: Server;

  private constructor(figures: MetricFigures) {
    this.#figures = figures;
    this.#server = createServer(({ url }, response) => {
      const isKnown = url === "/metrics";
      response.writeHead(isKnown ? 200 : 404, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
      response.end(isKnown ? this.text() : "");
    });
    this.#server.unref();
  }

  /** `9464` is a port of this machine alone. Throws a `UsageError` where nobody can listen. */
  static async listen(address: string, figures: MetricFigures): Promise<FleetMetrics> {
    const [, ipv6, named, port = ""] = /^(?:(?:\[([^\]]+)\]|([^:]+))?:)?(\d{1,5})$/.exec(address) ?? [];
    const host = ipv6 ?? named ?? "127.0.0.1";
    if (port === "") throw new UsageError(`--metrics takes an address, such as 127.0.0.1:9464, not ${address}`);
    const metrics = new FleetMetrics(figures);
    await new Promise<void>((resolve, reject) => {
      const refuse = (error: Error) => reject(new UsageError(`--metrics ${address}: ${systemReason(error)}`));
      metrics.#server.once("error", refuse).listen(Number(port), host, resolve);
    });
    return metrics;
  }

  see(event: FleetEvent): void {
    if (event.type === "site-start") this.#active.set(event.job.homepage, { since: Date.now(), isSlow: false });
    else if (event.type === "site-back") this.#active.delete(event.job.homepage);
    else if (event.type === "site-slow") {
      const active = this.#active.get(event.job.homepage);
      if (active !== undefined) active.isSlow = true;
    } else if (event.type === "site-done") {
      this.#active.delete(event.summary.site);
      const { statuses = {}, firstByte } = event.responses ?? {};
      for (const [status, count] of Object.entries(statuses))
        this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + count);
      firstByte?.buckets.forEach((count, at) => {
        this.#firstByte.buckets[at] = (this.#firstByte.buckets[at] ?? 0) + count;
      });
      this.#firstByte.sum += firstByte?.sum ?? 0;
      this.#firstByte.count += firstByte?.count ?? 0;
    }
  }

  text(): string {
    const { outcomes, pages, wireBytes } = this.#figures.totals();
    const active = [...this.#active.values()];
    const slow = active.filter(({ isSlow }) => isSlow).length;
    const oldest = Math.min(Date.now(), ...active.map(({ since }) => since));
    const { buckets, sum, count } = this.#firstByte;
    return [
      ...family("sites_total", "counter", "Websites that ended, by outcome", "outcome", Object.entries(outcomes)),
      ...family("sites_active", "gauge", "Websites being read, by lane", "lane", [
        ["quick", active.length - slow],
        ["slow", slow],
      ]),
      ...family("sites_waiting", "gauge", "Websites that wait", "", [["", this.#figures.waiting()]]),
      ...family("sites_again", "gauge", "Websites to be read again in small groups", "", [
        ["", this.#figures.suspects()],
      ]),
      ...family("oldest_active_seconds", "gauge", "Age of the website that is read longest", "", [
        ["", (Date.now() - oldest) / 1000],
      ]),
      ...family("pages_total", "counter", "Pages of websites that ended", "", [["", pages]]),
      ...family("bytes_total", "counter", "Bytes of websites that ended, as transferred", "", [["", wireBytes]]),
      ...family("lease_losses_total", "counter", "Websites lost to other workers", "", [["", this.#figures.lost()]]),
      ...family("responses_total", "counter", "Responses, by status", "status", [...this.#statuses]),
      ...family("first_byte_seconds", "histogram", "Time to the first byte", "", []),
      ...buckets.map((each, at) => `sitegrove_first_byte_seconds_bucket{le="${firstByteBounds[at]}"} ${each}`),
      `sitegrove_first_byte_seconds_bucket{le="+Inf"} ${count}`,
      `sitegrove_first_byte_seconds_sum ${sum}`,
      `sitegrove_first_byte_seconds_count ${count}`,
      "",
    ].join("\n");
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function family(
  name: string,
  type: "counter" | "gauge" | "histogram",
  help: string,
  label: string,
  values: readonly (readonly [string, number])[],
): string[] {
  const row = ([key, value]: readonly [string, number]) =>
    `sitegrove_${name}${label === "" ? "" : `{${label}="${key}"}`} ${value}`;
  return [`# HELP sitegrove_${name} ${help}`, `# TYPE sitegrove_${name} ${type}`, ...values.map(row)];
}
