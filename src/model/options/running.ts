// Options about what is kept, and how a run is watched and stopped.
import { functionValue, oneOf, path, signal, strings } from "../option-checks.ts";
import type { OptionRow } from "./row.ts";

export const storageOptions: readonly OptionRow[] = [
  {
    name: "store",
    type: "StoreKind",
    default: "auto",
    check: oneOf(["auto", "memory", "file"]),
    text: "Where documents are kept until the tree is closed: in `memory`, in a private temporary `file`, or `auto`: in memory while the website is small.",
  },
  {
    name: "save",
    type: "string",
    check: path,
    text: "Save the documents to a WARC archive at this path, written during the crawl. `openTree` reads it. A name that ends in `.gz` is compressed. The file must not exist.",
    more: "See [archives](archives.md).",
    flags: [
      { flags: "--save <file>", text: "WARC archive to save all responses to (.warc or .warc.gz)", value: "text" },
    ],
  },
  {
    name: "previous",
    type: "string | readonly string[]",
    settingType: "readonly string[] | undefined",
    check: (name, value) =>
      (typeof value === "string" ? [value] : strings(name, value)).map((item) => path(name, item)),
    text: "Archives of earlier runs: documents that the website says are unchanged are taken from them. The tree is the same as without.",
    more: "See [archives](archives.md#runs-that-build-on-the-last-one).",
    flags: [
      {
        flags: "--previous <file>",
        text: "archive of an earlier run, for unchanged documents (repeatable)",
        value: "texts",
      },
    ],
  },
  {
    name: "trustLastmod",
    default: false,
    text: "With `previous`: do not ask for sitemaps whose `lastmod` in their index is the same as before, but for about a seventh of them each day. They are marked as `notAsked` in the tree.",
    more: "Off because many indexes give wrong dates. See [archives](archives.md#runs-that-build-on-the-last-one).",
    flags: [{ flags: "--trust-lastmod", text: "with --previous: skip sitemaps with an unchanged lastmod", sets: true }],
  },
  {
    name: "resume",
    type: "string",
    check: path,
    text: "Continue the archive at this path, whose run was killed, stopped or cut short: only what is missing is fetched, and appended to it.",
    more: "Settings that shape a tree come from the archive unless they are given. See [archives](archives.md#runs-that-go-on).",
    flags: [
      {
        flags: "--resume <file>",
        text: "archive of a run that was stopped; fetch only what is missing",
        value: "text",
        conflicts: "save",
      },
    ],
  },
];

export const watchingOptions: readonly OptionRow[] = [
  {
    name: "signal",
    type: "AbortSignal",
    check: signal,
    text: "Stops the run: what was called rejects with the signal's reason, and leaves nothing behind.",
  },
  {
    name: "onEvent",
    type: "(event: CrawlEvent) => void",
    check: functionValue,
    text: "Called for everything that happens, with the events that `crawl()` yields.",
    more: "See [events](library.md#events).",
  },
  {
    name: "onUnreachable",
    type: '"throw" | "end"',
    default: "throw",
    check: oneOf(["throw", "end"]),
    text: "What `streamPages` does if the website cannot be reached, or refuses everything: `throw` a `SitemapError` with the code `unreachable`, or `end` without a page.",
  },
];
