/** Converts a time to Unix time in whole seconds. */
export const toUnixSeconds = (moment: Date) => Math.floor(moment.getTime() / 1000)
