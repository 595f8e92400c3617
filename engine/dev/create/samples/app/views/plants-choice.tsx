import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Choice, Loaded } from 'tallystick-dev/page'

import { orpc } from '../api.ts'
// #nested import { GardenChoice } from './gardens-choice.tsx'

// #nested export { GardenChoice }

interface Props {
  /** Receives the id of the chosen item, at first of the newest one. */
  onChoice: (id: number) => void
}

// #root
const gardenLabel = 'Garden'

/** Chooses a garden. */
export function GardenChoice({ onChoice }: Props) {
  const query = useQuery(orpc.gardens.list.queryOptions({ input: { limit: 100 } }))
  return (
    <Loaded query={query}>
      {({ gardens }) => <ItemChoice label={gardenLabel} items={gardens} onChoice={onChoice} />}
    </Loaded>
  )
}

// #end
/** Chooses a plant, for the views of resources within plants. */
export function PlantChoice({ onChoice }: Props) {
  const [gardenId, setGardenId] = useState<number>()
  return (
    <>
      <GardenChoice onChoice={setGardenId} />
      {gardenId !== undefined && <PlantOfGarden key={gardenId} gardenId={gardenId} onChoice={onChoice} />}
    </>
  )
}

const plantLabel = 'Plant'

function PlantOfGarden({ gardenId, onChoice }: Props & { gardenId: number }) {
  const query = useQuery(orpc.plants.list.queryOptions({ input: { gardenId, limit: 100 } }))
  return (
    <Loaded query={query}>
      {({ plants }) => <ItemChoice label={plantLabel} items={plants} onChoice={onChoice} />}
    </Loaded>
  )
}

interface ItemProps extends Props {
  label: string
  items: readonly { id: number; title: string }[]
}

function ItemChoice({ label, items, onChoice }: ItemProps) {
  const [chosen, setChosen] = useState<number>()
  const id = items.some((item) => item.id === chosen) ? chosen : items[0]?.id

  useEffect(() => {
    if (id !== undefined) onChoice(id)
  }, [id, onChoice])

  if (id === undefined) return null
  return (
    <Choice
      label={label}
      value={id}
      options={items.map((item) => [item.id, item.title])}
      onChoice={setChosen}
    />
  )
}
