// Files share processes (vitest.config.ts): whatever one of them puts into the environment is gone before the next begins.
import { afterAll } from "vitest";

const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});
