import { oc } from '@orpc/contract'
import { z } from 'zod'

// What the console records of live updates.

/** An announcement has a number, so that reads can name what they follow. */
const Announcement = z.object({
  kind: z.literal('announced'),
  /** Milliseconds since 1970, as in all entries. */
  time: z.number(),
  number: z.number(),
  topic: z.string(),
  /** Empty for a public topic. An announcement of another process has only recipients of the kind `person`. */
  recipients: z.array(z.object({ kind: z.enum(['person', 'address', 'parent']), value: z.string() })),
  /** The operation, or the job. Null outside of a recorded request. */
  operation: z.string().nullable(),
  /** The id of the request, or of the job. */
  request: z.string().nullable(),
  /** Null for a request or a job of this process. Otherwise another process, a command for operators, or a trigger of the database. */
  sender: z.enum(['process', 'operator', 'database']).nullable(),
  /** The streams that read the topic again. */
  streams: z.array(z.string()),
  /** The streams that watch the topic, but with the data of other people or parents. */
  otherStreams: z.array(z.string()),
})
export type Announcement = z.infer<typeof Announcement>

/** A read of a state, for all streams that share the state. */
const StateRead = z.object({
  kind: z.literal('read'),
  time: z.number(),
  number: z.number(),
  topic: z.string(),
  /** The parent as JSON: `{"projectId":7}`. */
  of: z.string().nullable(),
  /** `equal`: the state is the same as before, so that nothing is sent. `refused`: the person may not read the parent. */
  outcome: z.enum(['changed', 'equal', 'refused', 'failed']),
  /** In milliseconds. */
  duration: z.number(),
  /** The numbers of the announcements that the read follows. Without one, a stream was opened, or the read is one of those every 30 s. */
  announcements: z.array(z.number()),
  streams: z.array(z.string()),
})
export type StateRead = z.infer<typeof StateRead>

const SentEvent = z.object({
  kind: z.literal('sent'),
  time: z.number(),
  stream: z.string(),
  topic: z.string(),
  of: z.string().nullable(),
  /** The number of the read of the state. Null for a read before the recording. */
  read: z.number().nullable(),
  /** The size of the state in bytes of JSON. */
  size: z.number(),
  /** From the notice of the change, or the opening of the stream, until the event was sent, in milliseconds. */
  delay: z.number(),
  /** JSON with secrets removed, cut at a limit. */
  state: z.string().nullable(),
})
export type SentEvent = z.infer<typeof SentEvent>

/** A request or a job that wrote to tables of a topic, and did not announce the topic. */
const SilentWrite = z.object({
  kind: z.literal('silent'),
  time: z.number(),
  topic: z.string(),
  tables: z.array(z.string()),
  /** The operation of the request, or the job. */
  operation: z.string(),
  request: z.string(),
  /** The streams that watch the topic. */
  streams: z.array(z.string()),
})
export type SilentWrite = z.infer<typeof SilentWrite>

const StreamChange = z.object({ kind: z.enum(['opened', 'closed']), time: z.number(), stream: z.string() })

export const LiveEntry = z.discriminatedUnion('kind', [
  Announcement,
  StateRead,
  SentEvent,
  SilentWrite,
  StreamChange,
])
export type LiveEntry = z.infer<typeof LiveEntry>

const LiveStream = z.object({
  id: z.string(),
  /** Milliseconds since 1970. */
  openedAt: z.number(),
  /** Null if the stream was opened before the recording. */
  request: z.string().nullable(),
  /** The e-mail address of the person. */
  person: z.string().nullable(),
  app: z.string().nullable(),
  topics: z.array(z.object({ topic: z.string(), of: z.string().nullable() })),
  /** Whether the console has opened the stream, and can close the stream. */
  isOfConsole: z.boolean(),
})
export type LiveStream = z.infer<typeof LiveStream>

const Topic = z.object({
  name: z.string(),
  /** The procedure that reads the state. */
  readBy: z.string(),
  /** The procedures whose contract announces the topic. */
  announcedBy: z.array(z.string()),
})
export type LiveTopic = z.infer<typeof Topic>

/** `caller`: the schema of a caller. */
export const liveContractOf = <Caller extends z.ZodType>(caller: Caller) => ({
  topics: oc.output(z.array(Topic)),
  /** The open streams of this process, the newest first, at most 200. */
  streams: oc.output(z.array(LiveStream)),
  /** Opens `live.watch` over REST. The stream ends with `close`, or when the recording stops. */
  open: oc
    .errors({ BAD_REQUEST: {} })
    .input(z.object({ input: z.unknown().optional(), caller }))
    .output(z.object({ stream: z.string() })),
  close: oc.input(z.object({ stream: z.string() })),
})
