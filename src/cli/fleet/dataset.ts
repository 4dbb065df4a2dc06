// `sitegrove fleet dataset DIR --out SET`: the tables of a run.
import { storedRun } from "../../fleet/results.ts";
import { isBucket } from "../../fleet/s3-bucket.ts";
import { Store } from "../../fleet/store.ts";
import { counted } from "../../model/figures.ts";
import type { Context } from "../context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { expectDistinct } from "../input/target.ts";
import { Messages } from "../output/messages.ts";
import { cutListsText, damagedLines } from "./status.ts";

export async function fleetDataset(
  folder: string,
  out: string,
  run: string | undefined,
  context: Context,
): Promise<ExitCode> {
  if (!isBucket(folder) && !isBucket(out)) expectDistinct([folder], { "--out": out });
  const from = await storedRun(folder, run);
  // Imports it here, because it loads the library that writes Parquet.
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
  if (from.unreadable > 0)
    messages.say(`incomplete: ${counted(from.unreadable, "summary", "summaries")} could not be read`, "warning");
  if (from.damaged > 0) messages.say(`incomplete: ${damagedLines(from.damaged)}`, "warning");
  if (from.cutLists > 0) messages.say(`incomplete: ${cutListsText(from.cutLists)}`, "warning");
  if (from.unfinished > 0)
    messages.say(
      `incomplete: no result yet for ${counted(from.unfinished, "website")}; continue with sitegrove fleet --out ${folder}`,
      "warning",
    );
  const isComplete = first === undefined && from.unreadable + from.unfinished + from.damaged + from.cutLists === 0;
  return isComplete ? exitCodes.complete : exitCodes.incomplete;
}
