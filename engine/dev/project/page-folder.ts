/** Throws if Vite cannot serve files of a folder: Vite reads `#` in a path as the end of the path. */
export function requireServableFolder(folder: string) {
  if (folder.includes('#'))
    throw new Error(
      `Vite cannot serve the page from a folder with # in its path: ${folder}. Rename the folder, or start the service without hot reload: npm start`,
    )
}
