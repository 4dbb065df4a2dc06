/** Kept equal to the version in package.json by a test. */
export const version: string = "1.0.0";
