import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The code blocks of docs/tanstack-query.md by file name. */
const recipe = Array.from(
  readFileSync('docs/tanstack-query.md', 'utf8').matchAll(/^```tsx? file=(\S+)\n(.*?)^```$/gms),
  ([, file = '', code = '']) => ({ file, code }),
)

/** Writes the application of docs/tanstack-query.md to a folder. Returns the file names. */
export async function writeRecipe(folder: string) {
  await Promise.all(recipe.map(({ file, code }) => writeFile(join(folder, file), code)))
  return recipe.map(({ file }) => file)
}
