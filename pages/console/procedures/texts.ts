import { createContext, useContext } from 'react'

import type { Translator } from '../../../engine/dev/page/translator.ts'

/**
 * The texts of the components that the reference page and the console share, in ICU MessageFormat. The reference page has them in
 * twenty languages (pages/docs/messages/), the console in English.
 */
export const texts = {
  // List
  procedures: 'Procedures',
  searchProcedures: 'Search procedures',
  foundProcedures: '{count} of {total} procedures',
  allProcedures: 'All procedures',
  unknownProcedure: 'This service has no procedure {operation}.',

  // Facts
  access: 'Access',
  anybody: 'Anybody',
  anybodyForPublicTopics: 'Anybody for public topics, signed-in callers for others',
  signedInCallers: 'Signed-in callers',
  administrators: 'Administrators',
  accessTokens: 'Tokens',
  needsScope: 'Access tokens need the scope {scope}',
  noTokenNeeded: 'No token needed',
  sessionOnly: 'No access tokens: only a session',
  rateLimit: 'Rate limit',
  limitByAccount: '{points} calls in {period} for each account (limit {name})',
  limitByNetwork: '{points} calls in {period} for each network (limit {name})',
  none: 'None',
  headers: 'Headers',
  agentTool: 'Tool for agents',
  noAgentTool: 'None: agents cannot call this procedure',

  // Contract
  contract: 'Contract',
  errors: 'Errors',
  errorCode: 'Code',
  errorStatus: 'Status',
  errorMessage: 'Message',
  errorExample: 'Example of {code}',
  input: 'Input',
  output: 'Output',
  event: 'Event of the stream',
  noInput: 'This procedure has no input.',
  noOutput: 'This procedure has no output.',
  field: 'Field',
  type: 'Type',
  bounds: 'Bounds',
  meaning: 'Description',
  required: 'required',
  characters: '{range} characters',
  items: '{range} items',
  defaultValue: 'default {value}',
  fieldsOf: 'Fields of {name}',
  example: 'Example',

  // Call
  call: 'Call',
  run: 'Run',
  editAs: 'Edit the input as',
  form: 'Form',
  newKey: 'New key',
  lastTag: 'Last ETag',
  selectValue: 'Select a value',
  omitted: '(omitted)',
  now: 'Now',
  asValueOf: 'as the value of {name}',

  // Answer
  answer: 'Answer',
  declaredError: 'The contract declares this error, so clients know its type.',
  brokenInput: 'The input breaks its schema. Every procedure has this error.',
  undeclaredError: 'The contract of the procedure does not declare this error.',
  noBody: 'The answer has no body.',
  cutBody: 'The body is longer. The page shows its beginning.',
  request: 'Request',

  // The same call
  sameCall: 'The same call',
  client: 'Client',
  commandLine: 'Command line',
  invalidJson: 'The input is not valid JSON.',
  onlySession: 'The command line has an access token, and this procedure accepts only a session.',
  onceBefore: 'Once before:',
  cookieHint: 'COOKIE is the session cookie of the browser: this procedure accepts no access token.',
  tokenHint: 'TOKEN is an access token:',
  agentHint: 'AGENT is an access token for agents:',
  noAgents: 'Agents cannot call this procedure.',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'Not copied',
}
export type ProcedureMessage = keyof typeof texts

type ProcedureTexts = Pick<Translator<ProcedureMessage>, 'language' | 't'>

/** Inserts the values without MessageFormat, because these texts have no plurals. */
const english: ProcedureTexts = {
  language: 'en',
  t: (message, values = {}) =>
    texts[message].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name])),
}

/** The texts in the language of the page. English without a provider, as in the console. */
export const ProcedureTextsContext = createContext(english)

export const useTexts = () => useContext(ProcedureTextsContext)
