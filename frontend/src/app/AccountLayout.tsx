import type { ReactNode } from 'react'
import { LanguageSelect } from '@/features/accounts'
import { Logo } from '@/ui/Logo'
import accountStyles from './Account.module.css'

/** The layout of the pages on which people sign up, sign in and join: a card below the logo and the choice of the language. */
export const AccountLayout = ({ children }: { children: ReactNode }) => (
  <div className={accountStyles.account}>
    <header>
      <Logo />
      <LanguageSelect />
    </header>
    <main>{children}</main>
  </div>
)
