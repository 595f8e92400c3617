import type { AnyContractProcedure } from '@orpc/contract'
import type { ClientOf, EngineContract } from 'tallystick-contract'

/** The names of the resources that an application adds to the resources of the engine. */
type Own<Contract> = Exclude<keyof Contract, keyof EngineContract> & string

/** The names of the procedures that an application adds, for example `books.create`. */
type ProcedureName<Contract> = {
  [Resource in Own<Contract>]: `${Resource}.${keyof Contract[Resource] & string}`
}[Own<Contract>]

/** The errors that the guard throws. The laws cause these errors without a case. */
type GuardCode = 'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'UNDER_WAY' | 'KEY_REUSED' | 'PRECONDITION_FAILED'

type CodeOf<Procedure> = Procedure extends AnyContractProcedure
  ? Exclude<keyof Procedure['~orpc']['errorMap'] & string, GuardCode>
  : never

/** The errors of the procedures that an application adds, for example `books.create ID_TAKEN`. */
type ErrorName<Contract> = {
  [Resource in Own<Contract>]: {
    [
      Name in keyof Contract[Resource] & string
    ]: `${Resource}.${Name} ${Exclude<CodeOf<Contract[Resource][Name]>, 'FORBIDDEN'>}`
  }[keyof Contract[Resource] & string]
}[Own<Contract>]

/** The people of a case. Ada is new for each case; Bob and the administrator are the same for all cases. */
export interface People<Client> {
  /** The person with the rows of `prepare`. */
  ada: Client
  /** A person without a relation to the rows of Ada. */
  bob: Client
  administrator: Client
}

/** The procedures with the error FORBIDDEN. */
type ForbiddenName<Contract> = {
  [Resource in Own<Contract>]: {
    [Name in keyof Contract[Resource] & string]: 'FORBIDDEN' extends CodeOf<Contract[Resource][Name]>
      ? `${Resource}.${Name}`
      : never
  }[keyof Contract[Resource] & string]
}[Own<Contract>]

type ErrorCase<Contract, Fixture> = (
  given: People<ClientOf<Contract>> & { fixture: Fixture },
) => Promise<unknown>

/** What `laws` must know of the resources that an application adds. */
export interface Cases<Contract, Fixture> {
  /**
   * Creates rows of Ada in each of the resources, with `text` in their texts: other people must never receive this text. Public
   * data must not contain the text. Runs for many tests on one database, so each run needs new ids. Returns what the cases need,
   * for example the ids of the rows.
   */
  prepare: (people: People<ClientOf<Contract>>, text: string) => Promise<Fixture>
  /**
   * For each procedure, a call that succeeds. The caller is Ada, or the administrator if only administrators can call the
   * procedure. A repeated call must send the same input, because a law repeats the call with its Idempotency-Key.
   */
  calls: Record<ProcedureName<Contract>, (caller: ClientOf<Contract>, fixture: Fixture) => Promise<unknown>>
  /** For each declared error except FORBIDDEN, a call that causes the error. */
  errors: Record<ErrorName<Contract>, ErrorCase<Contract, Fixture>>
  /**
   * For each procedure with the error FORBIDDEN, a call that causes the error. A procedure needs no call if only
   * administrators can call the procedure, or if the procedure refuses every impersonation.
   */
  forbidden?: Partial<Record<ForbiddenName<Contract>, ErrorCase<Contract, Fixture>>>
  /** The resources in which people write no text, with the reason. `prepare` creates rows without the text. */
  withoutText?: Partial<Record<Own<Contract>, string>>
}

/** Cases without the types of an application. */
export interface AnyCases {
  withoutText?: Readonly<Record<string, string | undefined>>
  prepare: (people: never, text: string) => Promise<unknown>
  calls: Readonly<Record<string, (caller: never, fixture: never) => Promise<unknown>>>
  errors: Readonly<Record<string, (given: never) => Promise<unknown>>>
  forbidden?: Readonly<Record<string, ((given: never) => Promise<unknown>) | undefined>>
}
