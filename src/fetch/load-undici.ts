// The part of undici that is used. The build of the program puts it into the program instead.
import { createRequire } from "node:module";
import type { Client as Undici } from "undici";

/**
 * Importing all of undici takes 100 ms and 8 MB; this file of it takes a third of that, and less with `require`, which
 * need not find the names a module could import. If the file is elsewhere, as in a bundle, all of undici is imported.
 */
export async function loadUndici(): Promise<typeof Undici> {
  try {
    return createRequire(import.meta.url)("undici/lib/dispatcher/client.js") as typeof Undici;
  } catch {
    return (await import("undici")).Client;
  }
}
