/** Kept equal to the version in package.json by a test. */
export const version: string = "0.1.0";
