// Texts of any characters. `fc.string({ unit: "binary" })` is the same, but makes a table of all million characters first, which takes
// two seconds each time ("grapheme": one).
import fc from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };
const character = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map((number) => String.fromCodePoint(number < surrogates.first ? number : number + surrogates.count));

export function anyText(limits: { maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.array(character, limits).map((characters) => characters.join(""));
}
