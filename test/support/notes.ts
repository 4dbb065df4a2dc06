// Rewrites what an archive says of its documents, in its last record, as somebody would who lies: digest and length are right.
import { readFileSync, writeFileSync } from "node:fs";
import { digestOf } from "../../src/archive/digest.ts";

export interface Notes {
  by: string;
  documents: Record<string, unknown>[];
}

const split = (archive: string) => {
  const bytes = readFileSync(archive, "latin1");
  const start = bytes.lastIndexOf("WARC/1.1");
  const [head = "", json = ""] = bytes.slice(start).split("\r\n\r\n");
  return { before: bytes.slice(0, start), head, end: JSON.parse(json) as { readings?: Notes } };
};

/** The notes of an archive that is not compressed. */
export function notesOf(archive: string): Notes | undefined {
  return split(archive).end.readings;
}

export async function changeNotes(archive: string, copy: string, change: (notes: Notes) => void): Promise<string> {
  const { before, head, end } = split(archive);
  change(end.readings as Notes);
  const content = Buffer.from(JSON.stringify(end));
  const digest = await digestOf([content]);
  const changed = head
    .replace(/WARC-Block-Digest: .*/, `WARC-Block-Digest: ${digest}`)
    .replace(/Content-Length: .*/, `Content-Length: ${content.length}`);
  writeFileSync(copy, Buffer.from(`${before}${changed}\r\n\r\n${content.toString("latin1")}\r\n\r\n`, "latin1"));
  return copy;
}
