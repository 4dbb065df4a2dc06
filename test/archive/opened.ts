import { onTestFinished } from "vitest";
import { type Archive, openArchive } from "../../src/archive/reader.ts";

/** An archive that is closed after the test. */
export async function opened(file: string): Promise<Archive> {
  const archive = await openArchive(file);
  onTestFinished(() => archive.close());
  return archive;
}
