// Creates fast paths. All share one tokenizer.
import { type CreateFastPath, noFastPath } from "./fast-path.ts";
import { TokenReader } from "./token-reader.ts";
import { createTokenizer, type Tokenizer } from "./tokenizer.ts";

let tokenizer: Tokenizer | undefined | false = false;

/** The default. The tokenizer is created for the first document that can use it; without one, the scanner reads everything. */
export const usualFastPath: CreateFastPath = (scanner) => {
  // `strict` has to check everything.
  if (scanner.cursor.strict) return noFastPath(scanner);
  if (tokenizer === false) tokenizer = createTokenizer();
  return tokenizer === undefined ? noFastPath(scanner) : new TokenReader(scanner, tokenizer);
};
