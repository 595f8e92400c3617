/** Unix time in whole seconds, as the first document's timestamps are. */
export const toUnixSeconds = (moment: Date) => Math.floor(moment.getTime() / 1000)
