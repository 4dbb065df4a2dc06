// One side of a diff, as named on the command line: a file of any kind, standard input or a pipe, or a website.
import type { DiffSide } from "../diff/diff-side.ts";
import { withoutCredentials } from "../model/url.ts";
import { UsageError } from "./exit-codes.ts";
import { type NamedTarget, recognize } from "./target.ts";

export interface SideTarget {
  /** The name in messages and summaries. */
  readonly name: string;
  readonly target: Exclude<NamedTarget, { kind: "folder" }>;
  readonly source: () => DiffSide;
}

export function chooseSide(given: string): SideTarget {
  const target = recognize(given);
  switch (target.kind) {
    case "folder":
      throw new UsageError(`${given} is a folder`);
    case "website": {
      const { homepage } = target;
      return { name: withoutCredentials(homepage), target, source: () => ({ homepage }) };
    }
    case "stream": {
      const { name, open } = target;
      return { name, target, source: () => ({ name, bytes: open() }) };
    }
    default:
      // A file whose name looks like a URL is still a file.
      return { name: given, target, source: () => (/^https?:\/\//i.test(given) ? `./${given}` : given) };
  }
}
