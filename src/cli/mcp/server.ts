// The tools of `sitegrove mcp`, on the official SDK of the Model Context Protocol. Failures are results with `isError` and a message.
import { Readable } from "node:stream";
import { type CallToolResult, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { type Reading, read } from "../../crawl/read.ts";
import { SitemapError } from "../../model/errors.ts";
import { counted } from "../../model/figures.ts";
import { type PageFilters, resolveOptions, version } from "../../model/options.ts";
import { resolveParseOptions } from "../../model/parse-options.ts";
import { withAssumedScheme } from "../../model/url.ts";
import type { Entries } from "../../parse/entries.ts";
import { UsageError } from "../exit-codes.ts";
import { isRobotsText } from "../input/target.ts";
import {
  type Answer,
  Bounded,
  findingsOf,
  hasWords,
  listed,
  mostBytes,
  pagesOf,
  problemLine,
  summaryOf,
  unlessComplete,
} from "./answers.ts";
import { ChangeLists } from "./changes.ts";
import { NoAnswer, notRead, type Sites } from "./sites.ts";

type Data = Readonly<Record<string, unknown>>;

const text = (description: string) => ({ type: "string", description }) as const;
const pattern = (description: string) =>
  ({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }], description }) as const;
const flag = (description: string) => ({ type: "boolean", description }) as const;
const list = (...required: readonly string[]) =>
  ({ type: "array", items: { type: "object", properties: {}, required } }) as const;
const [string, count, object] = [{ type: "string" }, { type: "integer" }, { type: "object" }] as const;
const site = { site: text("the homepage of the website, such as https://example.org/") };
const refresh = { refresh: flag("crawl the website again instead of using the stored copy") };
const paging = {
  limit: { ...count, minimum: 1, maximum: 1000, description: "maximum number of pages to return (default: 100)" },
  cursor: text("nextCursor from the previous result"),
} as const;
const complete = flag("whether all of the website's sitemaps could be read");

// What the tools return.
const outputs = {
  summary: {
    ...{ site: string, complete, pages: count, sitemaps: object, sections: object, dates: object, languages: object },
    ...{ preferences: list(), problems: object },
  },
  pages: { complete, pages: list("url"), nextCursor: string, note: string },
  findings: { site: string, complete, rulesFailed: object, findings: list("rule"), omitted: count, notChecked: count },
  changes: { isFirst: flag("no earlier state"), complete, changes: list("kind", "page"), nextCursor: string },
  document: {
    ...{ kind: string, format: string, complete, counts: object, omitted: object, pages: list("url") },
    ...{ sitemaps: list("url"), preferences: list(), problems: list("code") },
  },
} as const;
const optional = ["nextCursor", "note", "preferences"];

interface PageQuestion {
  readonly site: string;
  readonly limit?: number;
  readonly cursor?: string;
  readonly refresh?: boolean;
}

type ListQuestion = PageQuestion & Omit<PageFilters, "limit">;

/** `sent` resolves when everything written so far has reached the agent. */
export function createServer(sites: Sites, signal: AbortSignal, sent: () => Promise<void>): McpServer {
  const server = new McpServer({ name: "sitegrove", version });
  const add = <Question>(
    name: string,
    description: string,
    input: Data,
    returns: keyof typeof outputs,
    answer: (question: Question) => Promise<Answer>,
  ) => {
    const { required = [], ...properties } = input as { required?: readonly string[] };
    const schema = { type: "object", properties, required, additionalProperties: false };
    const names = Object.keys(outputs[returns]).filter((each) => !optional.includes(each));
    const output = { type: "object", properties: outputs[returns], required: names };
    const config = {
      description,
      inputSchema: fromJsonSchema<Question>(schema as never),
      outputSchema: fromJsonSchema<Data>(output as never),
      annotations: { readOnlyHint: true, openWorldHint: true },
    };
    server.registerTool(
      name,
      config as never,
      ((question: Question) => answered(() => answer(question), sent)) as never,
    );
  };
  const changes = new ChangeLists(sites);
  signal.addEventListener("abort", () => changes.closeAll(), { once: true });
  // Reading a website again ends a list of its changes.
  const use: Sites["use"] = async (site, isRefreshed, work) => {
    if (isRefreshed) await changes.close(site);
    return sites.use(site, isRefreshed, work);
  };
  const question = { ...site, ...refresh, required: ["site"] };

  add<PageQuestion>(
    "site_summary",
    "An overview of a website's sitemaps: sitemaps, pages by section, dates, languages, AI preferences, and whether everything could be read. Call this first.",
    question,
    "summary",
    ({ site, refresh = false }) => use(site, refresh, summaryOf),
  );

  const listing = async (
    { site, refresh = false, limit = 100, cursor }: PageQuestion,
    chosen: Parameters<typeof pagesOf>[1],
  ) => {
    const facts = await use(site, refresh, (tree, state) => pagesOf(tree, chosen, { limit, cursor, state }));
    const more = facts.nextCursor ? "; there are more" : "";
    const note = `${facts.note ? `; ${facts.note}` : ""}${unlessComplete(facts.complete)}`;
    return [`${counted(facts.pages.length, "page")}${more}${note}`, facts] as const;
  };
  add<ListQuestion>(
    "list_pages",
    "The pages that a website's sitemaps declare, in declared order. A pattern is a substring of the URL, a wildcard pattern for the whole URL (*/blog/*), or a regular expression between slashes.",
    {
      ...question,
      include: pattern("only pages whose URL matches one of these patterns"),
      exclude: pattern("skip pages whose URL matches one of these patterns"),
      since: text("only pages modified since a date or within a period: 2026-05-31, 36h, 7d, 2w"),
      undated: { ...text("with since: what to do with pages without a date (default: drop)"), enum: ["drop", "keep"] },
      unique: flag("each URL once, even if several sitemaps list it"),
      scope: {
        ...text("only pages on the homepage's host, or on its domain and its subdomains (default: any)"),
        enum: ["any", "site", "host"],
      },
      allowedFor: text("only pages that robots.txt allows this crawler to fetch, such as GPTBot"),
      ...paging,
    },
    "pages",
    async (asked) => {
      const { site: _, refresh: __, limit: ___, cursor: ____, ...filters } = asked;
      return listing(asked, { filters });
    },
  );
  add<PageQuestion & { readonly words: string }>(
    "find_pages",
    "The pages that contain all the given words in their path, titles or descriptions. Sitemaps rarely have titles, so use words that occur in paths.",
    {
      ...question,
      words: { ...text("words, separated by spaces, case-insensitive"), pattern: "\\S" },
      ...paging,
      required: ["site", "words"],
    },
    "pages",
    async (asked) => listing(asked, { matches: hasWords(asked.words) }),
  );
  add<PageQuestion>(
    "check_site",
    "What is wrong with a website's sitemaps, how search engines react, and how to fix it.",
    question,
    "findings",
    ({ site, refresh = false }) => use(site, refresh, (tree) => findingsOf(tree, signal)),
  );
  add<{ readonly site: string; readonly cursor?: string }>(
    "changes",
    "Crawls a website again, and lists the pages that were added, changed or removed since it was last read here. The first call only records the current state. With a cursor, continues the same list.",
    { ...site, cursor: paging.cursor, required: ["site"] },
    "changes",
    async ({ site, cursor }) => {
      const [facts, delivered] = await changes.list(site, cursor);
      const listed = `${counted(facts.changes.length, "change")}${facts.nextCursor ? "; there are more" : ""}`;
      const sentence = facts.isFirst ? "read for the first time; changes are listed from now on" : listed;
      return [sentence + unlessComplete(facts.complete), facts, delivered];
    },
  );
  add<{ readonly text?: string; readonly url?: string }>(
    "parse_sitemap",
    "Reads one sitemap, sitemap index, feed, robots.txt or llms.txt: from its text, or from its URL.",
    {
      text: text("the content of the document"),
      url: text("its URL; if text is given, the base for relative URLs"),
    },
    "document",
    (asked) => parsed(sites, asked),
  );
  return server;
}

async function parsed(sites: Sites, { text, url }: { readonly text?: string; readonly url?: string }): Promise<Answer> {
  if (text !== undefined) {
    const { url: base, ...settings } = resolveParseOptions({ url });
    const document = { url: base, headers: [], body: Readable.from([Buffer.from(text)]), isRobots: isRobotsText(text) };
    return parsedFacts(read(document, settings), url);
  }
  if (url === undefined) throw new NoAnswer("Give the text of a document, or its URL");
  const { fetchDocument } = await import("../../crawl/fetch-one.ts");
  const options = sites.crawlOptions(url);
  const opened = await fetchDocument(withAssumedScheme(url), options);
  if (opened.outcome !== "found") throw notRead(url, opened.reason);
  try {
    const { limits, strict } = resolveOptions(options);
    return await parsedFacts(read(opened.document, { limits, strict }), opened.document.url);
  } finally {
    await opened.close();
  }
}

async function parsedFacts(
  reading: AsyncGenerator<Entries, Reading, boolean | undefined>,
  url = "the text",
): Promise<Answer> {
  const pages = new Bounded<object>(mostBytes / 2);
  const sitemaps = new Bounded<object>(mostBytes / 4);
  let step = await reading.next();
  for (; !step.done; step = await reading.next()) {
    for (const page of step.value.pages) pages.add(listed(page));
    for (const reference of step.value.sitemaps) sitemaps.add(reference);
  }
  const { outcome, complete, problems } = step.value;
  if (outcome.kind === "invalid") throw notRead(url, outcome.reason);
  const found = problems.map((problem) => problemLine(url, problem));
  const { kind, format } = outcome;
  const counts = { pages: pages.items.length + pages.omitted, sitemaps: sitemaps.items.length + sitemaps.omitted };
  const preferences = new Bounded(mostBytes / 8, ("preferences" in outcome && outcome.preferences) || []);
  const facts = {
    kind,
    format,
    complete,
    counts,
    omitted: { pages: pages.omitted, sitemaps: sitemaps.omitted },
    pages: pages.items,
    sitemaps: sitemaps.items,
    ...(preferences.items.length > 0 && { preferences: preferences.items }),
    problems: new Bounded(mostBytes / 8, found).items,
  };
  return [`${format}: ${counted(counts.pages, "page")}, ${counted(counts.sitemaps, "sitemap")}`, facts];
}

async function answered(answer: () => Promise<Answer>, sent: () => Promise<void>): Promise<CallToolResult> {
  try {
    const [text, facts, delivered] = await answer();
    // If the delivery cannot be recorded, the next answer repeats the changes.
    if (delivered !== undefined)
      setImmediate(() =>
        sent()
          .then(
            () => delivered(true),
            () => delivered(false),
          )
          .catch(() => undefined),
      );
    return { content: [{ type: "text", text }], structuredContent: { ...facts } };
  } catch (error) {
    const isExpected = error instanceof NoAnswer || error instanceof SitemapError || error instanceof UsageError;
    const message = error instanceof Error ? error.message : String(error);
    const text = (isExpected ? message : `unexpected: ${message}`).slice(0, 2000);
    return { content: [{ type: "text", text }], isError: true };
  }
}
