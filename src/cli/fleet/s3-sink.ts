// The outputs of a fleet in a bucket. Each attempt writes its own files in a temporary folder. They are uploaded under
// names that contain the attempt, and then the summary that names them, under the name of the website. The first
// summary counts: a later attempt adopts its result and removes its own files.

import { rm } from "node:fs/promises";
import path from "node:path";
import type { SiteOutput, SiteSink } from "../../fleet/fleet-options.ts";
import type { S3Bucket } from "../../fleet/s3-bucket.ts";
import { keyHash, type SiteJob, type SiteSummary } from "../../fleet/site-job.ts";
import { jsonOf } from "../../write/printable.ts";
import { FolderSink, type FolderSinkOptions, hostInNames } from "./sink.ts";

export interface S3SinkOptions extends FolderSinkOptions {
  readonly bucket: S3Bucket;
  /** Part of the names of summaries, because each run has its own. */
  readonly run?: string | undefined;
}

export class S3Sink implements SiteSink {
  readonly #options: S3SinkOptions;
  readonly #folder: FolderSink;

  constructor(options: S3SinkOptions) {
    this.#options = options;
    this.#folder = new FolderSink(options);
  }

  /** The published summary of a website, if there is one. */
  async published(job: SiteJob): Promise<SiteSummary | undefined> {
    const text = await this.#options.bucket.get(summaryName(job, this.#options.run));
    return text === undefined ? undefined : (JSON.parse(text) as SiteSummary);
  }

  async open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const { bucket, folder, run } = this.#options;
    const output = await this.#folder.open(job, attemptId);
    const uploaded: string[] = [];
    let isPublished = false;
    const discard = async () => {
      await output.discard();
      if (!isPublished) for (const name of uploaded.splice(0)) await bucket.delete(name);
    };
    return {
      ...output,
      keep: async (summary) => {
        const kept = await output.keep(summary);
        for (const name of Object.values(kept.files ?? {})) {
          uploaded.push(name);
          const file = path.join(folder, name);
          await bucket.upload(name, file);
          await rm(file, { force: true });
        }
        const whole = { ...summary, ...kept };
        const name = summaryName(job, run);
        if ((await bucket.put(name, `${jsonOf(whole)}\n`, "application/json")) === "exists") {
          const first = await this.published(job);
          if (first !== undefined && first.attemptId !== attemptId) {
            await discard();
            return first;
          }
        }
        isPublished = true;
        return kept;
      },
      discard,
    };
  }
}

/** `summaries/monday/3f/example.org.3f9a2c1b5d7e8f90.json`. */
export function summaryName(job: SiteJob, run: string | undefined): string {
  const hash = keyHash(job.key);
  return path.posix.join("summaries", run ?? "", hash.slice(0, 2), `${hostInNames(job)}.${hash}.json`);
}
