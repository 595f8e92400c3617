import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import { client } from '../client.ts'
import { type Issue, issuesOfJson, toIssue, type ParsedInput } from '../procedures/input.ts'
import { texts } from '../procedures/texts.ts'

/** Time without a further change before an input is validated, in milliseconds. */
const DELAY = 300

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
  return parsed.isValid ? (data?.issues ?? []).map(toIssue) : issuesOfJson(parsed, texts.invalidJson)
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
