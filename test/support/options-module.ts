// Options as a module exports them.
export const retries = 1;
