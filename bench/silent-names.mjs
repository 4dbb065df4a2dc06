// `node --import` loads this before the program. It makes SITEGROVE_BENCH_DNS, which never responds, the only name server.
import dns from "node:dns";

dns.setServers([process.env.SITEGROVE_BENCH_DNS]);
dns.promises.lookup = async () => {
  throw Object.assign(new Error("nobody knows it"), { code: "ENOTFOUND" });
};
