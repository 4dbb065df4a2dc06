// Rewrites the index of an uncompressed archive like a forger would: digest, length and trailer are right.
import { readFileSync, writeFileSync } from "node:fs";
import { trailerOf } from "../../src/archive/index-record.ts";
import { Digester } from "../../src/archive/warc.ts";

type Line = [key: string, lengths: number[], flags?: string];

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
  const index = withContent(head, content, String(new Digester().update(content)));
  const end = Buffer.from(trailerOf({ offset: before.length, length: index.length }));
  const [endHead = ""] = trailer.split("\r\n\r\n");
  writeFileSync(copy, Buffer.concat([before, index, withContent(endHead, end, String(new Digester().update(end)))]));
  return copy;
}

function withContent(head: string, content: Buffer, digest: string): Buffer {
  const changed = head
    .replace(/WARC-Block-Digest: .*/, `WARC-Block-Digest: ${digest}`)
    .replace(/Content-Length: .*/, `Content-Length: ${content.length}`);
  return Buffer.concat([Buffer.from(`${changed}\r\n\r\n`), content, Buffer.from("\r\n\r\n")]);
}
