import type { SampleName, Samples } from 'tallystick'

import { ideasTopic } from '../../contract/ideas.ts'
import { ideaRows } from '../../db/ideas.ts'

/** The titles of each person, in the order in which the rows are created. */
const titles: Readonly<Record<SampleName, readonly string[]>> = {
  ada: ['Third idea', 'Second idea', 'First idea'],
  charles: ['Idea of Charles'],
}

/** The sample data for development: of the page, the console and `tallystick seed`. Skips data that exists. */
export const samples: Samples = {
  topics: [ideasTopic],
  async add(db, name, people) {
    const person = people[name]
    const existing = (await ideaRows.all(db, person)).map(({ title }) => title)
    for (const title of titles[name])
      if (!existing.includes(title)) await ideaRows.insert(db, person, { title })
  },
}
