export type { KeepLiveOptions, LiveStatus } from './keep-live.ts'
export { keepLive } from './related-resources.ts'
export { type ClientWithHeaders, createQueryUtils, type QueryUtils } from './orpc.ts'
