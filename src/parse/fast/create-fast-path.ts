// Creates fast paths. All share one tokenizer.
import type { XmlScanner } from "../xml/scanner.ts";
import { TokenReader } from "./token-reader.ts";
import { createTokenizer, type Tokenizer } from "./tokenizer.ts";

/** Undefined if the scanner should read everything: the results are the same, more slowly. */
export type CreateFastPath = (scanner: XmlScanner) => TokenReader | undefined;

let tokenizer: Tokenizer | undefined | false = false;

/** The default. The tokenizer is created for the first document that can use it. */
export const usualFastPath: CreateFastPath = (scanner) => {
  // `strict` must check everything.
  if (scanner.cursor.strict) return undefined;
  if (tokenizer === false) tokenizer = createTokenizer();
  return tokenizer && new TokenReader(scanner, tokenizer);
};
