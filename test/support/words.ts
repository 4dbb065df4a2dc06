/** The words of a text, for lists that are long. */
export function words(text: string): string[] {
  return text.split(/[ \n]+/).filter((word) => word !== "");
}
