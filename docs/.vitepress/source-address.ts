// Where the site keeps the files of this repository that its pages link to: as text, so that any static server shows them,
// and folders as a list of what is in them. scripts/docs.mjs puts them there.
import { statSync } from "node:fs";
import path from "node:path";

/** The address on the site of a link from a page in `folder`; undefined where the link stays within the pages. */
export function sourceAddress(root: string, folder: string, target: string): string | undefined {
  if (/^([a-z]+:|\/|#)/i.test(target)) return undefined;
  const [file = "", anchor] = target.split("#");
  const relative = path.posix.join(folder, file).replace(/\/$/, "");
  if (relative === "docs" || relative.startsWith("docs/")) return undefined;
  if (relative === "README.md") return "/";
  const address = `/source/${relative}`;
  if (statSync(path.join(root, relative)).isDirectory()) return `${address}/index.html`;
  return `${address}.txt${anchor === undefined ? "" : `#${anchor}`}`;
}
