import { expect, test } from 'vitest'

import { refusalOf, type SignedRequest } from './sigv4.ts'

// The examples that AWS publishes:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html and sigv4-query-string-auth.html

const account = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}
const now = new Date('2013-05-24T00:00:00Z')
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Writes a request as in the examples. */
function request(
  method: string,
  target: string,
  signature: string,
  headers: Record<string, string> = {},
  body = '',
): SignedRequest {
  const all: Record<string, string> = {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-content-sha256': EMPTY,
    'x-amz-date': '20130524T000000Z',
    ...headers,
  }
  const names = Object.keys(all).sort().join(';')
  const scope = `${account.accessKeyId}/20130524/us-east-1/s3/aws4_request`
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope},SignedHeaders=${names},Signature=${signature}`
  return { method, target, headers: { ...all, authorization }, body: Buffer.from(body) }
}

const presigned = {
  method: 'GET',
  target:
    '/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  headers: { host: 'examplebucket.s3.amazonaws.com' },
  body: Buffer.alloc(0),
}

const examples = {
  'GET Object': request(
    'GET',
    '/test.txt',
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    { range: 'bytes=0-9' },
  ),
  'PUT Object': request(
    'PUT',
    '/test%24file.text',
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    {
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    },
    'Welcome to Amazon S3.',
  ),
  'GET Bucket Lifecycle': request(
    'GET',
    '/?lifecycle',
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ),
  'List Objects': request(
    'GET',
    '/?max-keys=2&prefix=J',
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ),
  'presigned GET': presigned,
}

test.each(Object.entries(examples))('the example of AWS has a right signature: %s', (_, example) => {
  expect(refusalOf(example, account, now)).toBeUndefined()
})

test('an unsigned, an altered, a foreign and an old request are refused', () => {
  const { 'PUT Object': put, 'GET Object': get } = examples
  const late = (seconds: number) => new Date(now.getTime() + seconds * 1000)

  expect(refusalOf({ ...get, headers: { host: 'a' } }, account, now)).toBe('AccessDenied')
  expect(refusalOf({ ...get, target: '/other.txt' }, account, now)).toBe('SignatureDoesNotMatch')
  expect(refusalOf({ ...get, headers: { ...get.headers, range: 'bytes=0-' } }, account, now)).toBe(
    'SignatureDoesNotMatch',
  )
  expect(refusalOf({ ...put, body: Buffer.from('Welcome') }, account, now)).toBe('XAmzContentSHA256Mismatch')
  expect(refusalOf(get, { ...account, secretAccessKey: 'other' }, now)).toBe('SignatureDoesNotMatch')
  expect(refusalOf(get, account, late(901))).toBe('RequestTimeTooSkewed')
  expect(refusalOf(presigned, account, late(86_400))).toBeUndefined()
  expect(refusalOf(presigned, account, late(86_401))).toBe('RequestTimeTooSkewed')
})
