// Creates fast paths. All share one tokenizer.
import { type CreateFastPath, noFastPath } from "../fast-path.ts";
import { TokenReader } from "./token-reader.ts";
import { createTokenizer, type Tokenizer } from "./tokenizer.ts";

/** Fast paths with this tokenizer. Without one, the scanner reads everything. */
export function fastPathWith(tokenizer: Tokenizer | undefined): CreateFastPath {
  if (tokenizer === undefined) return noFastPath;
  // `strict` has to check everything.
  return (parts) => (parts.cursor.strict ? noFastPath(parts) : new TokenReader(parts, tokenizer));
}

let usual: CreateFastPath | undefined;

/** The default. The tokenizer is created for the first document that can use it. */
export const usualFastPath: CreateFastPath = (parts) => {
  usual ??= fastPathWith(createTokenizer());
  return usual(parts);
};
