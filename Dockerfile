# The program with everything a fleet needs: docker build -t sitegrove . && docker run sitegrove ls https://example.org/
FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
# The optional packages (queues, buckets, MCP) are needed here: as dependencies they stay, in the versions of the lock file.
RUN node scripts/build.mjs \
  && node -e 'const fs = require("fs"); const all = JSON.parse(fs.readFileSync("package.json")); for (const name in all.peerDependencies) delete all.devDependencies[name]; Object.assign(all.dependencies, all.peerDependencies); delete all.peerDependencies; fs.writeFileSync("package.json", JSON.stringify(all))' \
  && npm prune --omit=dev --ignore-scripts

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
COPY --from=build /app/node_modules ./node_modules
RUN ln -s /app/dist/cli/main.js /usr/local/bin/sitegrove && mkdir /data && chown node:node /data
USER node
WORKDIR /data
ENTRYPOINT ["sitegrove"]
