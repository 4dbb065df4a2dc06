// `sitegrove fleet dataset DIR --out SET`: the tables of a run.
import { storedRun } from "../../fleet/results.ts";
import { isBucket } from "../../fleet/s3-bucket.ts";
import { Store } from "../../fleet/store.ts";
import { counted } from "../../model/figures.ts";
import type { Context } from "../context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { expectDistinct } from "../input/target.ts";
import { Messages } from "../output/messages.ts";
import { reportGaps } from "./status.ts";

export async function fleetDataset(
  folder: string,
  out: string,
  run: string | undefined,
  context: Context,
): Promise<ExitCode> {
  if (!isBucket(folder) && !isBucket(out)) expectDistinct([folder], { "--out": out });
  const from = await storedRun(folder, run);
  // Imports the module here, because it loads the library that writes Parquet.
  const { writeDataset } = await import("../../fleet/dataset.ts");
  const { sites, pages, damaged } = await writeDataset(from, await Store.open(out));
  const messages = new Messages({ color: true }, context);
  context.stdout.write(`${from.run}: ${counted(sites, "website")}, ${counted(pages, "page")}\n`);
  const [first] = damaged;
  if (first !== undefined)
    messages.say(
      `incomplete: files of ${counted(damaged.length, "website")} are missing or damaged, such as those of ${first}`,
      "warning",
    );
  const hasGaps = reportGaps(from, messages);
  return first === undefined && !hasGaps ? exitCodes.complete : exitCodes.incomplete;
}
