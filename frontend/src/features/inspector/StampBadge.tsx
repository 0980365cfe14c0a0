import type { Stamp } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import blocks from '@/ui/blocks.module.css'

/** The version that answered, or the draft and who applied it. */
export function StampBadge({ stamp }: { stamp: Stamp }) {
  const { t } = useTexts()
  const layer = stamp.version == null ? 'applied' : 'production'
  return (
    <span className={blocks.badge} data-layer={layer}>
      <LayerIcon layer={layer} />
      {stamp.version == null
        ? t('draftStamp', { n: stamp.draft_apply ?? '?', name: stamp.draft_by ?? '' })
        : `v${stamp.version}`}
    </span>
  )
}
