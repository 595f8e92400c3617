import { gardens } from './views/gardens.tsx'
import { plants } from './views/plants.tsx'

export const views = [...gardens, plants]
