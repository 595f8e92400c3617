export { useParameter } from './address.ts'
export { codeOf, queryClient } from './query-client.ts'
export { Composer } from './components/forms/composer.tsx'
export { Choice } from './components/forms/choice.tsx'
export { Confirm } from './components/confirm.tsx'
export { ConfirmButton } from './components/confirm-button.tsx'
export { Conflict } from './components/forms/conflict.tsx'
export { Copy } from './components/copy.tsx'
export { EditForm, type EditFormProps } from './components/forms/edit-form.tsx'
export { Field, TextField } from './components/forms/field.tsx'
export { FirstView } from './components/views/first-view.tsx'
export { useFocusOfList } from './components/focus.ts'
export {
  DeleteIcon,
  DeviceIcon,
  DocumentIcon,
  EditIcon,
  HomeIcon,
  LeaveIcon,
  PeopleIcon,
  ShareIcon,
  ListIcon,
} from './components/icons.tsx'
export { ForDevelopers, isDevelopment } from './components/development.tsx'
export { AddSamples } from './components/rows/add-samples.tsx'
export { Detail } from './components/rows/detail.tsx'
export { createRows, type Rows, type Tagged } from './components/rows/create-rows.ts'
export { EditRow } from './components/rows/edit-row.tsx'
export { Empty } from './components/rows/empty.tsx'
export { ItemRow, useOpenForm } from './components/rows/item-row.tsx'
export { Items } from './components/rows/items.tsx'
export { List } from './components/rows/list.tsx'
export { Members, type Member } from './components/rows/members.tsx'
export { pagesOf } from './components/rows/pages.ts'
export {
  DeleteAction,
  EditAction,
  Row,
  RowAction,
  RowActions,
  RowCheck,
  RowTitle,
  useRowTitle,
} from './components/rows/row.tsx'
export { SharedItem } from './components/rows/shared-item.tsx'
export { Toolbar } from './components/rows/toolbar.tsx'
export { ViewsWithin } from './components/views/views-within.tsx'
export { LanguageSelect } from './components/language-select.tsx'
export { Loaded, Loading } from './components/loaded.tsx'
export { More } from './components/more.tsx'
export { Problem } from './components/problem.tsx'
export { RecentAccess } from './components/session/recent-access.tsx'
export { Search, useSearch } from './components/forms/search.tsx'
export { usePerson, useSession } from './components/session/session.tsx'
export { SignIn } from './components/session/sign-in.tsx'
export { Waiting } from './components/waiting.tsx'
export { type PageDefinition, type View, view } from './definition.ts'
export { createDrafts, createEdits, ownerOfDrafts } from './drafts.ts'
export { type AppTexts, createTexts } from './language.tsx'
export { startPage } from './start.tsx'
export { useTitle } from './components/views/title.ts'
export { createUndoable } from './undo.ts'
export { accountViews } from './views.ts'
