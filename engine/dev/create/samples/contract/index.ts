import { appContract, type ClientOf } from 'tallystick-contract'

import { gardens } from './gardens.ts'
import { plants } from './plants.ts'

export const contract = appContract({ gardens, plants })

export type Contract = typeof contract
export type Client = ClientOf<Contract>
