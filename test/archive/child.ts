// A process of its own that keeps documents, to be killed or starved. Says on standard output what was acknowledged.
import { writeSync } from "node:fs";
import { createStore } from "../../src/archive/store.ts";
import { bodyOf, documentAt } from "./exchanges.ts";

/** The content of a document, so that the test can tell whether it is whole. */
export function contentAt(index: number): Buffer {
  const large = index % 11 === 3;
  return Buffer.alloc(large ? 300_000 + index * 1000 : 10 + ((index * 7919) % 5000), `<url>${index}</url>`);
}

const say = (line: string) => writeSync(1, `${line}\n`);

async function main([mode, save]: string[]): Promise<void> {
  const info = { homepage: "https://example.org/", settings: {} };
  const store = await createStore({ kind: save ? "auto" : "file", save: save || undefined, info });
  say("ready");
  let next = 0;
  const worker = async () => {
    while (next < 120) {
      const index = next++;
      const url = `https://example.org/${index}.xml`;
      await store.keep(documentAt(url, "", { body: bodyOf(contentAt(index), { pieces: 20 }) }));
      say(String(index));
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]).catch((error: NodeJS.ErrnoException) => {
    say(`error ${error.code} ${(error.cause as NodeJS.ErrnoException)?.code} ${error.message}`);
    process.exit(3);
  });
  if (mode === "exit") process.exit(0);
  if (mode === "throw") throw new Error("unexpected");
  if (mode === "wait") setInterval(() => undefined, 1000);
  if (mode === "crawl") await store.close();
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
