// What a queue of BullMQ takes and tells, as plain data. Apart from what needs BullMQ, because the types of the package must not:
// it is an optional dependency.
import type { SiteJob } from "./site-job.ts";

/** What is said about the connection while it is used. */
export type ServerNews =
  | { readonly type: "lost"; readonly message: string }
  | { readonly type: "back" }
  /** Nothing is wrong yet. */
  | { readonly type: "warning"; readonly message: string };

/** A site of a list, with the archive to build on. */
export interface ListedSite extends SiteJob {
  readonly previous?: string | undefined;
}

/** What a run was given. Plain data, of whoever fills it. */
export type RunSettings = Readonly<Record<string, unknown>>;

/** A run of the server. */
export interface RunEntry {
  readonly run: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  readonly settings: RunSettings;
  /** Somebody adds to it. */
  readonly isFilling: boolean;
}

/** A run that begins again and again. */
export interface Schedule {
  readonly run: string;
  /** In milliseconds. */
  readonly every: number;
  /** In milliseconds since 1970. */
  readonly next: number | undefined;
}
