type Json = Record<string, unknown>

/** A change of a value in package.json, such as `devDependencies.vite`. Undefined: the value is absent. */
export interface ManifestChange {
  path: string
  from: unknown
  to: unknown
}

interface ManifestMerge {
  content: string
  changed: ManifestChange[]
  /** Changes of the template that the project does not get, because the project has changed the same value. */
  kept: ManifestChange[]
}

interface Manifests {
  /** package.json of the project, of the template that the project was made from, and of the template now. */
  current: string
  base: string
  next: string
  /** The versions that the engine needs, by the name of the package. */
  needed: Readonly<Record<string, string>>
}

/** Fields that are the project's own. */
const OWN = /^(name|version|description)$/

const DEPENDENCIES = /^(dependencies|devDependencies|optionalDependencies)\./

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Returns the values by path: `scripts.dev`. No field of package.json has a dot in its name. */
const valuesOf = (manifest: Json) =>
  new Map(
    Object.entries(manifest).flatMap(([field, value]) =>
      isObject(value)
        ? Object.entries(value).map(([name, each]) => [`${field}.${name}`, each] as const)
        : [[field, value] as const],
    ),
  )

/**
 * Merges the changes of package.json of the template into package.json of a project: a value that the project has not
 * changed becomes the value of the template now. A package of the project that the engine needs gets the needed version.
 */
export function mergeManifest({ current, base, next, needed }: Manifests): ManifestMerge {
  const manifest = JSON.parse(current) as Json
  const own = valuesOf(manifest)
  const before = valuesOf(JSON.parse(base) as Json)
  const after = valuesOf(JSON.parse(next) as Json)
  const wanted = new Map(own)
  const kept: ManifestChange[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [from, to] = [own.get(path), after.get(path)]
    if (OWN.test(path) || isSame(before.get(path), to) || isSame(from, to)) continue
    if (isSame(from, before.get(path))) wanted.set(path, to)
    else kept.push({ path, from, to })
  }
  for (const [path, version] of wanted) {
    const [group = ''] = DEPENDENCIES.exec(path) ?? []
    if (group && version !== undefined) wanted.set(path, needed[path.slice(group.length)] ?? version)
  }
  const changed = [...wanted]
    .map(([path, to]) => ({ path, from: own.get(path), to }))
    .filter(({ from, to }) => !isSame(from, to))
  for (const change of changed) apply(manifest, change)
  return {
    content: formatLike(current, manifest),
    changed,
    kept: kept.filter(({ path }) => !changed.some((change) => change.path === path)),
  }
}

function apply(manifest: Json, { path, to }: ManifestChange) {
  const [field = '', name] = path.split(/\.(.*)/)
  const value = manifest[field] ?? {}
  if (name === undefined) manifest[field] = to
  else if (isObject(value)) {
    const object = { ...value, [name]: to }
    manifest[field] = DEPENDENCIES.test(path) ? sortNames(object) : object
  }
}

const sortNames = (object: Json) =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Formats with the indentation and the line ends of a text. Leaves out undefined values. */
function formatLike(text: string, manifest: Json) {
  const [, indentation = '  '] = /^\{\r?\n([ \t]+)/.exec(text) ?? []
  const formatted = JSON.stringify(manifest, null, indentation) + (text.endsWith('\n') ? '\n' : '')
  return text.includes('\r\n') ? formatted.replaceAll('\n', '\r\n') : formatted
}
