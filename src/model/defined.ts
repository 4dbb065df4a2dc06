// Omits optional fields that have no value, so that they are also absent in JSON and comparisons.

/** The fields that have a value. */
export function defined<T extends object>(fields: T): { -readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
