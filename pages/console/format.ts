/** Returns a duration with its unit: `6.2 ms` or `1.3 s`. */
export function formatDuration(milliseconds: number) {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${milliseconds < 100 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

const timeFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** Returns the time of the day. `time` is in milliseconds since 1970. */
export const formatTime = (time: number) => timeFormat.format(time)

/** Returns the date and the time of the day. `time` is in milliseconds since 1970. */
export const formatDate = (time: number) => dateFormat.format(time)
