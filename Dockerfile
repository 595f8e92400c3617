# Debian instead of Alpine: fs-native-extensions has no binary for musl.
ARG NODE=24-slim

FROM node:${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: `prepare` runs the build, but the source is not copied yet. No package needs an install script here.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json build.ts ./
COPY patches patches
COPY contract contract
COPY db db
COPY src src
RUN npm run build

FROM node:${NODE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: `prepare` would run the build, but its tools are development dependencies.
RUN npm ci --omit=dev --ignore-scripts

FROM node:${NODE}
WORKDIR /app
# Folder of the embedded database. With DATABASE_URL the service writes no files.
RUN install -d -o node -g node -m 700 /data
COPY package.json ./
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist/start dist/start
ARG RELEASE=local
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data RELEASE=${RELEASE}
# The user node. A numeric id lets an orchestrator verify that the user is not root.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/start/main.js"]
