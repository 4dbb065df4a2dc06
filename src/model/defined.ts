// Optional fields: one without a value is left out, so that it is absent in JSON and in comparisons, too.

/** The fields that have a value. */
export function defined<T extends object>(fields: T): { -readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
