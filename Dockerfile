# The program with everything a fleet needs: docker build -t sitegrove . && docker run sitegrove ls https://example.org/
FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
# What workers need beside the dependencies stays: the drivers of queues and buckets are optional peers.
RUN node scripts/build.mjs \
  && npm prune --omit=dev --ignore-scripts \
  && npm install --no-save --omit=dev --ignore-scripts bullmq ioredis @aws-sdk/client-s3 @aws-sdk/lib-storage

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
COPY --from=build /app/node_modules ./node_modules
RUN ln -s /app/dist/cli/main.js /usr/local/bin/sitegrove
USER node
WORKDIR /data
ENTRYPOINT ["sitegrove"]
