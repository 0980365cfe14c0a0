import { LogIn, RotateCcw, Unplug } from 'lucide-react'
import { useEffect, useState } from 'react'
import { startMcpSignIn, type ToolServerRow, useRefreshMcpServer } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatRelative } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Spinner } from '@/ui/Spinner'
import { showToast } from '@/ui/toast'
import { ServerOutcome, type ServerProps, ServerSection } from './ServerSection'

/** How long the answer of a worker is waited for, in ms. */
const MAX_WAIT_MS = 25_000

/** One MCP server, which lists its tools itself. */
export function McpServer(props: ServerProps) {
  const { server, workspaceId } = props
  const { t } = useTexts()
  const refresh = useRefreshMcpServer(workspaceId)
  // `tested_at` when a listing was requested, which has arrived once `tested_at` differs; undefined: none was requested.
  // The tools of a new server are listed without a request.
  const [testedBefore, setTestedBefore] = useState<string | null | undefined>(
    server.tested_at === null ? null : undefined,
  )
  const isWaiting = testedBefore !== undefined && testedBefore === server.tested_at
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => setTestedBefore(undefined), MAX_WAIT_MS)
    return () => clearTimeout(timer)
  }, [isWaiting])
  const handleRefresh = () => {
    setTestedBefore(server.tested_at)
    refresh.mutate(server.id, {
      onError: error => {
        setTestedBefore(undefined)
        showToast(getErrorText(error))
      },
    })
  }
  return (
    <ServerSection
      {...props}
      icon={Unplug}
      badge="MCP"
      state={<State server={server} isWaiting={isWaiting} />}
      actions={
        <>
          {server.auth === 'oauth' && server.can_sign_in ? <SignInButton server={server} /> : null}
          <Button size="xs" busy={isWaiting ? t('mcp.listing') : null} onClick={handleRefresh}>
            <RotateCcw className="i s" aria-hidden />
            {t('mcp.listAgain')}
          </Button>
        </>
      }
    />
  )
}

function State({ server, isWaiting }: { server: ToolServerRow; isWaiting: boolean }) {
  const { t } = useTexts()
  if (isWaiting) return server.tested_at === null ? <Spinner /> : null
  if (server.state === 'untested') return <span className="faint regular xs">{t('mcp.state.untested')}</span>
  const when = server.tested_at ? formatRelative(server.tested_at) : ''
  return <ServerOutcome isOk={server.state === 'ok'} text={t(`mcp.state.${server.state}`, { when })} />
}

/** Sends the browser to the authorization server of the MCP server. It comes back to this page. */
function SignInButton({ server }: { server: ToolServerRow }) {
  const { t } = useTexts()
  const { busy, error, run } = useAsyncAction()
  useEffect(() => {
    if (error) showToast(getErrorText(error))
  }, [error])
  const handleClick = () =>
    void run(async () => {
      window.location.assign(await startMcpSignIn(server.id))
    })
  return (
    <Button
      size="xs"
      tone={server.state === 'sign_in' ? 'ink' : 'plain'}
      busy={busy ? t('mcp.signIn') : null}
      onClick={handleClick}
    >
      <LogIn className="i s" aria-hidden />
      {t(server.signed_in_by ? 'mcp.signInAgain' : 'mcp.signIn')}
    </Button>
  )
}
