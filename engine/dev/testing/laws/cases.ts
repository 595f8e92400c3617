import type { AnyContractProcedure } from '@orpc/contract'
import type { ClientOf, EngineContract } from 'tallystick-contract/internal'

/** The names of the resources that an application adds to the resources of the engine. */
export type Own<Contract> = Exclude<keyof Contract, keyof EngineContract> & string

/** The names of the procedures that an application adds, for example `books.create`. */
type ProcedureName<Contract, Names extends Own<Contract>> = {
  [Resource in Names]: `${Resource}.${keyof Contract[Resource] & string}`
}[Names]

/** The errors that the guard throws. The laws cause these errors without a case. */
type GuardCode = 'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'UNDER_WAY' | 'KEY_REUSED' | 'PRECONDITION_FAILED'

type CodeOf<Procedure> = Procedure extends AnyContractProcedure
  ? Exclude<keyof Procedure['~orpc']['errorMap'] & string, GuardCode>
  : never

/** The errors of the procedures that an application adds, for example `books.create ID_TAKEN`. */
type ErrorName<Contract, Names extends Own<Contract>> = {
  [Resource in Names]: {
    [
      Name in keyof Contract[Resource] & string
    ]: `${Resource}.${Name} ${Exclude<CodeOf<Contract[Resource][Name]>, 'FORBIDDEN'>}`
  }[keyof Contract[Resource] & string]
}[Names]

/** The procedures with the error FORBIDDEN. */
type ForbiddenName<Contract, Names extends Own<Contract>> = {
  [Resource in Names]: {
    [Name in keyof Contract[Resource] & string]: 'FORBIDDEN' extends CodeOf<Contract[Resource][Name]>
      ? `${Resource}.${Name}`
      : never
  }[keyof Contract[Resource] & string]
}[Names]

/** The people of a case. */
export interface People<Client> {
  /** The person with the rows of `prepare`. */
  ada: Client
  /** A person without a relation to the rows of Ada. Has rows of a second `prepare`, in which Bob takes the place of Ada. */
  bob: Client
  administrator: Client
}

type CaseOf<Contract, Fixture> = (
  given: People<ClientOf<Contract>> & { fixture: Fixture },
) => Promise<unknown>

type CallOf<Contract, Fixture> = (caller: ClientOf<Contract>, fixture: Fixture) => Promise<unknown>

/** A relation that lets Bob see or change rows of Ada, for example a share. */
interface RelationOf<Contract, Fixture> {
  /** Gives Bob the relation. What Bob observes must change. */
  begin: CaseOf<Contract, Fixture>
  /** Ends the relation. Then Bob must observe the same as before. */
  end: CaseOf<Contract, Fixture>
}

/** Exceptions: for a procedure, a path of its output or input (`books.*.lent`, or `*` for all of it) with the reason. */
type Exceptions<Name extends string> = Readonly<Partial<Record<Name, Readonly<Record<string, string>>>>>

/** What `laws` must know of the resources that an application adds. `Names` are the names of the resources. */
export interface Cases<Contract, Fixture, Names extends Own<Contract> = Own<Contract>> {
  /**
   * Creates rows of Ada in each of the resources, with `text` in their texts. Runs for Ada and for Bob, so that each has rows: in
   * the second run, Bob is `ada`. Returns what the cases need, for example the ids of the rows. New ids must be random.
   */
  prepare: (people: People<ClientOf<Contract>>, text: string) => Promise<Fixture>
  /**
   * For each procedure, a call that succeeds, or a list of calls, which together use every optional field of the input. The
   * caller is Ada, Bob, or the administrator if only administrators can call the procedure.
   */
  calls: Record<ProcedureName<Contract, Names>, OneOrMore<CallOf<Contract, NoInfer<Fixture>>>>
  /** For each declared error except FORBIDDEN, a call that causes the error. */
  errors: Record<ErrorName<Contract, Names>, CaseOf<Contract, NoInfer<Fixture>>>
  /**
   * For procedures with the error FORBIDDEN, a call that causes the error. Needed only if none of these does: a call of Bob with an id of
   * Ada, a caller without the role, an impersonation.
   */
  forbidden?: Readonly<Partial<Record<ForbiddenName<Contract, Names>, CaseOf<Contract, NoInfer<Fixture>>>>>
  /** The relations between people, by a name for the title of the test. */
  relations?: Readonly<Record<string, RelationOf<Contract, NoInfer<Fixture>>>>
  /** Outputs that may depend on other people: public data, shared stock, names that are unique across people. */
  shared?: Exceptions<ProcedureName<Contract, Names>>
  /** Outputs that differ between two calls with nothing between them. */
  volatile?: Exceptions<ProcedureName<Contract, Names>>
  /** Inputs that no answer shows, for example the reason for an entry in a log. */
  unobserved?: Exceptions<ProcedureName<Contract, Names>>
}

type OneOrMore<Item> = Item | readonly Item[]

/** A call, an error case and a relation, without the types of an application. */
export type AnyCall = (caller: object, fixture: unknown) => Promise<unknown>
export type AnyCase = (given: object) => Promise<unknown>
type AnyExceptions = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>

/** Cases without the types of an application. */
export interface AnyCases {
  prepare: (people: never, text: string) => Promise<unknown>
  calls: Readonly<Record<string, OneOrMore<(caller: never, fixture: never) => Promise<unknown>>>>
  errors: Readonly<Record<string, (given: never) => Promise<unknown>>>
  forbidden?: Readonly<Record<string, ((given: never) => Promise<unknown>) | undefined>>
  relations?: Readonly<Record<string, Readonly<Record<'begin' | 'end', (given: never) => Promise<unknown>>>>>
  shared?: AnyExceptions
  volatile?: AnyExceptions
  unobserved?: AnyExceptions
}

/** The calls of a procedure. The cast is safe, because the parameters of `laws` and `casesOf` have the types of the cases. */
export const callsOf = ({ calls }: AnyCases, name: string) => [calls[name] ?? []].flat() as AnyCall[]

type ExceptionKind = 'shared' | 'volatile' | 'unobserved'

/** Outputs of the engine with the time of the call, or with the time of the latest activity, which calls change. */
const ENGINE_TIMES: readonly string[] = [
  'account.export exportedAt',
  'account.export sessions.*.lastActive',
  'account.export apps.*.lastActive',
  'sessions.list sessions.*.lastActive',
  'apps.list apps.*.lastActive',
  'tokens.list tokens.*.lastActive',
]

/** Remembers which exceptions of the cases were needed. */
export function createExceptions(cases: AnyCases) {
  const used = new Set<string>()
  const pathsOf = (kind: ExceptionKind, name: string) => Object.keys(cases[kind]?.[name] ?? {})
  return {
    /** Returns whether an exception names the path, or a part that contains the path. */
    has(kind: ExceptionKind, name: string, path: string) {
      const found = pathsOf(kind, name).find(
        (exempt) => exempt === '*' || exempt === path || path.startsWith(`${exempt}.`),
      )
      if (found !== undefined) used.add(`${kind} ${name} ${found}`)
      return found !== undefined || (kind === 'volatile' && ENGINE_TIMES.includes(`${name} ${path}`))
    },
    listUnused: () =>
      (['shared', 'volatile', 'unobserved'] as const).flatMap((kind) =>
        Object.keys(cases[kind] ?? {}).flatMap((name) =>
          pathsOf(kind, name)
            .map((path) => `${kind} ${name} ${path}`)
            .filter((exception) => !used.has(exception)),
        ),
      ),
  }
}

export type UsedExceptions = ReturnType<typeof createExceptions>
