import {
  type ComponentType,
  createContext,
  type ReactNode,
  type Ref,
  useContext,
  useEffect,
  useId,
  useRef,
} from 'react'

import { useLanguage } from '../../language.tsx'
import { requireContext } from '../../context.ts'
import { useFocusOfList } from '../focus.ts'
import { DeleteIcon, EditIcon } from '../icons.tsx'

interface RowState {
  /** The id of the title, which describes the controls of the row. */
  titleId: string
  /** Whether the row was a form at the last rendering. */
  wasEdited: { current: boolean }
}

const RowContext = createContext<RowState | undefined>(undefined)

const useRow = () => requireContext(useContext(RowContext))

/** Returns the id of the title of the row, for the attribute `aria-describedby` of other controls. */
export const useRowTitle = () => useRow().titleId

interface Props {
  /** The id of the element, for the focus after an undone deletion. */
  id?: string | undefined
  className?: string
  /** Whether a form replaces the content of the row. The focus returns to the button `Edit` when the form closes. */
  isEdited?: boolean
  children: ReactNode
}

/**
 * A row of a list. Keeps the focus in the list when the row disappears. The title of the row describes its controls.
 *
 * @example
 * <Row>
 *   <RowTitle>{title}</RowTitle>
 *   <RowActions><DeleteAction onAct={remove} /></RowActions>
 * </Row>
 */
export function Row({ id, className = 'item', isEdited = false, children }: Props) {
  const item = useFocusOfList()
  const titleId = useId()
  const wasEdited = useRef(false)

  // After the effects of the buttons.
  useEffect(() => {
    wasEdited.current = isEdited
  }, [isEdited])
  return (
    <RowContext value={{ titleId, wasEdited }}>
      <li ref={item} id={id} className={className}>
        {children}
      </li>
    </RowContext>
  )
}

/**
 * The title of a row, as text or as a heading.
 *
 * @example
 * <RowTitle as="h2"><Link href={`/tickets/${id}`}>{title}</Link></RowTitle>
 */
export function RowTitle({ as: Tag = 'bdi', children }: { as?: 'bdi' | 'h2'; children: ReactNode }) {
  return <Tag id={useRow().titleId}>{children}</Tag>
}

interface CheckProps {
  label: string
  isChecked: boolean
  onCheck: (isChecked: boolean) => void
}

/**
 * The checkbox at the start of a row.
 *
 * @example
 * <RowCheck label={t('done')} isChecked={isDone} onCheck={setDone} />
 */
export function RowCheck({ label, isChecked, onCheck }: CheckProps) {
  const { titleId } = useRow()
  return (
    // The label is the larger target of a finger.
    <label className="row-check">
      <input
        type="checkbox"
        aria-label={label}
        aria-describedby={titleId}
        checked={isChecked}
        onChange={({ target }) => {
          onCheck(target.checked)
        }}
      />
    </label>
  )
}

/**
 * The buttons at the end of a row.
 *
 * @example
 * <RowActions><EditAction onAct={edit} /><DeleteAction onAct={remove} /></RowActions>
 */
export const RowActions = ({ children }: { children: ReactNode }) => (
  <div className="row quiet">{children}</div>
)

interface ActionProps {
  onAct: () => void
  isPending?: boolean
  /** Whether the details that the button opens are visible. */
  isExpanded?: boolean
  /** Keys that press the button, as in `aria-keyshortcuts`. */
  keys?: string | undefined
}

interface Action extends ActionProps {
  Icon: ComponentType
  label: string
  isDanger?: boolean
  ref?: Ref<HTMLButtonElement>
}

/**
 * A button of a row: an icon, with its name as a tooltip.
 *
 * @example
 * <RowAction Icon={ShareIcon} label={t('share')} onAct={share} />
 */
export function RowAction({
  Icon,
  label,
  isDanger = false,
  isPending,
  isExpanded,
  keys,
  onAct,
  ref,
}: Action) {
  const { titleId } = useRow()
  return (
    <button
      ref={ref}
      className={isDanger ? 'danger' : 'secondary'}
      title={label}
      aria-describedby={titleId}
      aria-busy={isPending}
      aria-expanded={isExpanded}
      aria-keyshortcuts={keys}
      onClick={onAct}
    >
      <Icon />
      <span className="hidden">{label}</span>
    </button>
  )
}

/**
 * The button that opens the form of a row. Receives the focus when the form closes.
 *
 * @example
 * <EditAction onAct={edit} />
 */
export function EditAction(props: ActionProps) {
  const { t } = useLanguage()
  const { wasEdited } = useRow()
  const button = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    if (wasEdited.current) button.current?.focus()
  }, [wasEdited])
  return <RowAction ref={button} Icon={EditIcon} label={t('edit')} {...props} />
}

/**
 * The button that deletes a row.
 *
 * @example
 * <DeleteAction onAct={() => { deletions.change(id) }} />
 */
export function DeleteAction(props: ActionProps) {
  const { t } = useLanguage()
  return <RowAction isDanger Icon={DeleteIcon} label={t('delete')} {...props} />
}
