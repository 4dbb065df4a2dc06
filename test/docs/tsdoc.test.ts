// Every name that the package exports says what it is, where an editor shows it.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./pages.ts";

const names = ["index", "check", "diff", "report", "fleet"];
const entries = names.map((name) => readFileSync(path.join(root, `src/${name}.ts`), "utf8")).join("");
const exported = [...entries.matchAll(/export (?:type )?\{([^}]*)\} from "([^"]+)"/g)].flatMap(
  ([, names = "", file = ""]) =>
    names
      .split(",")
      .map((name) => name.replace(/\btype\b/, "").trim())
      .filter((name) => name !== "")
      .map((name) => [name, path.join(root, "src", file)] as const),
);

test("the package exports names", () => {
  expect(exported.length).toBeGreaterThan(40);
});

test.each(exported)("%s has a comment of its own", (name, file) => {
  expect(commentOf(name, file)).toMatch(/^\/\*\* .{10,}|^\/\*\*\n \* .{10,}/);
});

function commentOf(name: string, file: string): string | undefined {
  const text = readFileSync(file, "utf8");
  const declaration = new RegExp(`^export (?:async )?(?:interface|type|class|function|const) ${name}\\b`, "m").exec(
    text,
  );
  if (declaration !== null) return /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n$/.exec(text.slice(0, declaration.index))?.[0];
  // Declared in another file, and exported again here.
  const elsewhere = new RegExp(`export (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)"`).exec(text)?.[1];
  return elsewhere === undefined ? undefined : commentOf(name, path.join(path.dirname(file), elsewhere));
}
