/** The fields of a session, and of an error, that the page reads. */
interface Answer {
  user?: { email: string }
  code?: string
  message?: string
}

/** Messages that replace a message of the API, because the replaced message does not say what to do. */
const MESSAGES: Record<string, string> = {
  INVALID_OTP: 'The code is not correct. Check the code in the newest e-mail.',
  OTP_EXPIRED: 'The code has expired. Close this window, and request another code.',
  TOO_MANY_ATTEMPTS: 'Too many wrong codes. Close this window, and request another code.',
}

/** Connects the sign-in of the page: requests with the session cookie of the browser are then signed in. */
export function startSignIn() {
  const account = find('account', HTMLElement)
  const signInButton = find('sign-in', HTMLButtonElement)
  const signOutButton = find('sign-out', HTMLButtonElement)
  const dialog = find('sign-in-dialog', HTMLDialogElement)
  const problem = find('problem', HTMLElement)
  const emailForm = find('email-form', HTMLFormElement)
  const codeForm = find('code-form', HTMLFormElement)
  const email = find('email', HTMLInputElement)
  const otp = find('otp', HTMLInputElement)

  const showCodeForm = (shown: boolean) => {
    emailForm.hidden = shown
    codeForm.hidden = !shown
  }
  const showAccount = async () => {
    const user = (await call('/get-session')).user
    account.textContent = user ? `Signed in as ${user.email}` : 'Not signed in'
    signInButton.hidden = user !== undefined
    signOutButton.hidden = user === undefined
  }
  /** Runs the step of a form, and shows its problem. */
  const handle = (form: HTMLFormElement, step: () => Promise<void>) => {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      problem.textContent = ''
      step().catch((error: unknown) => {
        problem.textContent = error instanceof Error ? error.message : String(error)
      })
    })
  }

  signInButton.addEventListener('click', () => {
    showCodeForm(false)
    problem.textContent = ''
    dialog.showModal()
  })
  signOutButton.addEventListener('click', () => {
    void call('/sign-out', {}).then(showAccount)
  })
  handle(emailForm, async () => {
    await call('/email-otp/send-verification-otp', { email: email.value, type: 'sign-in' })
    find('recipient', HTMLElement).textContent = email.value
    showCodeForm(true)
    otp.value = ''
    otp.focus()
  })
  handle(codeForm, async () => {
    await call('/sign-in/email-otp', { email: email.value, otp: otp.value })
    await showAccount()
    dialog.close()
  })
  void showAccount()
}

function find<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id)
  if (element instanceof type) return element
  throw new Error(`The page has no element #${id}`)
}

/** Calls an endpoint of the sign-in. Throws an error with a message for the user. */
async function call(path: string, body?: object): Promise<Answer> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`/api/auth${path}`, body && post)
  const answer = ((await response.json()) ?? {}) as Answer
  if (response.ok) return answer
  throw new Error(MESSAGES[answer.code ?? ''] ?? answer.message ?? 'The request failed')
}
