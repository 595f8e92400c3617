/** Who may know whom: contract -> packages; db -> db; procedures -> access, conditions, guard, db, messages, views; transports never db. */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { dependencyTypesNot: ['core', 'npm', 'npm-dev'], pathNot: [...allowed, 'node_modules'] },
})

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'contract-packages',
      comment: 'The contract ships to apps: nothing but oRPC and zod.',
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
    only('contract', '^contract/', ['^contract/']),
    only('db', '^db/', ['^db/']),
    only('procedures', '^src/procedures/', [
      '^src/procedures/',
      '^src/(access|audit|conditions|guard)\\.ts',
      '^db/',
      '^contract/',
      '^src/messages/',
      '^src/views/',
    ]),
    only('messages', '^src/messages/', ['^src/messages/']),
    only('views', '^src/views/', ['^src/views/']),
    only('transports', '^src/transports/', [
      '^src/transports/',
      '^src/procedures/index',
      '^src/(access|after|output|turn)\\.ts',
      '^src/views/',
      '^contract/',
      '^src/(audit|auth|body|clients|document|grants|head|limits|outages|settings)\\.ts',
    ]),
    only('cli', '^src/(cli|keyring)\\.', [
      '^src/(keyring|problem|terminal)\\.',
      '^src/operator/commands',
      '^contract/',
    ]),
    only('operator', '^src/operator/', [
      '^src/operator/',
      '^db/',
      '^src/(document|mail|problem|serve|settings)\\.ts',
    ]),
    {
      name: 'operator-late',
      comment: 'Whoever calls a service does not load it: each command loads its own when it is asked for.',
      severity: 'error',
      from: { path: '^src/operator/commands' },
      to: { path: '^(src|db)/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    { name: 'nobody-imports-main', severity: 'error', from: {}, to: { path: '^src/main' } },
    {
      name: 'nobody-imports-test',
      severity: 'error',
      from: { pathNot: '^(test|bench)/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'no-dev-packages',
      severity: 'error',
      from: { path: '^(contract|db|src)/', pathNot: 'drizzle.config' },
      // The bundle carries postgres, patched: the package must not install it unpatched.
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
