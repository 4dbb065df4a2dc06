// Scripts in ASCII: one other character makes the engine keep two bytes for each character of a script.

/** The code with escapes in place of other characters, and its map (as an object) with the columns that follow from it. */
export function inAscii(code, map) {
  const [unclear] = /(?<!\\)(?:\\\\)*\\[^\0-\x7f].{0,40}/.exec(code) ?? [];
  if (unclear !== undefined) throw new Error(`A character that is not ASCII is escaped with a backslash: ${unclear}`);
  const shifts = code.split("\n").map(shiftsOf);
  const lines = map.mappings.split(";").map((line, at) => shifted(line, shifts[at] ?? []));
  return { code: code.replaceAll(beyondAscii, escaped), map: { ...map, mappings: lines.join(";") } };
}

const beyondAscii = /[^\0-\x7f]/g;

function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

// Where the characters are, as columns of the line before.
function shiftsOf(line) {
  return [...line.matchAll(beyondAscii)].map(({ index }) => index);
}

// https://tc39.es/ecma426/: segments are separated by commas, and begin with the distance to the column of the last one.
function shifted(line, places) {
  if (places.length === 0 || line === "") return line;
  let [before, beforeShifted, passed] = [0, 0, 0];
  const segments = line.split(",").map((segment) => {
    const { value, rest } = firstNumber(segment);
    before += value;
    while (passed < places.length && places[passed] < before) passed += 1;
    const column = before + passed * (escaped("\u0080").length - 1);
    const written = `${number(column - beforeShifted)}${rest}`;
    beforeShifted = column;
    return written;
  });
  return segments.join(",");
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Five bits a digit, the lowest first; the sixth says that another one follows, the lowest of all is the sign.
function firstNumber(segment) {
  let [bits, scale, at] = [0, 1, 0];
  for (let isMore = true; isMore; at += 1, scale *= 32) {
    const digit = digits.indexOf(segment[at]);
    bits += (digit & 31) * scale;
    isMore = digit > 31;
  }
  const size = Math.floor(bits / 2);
  return { value: bits % 2 === 0 ? size : -size, rest: segment.slice(at) };
}

function number(value) {
  let bits = Math.abs(value) * 2 + (value < 0 ? 1 : 0);
  let text = "";
  do {
    const digit = bits % 32;
    bits = Math.floor(bits / 32);
    text += digits[bits > 0 ? digit + 32 : digit];
  } while (bits > 0);
  return text;
}
