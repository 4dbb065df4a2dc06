// What the parts of one crawl share: what it was given, what it may still do, and what it has visited.
import type { Settings } from "../model/options.ts";
import type { Budget } from "./budget.ts";
import type { Identities } from "./identities.ts";
import type { OpenCrawl } from "./open.ts";
import type { Start } from "./prepare.ts";
import type { FollowRules } from "./redirects.ts";
import type { Emit } from "./run.ts";
import type { Visited } from "./visited.ts";

export interface CrawlContext extends OpenCrawl {
  readonly start: Start;
  readonly settings: Settings;
  readonly rules: FollowRules;
  readonly budget: Budget;
  readonly visited: Visited;
  readonly identities: Identities;
  /** Whether documents are also read before their visit: see early.ts. */
  readonly readsEarly: boolean;
  readonly emit: Emit;
}
