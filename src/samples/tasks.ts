import type { SampleName, Samples } from 'tallystick'

import { tasksTopic } from '../../contract/tasks.ts'
import { taskRows, type tasks } from '../../db/tasks.ts'

type SampleTask = Pick<typeof tasks.$inferSelect, 'title' | 'description' | 'status'>

/** The tasks have every status. They are listed in the order in which the rows are created. */
export const sampleTasks: Readonly<Record<SampleName, readonly SampleTask[]>> = {
  ada: [
    { title: 'Book the hall', description: 'For the evening of the 14th, from six.', status: 'completed' },
    { title: 'Print the programme', description: null, status: 'completed' },
    {
      title: 'Translate the lecture',
      description: 'The notes are longer than the text by now.',
      status: 'in_progress',
    },
    { title: 'Ask Charles for the drawings', description: null, status: 'pending' },
    { title: 'Order tea for forty', description: 'And something without milk.', status: 'pending' },
  ],
  charles: [{ title: 'Find the drawings', description: 'Not in the blue folder.', status: 'in_progress' }],
}

export const samples: Samples = {
  topics: [tasksTopic],
  async add(db, name, people) {
    const person = people[name]
    const existing = (await taskRows.all(db, person)).map(({ title }) => title)
    for (const task of sampleTasks[name]) {
      if (existing.includes(task.title)) continue
      const row = await taskRows.insert(db, person, task)
      // A new task is always pending.
      await taskRows.update(db, person, row?.id, { status: task.status })
    }
  },
}
