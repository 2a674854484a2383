import { signOut, session } from '../api/session';
import { Button } from '../ui/Button';
import { Menu } from '../ui/Menu';
import { toast } from '../ui/toast';
import { mayLeave } from './state';
import { chooseTheme, themeChoice, type ThemeChoice } from './theme';

import mark from './mark.svg';

const ACCESS = {
  full: ['Full access', 'Signed in with a key of the account'],
  'read-only': ['Read-only', 'Signed in with the key for reading: nothing can be changed'],
  token: ['Resource token', 'Signed in with a resource token: it opens what a permission names'],
} as const;

const THEMES: readonly (readonly [ThemeChoice, string])[] = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['system', 'As the system'],
];

export interface HeaderProps {
  isDrawerOpen: boolean;
  onDrawer(): void;
  onHelp(): void;
}

export function Header({ isDrawerOpen, onDrawer, onHelp }: HeaderProps) {
  const access = session.value?.access;
  const leave = async () => {
    if (!(await mayLeave())) return;
    try {
      await signOut();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'bad');
    }
  };
  return (
    <header class="top">
      <Button kind="ghost" class="drawer-button" aria-label="Databases and containers" aria-expanded={isDrawerOpen} onClick={onDrawer}>
        ☰
      </Button>
      <a class="brand" href="#/" aria-label="Home">
        <img src={mark} alt="" width="20" height="20" />
        <span>Armilla</span>
      </a>
      <span class="host ellipsis mono" title={`Version ${session.value?.server.version ?? ''}`}>
        {location.host}
      </span>
      {access && (
        <span class={access === 'full' ? 'badge' : 'badge warn'} title={ACCESS[access][1]}>
          {ACCESS[access][0]}
        </span>
      )}
      <span class="grow" />
      <Menu
        label="Theme"
        caption={<span aria-hidden="true">◐</span>}
        items={THEMES.map(([choice, title]) => ({
          title,
          checked: themeChoice.value === choice,
          onClick: () => chooseTheme(choice),
        }))}
      />
      <Button kind="ghost" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={onHelp}>
        ?
      </Button>
      <Button kind="ghost" class="sign-out" onClick={() => void leave()}>
        Sign out
      </Button>
    </header>
  );
}
