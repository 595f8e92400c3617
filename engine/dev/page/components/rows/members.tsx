import { useMutation, type UseInfiniteQueryResult } from '@tanstack/react-query'
import { useId, useState } from 'react'

import { useLanguage } from '../../language.tsx'
import { useFocusOfList } from '../focus.ts'
import { Choice } from '../forms/choice.tsx'
import { Field } from '../forms/field.tsx'
import { Problem } from '../problem.tsx'
import { usePerson } from '../session/session.tsx'
import { List } from './list.tsx'

/** A person with access to an item, by the address. */
export interface Member<Role extends string> {
  email: string
  role: Role
}

interface Sharing<Role extends string> {
  /** Each role with its text. A new member has the first one by default. */
  roles: readonly [readonly [Role, string], ...(readonly [Role, string])[]]
  /** Gives a person a role. */
  onShare: (member: Member<Role>) => Promise<unknown>
  /** Takes the access of a person back. */
  onRemove: (email: string) => Promise<unknown>
}

interface Props<Role extends string> extends Sharing<Role> {
  /** The query of the members, in pages. */
  query: UseInfiniteQueryResult
  /** The members of all loaded pages. */
  members: readonly Member<Role>[] | undefined
  /** The name of the button. */
  action: string
  /** What the roles permit. */
  explanation: string
  /** Shown instead of an empty list. */
  empty: string
  /** Whether the field for the address receives the focus, because a button has opened the form. The form then is the main one. */
  autoFocus?: boolean
  /** The level of the heading. */
  heading?: 'h2' | 'h3'
}

/**
 * Shares an item with other people, one after the other, and lists the people with access, each with a role. Requests the members
 * again after a change.
 *
 * @example
 * <Members query={query} members={members} roles={[['viewer', t('viewer')]]} onShare={…} onRemove={…} … />
 */
export function Members<Role extends string>({
  query,
  members = [],
  action,
  explanation,
  empty,
  autoFocus,
  heading: Heading = 'h2',
  roles,
  onShare,
  onRemove,
}: Props<Role>) {
  const { t } = useLanguage()
  const titleId = useId()
  const [outcome, setOutcome] = useState('')
  const refetch = () => query.refetch()
  const sharing = {
    roles,
    onShare: (member: Member<Role>) => onShare(member).then(refetch),
    onRemove: (email: string) => onRemove(email).then(refetch),
  }
  return (
    <div className="share">
      <div>
        <Heading id={titleId} tabIndex={-1}>
          {t('peopleWithAccess')}
        </Heading>
        <p className="muted">{explanation}</p>
      </div>
      <div>
        <NewMember {...sharing} action={action} autoFocus={autoFocus} announce={setOutcome} />
        <p role="status" className="outcome">
          {outcome}
        </p>
        <List
          query={query}
          lines={2}
          labelledBy={titleId}
          className=""
          empty={<p className="muted">{empty}</p>}
        >
          {members.map((member) => (
            <MemberItem
              key={member.email}
              {...sharing}
              member={member}
              titleId={titleId}
              announce={setOutcome}
            />
          ))}
        </List>
      </div>
    </div>
  )
}

interface Announcing {
  /** Receives the message about a finished change. */
  announce: (message: string) => void
}

function NewMember<Role extends string>({
  roles,
  onShare,
  action,
  autoFocus,
  announce,
}: Announcing & Sharing<Role> & Pick<Props<Role>, 'action' | 'autoFocus'>) {
  const { t } = useLanguage()
  const person = usePerson()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState(roles[0][0])
  const rules = { email: { label: t('shareWith'), type: 'email' } }
  const isOwn = email.trim().toLowerCase() === person.email
  const share = useMutation({
    mutationFn: onShare,
    onSuccess: (_, { email: address }) => {
      // The person may have begun with another address meanwhile.
      setEmail((current) => (current.trim() === address.trim() ? '' : current))
      announce(t('shared', { email: address }))
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isOwn) share.mutate({ email: email.trim(), role })
      }}
    >
      <div className="row end">
        <Field
          {...rules.email}
          required
          autoFocus={autoFocus}
          autoComplete="email"
          value={email}
          onValue={setEmail}
          error={isOwn ? t('ownAddress') : undefined}
        />
        <Choice label={t('role')} value={role} options={roles} onChoice={setRole} />
      </div>
      <Problem error={share.error} fields={rules} />
      <button className={autoFocus ? undefined : 'secondary'} aria-busy={share.isPending}>
        {action}
      </button>
    </form>
  )
}

function MemberItem<Role extends string>({
  roles,
  onShare,
  onRemove,
  member: { email, role },
  titleId,
  announce,
}: Announcing & Sharing<Role> & { member: Member<Role>; titleId: string }) {
  const { t } = useLanguage()
  const emailId = useId()
  const item = useFocusOfList(titleId)
  const change = useMutation({
    mutationFn: onShare,
    onSuccess: () => {
      announce(t('roleChanged', { email }))
    },
  })
  const remove = useMutation({
    mutationFn: onRemove,
    onSuccess: () => {
      announce(t('accessRemoved', { email }))
    },
  })
  return (
    <li ref={item} className="entry">
      <bdi id={emailId} className="grow">
        {email}
      </bdi>
      <Choice
        isCompact
        label={t('roleOf', { email })}
        value={change.isPending ? change.variables.role : role}
        options={roles}
        onChoice={(next) => {
          change.mutate({ email, role: next })
        }}
      />
      <button
        type="button"
        className="danger"
        aria-describedby={emailId}
        aria-busy={remove.isPending}
        onClick={() => {
          remove.mutate(email)
        }}
      >
        {t('removeAccess')}
      </button>
      <Problem error={change.error ?? remove.error} />
    </li>
  )
}
