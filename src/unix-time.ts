export const toUnixSeconds = (moment: Date) => Math.floor(moment.getTime() / 1000)
