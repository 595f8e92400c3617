/**
 * Imports go in one direction: app -> contract, engine/dev/page; src -> db, contract, engine; db and contract -> engine.
 * docs/decisions/structure.md explains the folders.
 */

/**
 * The rooms of the engine and the rooms that each may import, as in CONTRIBUTING.md (`npm run rooms` compares). A folder with a
 * line of its own is not part of the line of its room.
 */
const rooms = {
  'index.ts': 'app call guard procedures start/define-app texts values',
  'command.ts': 'cli db',
  dev: 'app contract db guard html http identity settings start',
  cli: 'contract db operator settings start values',
  start: 'app call console db guard http identity jobs live operator settings start/define-app telemetry',
  'start/define-app': 'app call contract db guard live openapi procedures settings values',
  console: 'app call contract db http identity jobs openapi operator settings telemetry values',
  operator: 'app contract db identity live openapi settings values',
  procedures: 'app call contract db guard live texts values',
  jobs: 'app call contract db guard html identity telemetry texts values',
  live: 'app call contract db guard values',
  http: 'app call contract db guard html identity openapi settings telemetry values',
  guard: 'app call contract db telemetry values',
  identity: 'app call contract db html settings texts values',
  openapi: 'app contract values',
  telemetry: 'call contract db settings values',
  app: 'call contract db texts',
  html: 'contract texts',
  call: 'contract db',
  settings: 'contract db values',
  texts: 'contract',
  values: 'contract',
  db: 'contract',
  contract: 'contract',
}

/** What applications can import: the entry points of the packages. */
const engineEntries =
  '^engine/(index|start/serve|cli/index|dev/project/commands|dev/testing/(index|harness|setup|laws/index)|db/(index|connection/open)|http/files/index|contract/(query/)?index)\\.ts$'

/** What the page of an application imports of the engine. */
const pageEntries = '^engine/dev/page/(index\\.ts|styles\\.css)$'

/** What a resource imports of the engine. The other entry points start programs. */
const resourceEntries = '^engine/(index|db/index|http/files/index|contract/index)\\.ts$'

/**
 * Returns a rule: the files at `from` can import only packages, Node's modules, their own folder and the paths in
 * `allowed`.
 */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { dependencyTypesNot: ['core', 'npm', 'npm-dev'], pathNot: [from, ...allowed, 'node_modules'] },
})

/** Returns the paths of a line of `rooms`. The samples and the template are applications. */
const placeOf = (room) =>
  `^engine/${room.endsWith('.ts') ? `${room.replace('.', '\\.')}$` : `${room}/(?!create/(samples|template)/|define-app/)`}`

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Includes type-only imports.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'contract-packages',
      comment: 'Contracts ship to applications: only oRPC and zod, and for TanStack Query its core.',
      severity: 'error',
      from: { path: '^(engine/)?contract/' },
      to: { path: 'node_modules', pathNot: ['node_modules/(@orpc/|zod/|@tanstack/query-core/)'] },
    },
    {
      name: 'contract-no-core',
      comment: 'Contracts run in browsers.',
      severity: 'error',
      from: { path: '^(engine/)?contract/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'page-packages',
      comment: 'The peers of engine/dev/package.json, which only applications with a page install.',
      severity: 'error',
      from: { path: '^engine/dev/page/' },
      to: {
        path: 'node_modules',
        pathNot: [
          'node_modules/(@orpc/contract|@tanstack/react-query|intl-messageformat|react|react-dom|wouter|@types/react(-dom)?)/',
        ],
      },
    },
    {
      name: 'query-behind-its-entry',
      comment: 'TanStack Query is optional for applications.',
      severity: 'error',
      from: {
        path: '^(contract|db|engine|src)/',
        pathNot: '^((engine/)?contract/query|engine/dev/page|engine/dev/create/(samples|template)/app)/',
      },
      to: { path: ['^(engine/)?contract/query/', 'tanstack'] },
    },

    // The service, an application of the engine.
    only('contract', '^contract/', ['^engine/contract/(query/)?index\\.ts$']),
    only('db', '^db/', ['^engine/db/(index|connection/open)\\.ts$']),
    only('src', '^src/', ['^(contract|db)/', engineEntries]),
    only('resources', '^src/(counter|tasks|notes|legacy-notes|reservations)\\.ts$', [
      '^(contract|db)/',
      '^src/(html|samples)/',
      '^src/(notes|texts)\\.ts$',
      resourceEntries,
    ]),
    only('samples', '^src/samples/', ['^(contract|db)/', resourceEntries]),
    only('service-html', '^src/html/', ['^contract/', resourceEntries]),
    only('service-texts', '^src/texts\\.ts$', ['^src/messages/', resourceEntries]),
    only('app', '^app/', ['^contract/', '^engine/contract/index\\.ts$', pageEntries, '^src/messages/']),

    // The page of the console.
    only('console-page', '^pages/console/', [
      '^engine/console/(bounds|contract|data/data-contract|jobs-contract|live/live-contract|requests/requests-contract)\\.ts$',
      '^engine/(openapi/procedure-description|dev/page/translator|dev/page/components/(copy-button|use-modal))\\.tsx?$',
    ]),
    {
      name: 'console-page-types',
      comment: 'The page has only the types of the contract, so that the page contains no schemas.',
      severity: 'error',
      from: { path: '^pages/console/' },
      to: {
        path: '^engine/',
        pathNot: '^engine/(console/bounds|dev/page/(translator|components/(copy-button|use-modal)))\\.tsx?$',
        dependencyTypesNot: ['type-only'],
      },
    },

    // The reference page, which shows components of the console.
    only('reference-page', '^pages/docs/', [
      '^engine/(contract/index|console/contract|openapi/procedure-description|values/similar-names)\\.ts$',
      '^engine/dev/page/(auth|language|query-client|session-changes|texts|theme|translator)\\.tsx?$',
      '^engine/dev/page/components/(confirm|language-select|session/sign-in|use-modal)\\.tsx?$',
      '^pages/console/(code/|procedures/|main\\.css|format\\.ts$)',
    ]),
    {
      name: 'reference-page-without-console',
      comment: 'None of its parts calls the console, which production does not have.',
      severity: 'error',
      from: { path: '^pages/docs/' },
      to: { path: '^pages/console/(client|location)\\.ts$', reachable: true },
    },

    // The engine, which knows no resource.
    only('engine', '^engine/', []),
    ...Object.entries(rooms).map(([room, imported]) =>
      only(`engine-${room}`, placeOf(room), imported.split(' ').map(placeOf)),
    ),
    only('engine-test-application', '^engine/test/library/', [engineEntries]),
    {
      name: 'messages',
      comment: 'The files of texts import only the types of the English texts, because pages load the files.',
      severity: 'error',
      from: { path: '^(engine/texts|engine/dev/page|src)/messages/' },
      to: { pathNot: '^$1/messages/en\\.ts$' },
    },
    {
      name: 'messages-types',
      severity: 'error',
      from: { path: '^(engine/texts|engine/dev/page|src)/messages/' },
      to: { dependencyTypesNot: ['type-only'] },
    },
    only('page', '^engine/dev/page/', ['^engine/contract/((query/)?index|internal)\\.ts$']),
    {
      name: 'http-no-queries',
      comment: 'Protocols import only types from engine/db/. The nightly sweep of files is no protocol.',
      severity: 'error',
      from: { path: '^engine/http/', pathNot: '^engine/http/files/sweep\\.ts$' },
      to: { path: '^engine/db/', dependencyTypesNot: ['type-only'] },
    },
    only('project', '^engine/dev/project/', [
      '^engine/(app/paths|html/development|dev/page/paths|dev/create/(client-package|folder|index|package-manager|migration/migration|migration/migration-command|resources/(add|remove|syntax)|upgrade/index)|db/errors|settings/(console-port|environment-files|listen|loopback)|start/package-runner)\\.ts$',
    ]),
    only('create', '^engine/dev/create/(?!(samples|template)/)', [
      '^engine/contract/',
      '^engine/db/(errors|migrate/migration-files)\\.ts$',
      '^engine/dev/page/paths\\.ts$',
    ]),
    only('template', '^engine/dev/create/(samples|template)/', [
      engineEntries,
      pageEntries,
      '^engine/contract/query/index\\.ts$',
    ]),
    {
      name: 'console-on-demand',
      comment: 'Production does not load the console for developers.',
      severity: 'error',
      from: { path: '^(src|engine)/', pathNot: '^engine/(console|test)/' },
      to: { path: '^engine/console/', dynamic: false },
    },
    {
      name: 'operator-on-demand',
      comment: 'A command is imported when it runs, so that CLI calls do not load the code of the service.',
      severity: 'error',
      from: { path: '^engine/operator/commands' },
      to: { path: '^(src|engine)/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    { name: 'main-not-imported', severity: 'error', from: {}, to: { path: '^src/(main|command)\\.ts$' } },
    {
      name: 'test-not-imported',
      severity: 'error',
      from: { pathNot: '^(test|bench|engine/test)/' },
      to: { path: '^(test|bench|engine/test)/' },
    },
    {
      name: 'declared-packages',
      comment:
        'package.json of the workspace declares every package that its code imports. A package for TanStack Query is an optional peer.',
      severity: 'error',
      from: { path: '^(contract|db|engine|src)/', pathNot: 'drizzle.config|^engine/(dev/page|test)/' },
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only', 'npm-peer'],
        pathNot: '@orpc/tanstack-query/',
      },
    },
    {
      name: 'no-dev-packages',
      comment: 'The development dependencies of the engine are in its bundle (.config/packages.ts).',
      severity: 'error',
      from: {
        path: '^(contract|db|engine/contract|engine/dev|src)/',
        pathNot: [
          'drizzle.config',
          '^engine/dev/page/',
          '^engine/dev/create/(samples|template)/(app|test|vitest)',
        ],
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: '^test/generated/\\.output/',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'default'] },
  },
}
