import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { isRightToLeft, type Language } from 'tallystick-contract'
import { Field, LanguageSelect, Problem } from 'tallystick-dev/page'

import { guestBounds } from '../../contract/bounds.ts'
import { isDefinedError } from '../../contract/client.ts'
import { orpc } from '../api.ts'
import { useLanguage } from '../language.ts'

/** Checks a reservation. The service answers in the language of the `Accept-Language` header. */
export function Reservation() {
  const { t, language: languageOfPage } = useLanguage()
  const [name, setName] = useState('')
  const [guests, setGuests] = useState('2')
  const [chosen, setChosen] = useState<Language>()
  const form = useRef<HTMLFormElement>(null)
  const language = chosen ?? languageOfPage
  const [answerLanguage, setAnswerLanguage] = useState(language)
  const ofAnswer = { lang: answerLanguage, dir: isRightToLeft(answerLanguage) ? 'rtl' : 'ltr' }

  const reserve = useMutation(
    orpc.reservations.create.mutationOptions({ context: { headers: { 'accept-language': language } } }),
  )
  const { error } = reserve
  // INVALID_RESERVATION is the only error of the contract for this procedure.
  const refusals = isDefinedError(error) ? error.data : undefined

  const rules = {
    name: { label: t('guestName') },
    guests: { label: t('guests'), type: 'number', ...guestBounds },
  }

  useEffect(() => {
    if (refusals) form.current?.querySelector<HTMLInputElement>('[aria-invalid]')?.focus()
  }, [refusals])

  return (
    <section aria-label={t('reservation')} className="narrow">
      <p className="muted">{t('reservationExplanation')}</p>
      <form
        ref={form}
        // The service checks the fields, and answers in the chosen language.
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setAnswerLanguage(language)
          reserve.mutate({ name, guests: Number(guests) })
        }}
      >
        <Field
          {...rules.name}
          autoComplete="name"
          dir="auto"
          value={name}
          onValue={setName}
          error={refusals?.name}
          languageOfError={ofAnswer}
        />
        <Field
          {...rules.guests}
          inputMode="numeric"
          value={guests}
          onValue={setGuests}
          error={refusals?.guests}
          languageOfError={ofAnswer}
        />
        <LanguageSelect label={t('answerLanguage')} language={language} onLanguage={setChosen} />
        <button aria-busy={reserve.isPending}>{t('reserve')}</button>
      </form>
      {!refusals && <Problem error={error} fields={rules} />}
      <p role="status" className="answer text" {...ofAnswer}>
        {reserve.data?.message}
      </p>
    </section>
  )
}
