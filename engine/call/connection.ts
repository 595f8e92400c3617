import type { IncomingHttpHeaders } from 'node:http'
import type { Language } from 'tallystick-contract'
import type * as z from 'zod'

import type { Reply } from './caller.ts'
import type { Database } from '../db/connection/database.ts'
import { runInTransaction } from '../db/connection/transactions.ts'

/** The part of a job that `enqueue` uses: its schema validates the input. engine/app/job.ts has the complete type. */
export interface Enqueueable<Schema> {
  input: Schema
}

export interface EnqueueOptions {
  /** Runs the job at this time. By default, and if the time has passed, as soon as possible. */
  after?: Date
  /**
   * Identifies the job. As long as the database has a job with the same key, in any state, `enqueue` adds no second one. A finished
   * job is kept for a day, and a dead one for 14 days.
   */
  key?: string
}

/**
 * Adds a job to its queue, and returns the id of the job. Throws if the input is not valid. The job is part of the transaction of
 * the connection: after a rollback, the job never runs; after a commit, at least once.
 *
 * @example
 * await context.enqueue(remind, { loanId: loan.id }, { after: loan.dueAt, key: `loan ${loan.id}` })
 */
export type Enqueue = <Schema extends z.ZodType>(
  job: Enqueueable<Schema>,
  input: z.input<Schema>,
  options?: EnqueueOptions,
) => Promise<string>

/** The part of a template that `mail.send` uses: its schema validates the values. engine/app/mail-template.ts has the complete type. */
export interface Template<Values> {
  values: Values
}

export interface NewMail<Values extends z.ZodType> {
  /** An e-mail address. */
  to: string
  template: Template<Values>
  values: z.input<Values>
  /** By default, the language that the request prefers. Without a request, English. */
  language?: Language
}

export interface Mail {
  /**
   * Sends an e-mail after the commit, by a job: again after an error, and at least once. Returns the id of the job, which is part of
   * the Message-ID. Throws 429 if the person has sent, or the address receives, too many e-mails.
   *
   * @example
   * await context.mail.send({ to: email, template: invited, values: { project: project.title } })
   */
  send: <Values extends z.ZodType>(mail: NewMail<Values>) => Promise<string>
}

/** The call or the job that sends an e-mail. A call has a person only after the authentication. */
interface Sender {
  attributes: { readonly person?: string }
  headers: IncomingHttpHeaders
  reply: Reply
  ipAddress?: (() => string | undefined) | undefined
  /** Returns the key of an e-mail of a job, which is the same in each attempt. Undefined for calls. */
  keyOf?: (content: string) => string
}

/** Adds an e-mail on a connection. */
export type InsertMail = (db: Database, mail: NewMail<z.ZodType>, sender: Sender) => Promise<string>

/** Adds a job on a connection. */
export type InsertJob = (
  db: Database,
  job: Enqueueable<z.ZodType>,
  input: unknown,
  options?: EnqueueOptions,
) => Promise<string>

/** The functions that add jobs and e-mails on a given connection. `createConnection` binds them to the connection of a call. */
export interface Inserts {
  insertJob: InsertJob
  insertMail: InsertMail
}

/** The connection of a call, and the functions that use it. A transaction replaces them together. */
export interface CallConnection {
  db: Database
  enqueue: Enqueue
  mail: Mail
  /**
   * Runs `work` in a transaction, and returns its result. An error undoes the statements and the jobs of `work`. `work` receives
   * the `db`, `enqueue`, `mail` and `transaction` of the transaction. In a call with `Idempotency-Key` or `If-Match`, the transaction is
   * part of the transaction of the call. A statement of another `db` within `work` is an error. Inner transactions that
   * start at the same time run one after the other.
   *
   * @example
   * await context.transaction(async ({ db, enqueue }) => {
   *   const loan = await loanRows.insert(db, user, input)
   *   await enqueue(remind, { loanId: loan.id })
   * })
   */
  transaction: <Result>(work: (tx: CallConnection) => Promise<Result>) => Promise<Result>
}

/** Creates the functions that use a connection. */
export function createConnection(db: Database, inserts: Inserts, sender: Sender): CallConnection {
  return {
    db,
    enqueue: (...parameters) => inserts.insertJob(db, ...parameters),
    mail: { send: (mail) => inserts.insertMail(db, mail, sender) },
    // A transaction within a transaction is a savepoint.
    transaction: (work) => runInTransaction(db, (tx) => work(createConnection(tx, inserts, sender))),
  }
}
