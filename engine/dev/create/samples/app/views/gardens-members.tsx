import { infiniteQueryOptions, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { type AppTexts, Choice, Field, Loaded, More, Problem, useFocusOfList } from 'tallystick-dev/page'

import { orpc, type Outputs } from '../api.ts'

type Member = Outputs['gardens']['members']['members'][number]
type Role = Member['role']

/** The texts of the view that shows the members. */
type Texts = AppTexts<
  | 'shareExplanation'
  | 'memberAddress'
  | 'memberRole'
  | 'memberRoleOf'
  | 'roleEditor'
  | 'roleViewer'
  | 'addMember'
  | 'members'
  | 'noMembers'
  | 'removeMember'
>

interface Props {
  /** The id of the garden. */
  id: number
  texts: Texts
}

/** The key belongs to the gardens, so that the page requests the members again after each change. */
const membersQuery = (id: number) =>
  infiniteQueryOptions(
    orpc.gardens.members.infiniteOptions({
      input: (cursor: string | undefined) => ({ id, limit: 100, cursor }),
      initialPageParam: undefined,
      getNextPageParam: ({ nextCursor }) => nextCursor,
    }),
  )

function useRefresh() {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: orpc.gardens.key() })
}

/** Gives people a role by their addresses, and lists the people with access. */
export function GardenMembers({ id, texts }: Props) {
  const { t } = texts.useLanguage()
  const titleId = useId()
  const query = useInfiniteQuery(membersQuery(id))
  return (
    <>
      <NewMember id={id} texts={texts} />
      <h3 id={titleId} tabIndex={-1}>
        {t('members')}
      </h3>
      <Loaded query={query}>
        {({ pages }) => {
          const members = pages.flatMap((page) => page.members)
          return members.length === 0 ? (
            <p className="muted">{t('noMembers')}</p>
          ) : (
            <>
              <ul aria-labelledby={titleId}>
                {members.map((member) => (
                  <MemberItem key={member.email} id={id} texts={texts} titleId={titleId} {...member} />
                ))}
              </ul>
              <More query={query} />
            </>
          )
        }}
      </Loaded>
    </>
  )
}

interface RoleProps {
  texts: Texts
  label: string
  role: Role
  onRole: (role: Role) => void
}

function RoleChoice({ texts, label, role, onRole }: RoleProps) {
  const { t } = texts.useLanguage()
  return (
    <Choice<Role>
      label={label}
      value={role}
      options={[
        ['editor', t('roleEditor')],
        ['viewer', t('roleViewer')],
      ]}
      onChoice={onRole}
    />
  )
}

function NewMember({ id, texts }: Props) {
  const { t } = texts.useLanguage()
  const refresh = useRefresh()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const rules = { email: { label: t('memberAddress'), type: 'email' } }
  const invite = useMutation(
    orpc.gardens.invite.mutationOptions({
      onSuccess: () => {
        setEmail('')
        return refresh()
      },
    }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        invite.mutate({ id, email: email.trim(), role })
      }}
    >
      <div className="row end">
        <Field {...rules.email} required autoFocus autoComplete="email" value={email} onValue={setEmail} />
        <RoleChoice texts={texts} label={t('memberRole')} role={role} onRole={setRole} />
        <button aria-busy={invite.isPending} disabled={invite.isPending}>
          {t('addMember')}
        </button>
      </div>
      <p className="muted">{t('shareExplanation')}</p>
      <Problem error={invite.error} fields={rules} />
    </form>
  )
}

function MemberItem({ id, texts, titleId, email, role }: Props & Member & { titleId: string }) {
  const { t } = texts.useLanguage()
  const emailId = useId()
  const item = useFocusOfList(titleId)
  const onSuccess = useRefresh()
  const change = useMutation(orpc.gardens.invite.mutationOptions({ onSuccess }))
  const remove = useMutation(orpc.gardens.exclude.mutationOptions({ onSuccess }))
  return (
    <li ref={item} className="entry">
      <bdi id={emailId} className="grow">
        {email}
      </bdi>
      <RoleChoice
        texts={texts}
        label={t('memberRoleOf', { email })}
        role={change.isPending ? change.variables.role : role}
        onRole={(next) => {
          change.mutate({ id, email, role: next })
        }}
      />
      <button
        className="secondary"
        aria-describedby={emailId}
        aria-busy={remove.isPending}
        onClick={() => {
          remove.mutate({ id, email })
        }}
      >
        {t('removeMember')}
      </button>
      <Problem error={change.error ?? remove.error} />
    </li>
  )
}
