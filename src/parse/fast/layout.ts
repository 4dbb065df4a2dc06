// Constants shared by the tokenizer (tokenizer.as.ts, AssemblyScript) and TypeScript. Valid in both languages.

// The tokenizer's memory map.
/** The size of the memory, in pages of 64 KB. */
export const memoryPages = 24;
/** A hash table of names: of elements, and of attributes with their `=`. */
export const namesStart = 65536;
export const nameCount = 512;
export const nameSize = 64;
/** The fields of a name: its length, number and traits, the name that usually follows it, and its text. */
export const nameNumber = 4;
export const nameTraits = 8;
export const nameNext = 12;
export const nameText = 16;
export const longestName = 47;
/** Accepted origins: their length and text. */
export const originsStart = 98304;
export const originCount = 8;
export const originSize = 256;
export const originText = 16;
/** Words, which are short texts that were seen before. Each takes sixteen bytes, and each hash has room for two. */
export const wordsStart = 100352;
export const wordCount = 512;
/** The addresses of the names of open elements, by depth; the root is at 1. */
export const openStart = 108544;
/** The entry for names that are not in the table. No name has its length, so it never matches. */
export const unknownName = 108800;
/** A name that is being added to the table. */
export const scratchStart = 108864;
/** A hash table of entry shapes about which nothing was reported: see `note` in tokenizer.as.ts. */
export const shapesStart = 110592;
export const shapeCount = 1024;
/** The document, in UTF-8. Vector loads read past its end. */
export const documentStart = 131072;
export const documentEnd = 327680;
/** The tokens of a run. */
export const tokensStart = 331776;
export const tokensEnd = 724992;
/** Texts as JSON: at most twice as long as the document. */
export const textsStart = 724992;
/** The URLs of entries for which only the URL is needed, each followed by a line end. */
export const linesStart = 1179648;
/** How many bytes of a document may wait for the next chunk. */
export const longestRest = 32768;

/** The fields of a token: kind and number of the name, start, end, hints, a fingerprint or the number of a word (at the end of an
    entry: its shape, or 0), where its tag begins, and for an entry, where its end tag begins. */
export const tokenStart = 4;
export const tokenEnd = 8;
export const tokenHints = 12;
export const tokenHigh = 16;
export const tokenLow = 20;
export const tokenTag = 24;
export const tokenClose = 28;
export const tokenSize = 32;

/** What an entry of a known shape becomes: ordinary tokens; if only its URL is needed, one token and a line; if its URL is all that it has,
    one token and a text. */
export const tokens = 0;
export const lines = 1;
export const texts = 2;

/** Kinds of tokens: an element with children begins or ends; an element has only text, or a CDATA section; an element is empty. */
export const opens = 0;
export const closes = 1;
export const holdsText = 2;
export const holdsCdata = 3;
export const isEmpty = 4;
/** An attribute. The attributes of an element come before it. */
export const isAttribute = 5;
/** A whole entry. Its URL is in the lines, where its start and end are, or in the texts. */
export const isPage = 6;
export const kinds = 7;
/** Added to the kind of an element with attributes: their tokens come before it, or they have no tokens because they are not wanted. */
export const hasAttributes = 8;
export const hidesAttributes = 16;

/** Traits of the text of an element or attribute: it is a URL, the URL of an entry, a date, or any text. */
export const isUrl = 1;
export const isKey = 2;
export const isDate = 4;
export const isAny = 8;
/** `wantsAttributes`: the element's attributes are needed. `isUnwanted`: its text is not. */
export const wantsAttributes = 16;
export const isUnwanted = 32;
/** `isNumber`: the text is a number. `isEntry`: the element is a page's entry. */
export const isNumber = 64;
export const isEntry = 128;

/** Hints about a text. `isRaw`: the text is unusual, so it is not in the list of texts. */
export const isRaw = 1;
/** The text is raw, and comments interrupt it. */
export const hasComments = 2;
/** The text may have to be trimmed. */
export const hasSpace = 4;
/** The text is a URL of an accepted origin, or of a new one (`isUnaccepted`); it has a fingerprint (`hasKey`); it is a date. */
export const isAccepted = 8;
export const isUnaccepted = 16;
export const hasKey = 32;
export const isUsualDate = 64;
/** The text is a known word, or becomes one. */
export const isKnownWord = 128;
export const isNewWord = 256;
