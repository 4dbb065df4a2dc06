// Loaded before the program (`node --import`): names are looked up at the server that the environment names, which never answers, and
// nowhere else.
import dns from "node:dns";

dns.setServers([process.env.SITEGROVE_BENCH_DNS]);
dns.promises.lookup = async () => {
  throw Object.assign(new Error("nobody knows it"), { code: "ENOTFOUND" });
};
