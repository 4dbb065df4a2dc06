// Creates fast paths. All share one matcher: reading a chunk is never interrupted, so the state of a document is put
// into the matcher's memory for each chunk.
import { type CreateFastPath, noFastPath } from "../fast-path.ts";
import { Follower } from "./follower.ts";
import { createMatcher, type Matcher } from "./matcher.ts";

/** Fast paths with this matcher. Without one, the scanner reads everything. */
export function fastPathWith(matcher: Matcher | undefined): CreateFastPath {
  if (matcher === undefined) return noFastPath;
  // `strict` has to check everything.
  return (parts) => (parts.cursor.strict ? noFastPath(parts) : new Follower(parts, matcher));
}

let usual: CreateFastPath | undefined;

/** The default. The matcher is created for the first document that can use it. */
export const usualFastPath: CreateFastPath = (parts) => {
  usual ??= fastPathWith(createMatcher());
  return usual(parts);
};
