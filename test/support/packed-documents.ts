// Documents as servers send them: in some character set, in layers of compression, announced rightly, wrongly or not at all, and damaged
// on the way.
import zlib from "node:zlib";
import type { HeaderList } from "../../src/model/exchange.ts";
import { mutateBytes } from "./mutate.ts";
import type { Random } from "./random.ts";

export interface PackedDocument {
  readonly bytes: Uint8Array;
  readonly headers: HeaderList;
  /** Whether everything has to be read, because nothing is damaged, refused or wrongly announced. */
  readonly isSound: boolean;
  /** Whether damage cannot be mistaken for content. */
  readonly isChecked: boolean;
  readonly label: string;
}

interface Layer {
  readonly name: string;
  readonly pack: (bytes: Uint8Array) => Uint8Array;
  /** Known by its first bytes. */
  readonly isEvident?: true;
  /** Has a checksum that is verified. */
  readonly isChecked?: true;
}

const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Uint8Array) => Uint8Array };
const layers: readonly Layer[] = [
  { name: "gzip", pack: (bytes) => zlib.gzipSync(bytes), isEvident: true, isChecked: true },
  { name: "gzip", pack: (bytes) => zlib.gzipSync(bytes, { level: 0 }), isEvident: true, isChecked: true },
  { name: "deflate", pack: (bytes) => zlib.deflateSync(bytes), isEvident: true },
  { name: "deflate", pack: (bytes) => zlib.deflateRawSync(bytes) },
  {
    name: "br",
    pack: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } }),
  },
  ...(zstdCompressSync === undefined ? [] : [{ name: "zstd", pack: zstdCompressSync, isEvident: true } as const]),
];

interface Charset {
  readonly name: string;
  readonly encode: (text: string) => Uint8Array;
  readonly header?: string;
  readonly isRefused?: true;
}

const marked = (mark: number[], bytes: Uint8Array) => Buffer.concat([Buffer.from(mark), bytes]);
const charsets: readonly Charset[] = [
  { name: "UTF-8", encode: (text) => Buffer.from(text) },
  { name: "UTF-8 with a mark", encode: (text) => marked([0xef, 0xbb, 0xbf], Buffer.from(text)) },
  { name: "UTF-16LE", encode: (text) => marked([0xff, 0xfe], Buffer.from(text, "utf16le")) },
  { name: "UTF-16BE", encode: (text) => marked([0xfe, 0xff], Buffer.from(text, "utf16le").swap16()) },
  { name: "windows-1252", encode: (text) => Buffer.from(text, "latin1"), header: "windows-1252" },
  { name: "UTF-32LE", encode: (text) => marked([0xff, 0xfe, 0, 0], utf32(text)), isRefused: true },
  { name: "UTF-7", encode: (text) => Buffer.from(text), header: "utf-7", isRefused: true },
];

function utf32(text: string): Uint8Array {
  return new Uint8Array(Uint32Array.from([...text].map((character) => character.codePointAt(0) ?? 0)).buffer);
}

/** Layers above the third are refused. */
const mostLayers = 3;

export function packedDocument(text: string, random: Random): PackedDocument {
  const charset = random.below(2) === 0 ? (charsets[0] as Charset) : random.pick(charsets);
  const chain = Array.from({ length: random.pick([0, 1, 1, 1, 2, 3, 4]) }, () => random.pick(layers));
  let bytes = charset.encode(text);
  for (const { pack } of chain) bytes = pack(bytes);
  const announces = random.pick(["all", "all", "none", "wrong", "unknown"] as const);
  const names = {
    all: chain.map(({ name }) => name),
    none: [],
    wrong: [random.pick(layers).name],
    unknown: ["x-own"],
  }[announces];
  const damage = random.below(3) === 0 ? random.pick(["cut", "change"] as const) : undefined;
  const { length } = bytes;
  const [first, second] = bytes;
  if (damage === "cut") bytes = bytes.subarray(0, random.below(bytes.length));
  if (damage === "change") bytes = mutateBytes(bytes, random);
  // Unannounced compression is recognized by its first bytes; without them, the rest looks like text.
  const isKnown = announces !== "none" || (bytes[0] === first && bytes[1] === second);
  const isReadable = announces === "all" || (announces === "none" && chain.every(({ isEvident }) => isEvident));
  return {
    bytes,
    headers: [
      ...(names.length > 0 ? [["content-encoding", names.join(", ")] as const] : []),
      ...(charset.header === undefined ? [] : [["content-type", `text/plain; charset=${charset.header}`] as const]),
    ],
    isSound: isReadable && damage === undefined && chain.length <= mostLayers && charset.isRefused === undefined,
    isChecked: isKnown && chain.length > 0 && chain.every(({ isChecked }) => isChecked),
    label: `${charset.name}, ${chain.map(({ name }) => name).join("+") || "plain"}, announced as ${names.join(", ") || "nothing"}, ${damage ?? "whole"} ${bytes.length} of ${length}`,
  };
}
