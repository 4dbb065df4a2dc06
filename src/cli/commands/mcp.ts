// `sitegrove mcp`: a server of the Model Context Protocol on standard input and output, for agents.
import { homedir } from "node:os";
import path from "node:path";
import { Command } from "commander";
import { missingPackage } from "../../fleet/optional-package.ts";
import { siteJob } from "../../fleet/site-job.ts";
import type { Context, Done } from "../context.ts";
import { type ExitCode, exitCodes, UsageError } from "../exit-codes.ts";
import { addFlags, type CrawlFlags, collected, crawlOptions } from "../flags.ts";
import { addHelp } from "../help.ts";

interface McpFlags extends CrawlFlags {
  readonly dir?: string | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly allowPrivate?: true | undefined;
}

export function mcpCommand(context: Context, done: Done): Command {
  const command = new Command("mcp")
    .summary("run an MCP server for agents")
    .description(
      "Runs a Model Context Protocol server on standard input and output. Agents may ask about any public website or, with\n" +
        "--allow, only about given websites, which may be private. Needs the package @modelcontextprotocol/server.",
    )
    .option("--dir <folder>", "folder to save websites in (default: your cache folder)")
    .option("--allow <site>", "only answer about this website, which may be private (repeatable)", collected);
  addFlags(command, "Discovery", "Network", "Limits");
  command.action(async (flags: McpFlags) => done(await mcp(flags, context)));
  return addHelp(command, {
    flags: "--dir --allow --user-agent --max-time",
    examples: `
Examples:
  sitegrove mcp                                      any public website
  sitegrove mcp --allow docs.example.org             one website
  sitegrove mcp --dir sites --allow localhost:3000   one on this machine
`,
    more: `
Tools: site_summary, list_pages, check_site, changes. Answers are smaller than 64 kB.
`,
  });
}

async function mcp(flags: McpFlags, context: Context): Promise<ExitCode> {
  const { dir, allow = [], allowPrivate, ...rest } = flags;
  if (allowPrivate) throw new UsageError("--allow-private has no effect here: use --allow SITE");
  for (const site of allow)
    if (siteJob(site) === undefined) throw new UsageError(`--allow takes a website, not ${site}`);
  if (rest["header"] !== undefined && allow.length === 0)
    throw new UsageError("--header needs --allow SITE: an agent could have it sent to any website");
  const needed = missingPackage("sitegrove mcp needs a package: npm install @modelcontextprotocol/server");
  const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio").catch(needed);
  const [{ createServer }, { Sites }] = await Promise.all([import("../mcp/server.ts"), import("../mcp/sites.ts")]);
  const cache = context.environment["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache");
  const stop = new AbortController();
  const sites = new Sites({
    folder: dir ?? path.join(cache, "sitegrove"),
    allowed: allow,
    crawl: crawlOptions(rest),
    signal: stop.signal,
  });
  const { stdin, stdout, stderr } = context;
  if ((stdin as { isTTY?: boolean }).isTTY)
    stderr.write("sitegrove: waiting for an agent's requests; Ctrl-C stops it\n");
  const sent = () =>
    new Promise<void>((resolve, fail) => stdout.write("", (error) => (error ? fail(error) : resolve())));
  const server = createServer(sites, stop.signal, sent);
  const closed = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport(stdin, stdout));
  await closed;
  stop.abort(new Error("The agent has left"));
  return exitCodes.complete;
}
