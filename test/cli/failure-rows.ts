// What can fail in a fleet on several machines. The table of docs/fleet.md has these rows, and each is a test.

export const failureRows = [
  "A worker is killed",
  "A worker is stopped for longer than its lease, and goes on",
  "Redis is killed and started again",
  "The connection to Redis is lost",
  "Redis is full",
  "A website kills its worker again and again",
] as const;
