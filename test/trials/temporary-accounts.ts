import { attempt, bring, insist, type Person, type Scene } from './actors.ts'
import { mix, type Work } from './actor-operations.ts'

/** What a guest does between signing in and leaving. */
const STAY: readonly Work[] = [
  mix['create task once'],
  mix['create note once'],
  mix['share note'],
  mix['list tasks'],
  mix['list notes'],
  mix.export,
]

/** Signs in as somebody new, does a few things, and deletes the account. Returns the guest. */
export async function visit(scene: Scene, turn: number): Promise<Person> {
  const guest = await bring(scene, turn % 2 ? 'RPC' : 'REST')
  for (const work of STAY) await work(guest, scene, turn)
  const { client, email, witness } = guest
  await insist(guest, 'account.delete', () => client.account.delete({ email }), ['UNAUTHORIZED'])
  const { code } = await attempt(guest, 'account.get', () => client.account.get(), ['UNAUTHORIZED'])
  if (code === 'OK') witness.fault('a deleted account was signed in')
  return guest
}
