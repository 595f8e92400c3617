// The law of entity tags: an answer that a change has changed has another ETag.

import type { Declared } from '../procedures.ts'
import { differences } from '../values.ts'
import { callerOf } from '../worlds.ts'
import { type Law, listReads, nameOf, observe, observeUntouched, caseCallsOf, run } from './observations.ts'

const resourceOf = (name: string) => name.split('.', 1)[0]

/**
 * Lists the reads of the same resource whose answer a change of a procedure changes, but not the ETag of the answer. With this ETag,
 * `If-Match` would permit a person to overwrite the change, and `If-None-Match` would answer that there is none.
 */
export async function listUnchangedTags(law: Law, declared: Declared) {
  const { worlds, cases } = law
  const { withAda, ada } = worlds.bobFirst
  const caller = { person: callerOf(worlds, declared.meta), fixture: ada.fixture }
  // The ETag of a row is its version: it does not cover what the reads of other resources show.
  const reads = listReads(law).filter((read) => resourceOf(nameOf(read)) === resourceOf(declared.name))
  const sentences: string[] = []
  for (const caseCall of caseCallsOf(cases, declared)) {
    const before = await observeUntouched(law, caller)
    await withAda.restore()
    await run(law, caller, caseCall)
    for (const [label, answers] of await observe(law, caller, reads))
      for (const [index, { answer }] of answers.entries()) {
        const earlier = before.get(label)?.[index]?.answer
        if (answer.etag === undefined || answer.etag !== earlier?.etag) continue
        sentences.push(
          ...differences(earlier.body, answer.body).map(
            ({ path, description }) =>
              `${caseCall.label} does not change the ETag of ${label}, whose ${path || 'answer'} ${description}: a change of a row must increase \`version\``,
          ),
        )
      }
  }
  return sentences
}
