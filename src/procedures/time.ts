/** Unix time in whole seconds, as the first document's timestamps are. */
export const seconds = (moment: Date) => Math.floor(moment.getTime() / 1000)
