/** Splits a string into words, to write long lists in short. */
export function words(text: string): string[] {
  return text.split(/[ \n]+/).filter((word) => word !== "");
}
