import { sql } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { startConsole } from '../../engine/test/fixtures/console.ts'
import { app } from '../../src/app.ts'
import { findViolations, focusedText, openContext, overflows, useBrowser } from '../fixtures/browser.ts'
import { openSignedIn as openConsoleSignedIn, openView as openConsoleView } from '../fixtures/console-view.ts'

useBrowser()
const running = await startConsole()
const { address, client, origin, root, service, services } = running

const openSignedIn = () => openConsoleSignedIn(running)
const openView = (view: string, options?: Parameters<typeof openContext>[0]) =>
  openConsoleView(running, view, options)

const requestCode = (email: string) =>
  service.fetch('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })

const callAsAda = (operation: string, input: unknown) =>
  client.procedures.call({ operation, input, caller: { person: 'ada', scopes: null }, headers: {} })

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

describe('the address', () => {
  test('opens the console, and leaves no key in the address bar', async () => {
    const context = await openContext()
    const page = await context.newPage()

    await page.goto(address())

    await page.getByRole('heading', { name: 'Start here' }).waitFor()
    expect(page.url()).toBe(`${root}/`)
    await expect.poll(() => page.title(), PATIENCE).toBe('Start here – Console – Test library')
  })

  test('is not needed again in a browser that has opened the console', async () => {
    const context = await openContext()
    const page = await context.newPage()
    await page.goto(address())
    await page.getByRole('heading', { name: 'Start here' }).waitFor()

    await page.goto(`${service.origin}/api/development/console`)

    await page.waitForURL(`${root}/`)
    await page.getByRole('heading', { name: 'Start here' }).waitFor()
  })

  test('is needed', async () => {
    const page = await (await openContext()).newPage()

    const answer = await page.goto(origin)

    expect([answer?.status(), await page.textContent('body')]).toEqual([
      401,
      expect.stringContaining('newest address'),
    ])
  })

  test('is named when the cookie has ended', async () => {
    const { page, context, expectStatus } = await openView('data')
    expectStatus(401)
    await context.clearCookies()

    await page.getByRole('link', { name: 'Outbox' }).click()

    await page.getByText('This console needs the address that the service printed').waitFor()
  })
})

describe('with forced colors', () => {
  const styleOf = (page: Page, selector: string, property: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector("${selector}"))["${property}"]`)
  const backgroundOf = (page: Page, selector: string) => styleOf(page, selector, 'background-color')

  test.each([
    ['procedures/books.create', '.list a[aria-current]', '.list li > a:not([aria-current])'],
    ['procedures/books.create', '.segments input:checked + span', '.segments input:not(:checked) + span'],
    ['data/users', '.list a[aria-current]', '.list li > a:not([aria-current])'],
  ])('the selection and the focus are visible in %s: %s', async (view, selected, other) => {
    const { page } = await openView(view, { forcedColors: 'active' })
    await page.locator(selected).first().waitFor()

    expect(await backgroundOf(page, selected)).not.toBe(await backgroundOf(page, other))
    expect(await findViolations(page)).toEqual([])
    await page.locator('.list a[aria-current]').focus()
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Tab')
    const outline = [
      await styleOf(page, ':focus', 'outline-style'),
      await styleOf(page, ':focus', 'outline-color'),
    ]
    expect(outline).toEqual(['solid', 'rgb(0, 0, 0)'])
  })

  test('the selected request is marked', async () => {
    const { page } = await openView('requests', { forcedColors: 'active' })
    await page.getByText('Recording', { exact: true }).waitFor()
    for (const path of ['/api/status', '/api/visits']) await service.fetch('GET', path)

    await page.locator('.requests tbody').getByRole('button').first().click()

    await page.locator('tr.selected').waitFor()
    expect(await backgroundOf(page, 'tr.selected td')).not.toBe(
      await backgroundOf(page, 'tbody tr:not(.selected) td'),
    )
    expect(await findViolations(page)).toEqual([])
  })
})

describe('Start here', () => {
  test('signs in to the page with one click', async () => {
    const context = await openSignedIn()
    const page = await context.newPage()
    await page.goto(`${root}/`)
    const opened = context.waitForEvent('page')
    await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    const tab = await opened
    await tab.waitForURL(`${service.origin}/`)

    const { email } = (await (await context.request.get(`${service.origin}/api/me`)).json()) as {
      email: string
    }

    expect(email).toBe('ada@example.com')
  })

  test('shows how to connect an agent, the commands of a project, and its newest own procedure', async () => {
    const { page } = await openView('start')

    await page.getByText(`claude mcp add --transport http test-library ${service.origin}/mcp`).waitFor()
    for (const command of ['npx tallystick add loans', 'npm run check && npm test'])
      expect(await page.getByText(command, { exact: true }).count()).toBe(1)
    expect(await page.getByText('create a project first').count()).toBe(0)
    await page.getByRole('button', { name: 'Call shelves.create' }).click()
    await button(page, 'Run').waitFor()
  })

  test('shows the state of the service, and the agents with access', async () => {
    const { page } = await openView('start')
    const state = page.getByRole('region', { name: 'State' })
    await state.getByText(/^Healthy, database in/).waitFor()
    await state.getByText(/MB$/).waitFor()
    await service.fetch('GET', '/api/visits')
    await state.getByText(/^within .* ms \(the last \d+\)$/).waitFor()

    const { status } = await callAsAda('tokens.create', {
      label: 'Agent',
      scopes: ['read'],
      audience: 'mcp',
    })
    expect(status).toBe(200)

    await page.getByText('Personal token for ada@example.com').waitFor()
  })

  test('copies a command', async () => {
    const { page, context } = await openView('start')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin })

    await page.getByRole('button', { name: 'Copy the command npx tallystick add loans' }).click()

    await expect
      .poll(() => page.evaluate<string>('navigator.clipboard.readText()'), PATIENCE)
      .toBe('npx tallystick add loans')
  })
})

describe('Procedures', () => {
  test('finds a procedure with the keyboard, calls it, and shows its answer', async () => {
    const { page } = await openView('procedures')
    await page.getByRole('link', { name: /shelves\.create/ }).waitFor()

    await page.keyboard.press('/')
    await page.keyboard.type('add a shelf')
    await page.keyboard.press('Enter')
    await page.getByLabel('name').fill('From the console')
    await page.keyboard.press('Control+Enter')

    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText('200 OK').waitFor()
    expect(await answer.textContent()).toContain('"name": "From the console"')
    await answer.getByRole('link', { name: 'Request' }).click()
    await page
      .getByRole('region', { name: 'Request', exact: true })
      .getByText('shelves_insert_name_user_id', { exact: true })
      .waitFor()
  })

  test.each([
    ['Signed out', '401 Unauthorized', 'UNAUTHORIZED'],
    ['Ada Lovelace, token: read', '403 Forbidden', 'INSUFFICIENT_SCOPE'],
  ])('calls as %s, and shows the typed error', async (caller, status, code) => {
    const { page } = await openView('procedures/shelves.create')
    await page.getByLabel('name').fill('To read')

    await page.getByLabel('Call as').selectOption({ label: caller })
    await button(page, 'Run').click()

    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText(status).waitFor()
    await answer.getByText(code, { exact: true }).waitFor()
    await answer.getByText('The contract declares this error').waitFor()
  })

  test('begins with the newest id of the caller, except for a call that deletes', async () => {
    const { id } = JSON.parse((await callAsAda('shelves.create', { name: 'Newest' })).body) as { id: number }
    const { page } = await openView('procedures/shelves.members')
    const field = page.getByLabel(/^id/)

    await expect.poll(() => field.inputValue(), PATIENCE).toBe(String(id))
    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    await service.fetch('GET', '/api/visits')
    await button(page, 'visits.get').waitFor()
    expect(await button(page, 'shelves.list').count()).toBe(0)
    await page.goto(`${root}/#/procedures/shelves.unshare`)
    await page.locator('datalist option', { hasText: 'Newest' }).waitFor({ state: 'attached' })
    expect(await field.inputValue()).not.toBe(String(id))
  })

  test('asks before a call that deletes', async () => {
    const { page } = await openView('procedures/shelves.unshare')
    await page.getByLabel(/^id/).fill('999999')
    const answer = page.getByRole('region', { name: 'Answer' })

    await page.keyboard.press('Control+Enter')
    const question = page.getByRole('dialog', { name: 'Call shelves.unshare?' })
    await question.getByText('As ada@example.com with {"id":999999').waitFor()
    expect(await findViolations(page)).toEqual([])
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await answer.count()).toBe(0)
    await button(page, 'Run').click()
    await question.getByRole('button', { name: 'Call shelves.unshare' }).click()

    await answer
      .getByRole('status')
      .getByText(/^40\d /)
      .waitFor()
  })

  test('shows the issues of an input beside the field', async () => {
    const { page } = await openView('procedures/books.create')
    const copies = page.getByLabel('copies')

    await copies.fill('2000')

    await expect.poll(() => copies.getAttribute('aria-invalid'), PATIENCE).toBe('true')
    await page.getByText(/expected number to be <=1000/).waitFor()
  })

  test('edits the input as JSON, and says what is wrong', async () => {
    const { page } = await openView('procedures/shelves.create')
    await page.getByText('JSON', { exact: true }).click()
    const input = page.getByLabel('Input', { exact: true })

    await input.fill('{"name": ')
    await page.getByText('The input is not valid JSON.').first().waitFor()
    await input.fill('{"name": 7}')

    await page.getByText(/expected string, received number/).waitFor()
  })

  test('shows the same call for other clients', async () => {
    const { page } = await openView('procedures/loans.create')
    const same = page.getByRole('region', { name: 'The same call' })
    await page.getByLabel('bookId').fill('dune')

    for (const [name, text] of Object.entries({
      curl: `curl -X POST '${service.origin}/api/loans'`,
      TypeScript: 'client.loans.create(',
      'Command line': `npx tallystick --at '${service.origin}' call loans.create`,
      MCP: '"loans_create"',
    })) {
      await same.locator('label').getByText(name, { exact: true }).click()
      await same.getByText(text).first().waitFor()
      expect(await same.textContent()).toContain('dune')
    }
  })

  test('keeps a draft, and the address of each procedure', async () => {
    const { page } = await openView('procedures/shelves.create')
    await page.getByLabel('name').fill('Draft')

    await page.getByRole('link', { name: /loans\.list/ }).click()
    await page.getByRole('heading', { name: 'loans.list' }).waitFor()
    await page.goBack()

    await expect.poll(() => page.getByLabel('name').inputValue(), PATIENCE).toBe('Draft')
  })
})

describe('Requests', () => {
  test('shows each request with its statements, live', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()

    await client.procedures.call({
      operation: 'shelves.create',
      input: { name: 'Recorded' },
      caller: { person: 'ada', scopes: null },
      headers: {},
    })
    await button(page, 'shelves.create').click()

    const details = page.getByRole('region', { name: 'Request', exact: true })
    await details.getByText('insert into "shelves"').waitFor()
    expect(await details.textContent()).toContain('"name": "Recorded"')
    expect(await details.textContent()).toContain('ada@example.com')
    await page.keyboard.press('Escape')
    await expect.poll(() => focusedText(page), PATIENCE).toBe('shelves.create')
  })

  test('shows the slowest first, without the files of pages, and moves by the arrow keys', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    await service.fetch('GET', '/icon.svg')
    await callAsAda('shelves.create', { name: 'One' })
    await service.fetch('GET', '/api/visits')
    await button(page, 'visits.get').waitFor()
    expect(await button(page, 'GET /icon.svg').count()).toBe(0)
    await page.getByLabel('Files of pages').check()
    await button(page, 'GET /icon.svg').waitFor()

    await button(page, 'Duration').click()

    const header = page.getByRole('columnheader', { name: 'Duration' })
    await expect.poll(() => header.getAttribute('aria-sort'), PATIENCE).toBe('descending')
    const durations = await page.locator('.requests tbody tr > td:nth-last-child(2)').allTextContents()
    const inMs = durations.map((text) => parseFloat(text) * (text.endsWith(' s') ? 1000 : 1))
    expect(inMs.length).toBeGreaterThan(2)
    expect(inMs).toEqual(inMs.toSorted((a, b) => b - a))
    await page.locator('.requests tbody button').first().focus()
    await page.keyboard.press('ArrowDown')
    const names = await page.locator('.requests tbody th').allTextContents()
    expect(await focusedText(page)).toBe(names[1])
  })

  test('filters and pauses', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    await service.fetch('GET', '/api/visits')
    await service.fetch('GET', '/api/missing')
    await button(page, 'visits.get').waitFor()
    await button(page, 'GET /api/missing').waitFor()

    await page.getByLabel('Only errors').check()
    await expect.poll(() => button(page, 'visits.get').count(), PATIENCE).toBe(0)
    await page.getByRole('link', { name: 'Data', exact: true }).click()
    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    expect(await page.getByLabel('Only errors').isChecked()).toBe(true)
    await page.getByLabel('Only errors').uncheck()
    await page.getByLabel(/^Filter/).fill('visits')
    expect(new URL(page.url()).hash).toBe('#/requests?filter=visits')
    await page.reload()
    await page.getByText('Recording', { exact: true }).waitFor()
    expect(await page.getByLabel(/^Filter/).inputValue()).toBe('visits')
    await expect.poll(() => button(page, 'GET /api/missing').count(), PATIENCE).toBe(0)
    await page.getByLabel(/^Filter/).fill('')
    await button(page, 'Pause').click()
    await service.fetch('GET', '/api/books')

    await button(page, 'Resume (1 new)').click()
    await button(page, 'books.list').waitFor()
    await button(page, 'Clear').click()
    await page.getByText('Nothing is recorded otherwise.').waitFor()
  })
})

describe('A request', () => {
  test('has an address, and shows where its time went', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    const { headers } = await callAsAda('shelves.create', { name: 'Slow' })
    const id = headers.find(([name]) => name === 'x-request-id')?.[1] ?? ''

    await page.goto(`${root}/#/requests/${id}`)

    const details = page.getByRole('region', { name: 'Request', exact: true })
    await details.getByRole('heading', { name: /ms, of which .* ms in the database$/ }).waitFor()
    const phases = details.getByRole('list', { name: 'Phases' })
    for (const name of ['Queue and body', 'Guard', 'Procedure', 'Answer'])
      await phases.getByText(name, { exact: true }).waitFor()
    await details.getByRole('button', { name: 'Explain shelves_insert_name_user_id' }).click()
    await details.getByText('Insert on shelves').waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.goto(`${root}/#/requests/none`)
    await page.getByText('The request none is not recorded, or no longer.').waitFor()
  })

  test('is followed by others with arrows, while its details are open', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    await callAsAda('shelves.create', { name: 'First' })
    await callAsAda('shelves.list', {})
    await button(page, 'shelves.list').click()
    const heading = page
      .getByRole('region', { name: 'Request', exact: true })
      .getByRole('heading', { level: 3 })
    await heading.getByText('shelves.list').waitFor()

    await page.keyboard.press('ArrowDown')
    await heading.getByText('shelves.create').waitFor()
    const explain = button(page, 'Explain shelves_insert_name_user_id')
    await explain.click()
    await page.getByText('Insert on shelves').waitFor()
    expect(await page.locator(':focus').getAttribute('aria-label')).toMatch(/^Explain /)
    await heading.focus()
    await page.keyboard.press('ArrowUp')
    await heading.getByText('shelves.list').waitFor()
  })

  test('has a comparison only if the form has made it', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    await callAsAda('shelves.create', { name: 'Original' })
    await button(page, 'shelves.create').click()
    await page.getByRole('link', { name: 'Run again' }).click()
    await page.getByLabel('name').waitFor()
    const { headers } = await callAsAda('shelves.create', { name: 'Of somebody else' })
    const id = headers.find(([name]) => name === 'x-request-id')?.[1] ?? ''
    await button(page, 'Run').click()
    const times = page.getByRole('group', { name: 'Times of both runs' })
    await times.waitFor()

    await page.goto(`${root}/#/requests/${id}`)
    await page.getByText('"name": "Of somebody else"').first().waitFor()
    expect(await times.count()).toBe(0)
  })

  test('shows the message of a failure beside its answer', async () => {
    await services.db.execute(sql`create function refuse() returns trigger language plpgsql as
      $$ begin if new.name = 'Broken' then raise exception 'no such shelf'; end if; return new; end $$`)
    await services.db.execute(
      sql`create trigger refuse before insert on shelves for each row execute function refuse()`,
    )
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    await page.goto(`${root}/#/procedures/shelves.create`)
    await page.getByLabel('name').fill('Broken')

    await button(page, 'Run').click()

    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText('500 Internal Server Error').waitFor()
    const message = answer.getByText('no such shelf').first()
    await message.waitFor()
    const [ofMessage, ofBody] = [
      await message.boundingBox(),
      await answer.locator('.code').last().boundingBox(),
    ]
    expect(ofMessage?.y).toBeLessThan(ofBody?.y ?? 0)
  })

  test('is found by status, person and operation', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    await callAsAda('shelves.create', { name: 'Found' })
    await service.fetch('GET', '/api/books')
    await service.fetch('GET', '/api/shelves')
    const rows = page.getByRole('table').getByRole('row')
    await button(page, 'shelves.list').waitFor()

    await page.getByLabel('Status', { exact: true }).selectOption('4xx')
    await expect.poll(() => rows.count(), PATIENCE).toBe(2)
    await page.getByLabel('Status', { exact: true }).selectOption('2xx')
    await page.getByLabel('Person', { exact: true }).selectOption('ada@example.com')
    await page.getByLabel('Operation', { exact: true }).selectOption('shelves.create')

    await expect.poll(() => rows.count(), PATIENCE).toBe(2)
    await button(page, 'shelves.create').waitFor()
  })

  test('is run again by the filled form of its procedure', async () => {
    const { page } = await openView('requests')
    await page.getByText('Recording', { exact: true }).waitFor()
    await callAsAda('shelves.create', { name: 'Again' })
    await button(page, 'shelves.create').click()

    await page.getByRole('link', { name: 'Run again' }).click()

    await expect.poll(() => page.getByLabel('name').inputValue(), PATIENCE).toBe('Again')
    await button(page, 'Run').click()
    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText('200 OK').waitFor()
    const times = answer.getByRole('group', { name: 'Times of both runs' })
    for (const name of ['Guard', 'Procedure', 'Database', 'Total', 'Statements'])
      await times.getByRole('row', { name }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await times.getByRole('link', { name: 'First run' }).click()
    await page
      .getByRole('region', { name: 'Request', exact: true })
      .getByText('"name": "Again"')
      .first()
      .waitFor()
  })

  test('replaces an edited draft only after a question', async () => {
    const { page } = await openView('procedures/shelves.create')
    await page.getByLabel('name').fill('A draft')
    await callAsAda('shelves.create', { name: 'Recorded before' })
    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    await button(page, 'shelves.create').first().click()
    await page.getByRole('link', { name: 'Run again' }).click()
    await page.getByRole('dialog', { name: 'Replace the input of shelves.create?' }).waitFor()
    await button(page, 'Cancel').click()
    await page.getByRole('region', { name: 'Request', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Run again' }).click()
    await button(page, 'Replace').click()

    await expect.poll(() => page.getByLabel('name').inputValue(), PATIENCE).toBe('Recorded before')
  })
})

describe('Outbox', () => {
  test('shows the plain text and the headers of an e-mail', async () => {
    const email = `${crypto.randomUUID()}@example.com`
    await requestCode(email)
    const { page } = await openView('outbox')
    await page.getByRole('heading', { name: /is your sign-in code$/ }).waitFor()

    await page.getByRole('radio', { name: 'Text', exact: true }).check({ force: true })
    await page.getByRole('button', { name: 'Copy the text', exact: true }).waitFor()
    await page.getByRole('radio', { name: 'Headers', exact: true }).check({ force: true })

    await page.getByRole('definition').filter({ hasText: email }).first().waitFor()
  })

  test('shows an e-mail with its code in a frame without scripts', async () => {
    const { page } = await openView('outbox')
    const email = `${crypto.randomUUID()}@example.com`

    await requestCode(email)
    await page.getByText(email).first().waitFor()
    await page.getByRole('button', { name: email }).click()

    const code = (await client.outbox.list())?.find(({ to }) => to === email)?.code ?? ''
    await page.getByText(code, { exact: true }).waitFor()
    const frame = page.locator('iframe')
    expect(await frame.getAttribute('sandbox')).toBe('')
    await frame.contentFrame().getByText(code).waitFor()
  })
})

describe('Data', () => {
  test('follows a foreign key to its row', async () => {
    await client.data.addSamples()
    await client.procedures.call({
      operation: 'shelves.create',
      input: { name: 'Of Ada' },
      caller: { person: 'ada', scopes: null },
      headers: {},
    })
    const { page } = await openView('data')

    await page.getByRole('link', { name: /^shelves/ }).click()
    await page
      .getByRole('row', { name: /Of Ada/ })
      .getByRole('link', { name: /^[^O]/ })
      .click()

    await page.getByRole('heading', { name: 'users', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'ada@example.com' }).waitFor()
    await page.getByText('Rows 1 to 1').waitFor()
  })

  test('filters rows, and hides secrets', async () => {
    const { page } = await openView('data/users')
    await page.getByLabel('Column').selectOption('email')
    await page.getByLabel('Value').fill('CHARLES')
    await button(page, 'Add filter').click()

    await page.getByText('Rows 1 to 1 of 1').waitFor()
    await page.getByRole('button', { name: /Remove the filter/ }).click()
    await button(page, 'email').click()
    const header = page.getByRole('columnheader', { name: 'email text', exact: true })
    await expect.poll(() => header.getAttribute('aria-sort'), PATIENCE).toBe('ascending')
    await button(page, 'email').click()
    await expect.poll(() => header.getAttribute('aria-sort'), PATIENCE).toBe('descending')
    const emails = page.getByRole('cell', { name: /@example\.com$/ })
    await expect
      .poll(async () => {
        const shown = await emails.allTextContents()
        return shown.length > 1 && shown.join() === shown.toSorted().reverse().join()
      }, PATIENCE)
      .toBe(true)
    await page.goto(`${root}/#/data/sessions`)
    await page.getByRole('columnheader', { name: 'token hidden' }).waitFor()
    await page.goto(`${root}/#/data/verifications`)
    await page.getByText('contains secrets, which the console never shows').waitFor()
  })
})

test('adds sample data to an embedded database, and begins again with it', async () => {
  const embedded = await startConsole({ DATABASE_URL: 'memory:' }, app)
  const context = await openContext()
  const page = await context.newPage()
  await page.goto(embedded.address())
  await page.getByRole('link', { name: 'Data', exact: true }).click()

  await button(page, 'Add sample data').click()
  await page.getByText('ada@example.com has sample tasks and notes.').waitFor()
  await page.getByRole('link', { name: /^tasks/ }).click()

  await page.getByRole('cell', { name: 'Book the hall' }).waitFor()
  const { status } = await embedded.client.procedures.call({
    operation: 'tasks.create',
    input: { taskTitle: 'No sample' },
    caller: { person: 'ada', scopes: null },
    headers: {},
  })
  expect(status).toBe(200)
  await button(page, 'Refresh').click()
  await page.getByRole('cell', { name: 'No sample' }).waitFor()
  await button(page, 'Reset').click()
  await button(page, 'Delete and add again').click()
  await page.getByRole('cell', { name: 'No sample' }).waitFor({ state: 'detached' })
  await page.getByRole('cell', { name: 'Book the hall' }).waitFor()
})

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('in %s colors with %i pixels', (colorScheme, width) => {
  test.each([
    'start',
    'procedures',
    'procedures/loans.create',
    'requests',
    'outbox',
    'data/users',
    'nothing',
  ])('the view %s is accessible, and does not scroll sideways', async (view) => {
    await requestCode('ada@example.com')
    const { page } = await openView(view, { colorScheme, viewport: { width, height: 900 } })
    if (view === 'requests') {
      await page.getByText('Recording', { exact: true }).waitFor()
      await service.fetch('GET', '/api/visits')
      await page.getByRole('table').waitFor()
    } else await page.getByRole('heading', { level: 2 }).first().waitFor()

    // A list that is scrolled shows a part of its first item.
    await page.evaluate("document.querySelector('.list')?.scrollTo(0, 0)")
    expect(await findViolations(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
  })
})

test('the page says that the service does not answer, and continues when it answers', async () => {
  const context = await openSignedIn()
  const page = await context.newPage()
  await page.goto(`${root}/#/outbox`)
  await page.getByRole('heading', { name: 'Outbox' }).waitFor()

  await context.route(`${root}/rpc/**`, (route) => route.abort())
  await page.getByText('The service does not answer; trying again…').waitFor()
  await context.unroute(`${root}/rpc/**`)

  await page.getByText('The service does not answer; trying again…').waitFor({ state: 'hidden' })
})
