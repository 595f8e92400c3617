import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

// The check of AWS Signature Version 4 for S3, written from its description, apart from the package that signs.
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html

export interface SignedRequest {
  method: string
  /** Path and query as they were sent. */
  target: string
  /** The names are in lower case. */
  headers: Readonly<Record<string, string>>
  body: Buffer
}

interface Account {
  accessKeyId: string
  secretAccessKey: string
}

interface Claims {
  credential: string
  date: string
  signedHeaders: string
  signature: string
  payloadHash: string
  /** Time after `date` at which the signature ends, in seconds. */
  expires: number
}

/** The maximum age of a signature in a header, in seconds. */
const MAX_AGE = 900

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()

/** Returns why a request is refused. Undefined if its signature is right. */
export function refusalOf(request: SignedRequest, account: Account, now: Date): string | undefined {
  const [path = '', query = ''] = request.target.split('?')
  const parameters = query.split('&').filter(Boolean)
  const claims = readHeader(request.headers) ?? readQuery(new URLSearchParams(query))
  if (!claims) return 'AccessDenied'
  const { credential, date, signedHeaders, signature, payloadHash, expires } = claims

  const [accessKeyId, day = '', region = '', service = ''] = credential.split('/')
  const age = (now.getTime() - timeOf(date)) / 1000
  if (accessKeyId !== account.accessKeyId) return 'InvalidAccessKeyId'
  if (!(age >= -MAX_AGE && age <= expires && date.startsWith(day))) return 'RequestTimeTooSkewed'
  if (payloadHash !== 'UNSIGNED-PAYLOAD' && payloadHash !== sha256(request.body))
    return 'XAmzContentSHA256Mismatch'
  const names = signedHeaders.split(';')
  if (!names.includes('host')) return 'AccessDenied'

  const canonical = [
    request.method,
    path,
    parameters
      .filter((parameter) => !parameter.startsWith('X-Amz-Signature='))
      .map((parameter) => (parameter.includes('=') ? parameter : `${parameter}=`))
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${(request.headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders,
    payloadHash,
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(
    hmac,
    `AWS4${account.secretAccessKey}`,
  )
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n'))
  const given = Buffer.from(signature, 'hex')
  const isRight = given.length === expected.length && timingSafeEqual(given, expected)
  return isRight ? undefined : 'SignatureDoesNotMatch'
}

function readHeader(headers: SignedRequest['headers']): Claims | undefined {
  const match = /^AWS4-HMAC-SHA256 Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=(\w+)$/.exec(
    headers.authorization ?? '',
  )
  if (!match) return undefined
  const [, credential = '', signedHeaders = '', signature = ''] = match
  const { 'x-amz-date': date = '', 'x-amz-content-sha256': payloadHash = '' } = headers
  return { credential, signedHeaders, signature, date, payloadHash, expires: MAX_AGE }
}

function readQuery(query: URLSearchParams): Claims | undefined {
  const get = (name: string) => query.get(`X-Amz-${name}`) ?? ''
  if (get('Algorithm') !== 'AWS4-HMAC-SHA256') return undefined
  return {
    credential: get('Credential'),
    signedHeaders: get('SignedHeaders'),
    signature: get('Signature'),
    date: get('Date'),
    payloadHash: 'UNSIGNED-PAYLOAD',
    expires: Number(get('Expires')),
  }
}

/** `20130524T000000Z` */
const timeOf = (date: string) =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
