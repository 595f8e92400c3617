/** Imports go in one direction: http -> guard -> procedures -> db. docs/decisions.md explains the folders. */

/** The modules that every folder of src/ can import. */
const shared = [
  '^contract/',
  '^src/(audit-source|caller|context|items|live-stream|services|resource|rate-limits|mail-address|outages|output|settings|unix-time)\\.ts$',
  '^src/telemetry/',
]

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
      comment:
        'The contract ships to applications: it imports oRPC and zod, and for TanStack Query its core, only.',
      severity: 'error',
      from: { path: '^contract/' },
      to: { path: 'node_modules', pathNot: ['node_modules/(@orpc/|zod/|@tanstack/query-core/)'] },
    },
    {
      name: 'contract-no-core',
      comment: 'The contract runs in browsers.',
      severity: 'error',
      from: { path: '^contract/' },
      to: { dependencyTypes: ['core'] },
    },
    only('contract', '^contract/', []),
    {
      name: 'query-behind-its-entry',
      comment: 'TanStack Query is optional for applications.',
      severity: 'error',
      from: { path: '^(contract|db|engine|src)/', pathNot: '^contract/query/' },
      to: { path: ['^contract/query/', 'tanstack'] },
    },
    only('db', '^db/', []),
    only('context', '^src/(caller|context|items|live-stream|resource|services)\\.ts$', [
      '^contract/',
      '^db/',
      '^src/(rate-limits|settings)\\.ts$',
      '^src/translation/',
    ]),
    only('define-app', '^src/define-app\\.ts$', [
      '^(contract|db)/',
      '^src/(context|rate-limits|resource)\\.ts$',
      '^src/procedures/index\\.ts$',
    ]),
    only('settings', '^src/settings\\.ts$', [
      '^contract/',
      '^src/(rate-limits|mail-address)\\.ts$',
      '^db/(database-url|errors|private)\\.ts$',
      // Validates OAUTH_CLIENTS. Permitted, because this file imports no other file of the service.
      '^src/identity/client-metadata\\.ts$',
    ]),
    only('shared', '^src/(rate-limits|mail-address|outages|output)\\.ts$', [
      '^contract/',
      '^db/errors\\.ts$',
    ]),
    only('telemetry', '^src/telemetry/', [...shared, '^db/']),
    only('guard', '^src/guard/', [...shared, '^db/']),
    only('identity', '^src/identity/', [...shared, '^db/', '^src/translation/', '^engine/texts\\.ts$']),
    only('openapi', '^src/openapi/', shared),
    {
      name: 'messages',
      comment:
        'The files of texts import only the types of the English texts, because the page loads the files in src/.',
      severity: 'error',
      from: { path: '^(engine|src)/messages/' },
      to: { pathNot: '^$1/messages/en\\.ts$' },
    },
    {
      name: 'messages-types',
      severity: 'error',
      from: { path: '^(engine|src)/messages/' },
      to: { dependencyTypesNot: ['type-only'] },
    },
    only('translation', '^src/translation/', ['^contract/languages\\.ts$']),
    only('engine', '^engine/', ['^contract/', '^src/translation/']),
    only('texts', '^src/texts\\.ts$', ['^contract/languages\\.ts$', '^src/(messages|translation)/']),
    only('html', '^src/html/', ['^contract/', '^src/translation/', '^engine/texts\\.ts$']),
    only('lists', '^src/lists/', [...shared, '^db/']),
    only('procedures', '^src/procedures/', [
      ...shared,
      '^src/(guard|lists|samples)/',
      '^db/',
      '^src/texts\\.ts$',
      '^src/html/',
    ]),
    only('samples', '^src/samples/', [...shared, '^db/']),
    only('live', '^src/live/', [...shared, '^src/(guard|lists)/', '^db/']),
    only('http', '^src/http/', [...shared, '^src/(guard|identity|openapi|html)/', '^db/']),
    {
      name: 'http-no-queries',
      comment: 'Protocols import only types from db/.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^db/', dependencyTypesNot: ['type-only'] },
    },
    only('app', '^app/', ['^contract/', '^src/messages/']),
    only('cli', '^src/cli/', [
      '^db/errors\\.ts$',
      '^src/operator/(commands|command-context)\\.ts$',
      '^contract/',
    ]),
    only('operator', '^src/operator/', ['^(contract|db)/', '^src/(?!main|testing)']),
    {
      name: 'operator-on-demand',
      comment: 'A command is imported when it runs, so that CLI calls do not load the code of the service.',
      severity: 'error',
      from: { path: '^src/operator/commands' },
      to: { path: '^(src|db)/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    { name: 'main-not-imported', severity: 'error', from: {}, to: { path: '^src/(main|command)\\.ts$' } },
    {
      name: 'test-not-imported',
      severity: 'error',
      from: { pathNot: '^(test|bench)/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'no-dev-packages',
      severity: 'error',
      from: { path: '^(contract|db|engine|src)/', pathNot: 'drizzle.config' },
      // The code may import `postgres`, although it is a development dependency: the bundle contains the patched
      // package, and installations must not load the unpatched package.
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '^node_modules/postgres/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: '^(contract/dist|test/generated/\\.output)/',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'default'] },
  },
}
