/** Returns a duration with its unit: `6.2 ms` or `1.3 s`. */
export function formatDuration(milliseconds: number) {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${milliseconds < 100 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

/** Returns a number of bytes with its unit: `812 B` or `1.2 kB`. */
export const formatSize = (bytes: number) => (bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`)

const timeFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** Returns the time of the day. `time` is in milliseconds since 1970. */
export const formatTime = (time: number) => timeFormat.format(time)

/** Returns the date and the time of the day. `time` is in milliseconds since 1970. */
export const formatDate = (time: number) => dateFormat.format(time)
