import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import { client } from '../client.ts'
import type { ParsedInput } from './input.ts'

/** Time without a further change before an input is validated, in milliseconds. */
const DELAY = 300

/** A problem of an input. */
export interface Issue {
  /** The name of the field at the top of the input. */
  field: string
  path: string
  message: string
}

/** Returns the problems of an input: of its JSON at once, and of its values after a validation by the service. */
export function useIssues(operation: string, parsed: ParsedInput, isShown: boolean): readonly Issue[] {
  const text = parsed.isValid ? JSON.stringify(parsed.input ?? null) : ''
  const validated = useDelayed(text)
  const { data } = useQuery({
    queryKey: ['issues', operation, validated],
    queryFn: () =>
      client.procedures.validate({ operation, input: parsed.isValid ? parsed.input : undefined }),
    enabled: isShown && parsed.isValid && text === validated,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  })
  if (!isShown) return []
  if (!parsed.isValid) {
    const { field = '', reason } = parsed
    return [{ field, path: field, message: reason }]
  }
  return (data?.issues ?? []).map(({ path, message }) => ({
    field: path.split(/[.[]/, 1)[0] ?? '',
    path,
    message,
  }))
}

function useDelayed(text: string) {
  const [delayed, setDelayed] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => {
      setDelayed(text)
    }, DELAY)
    return () => {
      clearTimeout(timer)
    }
  }, [text])
  return delayed
}
