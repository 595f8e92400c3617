import type { SampleName, Samples } from 'tallystick'

import { gardensTopic } from '../../contract/gardens.ts'
import { gardenRows } from '../../db/gardens.ts'

/** The titles of each person, in the order in which the rows are created. */
const titles: Readonly<Record<SampleName, readonly string[]>> = {
  ada: ['Second garden', 'First garden'],
  charles: ['Garden of Charles'],
}

/**
 * The sample data for development: of the page, the console and `tallystick seed`. Charles shares the rows with Ada. Skips data that
 * exists.
 */
export const samples: Samples = {
  topics: [gardensTopic],
  async add(db, name, people) {
    const person = people[name]
    const existing = (await gardenRows.all(db, person)).map(({ title }) => title)
    for (const title of titles[name]) {
      if (existing.includes(title)) continue
      const added = await gardenRows.insert(db, person, { title })
      if (name === 'charles')
        await gardenRows.members?.put(db, person, added?.id, { email: people.ada.email, role: 'viewer' })
    }
  },
}
