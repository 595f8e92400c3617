import type { InferContractRouterOutputs } from '@orpc/contract'

import type { Contract } from '../../contract/index.ts'

type Outputs = InferContractRouterOutputs<Contract>

type Paths = {
  [Resource in keyof Outputs]: {
    [Name in keyof Outputs[Resource] & string]: { id: `${Resource}_${Name}`; answer: Outputs[Resource][Name] }
  }[keyof Outputs[Resource] & string]
}[keyof Outputs]

/** The answer of each procedure, by the name that the OpenAPI document gives to its operation. */
type Answers = { [Path in Paths as Path['id']]: Path['answer'] }

/** The values of requests that depend on the data of the service or on the expected answer. */
export interface Values {
  taskId: number
  noteId: string
  /** A note of another person. */
  sharedId: string
  /** The id of the note in the first form. */
  noteNumber: number
  /** The token of another session of the caller. */
  token: string
  /** The id of the grant of an app. */
  grantId: string
  email: string
  inputValue: number
  guests: number
}

export interface Outcome<Data> {
  status: number
  data?: Data | undefined
  error?: { code: string } | undefined
  /** `data.guests` of INVALID_RESERVATION, read with the generated type of the error. */
  violation?: string | undefined
}

type Call<Data> = (values: Values) => Promise<Outcome<Data>>

/** The media type that selects the first form of notes. */
export const FIRST_FORM = 'application/json;version=1'

type FirstForm = 'legacyNotes_list' | 'legacyNotes_create'
/** No generated client reads event streams. */
type Stream = 'live_watch'

/** A call of each other operation with a generated client. The compiler compares the generated types with the contract. */
export type SecondFormCalls = { [Id in Exclude<keyof Answers, FirstForm | Stream>]: Call<Answers[Id]> }

/** The calls with a client that distinguishes the media types of the two forms of notes. */
export type Calls = SecondFormCalls & { [Id in FirstForm]: Call<Answers[Id]> }

/** Selects the answer that has a property, for clients that return one of several media types. */
export async function having<Data, Key extends string>(
  call: Promise<Outcome<Data>>,
  key: Key,
): Promise<Outcome<Extract<Data, Record<Key, unknown>>>> {
  const { data, ...outcome } = await call
  return hasKey(data, key) ? { ...outcome, data } : outcome
}

const hasKey = <Data, Key extends string>(
  data: Data | undefined,
  key: Key,
): data is Extract<Data, Record<Key, unknown>> => typeof data === 'object' && data !== null && key in data
