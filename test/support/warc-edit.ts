// Takes an archive apart and puts it together again, so that a test can change what it says, as somebody with an editor would.

export interface EditableRecord {
  /** The header without Content-Length, which is always corrected, and without the digests. */
  head: string;
  content: Buffer;
}

function recordsOf(archive: Buffer): EditableRecord[] {
  const records: EditableRecord[] = [];
  for (let at = 0; at < archive.length; ) {
    const end = archive.indexOf("\r\n\r\n", at) + 4;
    const head = archive.subarray(at, end).toString();
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    records.push({
      head: head.trimEnd().replaceAll(/\r\n(content-length|warc-block-digest|warc-payload-digest):.*/gi, ""),
      content: Buffer.from(archive.subarray(end, end + length)),
    });
    at = end + length + 4;
  }
  return records;
}

function archiveOf(records: readonly EditableRecord[]): Buffer {
  return Buffer.concat(
    records.flatMap(({ head, content }) => [
      Buffer.from(`${head}\r\nContent-Length: ${content.length}\r\n\r\n`),
      content,
      Buffer.from("\r\n\r\n"),
    ]),
  );
}

/** Rewrites the archive's description of itself. */
export function editInfo(archive: Buffer, edit: (info: { readonly settings?: unknown }) => unknown): Buffer {
  return archiveOf(
    recordsOf(archive).map(({ head, content }, index) => {
      if (index > 0) return { head, content };
      const [, before = "", json = ""] = /^(.*?sitegrove: )([^\r\n]*)/s.exec(content.toString()) ?? [];
      return { head, content: Buffer.from(`${before}${inJson(edit(JSON.parse(json)))}\r\n`) };
    }),
  );
}

/** Rewrites each description of an exchange. */
export function editDescriptions(archive: Buffer, edit: (description: unknown, index: number) => unknown): Buffer {
  let index = 0;
  return archiveOf(
    recordsOf(archive).map(({ head, content }) => {
      if (!/^warc-type: metadata/im.test(head) || !/^warc-target-uri:/im.test(head)) return { head, content };
      return { head, content: Buffer.from(inJson(edit(JSON.parse(content.toString()), index++))) };
    }),
  );
}

// The archive writes infinite numbers like this.
function inJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (item === Number.POSITIVE_INFINITY ? "∞" : item)).replaceAll(
    '"∞"',
    "1e999",
  );
}
