// From flags to the options of the library: seconds become milliseconds, `--no-robots` becomes `useRobots: false`.
import type { Options } from "../options.ts";
import { UsageError } from "./exit-codes.ts";

export interface CrawlFlags {
  readonly robots: boolean;
  readonly known: boolean;
  readonly homepage: boolean;
  readonly knownPath?: readonly string[] | undefined;
  readonly keepPath?: true | undefined;
  readonly strict?: true | undefined;
  readonly strictRobots?: true | undefined;
  readonly concurrency?: number | undefined;
  readonly delay?: number | undefined;
  readonly crawlDelay?: true | undefined;
  readonly timeout?: number | undefined;
  readonly retries?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxSitemaps?: number | undefined;
  readonly maxDepth?: number | undefined;
  readonly maxTime?: number | undefined;
  readonly header?: readonly string[] | undefined;
  readonly userAgent?: string | undefined;
  readonly proxy?: string | undefined;
  readonly allowPrivate?: true | undefined;
  readonly publicOnly?: true | undefined;
  readonly insecure?: true | undefined;
  readonly save?: string | undefined;
}

export function crawlOptions(flags: CrawlFlags): Options {
  const { maxBytes, maxSitemaps, maxDepth, maxTime } = flags;
  return {
    useRobots: flags.robots,
    useKnownPaths: flags.known,
    useHomepage: flags.homepage,
    extraKnownPaths: flags.knownPath,
    normalizeHomepageUrl: !flags.keepPath,
    strict: flags.strict,
    strictRobots: flags.strictRobots,
    concurrency: flags.concurrency,
    delay: inMilliseconds(flags.delay),
    useCrawlDelay: flags.crawlDelay,
    timeout: inMilliseconds(flags.timeout),
    retries: flags.retries,
    limits: {
      ...(maxBytes === undefined ? {} : { documentBytes: maxBytes }),
      ...(maxSitemaps === undefined ? {} : { documents: maxSitemaps }),
      ...(maxDepth === undefined ? {} : { depth: maxDepth }),
      ...(maxTime === undefined ? {} : { time: maxTime * 1000 }),
    },
    network: flags.allowPrivate ? "allow-private" : flags.publicOnly ? "public-only" : "default",
    headers: headers(flags.header ?? []),
    userAgent: flags.userAgent,
    proxy: flags.proxy,
    tls: { verify: !flags.insecure },
    save: flags.save,
  };
}

function inMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

// A header may be a secret: no message repeats it.
function headers(lines: readonly string[]): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new UsageError('--header takes "Name: value"');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = pairs.get(name);
    // https://www.rfc-editor.org/rfc/rfc9110#name-field-lines-and-combined-fi: repeated fields are one list.
    pairs.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(pairs);
}
