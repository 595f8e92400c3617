/** Imports go in one direction: http -> guard -> procedures -> db. docs/decisions.md explains the folders. */

/** Importable from every folder of src/. They import db/ and contract/ at most. */
const shared = ['^contract/', '^src/(context|maybe-promise|outages|output|settings)\\.ts$', '^src/telemetry/']

/** A rule: files of `from` import packages, Node's modules, their own folder and `allowed`, and no other file. */
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
      comment: 'Type-only imports included.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'contract-packages',
      comment: 'The contract ships to applications: it imports oRPC and zod only.',
      severity: 'error',
      from: { path: '^contract/' },
      to: { path: 'node_modules', pathNot: ['node_modules/(@orpc/|zod/)'] },
    },
    {
      name: 'contract-no-core',
      comment: 'The contract runs in browsers.',
      severity: 'error',
      from: { path: '^contract/' },
      to: { dependencyTypes: ['core'] },
    },
    only('contract', '^contract/', []),
    only('db', '^db/', []),
    only('context', '^src/context\\.ts$', ['^db/', '^src/settings\\.ts$']),
    only('settings', '^src/settings\\.ts$', [
      '^contract/',
      '^db/private\\.ts$',
      // Validation of OAUTH_CLIENTS: a file without imports of the service.
      '^src/identity/client-metadata\\.ts$',
    ]),
    only('shared', '^src/(maybe-promise|outages|output)\\.ts$', [
      '^contract/',
      '^db/errors\\.ts$',
      '^src/maybe-promise\\.ts$',
    ]),
    only('telemetry', '^src/telemetry/', [...shared, '^db/']),
    only('guard', '^src/guard/', [...shared, '^db/']),
    only('identity', '^src/identity/', [...shared, '^db/']),
    only('openapi', '^src/openapi/', shared),
    only('messages', '^src/messages/', []),
    only('views', '^src/views/', ['^contract/']),
    only('procedures', '^src/procedures/', [
      ...shared,
      '^src/guard/',
      '^db/',
      '^src/messages/',
      '^src/views/',
    ]),
    only('http', '^src/http/', [
      ...shared,
      '^src/procedures/index\\.ts$',
      '^src/(guard|identity|openapi|views)/',
      '^db/',
    ]),
    {
      name: 'http-no-queries',
      comment: 'Protocols use types of db/ alone.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^db/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'fast-behind-one-export',
      severity: 'error',
      from: { pathNot: '^(src/http/fast/|test/)' },
      to: { path: '^src/http/fast/', pathNot: '^src/http/fast/index\\.ts$' },
    },
    only('cli', '^src/cli/', [
      '^src/telemetry/error-message\\.ts$',
      '^src/operator/commands\\.ts$',
      '^contract/',
    ]),
    only('operator', '^src/operator/', ['^(contract|db)/', '^src/(?!main|testing)']),
    {
      name: 'operator-on-demand',
      comment: 'A command is imported when it runs: calling a service must not load the service.',
      severity: 'error',
      from: { path: '^src/operator/commands' },
      to: { path: '^(src|db)/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    { name: 'main-not-imported', severity: 'error', from: {}, to: { path: '^src/main' } },
    {
      name: 'test-not-imported',
      severity: 'error',
      from: { pathNot: '^(test|bench)/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'no-dev-packages',
      severity: 'error',
      from: { path: '^(contract|db|src)/', pathNot: 'drizzle.config' },
      // The bundle contains the patched postgres package: installations must not load the unpatched one.
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '^node_modules/postgres/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'default'] },
  },
}
