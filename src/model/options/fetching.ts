// Options about requests: how many, how fast, how long, to whom, and as whom.
import { client, headers, headerValue, oneOf, proxy, strings } from "../option-checks.ts";
import { version } from "../version.ts";
import type { OptionRow } from "./row.ts";

const timeouts: readonly OptionRow[] = [
  {
    name: "connect",
    default: 10_000,
    minimum: 1,
    text: "To connect, including a proxy's answer and TLS. Looking up the name has 10 seconds of its own.",
  },
  { name: "firstByte", default: 30_000, minimum: 1, text: "From the request to the first byte of the response." },
  { name: "idle", default: 15_000, minimum: 1, text: "Between two chunks of the body." },
  {
    name: "total",
    default: 120_000,
    minimum: 1,
    text: "For one attempt at a document, first to last byte.",
    flags: [{ flags: "--timeout <seconds>", text: "maximum time for one attempt at a document", value: "seconds" }],
  },
];

export const fetchingOptions: readonly OptionRow[] = [
  {
    name: "concurrency",
    type: "number | { perHost?: number | undefined; total?: number | undefined }",
    settingType: "{ readonly perHost: number; readonly total: number }",
    shorthand: "perHost",
    members: [
      {
        name: "perHost",
        default: 4,
        minimum: 1,
        text: "From one host.",
        flags: [
          {
            flags: "--concurrency <n>",
            text: "documents fetched from one host at a time; four times as many in all",
            value: "number",
          },
        ],
      },
      {
        name: "total",
        default: 16,
        defaultFrom: ({ perHost }) => Number(perHost) * 4,
        minimum: 1,
        text: "From all hosts.",
      },
    ],
    text: "How many documents are fetched at a time. A number is the limit for one host; in total, four times as many.",
  },
  {
    name: "delay",
    type: "number | { milliseconds?: number | undefined; random?: boolean | undefined }",
    settingType: "{ readonly milliseconds: number; readonly random: boolean }",
    shorthand: "milliseconds",
    members: [
      {
        name: "milliseconds",
        default: 0,
        text: "The pause.",
        flags: [{ flags: "--delay <seconds>", text: "pause between two requests to one host", value: "seconds" }],
      },
      { name: "random", default: false, text: "Vary each pause." },
    ],
    text: "The pause between two requests to one host, in milliseconds. `random` draws each from half to one and a half times of it.",
    example: "{ milliseconds: 1000, random: true }",
  },
  {
    name: "useCrawlDelay",
    default: false,
    text: "Respect the `Crawl-delay` of robots.txt where it is longer than `delay`, up to 60 seconds.",
    flags: [{ flags: "--crawl-delay", text: "respect the Crawl-delay of robots.txt, up to 60 seconds", sets: true }],
  },
  {
    name: "retries",
    default: 3,
    text: "How often a request is retried after a temporary failure. A host that has never answered anything gets one retry in all.",
    more: "See [what counts as temporary](inside/fetching.md).",
    flags: [{ flags: "--retries <n>", text: "retries after temporary failures", value: "number" }],
  },
  {
    name: "timeout",
    type: "number | Partial<Timeouts>",
    settingType: "Timeouts",
    shorthand: "total",
    members: timeouts,
    defaultShown: "see [Timeouts](#timeouts)",
    text: "How long to wait, in milliseconds. A number is the limit for one attempt at a document, first to last byte (`total`).",
  },
  {
    name: "network",
    type: "NetworkPolicy",
    default: "default",
    check: oneOf(["default", "allow-private", "public-only"]),
    text: "Which addresses may be connected to. `default`: private addresses only where the caller named them, never where a website does. `allow-private`: any. `public-only`: public ones only, even at the start.",
    more: "See [security](security.md).",
    flags: [
      { flags: "--allow-private", text: "follow links into private networks", sets: "allow-private" },
      {
        flags: "--public-only",
        text: "refuse private networks, even for the homepage",
        sets: "public-only",
        conflicts: "allowPrivate",
      },
    ],
  },
  {
    name: "headers",
    type: "Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>",
    settingType: "Readonly<Record<string, string>>",
    default: {},
    check: headers,
    text: "Headers for requests to the origin of the homepage, as an object, `Headers` or a `Map`. They are never sent elsewhere.",
    example: '{ authorization: "Bearer …" }',
    flags: [
      { flags: "--header <line>", text: "extra request header, sent only to this site (repeatable)", value: "headers" },
    ],
  },
  {
    name: "userAgent",
    type: "string",
    default: `sitegrove/${version} (+https://www.npmjs.com/package/sitegrove)`,
    defaultShown: '`"sitegrove/<version> (+https://www.npmjs.com/package/sitegrove)"`',
    check: headerValue,
    text: "The User-Agent header to send.",
    flags: [{ flags: "--user-agent <text>", text: "User-Agent header to send", value: "text" }],
  },
  {
    name: "proxy",
    type: "string | URL | false",
    settingType: "string | false",
    default: "environment",
    check: proxy,
    text: 'The HTTP proxy to use, as a URL or `host:port`. `"environment"`: the one that `HTTP_PROXY` and `HTTPS_PROXY` name, but not for hosts in `NO_PROXY`. `false`: none. The proxy resolves host names: the address policy then sees only names and literal addresses.',
    more: "See [what is sent](inside/fetching.md#what-is-sent).",
    flags: [
      {
        flags: "--proxy <url>",
        text: "HTTP proxy, as a URL or host:port (default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY)",
        value: "text",
      },
      { flags: "--no-proxy", text: "connect directly, whatever HTTP_PROXY says", sets: false },
    ],
  },
  {
    name: "tls",
    type: "{ verify?: boolean | undefined; ca?: string | readonly string[] | undefined }",
    settingType: "{ readonly verify: boolean; readonly ca: readonly string[] }",
    members: [
      {
        name: "verify",
        default: true,
        text: "Check certificates.",
        flags: [{ flags: "--insecure", text: "do not check certificates", sets: false }],
      },
      {
        name: "ca",
        type: "string | readonly string[]",
        default: [],
        check: (name, value) => strings(name, typeof value === "string" ? [value] : value),
        text: "Further certificates to trust.",
        flags: [
          { flags: "--ca <file>", text: "PEM file with certificates to trust, too (repeatable)", value: "files" },
        ],
      },
    ],
    text: "`verify: false` accepts any certificate; `ca` are certificates to trust (PEM), besides those that Node.js trusts.",
  },
  {
    name: "client",
    type: "Client",
    check: client,
    text: "What answers the requests, instead of the built-in client. The address policy then judges only the URL; name resolution, `proxy` and `tls` are up to the client.",
    more: "See [your own client](library.md#your-own-client).",
  },
];
