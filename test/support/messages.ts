// Every message of the program that tests expect. Tests refer to it by name, so that a message that is reworded changes here and nowhere
// else. Messages about wrong words and flags are in test/cli/usage-errors.test.ts.

/** Reading, listing and saving one website or several. */
export const said = {
  // begin of `said`
};

/** Checking, comparing, reporting and following changes. */
export const saidOfChecks = {
  // begin of `saidOfChecks`
};

/** Fleets, their queues, buckets and datasets. */
export const saidOfFleets = {
  // begin of `saidOfFleets`
};
