/** Converts a time to Unix time in seconds: `createdAt: toUnixSeconds(row.createdAt)`. */
export const toUnixSeconds = (moment: Date) => Math.floor(moment.getTime() / 1000)

/** Converts the times of a row to Unix time in seconds: `{ title, ...toUnixTimes(row) }`. */
export const toUnixTimes = ({ createdAt, updatedAt }: { createdAt: Date; updatedAt: Date }) => ({
  createdAt: toUnixSeconds(createdAt),
  updatedAt: toUnixSeconds(updatedAt),
})
