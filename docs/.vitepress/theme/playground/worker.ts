// Reads one document, away from the page: a sitemap of 50 MB takes a second, during which the page still answers.
import { parseSitemap } from "../../../../src/parse/parse-sitemap.ts";
import { findingsOf } from "./findings.ts";
import type { Answer, Failure, Question } from "./messages.ts";

const mostEntries = 100;
const mostBytes = 200_000_000;

self.onmessage = async ({ data }: MessageEvent<Question>) => {
  const { number, document, url } = data;
  try {
    const text = typeof document === "string" ? document : await textOf(document);
    self.postMessage(answerTo(number, text, url ?? urlOf(document)));
  } catch (error) {
    self.postMessage({ number, error: `Could not read it: ${(error as Error).message}` } satisfies Failure);
  }
};

function answerTo(number: number, text: string, url: string | undefined): Answer {
  const parsed = parseSitemap(text, url === undefined ? {} : { url });
  const findings = findingsOf(parsed, url);
  if (parsed.kind === "invalid") {
    const { reason } = parsed;
    return {
      ...{ number, kind: "invalid", format: undefined, complete: false, count: 0, entries: [] },
      ...{ problems: [reason], findings },
    };
  }
  const { kind, format, complete, problems } = parsed;
  const all = kind === "pages" ? parsed.pages : parsed.sitemaps;
  const entries = all.slice(0, mostEntries);
  return { number, kind, format, complete, count: all.length, entries, problems, findings };
}

// A file that is called robots.txt is one.
function urlOf(document: string | File): string | undefined {
  return typeof document !== "string" && document.name === "robots.txt" ? "https://example.org/robots.txt" : undefined;
}

async function textOf(file: File): Promise<string> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isGzip = first === 0x1f && second === 0x8b;
  const stream = isGzip ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const reader = stream.getReader();
  let decoder: TextDecoder | undefined;
  let [text, bytes] = ["", 0];
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    bytes += step.value.length;
    if (bytes > mostBytes) throw new Error("it is larger than 200 MB");
    decoder ??= new TextDecoder(charsetOf(step.value));
    text += decoder.decode(step.value, { stream: true });
  }
  return text + (decoder?.decode() ?? "");
}

// A byte order mark, else the XML declaration.
function charsetOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
  const declared = /^\s*<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(declared).encoding;
  } catch {
    return "utf-8";
  }
}
