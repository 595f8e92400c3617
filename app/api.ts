import { createClient } from '../contract/client.ts'
import { createQueryUtils } from '../contract/query/index.ts'

export const orpc = createQueryUtils(createClient(location.origin))
