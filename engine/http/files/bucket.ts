import { randomUUID } from 'node:crypto'
import { posix } from 'node:path'
import { Readable } from 'node:stream'

import { type Files, isKey, requireKey, toWebStream } from './storage.ts'

/**
 * How a bucket is reached. By default, what the AWS SDK reads: `AWS_REGION`, `AWS_ENDPOINT_URL_S3`, `AWS_ACCESS_KEY_ID` and
 * `AWS_SECRET_ACCESS_KEY`, or the role of the machine.
 */
export interface BucketOptions {
  region?: string
  /** The URL of another service that speaks S3. */
  endpoint?: string
  /** Writes the bucket in the path instead of the host, as many other services need. */
  forcePathStyle?: boolean
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  /**
   * Redirects downloads to a URL of the bucket that is valid for this number of seconds. By default, the service sends the files
   * itself.
   */
  redirect?: number
}

/** A download occupies a connection until its client has read it: clients that do not read must not make others wait. */
const agent = { keepAlive: true, maxSockets: Infinity }

/** Times after which a request to S3 fails, in milliseconds. The second one counts while no byte arrives. */
const requestHandler = {
  connectionTimeout: 5000,
  socketTimeout: 30_000,
  httpAgent: agent,
  httpsAgent: agent,
}

/** Opens a bucket as storage: `s3://name/prefix`. */
export async function openBucket(
  url: URL,
  { redirect, forcePathStyle = false, ...options }: BucketOptions,
): Promise<Files> {
  const { s3, Upload, getSignedUrl } = await importSdk()
  const client = new s3.S3Client({
    ...options,
    forcePathStyle,
    requestHandler,
    // Other services do not know the newer checksums. The signature covers the bytes.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const Bucket = url.hostname
  const prefix = posix.join(decodeURIComponent(url.pathname), '/').slice(1)
  const objectOf = (key: string) => ({ Bucket, Key: prefix + requireKey(key) })

  return {
    async put(body) {
      const key = randomUUID()
      let size = 0
      async function* count() {
        for await (const chunk of body) {
          size += chunk.length
          yield chunk
        }
      }
      const counted = Readable.from(count())
      // One part in memory at a time. If the upload fails, its parts are removed.
      const upload = new Upload({ client, params: { ...objectOf(key), Body: counted }, queueSize: 1 })
      await upload.done().catch((error: unknown) => {
        // Of the body, and not of the removal of its parts.
        throw counted.errored ?? error
      })
      return { key, size }
    },

    async get(key, range) {
      const Range = range && `bytes=${range.start}-${range.end}`
      try {
        const { Body } = await client.send(new s3.GetObjectCommand({ ...objectOf(key), Range }))
        return Body && toWebStream(Body as Readable)
      } catch (error) {
        if (error instanceof s3.NoSuchKey) return undefined
        throw error
      }
    },

    async remove(key) {
      await client.send(new s3.DeleteObjectCommand(objectOf(key)))
    },

    async *list() {
      for await (const { Contents = [] } of s3.paginateListObjectsV2({ client }, { Bucket, Prefix: prefix }))
        for (const { Key = '', LastModified } of Contents) {
          const key = Key.slice(prefix.length)
          if (isKey(key) && LastModified) yield { key, storedAt: LastModified }
        }
    },

    ...(redirect !== undefined && {
      sign: (key, { type, disposition }) => {
        const answer = { ResponseContentType: type, ResponseContentDisposition: disposition }
        const command = new s3.GetObjectCommand({ ...objectOf(key), ...answer })
        return getSignedUrl(client, command, { expiresIn: redirect })
      },
    }),
  }
}

/** Imports the packages for S3, which only an application with a bucket installs. */
async function importSdk() {
  try {
    const [s3, { Upload }, { getSignedUrl }] = await Promise.all([
      import('@aws-sdk/client-s3'),
      import('@aws-sdk/lib-storage'),
      import('@aws-sdk/s3-request-presigner'),
    ])
    return { s3, Upload, getSignedUrl }
  } catch (cause) {
    throw new Error(`Files in a bucket need packages. Run: npm install --save-exact ${PACKAGES}`, { cause })
  }
}

const PACKAGES = ['client-s3', 'lib-storage', 's3-request-presigner']
  .map((name) => `@aws-sdk/${name}@3.1169.0`)
  .join(' ')
