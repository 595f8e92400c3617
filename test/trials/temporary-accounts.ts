import { type ActorOperation, actorOperations } from './actor-operations.ts'
import { type Actor, type ActorContext, attempt, createActor, retryUntilAnswered } from './actors.ts'

/** Operations between the sign-in and the deletion of the account. */
const OPERATIONS: readonly ActorOperation[] = [
  actorOperations['create task with key'],
  actorOperations['create note with key'],
  actorOperations['share note'],
  actorOperations['list tasks'],
  actorOperations['list notes'],
  actorOperations.export,
]

/** Signs in a new person, executes a few operations, and deletes the account. Returns the actor. */
export async function useTemporaryAccount(context: ActorContext, turn: number): Promise<Actor> {
  const actor = await createActor(context, turn % 2 ? 'RPC' : 'REST')
  for (const operation of OPERATIONS) await operation(actor, context, turn)
  const { client, email, checked } = actor
  await retryUntilAnswered(actor, 'account.delete', () => client.account.delete({ email }), ['UNAUTHORIZED'])
  const { code } = await attempt(actor, 'account.get', () => client.account.get(), ['UNAUTHORIZED'])
  if (code === 'OK') checked.addFault('the session of a deleted account was accepted')
  return actor
}
