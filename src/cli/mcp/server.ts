// The tools of `sitegrove mcp`, on the official SDK of the Model Context Protocol, which turns errors into results with `isError`.
import { setImmediate } from "node:timers/promises";
import { fromJsonSchema, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { version } from "../../model/options.ts";
import { type Answer, findingsOf, type PageQuestion, pagesOf, type Question, summaryOf } from "./answers.ts";
import { changesSince } from "./changes.ts";
import { NoAnswer, type Sites } from "./sites.ts";

type Schema = Readonly<Record<string, object>>;

const text = (description: string) => ({ type: "string", description }) as const;
const pattern = (description: string) =>
  ({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }], description }) as const;
const flag = (description: string) => ({ type: "boolean", description }) as const;
const count = (description: string) => ({ type: "integer", description }) as const;
const object = (description: string) => ({ type: "object", description }) as const;
const list = (description: string, ...required: readonly string[]) =>
  ({ type: "array", items: { type: "object", properties: {}, required }, description }) as const;

const site = { site: text("the homepage of the website, such as https://example.org/") };
const refresh = { refresh: flag("crawl the website again instead of using the saved copy") };
const cursor = { cursor: text("nextCursor from the previous result, to continue it") };
const complete = { complete: flag("false if a sitemap could not be read, so that something may be missing") };
const crawledAt = { crawledAt: text("when the website was crawled; refresh crawls it again") };
const nextCursor = { nextCursor: text("there is more: call the tool again with this as cursor") };

/** Creates the server. `sent` resolves when the system has accepted everything that was written so far. */
export function createServer(sites: Sites, signal: AbortSignal, sent: () => Promise<void>): McpServer {
  const server = new McpServer({ name: "sitegrove", version });
  // Resolves when the answers that must not be lost have been sent.
  let delivery = Promise.resolve();
  // Registers a tool. Its result always has the fields of `output`, and may have those of `optional`.
  const add = <Asked>(
    name: string,
    description: string,
    input: Schema,
    output: Schema,
    optional: Schema,
    answer: (question: Asked) => Promise<Answer>,
  ) => {
    const properties = { ...site, ...input };
    const taken = { type: "object", properties, required: ["site"], additionalProperties: false };
    const given = { type: "object", properties: { ...output, ...optional }, required: Object.keys(output) };
    const config = {
      description,
      inputSchema: fromJsonSchema<Asked>(taken as never),
      outputSchema: fromJsonSchema<object>(given as never),
      annotations: { readOnlyHint: true, openWorldHint: true },
    };
    const call = async (asked: Asked, { mcpReq }: ServerContext) => {
      await delivery;
      const [text, facts, onSent] = await answer(asked).catch(failWithShortMessage);
      // The SDK writes the result after this function has returned it, unless the agent has canceled the call.
      const deliver = async () => {
        await setImmediate();
        if (!mcpReq.signal.aborted)
          await sent()
            .then(onSent)
            .catch(() => undefined);
      };
      if (onSent !== undefined) delivery = delivery.then(deliver);
      // Clients that do not know `structuredContent` read the facts as text: https://modelcontextprotocol.io/specification/2025-06-18/server/tools
      const content = [text, JSON.stringify(facts)].map((each) => ({ type: "text", text: each }));
      return { content, structuredContent: facts };
    };
    server.registerTool(name, config as never, call as never);
  };

  add<Question>(
    "site_summary",
    "An overview of the pages that a website declares in its sitemaps: how many there are, by section, date and language; the sitemaps; what robots.txt says about AI; and whether everything could be read. Call this first.",
    refresh,
    {
      ...{ ...site, ...complete, ...crawledAt, pages: count("how many pages there are") },
      sitemaps: object("the sitemaps that were found; `omitted` counts those that did not fit"),
      sections: object("the largest sections, and the pages of all others"),
      dates: object("how many pages have a modification date; the oldest and the newest"),
      languages: object("the most frequent languages of alternate pages"),
      preferences: list("what robots.txt says about the use of pages by AI"),
      problems: object("why something is missing; `omitted` counts those that did not fit"),
    },
    {},
    (asked) => sites.use(asked.site, asked.refresh, summaryOf),
  );
  add<PageQuestion>(
    "list_pages",
    "The pages that a website declares in its sitemaps, in their order. To search, use `words` or `include`. A pattern is a part of the URL, a wildcard pattern for the whole URL (*/blog/*), or a regular expression between slashes.",
    {
      words: {
        ...text("only pages with all these words in their path, titles or descriptions; sitemaps rarely have titles"),
        pattern: "\\S",
      },
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
      limit: { ...count("maximum number of pages to return (default: 100)"), minimum: 1, maximum: 1000 },
      ...cursor,
      ...refresh,
    },
    { ...complete, ...crawledAt, pages: list("pages; with `cut`, only a part of a very large one", "url") },
    { ...nextCursor, note: text("why there may be fewer pages than expected") },
    (asked) => sites.use(asked.site, asked.refresh, (tree, state) => pagesOf(tree, asked, state)),
  );
  add<Question>(
    "check_site",
    "What is wrong with a website's sitemaps, how search engines react, and how to fix it.",
    refresh,
    {
      ...{ ...site, ...complete, rulesFailed: object("how many rules failed, by severity") },
      findings: list("one for each rule that failed, with a few examples", "rule"),
      omitted: count("findings that did not fit"),
      notChecked: count("rules that could not be checked, because something could not be read or time ran out"),
    },
    {},
    (asked) => sites.use(asked.site, asked.refresh, (tree) => findingsOf(tree, signal)),
  );
  add<Question>(
    "changes",
    "Crawls a website again, and lists the pages that were added, changed or removed since the last list. The first call only records the current state. A list that was not read to its end is repeated.",
    cursor,
    {
      isFirst: flag("there was no earlier state: changes are listed from now on"),
      ...complete,
      crawledAt: text("when the website was crawled for this list"),
      changes: list("changes", "kind", "page"),
    },
    nextCursor,
    (asked) => changesSince(sites, asked.site, asked.cursor),
  );
  return server;
}

// A message may contain an argument, such as an invalid pattern, of any length. Its end says what is wrong with it.
function failWithShortMessage(error: Error): never {
  const { message } = error;
  if (message.length <= longestMessage) throw error;
  throw new NoAnswer(`${message.slice(0, longestMessage - 300)} … ${message.slice(-297)}`);
}

const longestMessage = 2000;
