import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { MAX_NAME } from 'tallystick-contract/internal'

import { sessionQuery, updateName } from '../../auth.ts'
import { Problem } from '../../components/problem.tsx'
import { usePerson } from '../../components/session/session.tsx'
import { useDefinition } from '../../definition.ts'
import { useLanguage } from '../../language.tsx'

export function Profile() {
  const { t } = useLanguage()
  const { membersSeeNames } = useDefinition()
  const person = usePerson()
  const queryClient = useQueryClient()
  const [name, setName] = useState(person.name)
  const input = useRef<HTMLInputElement>(null)
  const save = useMutation({
    mutationFn: updateName,
    onSuccess: () => queryClient.invalidateQueries(sessionQuery),
  })

  useEffect(() => {
    // The attribute `maxlength` counts the two halves of an emoji.
    input.current?.setCustomValidity(Array.from(name).length > MAX_NAME ? t('nameTooLong') : '')
  }, [name, t])

  return (
    <section aria-labelledby="profile-title" className="explained">
      <h2 id="profile-title">{t('profile')}</h2>
      <div>
        <dl>
          <dt>{t('email')}</dt>
          <dd>
            <bdi>{person.email}</bdi>
          </dd>
        </dl>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate(name.trim())
          }}
        >
          <label>
            {t('name')}
            <input
              ref={input}
              autoComplete="name"
              dir="auto"
              aria-describedby="name-explanation"
              value={name}
              onChange={({ target }) => {
                setName(target.value)
                save.reset()
              }}
            />
          </label>
          <p id="name-explanation" className="muted">
            {t(membersSeeNames ? 'nameExplanationOfMembers' : 'nameExplanation')}
          </p>
          <div className="row">
            <button aria-busy={save.isPending}>{t('saveName')}</button>
            <span role="status">{save.isSuccess && t('nameSaved')}</span>
          </div>
          <Problem error={save.error} />
        </form>
      </div>
    </section>
  )
}
