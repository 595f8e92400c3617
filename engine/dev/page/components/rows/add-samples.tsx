import { useMutation } from '@tanstack/react-query'

import { queryClient } from '../../query-client.ts'
import { addSamples } from '../../auth.ts'
import { isDevelopment } from '../development.tsx'
import { Problem } from '../problem.tsx'

/**
 * The button that adds the sample data of all resources (`importSamples`) for the signed-in person. Shows nothing in production, where
 * the service has no such endpoint. In English, because only developers see the button.
 *
 * @example
 * <Empty text={t('noIdeas')}>
 *   <AddSamples />
 * </Empty>
 */
export const AddSamples = () => isDevelopment() && <Button />

function Button() {
  const add = useMutation({
    mutationFn: addSamples,
    onSuccess: () => queryClient.invalidateQueries(),
  })
  return (
    <>
      <button
        className="secondary"
        lang="en"
        aria-busy={add.isPending}
        onClick={() => {
          add.mutate()
        }}
      >
        Add sample data
      </button>
      <Problem error={add.error} />
    </>
  )
}
