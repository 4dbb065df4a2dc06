// The tokenizer, in AssemblyScript (https://www.assemblyscript.org): reads the tags and texts of ordinary XML, sixteen bytes
// at a time. It knows only the names that the scanner has read before. Each element becomes a token, and its text is
// written to a list, as JSON. It stops before anything unusual, without side effects, and the scanner continues from
// there. layout.ts describes the memory. `node scripts/ts.mjs scripts/tokenizer.ts` compiles it.
import * as layout from "./layout";

// The settings of a run: limits, the depth of the innermost element that must stay open, what entries of known shapes become (see layout.ts),
// and the seeds of fingerprints.
export let longestText: i32 = 0;
export let longestUrl: i32 = 0;
export let mostAttributes: i32 = 0;
export let deepest: i32 = 0;
export let floor: i32 = 1;
export let entriesBecome: i32 = 0;
export let highStart: i32 = 0;
export let lowStart: i32 = 0;
export let highFactor: i32 = 0;
export let lowFactor: i32 = 0;
/** How many elements are open. */
export let depth: i32 = 0;
/** Where the run ended, whether more of the document is needed there, where the list of texts ends, and whether all of it is ASCII. */
export let at: i32 = 0;
export let needsMore: i32 = 0;
export let textOut: i32 = 0;
export let isAscii: i32 = 0;
/** Where the lines end, and whether all of them are ASCII. */
export let lineOut: i32 = 0;
export let linesAreAscii: i32 = 0;

// The next token.
let out: i32 = 0;
// The last name that was read, and its end.
let last: i32 = layout.namesStart;
let nameEnd: i32 = 0;
// Whether the last search passed special characters, and non-ASCII characters.
let special: i32 = 0;
let other: i32 = 0;
// Whether comments interrupt the text that is being written.
let isInterrupted: bool = false;
// The character that the last reference stands for.
let decoded: i32 = 0;
// Which of the two slots of a hash is overwritten next.
let nextWay: i32 = 0;
// The current entry, if it may become a single token: where it begins, the token of its start tag, its depth, and its shape (see `note`).
let entryStart: i32 = 0;
let entryToken: i32 = 0;
let entryDepth: i32 = 0;
let shape: i64 = 0;
// Where the entry's texts begin, and whether all texts before the entry are ASCII.
let entryTexts: i32 = 0;
let entryIsAscii: i32 = 0;
// The token of the entry's URL, where that URL is in the list of texts, and whether it is ASCII.
let keyToken: i32 = 0;
let keyText: i32 = 0;
let keyTextEnd: i32 = 0;
let keyIsAscii: i32 = 0;
// The attributes of the last tag, and whether it ends in `/>`.
let attributeCount: i32 = 0;
let isEmptyTag: bool = false;
// Whether the last text contains anything that JSON escapes, and whether it contains non-ASCII characters.
let isEscaped: bool = false;
let isWide: bool = false;

function byte(p: i32): i32 {
  return load<u8>(p);
}

function isSpace(c: i32): bool {
  return c == 0x20 || c == 0x0a || c == 0x0d || c == 0x09;
}

// Returns the position after any white space. Stops at the end of the document, because zeros follow it.
function afterSpace(from: i32): i32 {
  let p: i32 = from;
  while (true) {
    const v: v128 = v128.load(p);
    const usual: v128 = v128.or(i8x16.eq(v, i8x16.splat(0x20)), i8x16.eq(v, i8x16.splat(0x0a)));
    const others: v128 = v128.or(i8x16.eq(v, i8x16.splat(0x0d)), i8x16.eq(v, i8x16.splat(0x09)));
    const mask: i32 = i8x16.bitmask(v128.or(usual, others));
    if (mask != 0xffff) return p + ctz(~mask);
    p += 16;
  }
  return 0;
}

/** Adds a name, whose text is in memory. Returns its address. */
export function addName(from: i32, length: i32): i32 {
  let index: i32 = hashOf(from, length);
  while (load<i32>(layout.namesStart + index * layout.nameSize) != 0) index = (index + 1) & (layout.nameCount - 1);
  const slot: i32 = layout.namesStart + index * layout.nameSize;
  store<i32>(slot, length);
  memory.copy(slot + layout.nameText, from, length);
  return slot;
}

/** Reads from `from` to `end`. Returns the end of the tokens. */
export function run(from: i32, end: i32): i32 {
  out = layout.tokensStart;
  entryToken = 0;
  store<u8>(layout.textsStart, 0x5b);
  textOut = layout.textsStart + 1;
  isAscii = 1;
  lineOut = layout.linesStart;
  linesAreAscii = 1;
  let tokens: i32 = out;
  let p: i32 = from;
  while (p != 0) {
    at = p;
    tokens = out;
    needsMore = 1;
    // There must be room for an element with the most attributes.
    p = out + layout.tokenSize * (mostAttributes + 1) > layout.tokensEnd ? unusual() : element(p, end);
  }
  // An incomplete entry is read again with the next chunk, because only a whole one can become a single token.
  if (entryToken != 0 && needsMore != 0 && end - entryStart <= layout.longestRest) {
    at = entryStart;
    tokens = entryToken;
    textOut = entryTexts;
    isAscii = entryIsAscii;
  }
  // Ends the list with `0]`.
  store<u16>(textOut, 0x5d30);
  textOut += 2;
  // The attributes of an incomplete tag are left out.
  return tokens;
}

// Reads a tag, and the rest of the element if that is only text. Returns its end, or 0 if it is incomplete or unusual.
function element(from: i32, end: i32): i32 {
  const p: i32 = afterSpace(from);
  if (p + 4 >= end) return 0;
  if (byte(p) != 0x3c) return unusual();
  if (byte(p + 1) == 0x2f) return endTag(p, end);
  if (isComment(p)) {
    const comment: i32 = endOfSection(p + 4, end, 0x2d);
    return comment == 0 ? 0 : comment + 3;
  }
  const slot: i32 = nameAt(p + 1);
  if (slot == 0) return nameEnd >= end ? 0 : unusual();
  if (byte(nameEnd - 1) == 0x3d || depth >= deepest) return unusual();
  const length: i32 = load<i32>(slot);
  const traits: i32 = load<i32>(slot, layout.nameTraits);
  const tokens: i32 = out;
  let start: i32 = nameEnd + 1;
  let head: i32 = load<i32>(slot, layout.nameNumber) << 8;
  attributeCount = 0;
  if (byte(nameEnd) != 0x3e) {
    start = attributes(nameEnd, end, (traits & layout.wantsAttributes) != 0);
    if (start == 0) return 0;
    if (attributeCount > 0) head |= out != tokens ? layout.hasAttributes : layout.hidesAttributes;
    if (isEmptyTag) {
      takeAttributes(tokens);
      token(layout.isEmpty | head, p, start, p);
      note(layout.isEmpty | head);
      return start;
    }
  }
  let textEnd: i32 = search(start, end, 0x3c, 0x3c);
  const firstEnd: i32 = textEnd;
  let hasComments: bool = false;
  while (textEnd + 4 < end && isComment(textEnd)) {
    const needed: i32 = special;
    const wide: i32 = other;
    const comment: i32 = endOfSection(textEnd + 4, end, 0x2d);
    if (comment == 0) return 0;
    hasComments = true;
    textEnd = search(comment + 3, end, 0x3c, 0x3c);
    special |= needed;
    other |= wide;
  }
  let after: i32 = textEnd;
  if (after + 1 >= end) return 0;
  let content: i32 = layout.holdsText;
  if (byte(after + 1) == 0x21 && after == start) {
    if (after + 9 > end) return 0;
    // These bytes are `<![CDATA[`.
    if (load<i32>(after) == 0x435b213c && load<i32>(after, 4) == 0x41544144 && byte(after + 8) == 0x5b) {
      content = layout.holdsCdata;
      start = after + 9;
      textEnd = endOfSection(start, end, 0x5d);
      if (textEnd == 0) return 0;
      after = textEnd + 3;
    }
  }
  const needed: i32 = special;
  const wide: i32 = other;
  const isOver: bool = byte(after) == 0x3c && byte(after + 1) == 0x2f;
  if ((isOver || content == layout.holdsCdata) && after + 3 + length > end) return 0;
  if (isOver && byte(after + 2 + length) == 0x3e && same(after + 2, slot + layout.nameText, length)) {
    if (textEnd - start > longestText) return unusual();
    takeAttributes(tokens);
    isInterrupted = hasComments;
    const tokenAt: i32 = out;
    token(content | head, start, textEnd, p);
    const textAt: i32 = textOut;
    let hints: i32 = takeText(tokenAt, traits, content, needed, wide);
    if (hasComments && (hints & layout.isRaw) != 0) hints |= layout.hasComments;
    store<i32>(tokenAt, hints, layout.tokenHints);
    if ((hints & layout.hasKey) != 0) {
      keyToken = tokenAt;
      keyText = textAt;
      keyTextEnd = textOut;
      keyIsAscii = isWide ? 0 : 1;
    }
    if (entryToken != 0) noteText(tokenAt, traits, hints, needed);
    isInterrupted = false;
    return after + 3 + length;
  }
  // The element has children. Comments before them are read again.
  if (content == layout.holdsCdata || isOver || afterSpace(start) < firstEnd) return unusual();
  takeAttributes(tokens);
  depth++;
  store<i32>(layout.openStart + (depth << 2), slot);
  if (entriesBecome != layout.tokens && (traits & layout.isEntry) != 0) beginEntry(p);
  token(layout.opens | head, p, start, p);
  note(layout.opens | head);
  return firstEnd;
}

// Whether `<!--` is at `p`.
function isComment(p: i32): bool {
  return load<i32>(p) == 0x2d2d213c;
}

function unusual(): i32 {
  needsMore = 0;
  return 0;
}

function endTag(p: i32, end: i32): i32 {
  // Only the scanner knows the names of elements that are deeper than the table of open elements.
  if (depth <= floor || depth > deepest) return unusual();
  const slot: i32 = load<i32>(layout.openStart + (depth << 2));
  const nameAfter: i32 = p + 2 + load<i32>(slot);
  if (nameAfter >= end) return 0;
  if (byte(nameAfter) != 0x3e || !same(p + 2, slot + layout.nameText, load<i32>(slot))) return unusual();
  depth--;
  const head: i32 = layout.closes | (load<i32>(slot, layout.nameNumber) << 8);
  const isEntryEnd: bool = entryToken != 0 && depth < entryDepth;
  if (isEntryEnd && keyToken != 0 && isKnownShape()) {
    endEntry(p);
    return nameAfter + 1;
  }
  store<i64>(out, isEntryEnd ? shape : 0, layout.tokenHigh);
  if (isEntryEnd) entryToken = 0;
  else note(head);
  token(head, p, nameAfter + 1, p);
  return nameAfter + 1;
}

// Starts an entry that may become a single token. An entry with attributes does not become one token, because only the scanner reads
// attributes here.
function beginEntry(p: i32): void {
  entryStart = p;
  entryToken = attributeCount == 0 ? out : 0;
  entryDepth = depth;
  entryTexts = textOut;
  entryIsAscii = isAscii;
  keyToken = 0;
  shape = ((<i64>highStart) << 32) | (<i64>lowStart & 0xffffffff);
}

// Adds a tag to the shape of the entry: a fingerprint of its tags, and of its texts if they matter. If one entry of a shape needed no
// report, no other entry of that shape does.
function note(word: i32): void {
  shape = (shape ^ word) * 0x42b2ae3d27d4eb4f;
  shape = shape ^ (shape >>> 29);
}

// Adds an element or attribute with a text to the shape, which distinguishes no text, an unwanted text, a valid text, and a short text with
// exactly these bytes.
function noteText(tokenAt: i32, traits: i32, hints: i32, needed: i32): void {
  const head: i32 = load<i32>(tokenAt);
  const start: i32 = load<i32>(tokenAt, layout.tokenStart);
  const length: i32 = load<i32>(tokenAt, layout.tokenEnd) - start;
  if (length == 0) note(head);
  else if ((traits & layout.isUnwanted) != 0) note(head | 0x10000);
  else if ((hints & (layout.isRaw | layout.hasSpace)) != 0) entryToken = 0;
  else if ((traits & layout.isAny) != 0 || (hints & (layout.isAccepted | layout.isUsualDate)) != 0)
    note(head | 0x20000);
  else if ((traits & layout.isUrl) != 0 || needed != 0 || isInterrupted || length > 16) entryToken = 0;
  else if ((traits & layout.isNumber) != 0 && areDigits(start, length)) note(head | 0x20000);
  else {
    const v: v128 = wordOf(start, length);
    note(head | 0x30000);
    note(i32x4.extract_lane(v, 0));
    note(i32x4.extract_lane(v, 1));
    note(i32x4.extract_lane(v, 2));
    note(i32x4.extract_lane(v, 3));
  }
}

function areDigits(p: i32, length: i32): bool {
  const all: i32 = (1 << length) - 1;
  return length < 16 && (digitsOf(v128.load(p)) & all) == all;
}

function isKnownShape(): bool {
  return load<i64>(layout.shapesStart + ((<i32>shape & (layout.shapeCount - 1)) << 3)) == shape;
}

// Replaces all tokens of the entry with one, and if only its URL is needed, its texts with a line.
function endEntry(p: i32): void {
  store<i32>(entryToken, layout.isPage | (load<i32>(entryToken) & 0xff00));
  store<i64>(entryToken, load<i64>(keyToken, layout.tokenHigh), layout.tokenHigh);
  store<i32>(entryToken, p, layout.tokenClose);
  out = entryToken + layout.tokenSize;
  if (entriesBecome == layout.lines) takeLine();
  entryToken = 0;
}

function takeLine(): void {
  store<i32>(entryToken, lineOut, layout.tokenStart);
  // Copies the URL without the quotes and the comma.
  copy(lineOut, keyText + 1, keyTextEnd - 2);
  lineOut += keyTextEnd - keyText - 3;
  store<i32>(entryToken, lineOut, layout.tokenEnd);
  store<u8>(lineOut++, 0x0a);
  linesAreAscii &= keyIsAscii;
  textOut = entryTexts;
  isAscii = entryIsAscii;
}

function token(head: i32, start: i32, end: i32, tag: i32): void {
  store<i32>(out, head);
  store<i32>(out, start, layout.tokenStart);
  store<i32>(out, end, layout.tokenEnd);
  store<i32>(out, 0, layout.tokenHints);
  store<i32>(out, tag, layout.tokenTag);
  out += layout.tokenSize;
}

// Reads from the end of an element's name to the end of its tag. Returns that end, or 0. Writes tokens for the attributes if wanted.
function attributes(from: i32, end: i32, areWanted: bool): i32 {
  let p: i32 = from;
  while (true) {
    const before: i32 = p;
    p = afterSpace(p);
    if (p + 1 >= end) return 0;
    isEmptyTag = byte(p) == 0x2f && byte(p + 1) == 0x3e;
    if (isEmptyTag) return p + 2;
    if (byte(p) == 0x3e) return p + 1;
    if (p == before) return unusual();
    const slot: i32 = nameAt(p);
    p = nameEnd;
    if (p + 1 >= end) return 0;
    const quote: i32 = byte(p);
    if (slot == 0 || byte(p - 1) != 0x3d || (quote != 0x22 && quote != 0x27)) return unusual();
    const valueEnd: i32 = search(p + 1, end, quote, 0x3c);
    if (valueEnd >= end) return 0;
    if (byte(valueEnd) != quote || valueEnd - p > longestText) return unusual();
    if (attributeCount == mostAttributes) return unusual();
    attributeCount++;
    if (areWanted) {
      store<i32>(out, special, layout.tokenHigh);
      store<i32>(out, other, layout.tokenLow);
      token(layout.isAttribute | (load<i32>(slot, layout.nameNumber) << 8), p + 1, valueEnd, 0);
      store<i32>(out - layout.tokenSize, slot, layout.tokenHints);
    }
    p = valueEnd + 1;
  }
}

// Writes the values of an element's attributes, once the element is complete.
function takeAttributes(tokens: i32): void {
  for (let tokenAt: i32 = tokens; tokenAt < out; tokenAt += layout.tokenSize) {
    const needed: i32 = load<i32>(tokenAt, layout.tokenHigh);
    const wide: i32 = load<i32>(tokenAt, layout.tokenLow);
    const slot: i32 = load<i32>(tokenAt, layout.tokenHints);
    const traits: i32 = load<i32>(slot, layout.nameTraits);
    const hints: i32 = takeText(tokenAt, traits, layout.isAttribute, needed, wide);
    store<i32>(tokenAt, hints, layout.tokenHints);
    if (entryToken != 0) noteText(tokenAt, traits, hints, needed);
  }
}

function hashOf(from: i32, length: i32): i32 {
  return (
    (length * 7 + byte(from) * 3 + byte(from + length - 1) * 11 + byte(from + (length >> 1)) * 5) &
    (layout.nameCount - 1)
  );
}

// Returns the slot of the name at `from`, or 0 if it is unknown, and sets the name's end. First tries the name that followed the last
// one before, because it usually does so again.
function nameAt(from: i32): i32 {
  const guess: i32 = load<i32>(last, layout.nameNext);
  if (guess != 0) {
    const length: i32 = load<i32>(guess);
    nameEnd = from + length;
    if (endsName(nameEnd) && same(from, guess + layout.nameText, length)) {
      last = guess;
      return guess;
    }
  }
  const length: i32 = nameLength(from);
  nameEnd = from + length;
  if (length == 0 || length > layout.longestName) return 0;
  let index: i32 = hashOf(from, length);
  while (true) {
    const slot: i32 = layout.namesStart + index * layout.nameSize;
    const size: i32 = load<i32>(slot);
    if (size == 0) return 0;
    if (size == length && same(from, slot + layout.nameText, length)) {
      store<i32>(last, slot, layout.nameNext);
      last = slot;
      return slot;
    }
    index = (index + 1) & (layout.nameCount - 1);
  }
  return 0;
}

// Whether the name of an element ends here, or that of an attribute, which includes its `=`.
function endsName(p: i32): bool {
  return byte(p) == 0x3e || byte(p - 1) == 0x3d || isSpace(byte(p)) || byte(p) == 0x2f;
}

function nameLength(from: i32): i32 {
  for (let p: i32 = from; p < from + 64; p += 16) {
    const v: v128 = v128.load(p);
    const ends: v128 = v128.or(i8x16.eq(v, i8x16.splat(0x3e)), i8x16.eq(v, i8x16.splat(0x3d)));
    const stops: v128 = v128.or(i8x16.eq(v, i8x16.splat(0x2f)), i8x16.lt_u(v, i8x16.splat(0x21)));
    const mask: i32 = i8x16.bitmask(v128.or(ends, stops));
    if (mask == 0) continue;
    const length: i32 = p + ctz(mask) - from;
    return byte(from + length) == 0x3d ? length + 1 : length;
  }
  return 64;
}

function same(a: i32, b: i32, length: i32): bool {
  let index: i32 = 0;
  for (; index + 16 <= length; index += 16) {
    if (i8x16.bitmask(i8x16.eq(v128.load(a + index), v128.load(b + index))) != 0xffff) return false;
  }
  const rest: i32 = (1 << (length - index)) - 1;
  return (i8x16.bitmask(i8x16.eq(v128.load(a + index), v128.load(b + index))) & rest) == rest;
}

// Returns the position of the next of two delimiters, or at least `end` if there is none. Sets `special` and `other` for the text before.
function search(from: i32, end: i32, one: i32, two: i32): i32 {
  const first: v128 = i8x16.splat(one as i8);
  const second: v128 = i8x16.splat(two as i8);
  let needed: i32 = 0;
  let wide: i32 = 0;
  let p: i32 = from;
  while (p < end) {
    const v: v128 = v128.load(p);
    const mask: i32 = i8x16.bitmask(v128.or(i8x16.eq(v, first), i8x16.eq(v, second)));
    // Has all bits below the lowest one that is set in `mask`, or all bits if none is set.
    const below: i32 = (mask ^ (mask - 1)) >>> 1;
    needed |= specials(v) & below;
    wide |= i8x16.bitmask(v) & below;
    if (mask != 0) {
      p += ctz(mask);
      break;
    }
    p += 16;
  }
  special = needed;
  other = wide;
  return p;
}

// Returns the position of `]]>` or `-->`, or 0 if there is none, or if `--!` comes first, which may also end a comment. Sets `special` and
// `other` for the text before it.
function endOfSection(from: i32, end: i32, mark: i32): i32 {
  let needed: i32 = 0;
  let wide: i32 = 0;
  let p: i32 = search(from, end, mark, mark);
  for (; p + 3 <= end; p = search(p + 1, end, mark, mark)) {
    special |= needed;
    other |= wide;
    if (byte(p + 1) == mark && byte(p + 2) == 0x3e) return p;
    if (byte(p + 1) == mark && byte(p + 2) == 0x21) return unusual();
    needed = special;
    wide = other;
  }
  return 0;
}

// Returns a bit for each ampersand, control character, and character that JSON escapes.
function specials(v: v128): i32 {
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(v, i8x16.splat(0x26)), i8x16.eq(v, i8x16.splat(0x22))),
      v128.or(
        v128.or(i8x16.eq(v, i8x16.splat(0x5c)), i8x16.eq(v, i8x16.splat(0x7f))),
        i8x16.lt_u(v, i8x16.splat(0x20)),
      ),
    ),
  );
}

// Writes the text of a token to the list, unless it is a known word. Returns the hints about it.
function takeText(tokenAt: i32, traits: i32, content: i32, needed: i32, wide: i32): i32 {
  const start: i32 = load<i32>(tokenAt, layout.tokenStart);
  const end: i32 = load<i32>(tokenAt, layout.tokenEnd);
  if (start == end) return 0;
  if ((traits & layout.isUnwanted) != 0) return layout.isRaw;
  let hints: i32 = 0;
  isWide = wide != 0;
  const isOnePiece: bool = needed == 0 && !isInterrupted;
  if (isOnePiece && !mayTrim(start, end)) {
    if ((traits & layout.isDate) != 0 && isDateAt(start, end - start)) hints |= layout.isUsualDate;
    // The texts of an entry that becomes one token are dropped, so they must not become words.
    if ((traits & layout.isUrl) == 0 && end - start <= 16 && entryToken == 0) {
      hints |= wordAt(start, end - start, tokenAt);
      if ((hints & layout.isKnownWord) != 0) return hints;
    }
  }
  store<u8>(textOut, 0x22);
  const written: i32 = textOut + 1;
  const o: i32 = isOnePiece ? copy(written, start, end) : decode(written, start, end, content);
  if (o == 0) return layout.isRaw;
  if (mayTrim(written, o)) hints |= layout.hasSpace;
  else if ((traits & layout.isUrl) != 0) {
    if (!isEscaped && isUrlAt(written, o)) hints |= hasOrigin(written) ? layout.isAccepted : layout.isUnaccepted;
    if ((traits & layout.isKey) != 0 && (hints & (layout.isAccepted | layout.isUnaccepted)) != 0) {
      hints |= layout.hasKey;
      fingerprint(written, o - written, tokenAt);
    }
  }
  // Ends the text with `",`.
  store<u16>(o, 0x2c22);
  textOut = o + 2;
  if (isWide) isAscii = 0;
  return hints;
}

function copy(to: i32, start: i32, end: i32): i32 {
  let o: i32 = to;
  for (let p: i32 = start; p < end; p += 16) {
    v128.store(o, v128.load(p));
    o += 16;
  }
  isEscaped = false;
  return to + end - start;
}

// Writes a text, decoded and without comments, as JSON. Returns where it ends; 0 if it has control characters, unusual references, or may have been escaped twice.
function decode(to: i32, start: i32, end: i32, content: i32): i32 {
  let o: i32 = to;
  let p: i32 = start;
  let ampersand: i32 = 0;
  isEscaped = false;
  while (p < end) {
    const v: v128 = v128.load(p);
    v128.store(o, v);
    const mask: i32 = specials(v) | (isInterrupted ? i8x16.bitmask(i8x16.eq(v, i8x16.splat(0x3c))) : 0) | 0x10000;
    const length: i32 = ctz(mask);
    if (p + length >= end) {
      o += end - p;
      break;
    }
    p += length;
    o += length;
    if (length == 16) continue;
    let c: i32 = byte(p);
    if (c == 0x3c) {
      p = endOfSection(p + 4, end, 0x2d) + 3;
      continue;
    }
    if (c == 0x26) {
      if (content != layout.holdsCdata) {
        p = reference(p);
        if (p == 0) return 0;
        c = decoded;
      }
      if (c == 0x26 && ampersand == 0) ampersand = o;
    }
    if (c < 0x20 || c == 0x7f) return 0;
    if (c == 0x22 || c == 0x5c) {
      isEscaped = true;
      store<u8>(o++, 0x5c);
    }
    if (c < 0x80) store<u8>(o++, c);
    else o = writeWide(o, c);
    p++;
  }
  return ampersand != 0 && content != layout.isAttribute && has(ampersand, o, 0x3b) ? 0 : o;
}

// Writes a non-ASCII character as UTF-8.
function writeWide(to: i32, c: i32): i32 {
  isWide = true;
  const length: i32 = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  // The first byte begins with as many ones as there are bytes.
  store<u8>(to, (0xf00 >> length) | (c >> (6 * (length - 1))));
  for (let index: i32 = 1; index < length; index++)
    store<u8>(to + index, 0x80 | ((c >> (6 * (length - 1 - index))) & 0x3f));
  return to + length;
}

// Decodes the reference at `p` into `decoded`. Returns the position of its last character, or 0 if it is unusual.
function reference(p: i32): i32 {
  const word: i32 = load<i32>(p, 1);
  decoded = 0x26;
  if (word == 0x3b706d61) return p + 4;
  // These words are `quot` and `apos`.
  decoded = word == 0x746f7571 ? 0x22 : 0x27;
  if ((word == 0x746f7571 || word == 0x736f7061) && byte(p + 5) == 0x3b) return p + 5;
  decoded = 0x3c;
  if ((word & 0xffffff) == 0x3b746c) return p + 3;
  decoded = 0x3e;
  if ((word & 0xffffff) == 0x3b7467) return p + 3;
  if ((word & 0xff) != 0x23) return 0;
  const base: i32 = byte(p + 2) == 0x78 ? 16 : 10;
  let q: i32 = base == 16 ? p + 3 : p + 2;
  decoded = 0;
  const limit: i32 = q + 7;
  while (q < limit) {
    const c: i32 = byte(q);
    const letter: i32 = (c | 0x20) - 0x57;
    const digit: i32 = c <= 0x39 ? c - 0x30 : letter >= 10 ? letter : -1;
    if (digit < 0 || digit >= base) break;
    decoded = decoded * base + digit;
    q++;
  }
  // Control characters, surrogates and the characters after them are left to the scanner.
  const isUsual: bool = decoded < 0xd800 ? decoded >= 0x20 && (decoded < 0x7f || decoded > 0x9f) : decoded > 0xffff;
  return byte(q) == 0x3b && isUsual && decoded < 0x110000 ? q : 0;
}

function has(from: i32, end: i32, wanted: i32): bool {
  for (let p: i32 = from; p < end; p += 16) {
    const mask: i32 = i8x16.bitmask(i8x16.eq(v128.load(p), i8x16.splat(wanted as i8)));
    if (mask != 0) return p + ctz(mask) < end;
  }
  return false;
}

// Whether a text may begin or end with white space, judging by the first bytes of its first and last characters.
function mayTrim(start: i32, end: i32): bool {
  const first: i32 = byte(start);
  if (first <= 0x20 || first >= 0x7f) {
    if (first < 0x80 || startsBlank(first)) return true;
  }
  const final: i32 = byte(end - 1);
  if (final > 0x20 && final < 0x7f) return false;
  // A blank beyond ASCII has two or three bytes.
  return final < 0x80 || startsBlank(byte(end - 2)) || startsBlank(byte(end - 3));
}

// Whether a byte may start a blank: U+0085 and U+00A0; U+1680 and U+180E; U+2000 to U+2060; U+3000; U+FEFF.
function startsBlank(c: i32): bool {
  return c == 0xc2 || c == 0xef || (c >= 0xe1 && c <= 0xe3);
}

// Whether a URL can be used as is, if its origin is accepted.
function isUrlAt(start: i32, end: i32): bool {
  // A URL that ends in `>` may end in something that does not belong to it, such as `]]>`.
  if (end - start > longestUrl || byte(end - 1) == 0x3e || mayHoldUrl(start + 6, end)) return false;
  // A character that starts with 0xef may be U+FFFD, which replaces invalid bytes.
  return !isWide || !has(start, end, 0xef);
}

// Whether `:/` is in a text. After the scheme of a URL, another one may begin there.
function mayHoldUrl(from: i32, end: i32): bool {
  for (let p: i32 = from; p < end; p += 16) {
    let colons: i32 = i8x16.bitmask(i8x16.eq(v128.load(p), i8x16.splat(0x3a)));
    for (; colons != 0 && p + ctz(colons) < end; colons &= colons - 1) {
      if (byte(p + ctz(colons) + 1) == 0x2f) return true;
    }
  }
  return false;
}

function hasOrigin(start: i32): bool {
  for (let index: i32 = 0; index < layout.originCount; index++) {
    const slot: i32 = layout.originsStart + index * layout.originSize;
    const length: i32 = load<i32>(slot);
    if (length == 0) return false;
    if (same(start, slot + layout.originText, length)) return true;
  }
  return false;
}

// Computes the same fingerprint as FingerprintReader in fingerprints.ts.
function fingerprint(start: i32, length: i32, tokenAt: i32): void {
  let high: i32 = highStart ^ length;
  let low: i32 = lowStart;
  const whole: i32 = start + (length & -4);
  const bits: i32 = (length & 3) << 3;
  let p: i32 = start;
  while (p < whole || (p == whole && bits != 0)) {
    let word: i32 = load<i32>(p);
    if (p == whole) {
      // Spaces fill the last word.
      const mask: i32 = (1 << bits) - 1;
      word = (word & mask) | (0x20202020 & ~mask);
    }
    high = (high ^ word) * highFactor;
    high = high ^ (high >>> 15);
    low = (low ^ word) * lowFactor;
    low = low ^ (low >>> 13);
    p += 4;
  }
  store<i32>(tokenAt, high, layout.tokenHigh);
  store<i32>(tokenAt, low, layout.tokenLow);
}

// Loads a text of up to sixteen bytes, filled up with zeros.
function wordOf(start: i32, length: i32): v128 {
  const positions: v128 = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return v128.and(v128.load(start), i8x16.gt_u(i8x16.splat(length as i8), positions));
}

// Returns whether a short text is a known word. If not, makes it one. There are two slots for each hash.
function wordAt(start: i32, length: i32, tokenAt: i32): i32 {
  const v: v128 = wordOf(start, length);
  const mixed: i64 = i64x2.extract_lane(v, 0) ^ (i64x2.extract_lane(v, 1) * 0x42b2ae3d27d4eb4f);
  let word: i32 = <i32>((mixed * 0x1e3779b97f4a7c15) >> 40) & (layout.wordCount - 2);
  let known: i32 = layout.isKnownWord;
  if (v128.any_true(v128.xor(v, v128.load(layout.wordsStart + (word << 4))))) {
    if (v128.any_true(v128.xor(v, v128.load(layout.wordsStart + (word << 4), 16)))) {
      nextWay = nextWay ^ 1;
      known = layout.isNewWord;
      v128.store(layout.wordsStart + ((word | nextWay) << 4), v);
      word |= nextWay;
    } else word |= 1;
  }
  store<i32>(tokenAt, word, layout.tokenHigh);
  return known;
}

// Whether this is YYYY-MM-DD, perhaps with Thh:mm:ss and Z or an offset. Leaves three rare cases to the scanner: years before 100, February 29
// of years like 2000, and the offset -00:00.
function isDateAt(p: i32, length: i32): bool {
  if (length != 10 && length != 20 && length != 25) return false;
  // Each has a bit for each character up to the minutes: those that must be digits, and those that must be separators.
  const digits: i32 = length == 10 ? 0x036f : 0xdb6f;
  const others: i32 = length == 10 ? 0x0090 : 0x2490;
  const v: v128 = v128.load(p);
  const form: v128 = i8x16(0, 0, 0, 0, 0x2d, 0, 0, 0x2d, 0, 0, 0x54, 0, 0, 0x3a, 0, 0);
  if ((digitsOf(v) & digits) != digits || (i8x16.bitmask(i8x16.eq(v, form)) & others) != others) return false;
  const month: i32 = pair(p + 5);
  const day: i32 = pair(p + 8);
  if (month == 0 || month > 12 || day == 0 || load<u16>(p) == 0x3030) return false;
  // Up to July, the odd months have 31 days; from August on, the even ones do.
  const year: i32 = pair(p + 2);
  const last: i32 = month != 2 ? 30 + ((month ^ (month >> 3)) & 1) : (year & 3) == 0 && year != 0 ? 29 : 28;
  if (day > last) return false;
  if (length == 10) return true;
  const rest: i32 = digitsOf(v128.load(p, 16));
  const sign: i32 = byte(p + 19);
  if (byte(p + 16) != 0x3a || (rest & 6) != 6) return false;
  if (pair(p + 11) > 23 || pair(p + 14) > 59 || pair(p + 17) > 59) return false;
  if (length == 20) return sign == 0x5a;
  if ((sign != 0x2b && sign != 0x2d) || byte(p + 22) != 0x3a || (rest & 0x1b0) != 0x1b0) return false;
  const hours: i32 = pair(p + 20);
  const minutes: i32 = pair(p + 23);
  return hours <= 23 && minutes <= 59 && (sign == 0x2b || hours + minutes > 0);
}

// Returns a bit for each digit.
function digitsOf(v: v128): i32 {
  return i8x16.bitmask(i8x16.lt_u(i8x16.sub(v, i8x16.splat(0x30)), i8x16.splat(10)));
}

// Returns the two-digit number at `p`.
function pair(p: i32): i32 {
  return byte(p) * 10 + byte(p + 1) - 0x30 * 11;
}

/** Counts the line ends between two positions. */
export function lineEnds(from: i32, to: i32): i32 {
  let count: i32 = 0;
  let p: i32 = from;
  for (; p + 16 <= to; p += 16) count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(p), i8x16.splat(0x0a))));
  const rest: i32 = (1 << (to - p)) - 1;
  return count + popcnt(i8x16.bitmask(i8x16.eq(v128.load(p), i8x16.splat(0x0a))) & rest);
}
