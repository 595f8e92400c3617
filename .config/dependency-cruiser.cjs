/**
 * Imports go in one direction: app -> contract, engine/dev/page; src -> db, contract, engine; db and contract -> engine.
 * docs/decisions/structure.md explains the folders.
 */

const engineContract = '^engine/contract/'

/** The modules that every folder of the engine can import. */
const shared = [
  engineContract,
  '^engine/(audit-source|caller|context|items|listen|live-stream|services|resource|rate-limits|mail-address|loopback|outages|output|settings|unix-time)\\.ts$',
  '^engine/telemetry/',
  '^engine/values/',
]

/** What applications can import: the entry points of the packages. */
const engineEntries =
  '^engine/(index|serve|cli/index|dev/project/commands|dev/testing/(index|harness|setup|laws/index)|db/(index|open)|contract/(query/)?index)\\.ts$'

/** What the page of an application imports of the engine. */
const pageEntries = '^engine/dev/page/(index\\.ts|styles\\.css)$'

/** What a resource imports of the engine. The other entry points start programs. */
const resourceEntries = '^engine/(index|db/index|contract/index)\\.ts$'

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
        pathNot: '^((engine/)?contract/query|engine/dev/page|engine/dev/create/template/app)/',
      },
      to: { path: ['^(engine/)?contract/query/', 'tanstack'] },
    },

    // The service, an application of the engine.
    only('contract', '^contract/', ['^engine/contract/(query/)?index\\.ts$']),
    only('db', '^db/', ['^engine/db/(index|open)\\.ts$']),
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
    only('console-page', '^pages/console/', ['^engine/console/(bounds|contract)\\.ts$']),
    {
      name: 'console-page-types',
      comment: 'The page has only the types of the contract, so that the page contains no schemas.',
      severity: 'error',
      from: { path: '^pages/console/' },
      to: { path: '^engine/', pathNot: '^engine/console/bounds\\.ts$', dependencyTypesNot: ['type-only'] },
    },

    // The engine, which knows no resource.
    only('engine', '^engine/', []),
    only('engine-test-application', '^engine/test/library/', [engineEntries]),
    only('engine-contract', engineContract, []),
    only('engine-db', '^engine/db/', [engineContract]),
    only('context', '^engine/(caller|context|items|live-stream|resource|services)\\.ts$', [
      '^engine/(contract|db|translation)/',
      '^engine/(rate-limits|settings)\\.ts$',
    ]),
    only('define-app', '^engine/(define-app|scope-resources)\\.ts$', [
      '^engine/(contract|db)/',
      '^engine/(context|rate-limits|resource|scope-resources)\\.ts$',
      '^engine/(guard|procedures)/index\\.ts$',
      '^engine/live/keys\\.ts$',
      '^engine/mistakes/',
    ]),
    only('mistakes', '^engine/mistakes/', [
      engineContract,
      '^engine/(items|resource)\\.ts$',
      '^engine/guard/required-permissions\\.ts$',
      '^engine/openapi/named-schemas\\.ts$',
      '^engine/values/',
    ]),
    only('settings', '^engine/settings\\.ts$', [
      engineContract,
      '^engine/(rate-limits|mail-address|loopback)\\.ts$',
      '^engine/db/(database-url|errors|private)\\.ts$',
      // Validates OAUTH_CLIENTS. Permitted, because this file imports no other file of the engine.
      '^engine/identity/client-metadata\\.ts$',
    ]),
    only('shared', '^engine/(rate-limits|mail-address|loopback|environment-files|outages|output)\\.ts$', [
      engineContract,
      '^engine/db/errors\\.ts$',
    ]),
    only('values', '^engine/values/', [engineContract, '^engine/resource\\.ts$']),
    only('telemetry', '^engine/telemetry/', [...shared, '^engine/db/']),
    only('guard', '^engine/guard/', [...shared, '^engine/db/']),
    only('identity', '^engine/identity/', [
      ...shared,
      '^engine/db/',
      '^engine/translation/',
      '^engine/(html/mail|texts)\\.ts$',
    ]),
    only('openapi', '^engine/openapi/', shared),
    {
      name: 'messages',
      comment: 'The files of texts import only the types of the English texts, because pages load the files.',
      severity: 'error',
      from: { path: '^(engine|engine/dev/page|src)/messages/' },
      to: { pathNot: '^$1/messages/en\\.ts$' },
    },
    {
      name: 'messages-types',
      severity: 'error',
      from: { path: '^(engine|engine/dev/page|src)/messages/' },
      to: { dependencyTypesNot: ['type-only'] },
    },
    only('translation', '^engine/translation/', ['^engine/contract/(index|internal)\\.ts$']),
    only('texts', '^engine/texts\\.ts$', ['^engine/contract/index\\.ts$', '^engine/(messages|translation)/']),
    only('page', '^engine/dev/page/', ['^engine/contract/((query/)?index|internal)\\.ts$']),
    only('html', '^engine/html/', [engineContract, '^engine/translation/', '^engine/(resource|texts)\\.ts$']),
    only('lists', '^engine/lists/', [...shared, '^engine/db/', '^engine/guard/networks\\.ts$']),
    only('built-in-procedures', '^engine/procedures/', [
      ...shared,
      '^engine/(guard|lists|db)/',
      '^engine/texts\\.ts$',
    ]),
    only('live', '^engine/live/', [...shared, '^engine/(guard|lists|db)/']),
    only('http', '^engine/http/', [...shared, '^engine/(guard|identity|openapi|html|db)/']),
    {
      name: 'http-no-queries',
      comment: 'Protocols import only types from engine/db/.',
      severity: 'error',
      from: { path: '^engine/http/' },
      to: { path: '^engine/db/', dependencyTypesNot: ['type-only'] },
    },
    only('cli', '^engine/cli/', [
      engineContract,
      '^engine/db/errors\\.ts$',
      '^engine/(environment-files|serve|operator/(commands|command-context|development))\\.ts$',
    ]),
    only('project', '^engine/dev/project/', [
      '^engine/(dev/page/paths|dev/create/(add|client-package|index|migration|migration-command|remove|syntax|upgrade/index)|cli/package-runner|db/errors|environment-files|listen|loopback)\\.ts$',
    ]),
    only('create', '^engine/dev/create/(?!template/)', [
      engineContract,
      '^engine/db/(errors|migration-files)\\.ts$',
      '^engine/dev/page/paths\\.ts$',
    ]),
    only('template', '^engine/dev/create/template/', [
      engineEntries,
      pageEntries,
      '^engine/contract/query/index\\.ts$',
    ]),
    only('console', '^engine/console/', [...shared, '^engine/(db|guard|http|identity|openapi|operator)/']),
    {
      name: 'console-on-demand',
      comment: 'Production does not load the console for developers.',
      severity: 'error',
      from: { path: '^(src|engine)/', pathNot: '^engine/(console|test)/' },
      to: { path: '^engine/console/', dynamic: false },
    },
    only('operator', '^engine/operator/', ['^engine/(?!dev/|cli/|serve|workers|open-services)']),
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
        pathNot: ['drizzle.config', '^engine/dev/page/', '^engine/dev/create/template/(app|test|vitest)'],
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
