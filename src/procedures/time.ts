/** Unix time in whole seconds: the timestamp format of the first interface document. */
export const toUnixSeconds = (moment: Date) => Math.floor(moment.getTime() / 1000)
