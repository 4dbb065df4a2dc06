// The data of `BullQueue`: sites, runs, schedules. In a file that does not import BullMQ, because the types of the package must not need it: it
// is optional.
import type { SiteJob } from "./site-job.ts";

/** News about the connection to the server. */
export type ServerNews =
  | { readonly type: "lost"; readonly message: string }
  | { readonly type: "back" }
  /** Something may go wrong later. */
  | { readonly type: "warning"; readonly message: string };

/** A site of a list, with its archive from an earlier run. */
export interface ListedSite extends SiteJob {
  readonly previous?: string | undefined;
}

/** The settings of a run: plain data, chosen by whoever fills it. */
export type RunSettings = Readonly<Record<string, unknown>>;

/** A run on a server. */
export interface RunEntry {
  readonly run: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  readonly settings: RunSettings;
  /** Whether sites are being added to it. */
  readonly isFilling: boolean;
}

/** The runs of a server, and those of them that have websites left. */
export interface RunsUnderWay {
  readonly runs: number;
  readonly open: readonly (RunEntry & { readonly left: number })[];
}

/** A run that is repeated. */
export interface Schedule {
  readonly run: string;
  /** In milliseconds. */
  readonly every: number;
  /** In milliseconds since 1970. */
  readonly next: number | undefined;
  /** How many repetitions the queue keeps. */
  readonly keep: number | undefined;
}
