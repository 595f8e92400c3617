import type { Samples } from 'tallystick'

import { plantsTopic } from '../../contract/plants.ts'
import { gardenRows } from '../../db/gardens.ts'
import { plantRows } from '../../db/plants.ts'

const titles = ['Second plant', 'First plant']

/**
 * The sample data for development: of the page, the console and `tallystick seed`, in the gardens that the person has. Skips data that
 * exists.
 */
export const samples: Samples = {
  topics: [plantsTopic],
  async add(db, name, people) {
    const person = people[name]
    const existing = await plantRows.all(db, person)
    for (const { id } of await gardenRows.all(db, person))
      for (const title of titles)
        if (!existing.some((plant) => plant.gardenId === id && plant.title === title))
          await plantRows.insert(db, person, { gardenId: id, title })
  },
}
