/** Returns a duration with its unit: `6.2 ms` or `1.3 s`. */
export function formatDuration(milliseconds: number) {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${milliseconds < 100 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

/** Returns a number of bytes with its unit: `812 B`, `1.2 kB` or `143.5 MB`. */
export function formatSize(bytes: number) {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

const timeFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** Returns the time of the day. `time` is in milliseconds since 1970. */
export const formatTime = (time: number) => timeFormat.format(time)

/** Returns the date and the time of the day. `time` is in milliseconds since 1970. */
export const formatDate = (time: number) => dateFormat.format(time)
