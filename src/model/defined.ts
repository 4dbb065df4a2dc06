// Omits fields that are undefined, because strict comparisons distinguish them from absent ones.

/** Returns the fields that are not undefined. */
export function defined<T extends object>(fields: T): { -readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
