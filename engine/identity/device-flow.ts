import { randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'

import type { Settings } from '../settings/settings.ts'
import type { Database } from '../db/connection/database.ts'
import * as deviceCodes from '../db/accounts/device-codes.ts'
import { digestOf } from '../db/accounts/digest.ts'
import type { Caller } from '../call/caller.ts'
import { currentAuditSource } from './audit-context.ts'
import { DEVICE_GRANT_TYPE } from './client-metadata.ts'
import { type Client } from '../settings/oauth-clients.ts'
import { OAuthError } from './oauth-error.ts'
import { type Form, Parameter, parse } from './parameters.ts'
import { toResource } from './token-requests.ts'
import { createChallenge, fetchCode, type Issuer } from './tokens.ts'

/** Lifetime of a device code and a user code, in seconds. */
const LIFETIME = 600

/** Minimum time between two polls, in seconds. */
const INTERVAL = 5

/** Letters without vowels, so that no code is a word, and without Y (RFC 8628, section 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

const createUserCode = () =>
  Array.from({ length: 8 }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('')

/** Returns the letters of an entered code, without separators and in upper case. */
const toUserCode = (entered: string) => entered.toUpperCase().replaceAll(/[^A-Z]/g, '')

/** Returns a user code as people read the code: `BCDF-GHJK`. */
export const formatUserCode = (code: string) => `${code.slice(0, 4)}-${code.slice(4)}`

/** The errors of a poll, by the state of the request. */
const refusals = {
  unknown: ['invalid_grant', 'The device code is unknown, used, revoked, or belongs to another app'],
  expired: ['expired_token', 'The device code has expired. Start again'],
  denied: ['access_denied', 'The person denied the access'],
  early: ['slow_down', 'Wait five seconds longer between two requests'],
  pending: ['authorization_pending', 'The person has not decided yet'],
} satisfies Record<string, [code: string, message: string]>

/** An undecided request. */
export interface DeviceRequest {
  client: Client
  userCode: string
  scope: string
}

interface Dependencies {
  issuer: Issuer
  findClient: (id: string, network: string | undefined) => Promise<Client | undefined>
  /** Returns the scope and the resource of a request. Throws OAuthError. */
  parseAccess: (form: Form) => { scope: string; resource: string }
  /** Redeems an authorization code. */
  redeemCode: (form: Form) => Promise<object>
}

/** Creates the functions of the device flow (RFC 8628), for apps on devices without a browser. */
export function createDeviceFlow(
  { db, settings: { baseUrl } }: { db: Database; settings: Settings },
  { issuer, findClient, parseAccess, redeemCode }: Dependencies,
) {
  const page = `${baseUrl}/device`

  /** Starts a request. Returns the codes for the app and for the person. Throws OAuthError. */
  async function start(form: Form, network: string | undefined) {
    const { client_id } = parse(z.object({ client_id: Parameter }), form)
    const client = await findClient(client_id, network)
    if (!client)
      throw new OAuthError('invalid_client', 'client_id: The app is unknown. Register the app again')
    if (!client.usesDeviceFlow)
      throw new OAuthError('unauthorized_client', `Register the app with the grant type ${DEVICE_GRANT_TYPE}`)
    const { scope, resource } = parseAccess(form)
    const deviceCode = randomBytes(32).toString('base64url')
    const row = {
      digest: digestOf(deviceCode),
      clientId: client.id,
      scope,
      resource,
      interval: INTERVAL,
      expiresAt: new Date(Date.now() + LIFETIME * 1000),
    }
    let userCode = createUserCode()
    while (!(await deviceCodes.insert(db, { ...row, userCode }))) userCode = createUserCode()
    const shown = formatUserCode(userCode)
    return {
      device_code: deviceCode,
      user_code: shown,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${shown}`,
      expires_in: LIFETIME,
      interval: INTERVAL,
    }
  }

  /** Finds the undecided request with an entered code, and its app. */
  async function findRequest(
    entered: string,
    network: string | undefined,
  ): Promise<DeviceRequest | undefined> {
    const request = await deviceCodes.findUndecided(db, toUserCode(entered))
    const client = request && (await findClient(request.clientId, network))
    return client && { client, userCode: request.userCode, scope: request.scope }
  }

  /** Returns false if the request has ended or was decided. */
  const allow = ({ userCode, client }: DeviceRequest, { user, session }: Caller) => {
    const approval = { userId: user.id, sessionId: session.id, appName: client.name }
    return deviceCodes.allow(db, userCode, approval, currentAuditSource())
  }

  /** Returns false if the request has ended or was decided. */
  const deny = ({ userCode }: DeviceRequest) => deviceCodes.deny(db, userCode)

  /** Answers a poll of the app: tokens after the person has allowed the access, otherwise an OAuthError. */
  async function redeem(form: Form) {
    const { device_code, client_id } = parse(z.object({ device_code: Parameter, client_id: Parameter }), form)
    const digest = digestOf(device_code)
    const request = await deviceCodes.find(db, digest)
    if (request?.clientId !== client_id) throw new OAuthError(...refusals.unknown)
    if (form.resource !== undefined && toResource(form.resource) !== request.resource)
      throw new OAuthError('invalid_target', 'resource: The request is for another resource')
    const result = await deviceCodes.poll(db, digest)
    if (result.state !== 'allowed') throw new OAuthError(...refusals[result.state])
    const { userId, grantId } = result
    // OpenAuth issues tokens only for an authorization code, so the service requests and redeems a code. The audience of the token is the
    // `client_id` of this request.
    const { verifier, challenge } = createChallenge()
    const code = await fetchCode(issuer, {
      authorization: {
        response_type: 'code',
        client_id: request.resource,
        redirect_uri: page,
        state: '',
        pkce: { challenge, method: 'S256' },
      },
      grant: { userId, sessionId: grantId, clientId: client_id, scope: request.scope },
    })
    const tokens = await redeemCode({
      grant_type: 'authorization_code',
      client_id,
      code,
      redirect_uri: page,
      code_verifier: verifier,
    })
    // At the end, so that the app can poll again after an outage. Another poll meanwhile is refused as too early.
    await deviceCodes.remove(db, digest)
    return tokens
  }

  return { start, findRequest, allow, deny, redeem }
}

export type DeviceFlow = ReturnType<typeof createDeviceFlow>
