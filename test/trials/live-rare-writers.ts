import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { registerApp } from '../../engine/test/fixtures/oauth-app.ts'
import { createPost } from './actors.ts'
import { textOf } from './live-marks.ts'
import {
  type Person,
  fetchInTime,
  REQUEST_TIMEOUT,
  type Requests,
  signInFromAnywhere,
  tokenOf,
  type WriterContext,
} from './live-requests.ts'
import { callTool } from './oauth-operations.ts'

const run = promisify(execFile)

/** Creates the writers that do not use a typed client: agents, commands of the operator, and deletions of accounts. */
export function createRareWriters(
  { instances, environments, people, marks, admin }: WriterContext,
  requests: Requests,
) {
  const { attempt, repeat, remove, write, pause, isStopped } = requests
  const instanceOf = (turn: number) => instances[turn % instances.length] ?? { origin: '', dataDir: '' }

  /** Creates and deletes tasks as an agent, at one instance, because each instance is another resource. */
  async function writeAsAgent(person: Person, index: number) {
    const { origin } = instanceOf(index)
    const app = await registerApp({ origin })
    const tokens = await app.obtainTokens(person.cookie, { resource: `${origin}/mcp` })
    const post = createPost(origin, fetchInTime)
    const call = (name: string, input: object) => async () => ({
      value: await callTool({ post, app: { tokens } }, name, input),
    })
    for (let turn = 0; !isStopped(); turn++) {
      await pause()
      const mark = marks.issue(`tasks ${person.name} agent ${turn}`, person.name)
      const created = await attempt('agent', call('tasks_create', { taskTitle: textOf(mark) }))
      if (!created) continue
      marks.acknowledge(mark)
      const { id } = created.value as { id: number }
      await pause()
      await remove(mark.key, () => attempt('agent', call('tasks_delete', { id }), ['NOT_FOUND']))
    }
  }

  /** Signs in once more, and ends the new session with a command of the operator. */
  async function endSessions(person: Person) {
    for (let turn = 0; !isStopped(); turn++) {
      await pause()
      const cookie = await signInFromAnywhere(instanceOf(turn), person.email).catch(() => undefined)
      if (cookie === undefined) continue
      const token = tokenOf(cookie)
      const key = `sessions ${token}`
      marks.adopt(key, person.name)
      const revoke = async () => {
        const [row] = await admin<{ id: string }[]>`select id from sessions where token = ${token}`
        if (row)
          await runCommand(['sessions', 'revoke', person.email, '--id', row.id], environments[turn % 2])
        return {}
      }
      await remove(key, () => attempt('operator', revoke))
    }
  }

  /** Signs in a new person, shares a note with a friend, and deletes the account. */
  async function deleteAccounts(friend: Person) {
    for (let turn = 0; !isStopped(); turn++) {
      await pause()
      const name = `temporary${turn}`
      const email = `${name}@example.com`
      const cookie = await signInFromAnywhere(instanceOf(turn), email).catch(() => undefined)
      if (cookie === undefined) continue
      const person = { name, email, cookie }
      const mark = marks.issue(`notes ${name}`, name)
      const created = await write(person, (client, call) =>
        client.notes.create({ title: textOf(mark), body: '' }, call),
      )
      if (!created?.value) continue
      marks.acknowledge(mark)
      const { id } = created.value
      marks.issueShare(mark.key, friend.name)
      const share = await repeat(() =>
        write(person, (client, call) =>
          client.notes.share({ id, email: friend.email, role: 'reader' }, call),
        ),
      )
      if (share) marks.acknowledgeShare(mark.key, friend.name)
      await pause()
      await remove(mark.key, () =>
        write(person, (client, call) => client.account.delete({ email }, call), {
          expected: ['UNAUTHORIZED'],
        }),
      )
    }
  }

  return {
    start: () => [
      ...people.slice(3, 5).map(writeAsAgent),
      ...people.slice(5, 6).map(endSessions),
      ...people.slice(6, 7).map(deleteAccounts),
    ],
  }
}

/** Runs a command of the operator as a separate process. */
const runCommand = (command: string[], environment: Record<string, string> = {}) =>
  run(process.execPath, ['dist/start/cli.js', ...command], {
    env: { PATH: process.env.PATH, ...environment },
    timeout: REQUEST_TIMEOUT,
  })
