// Rewrites the index of an archive that is not compressed, as somebody would who lies: digest, length and trailer are right.
import { readFileSync, writeFileSync } from "node:fs";
import { trailerOf } from "../../src/archive/index-record.ts";
import { digestOf } from "../../src/archive/warc.ts";

export interface Notes {
  by: string;
  /** What is said to be in each document of pages. */
  documents: Record<string, unknown>[];
}

type Line = [url: string, kind: string, lengths: number[], bytes?: number, counts?: unknown];

interface Parts {
  readonly before: Buffer;
  readonly head: string;
  readonly about: string;
  readonly lines: Line[];
  readonly trailer: string;
}

function split(archive: string): Parts {
  const file = readFileSync(archive);
  const [, offset, length] = /sitegrove-index: (\d{15}) (\d{15})/.exec(file.subarray(-1024).toString("latin1")) ?? [];
  const [start, end] = [Number(offset), Number(offset) + Number(length)];
  const record = file.subarray(start, end).toString();
  const [head = "", content = ""] = record.split("\r\n\r\n");
  const [about = "", ...lines] = content.trimEnd().split("\n");
  return {
    before: file.subarray(0, start),
    head,
    about,
    lines: lines.map((line) => JSON.parse(line)),
    trailer: file.subarray(end).toString(),
  };
}

/** Rewrites the lines of the index, the first of which is about the run. */
export async function changeIndex(
  archive: string,
  copy: string,
  change: (lines: Line[], about: string) => string | undefined,
): Promise<string> {
  const { before, head, about, lines, trailer } = split(archive);
  const first = change(lines, about) ?? about;
  const content = Buffer.from(
    [first, ...lines.map((line) => JSON.stringify(line))].map((line) => `${line}\n`).join(""),
  );
  const index = withContent(head, content, await digestOf([content]));
  const end = Buffer.from(trailerOf({ offset: before.length, length: index.length }));
  const [endHead = ""] = trailer.split("\r\n\r\n");
  writeFileSync(copy, Buffer.concat([before, index, withContent(endHead, end, await digestOf([end]))]));
  return copy;
}

function withContent(head: string, content: Buffer, digest: string): Buffer {
  const changed = head
    .replace(/WARC-Block-Digest: .*/, `WARC-Block-Digest: ${digest}`)
    .replace(/Content-Length: .*/, `Content-Length: ${content.length}`);
  return Buffer.concat([Buffer.from(`${changed}\r\n\r\n`), content, Buffer.from("\r\n\r\n")]);
}

const notesIn = (about: string, lines: readonly Line[]): Notes => ({
  by: JSON.parse(about).by,
  documents: [...lines]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([url, , , wireBytes, counts]) => {
      if (!Array.isArray(counts)) return [];
      const [format, pages, decodedBytes, charset, checksum, ...problems] = counts;
      return [{ url, format, pages, wireBytes, decodedBytes, charset, checksum, problems }];
    }),
});

/** The counts of an archive. */
export function notesOf(archive: string): Notes | undefined {
  const { about, lines } = split(archive);
  const notes = notesIn(about, lines);
  return notes.documents.length === 0 ? undefined : notes;
}

export function changeNotes(archive: string, copy: string, change: (notes: Notes) => void): Promise<string> {
  return changeIndex(archive, copy, (lines, about) => {
    const notes = notesIn(about, lines);
    const { by } = notes;
    change(notes);
    for (const document of notes.documents) {
      const { url, format, pages, wireBytes, decodedBytes, charset, checksum, problems } = document;
      for (const line of lines) {
        if (line[0] !== url || line[4] === undefined) continue;
        line[3] = wireBytes as number;
        line[4] = Array.isArray(problems) ? [format, pages, decodedBytes, charset, checksum, ...problems] : problems;
      }
    }
    return about.replace(JSON.stringify(by), JSON.stringify(notes.by));
  });
}
