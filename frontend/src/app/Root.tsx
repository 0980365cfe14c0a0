import { Outlet } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useMe } from '@/api'
import { lazy } from '@/ui/lazy'

const ViewingBanner = lazy(() => import('./ViewingBanner').then(module => ({ default: module.ViewingBanner })))

/** All screens. While an operator views as another person, a banner says so above each of them. */
export function Root() {
  const me = useMe().data
  return (
    <>
      {me?.viewing ? (
        <Suspense fallback={null}>
          <ViewingBanner me={me} viewing={me.viewing} />
        </Suspense>
      ) : null}
      <Outlet />
    </>
  )
}
