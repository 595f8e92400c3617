import type { SampleName, Samples } from 'tallystick'

import { notesTopic } from '../../contract/notes.ts'
import { noteRows } from '../../db/notes.ts'

interface SampleNote {
  title: string
  body: string
  shares: readonly (readonly [SampleName, 'reader' | 'editor'])[]
}

/**
 * The notes are private, or shared with the other person in each role. They are listed in the order in which the rows
 * are created.
 */
export const sampleNotes: Readonly<Record<SampleName, readonly SampleNote[]>> = {
  ada: [
    {
      title: 'Books to return',
      body: 'Two to the library by Friday, one to Mary.',
      shares: [],
    },
    {
      title: 'Programme of the evening',
      body: '18:00 Doors open\n18:30 Charles: the engine and its drawings\n19:15 Tea\n19:45 Ada: what the engine could do',
      shares: [['charles', 'editor']],
    },
    {
      title: 'Who is coming',
      body: 'Mary, Michael, Augustus and some thirty more.\nTwo seats at the front are to be kept free.',
      shares: [['charles', 'reader']],
    },
  ],
  charles: [
    {
      title: 'What the projector needs',
      body: 'A table of its own, and a wall without pictures.',
      shares: [['ada', 'reader']],
    },
  ],
}

export const samples: Samples = {
  topics: [notesTopic],
  remark: 'Some notes are shared with another account.',
  async add(db, name, people) {
    const author = people[name]
    const existing = (await noteRows.all(db, author)).map(({ title }) => title)
    for (const note of sampleNotes[name]) {
      if (existing.includes(note.title)) continue
      const added = await noteRows.insert(db, author, note)
      for (const [member, role] of note.shares)
        await noteRows.members?.put(db, author, added?.uuid, { email: people[member].email, role })
    }
  },
}
