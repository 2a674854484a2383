//! The frame: the header, the tree at the left, the view at the right.

import { useEffect, useState } from 'preact/hooks';

import { begin, phase, session } from '../api/session';
import { Button } from '../ui/Button';
import { Problem } from '../ui/Problem';
import { Split } from '../ui/Split';
import { Spinner } from '../ui/Spinner';
import { Questions } from '../ui/confirm';
import { Toasts } from '../ui/toast';
import { useNarrow } from '../ui/useNarrow';
import { Body } from './Body';
import { Header } from './Header';
import { Shortcuts } from './Shortcuts';
import { SignInAgain, SignInPage } from './SignIn';
import { TokenTree } from './TokenTree';
import { Tree } from './Tree';
import { forget } from './account';
import { useShortcuts } from './shortcut-keys';
import './theme';

import './shell.css';

export function App() {
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    begin().catch(setError);
  }, []);
  if (error != null) return <Unreachable error={error} />;
  switch (phase.value) {
    case 'starting':
      return (
        <main class="sign-in">
          <Spinner label="Asking the server" />
        </main>
      );
    case 'out':
      return <SignInPage />;
    default:
      return <Frame />;
  }
}

function Frame() {
  const isNarrow = useNarrow(760);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(() => forget, []);
  useShortcuts({ onHelp: () => setHelpOpen(true), onTree: () => setDrawerOpen(true) });
  const tree = (
    <nav aria-label="Account" class="side">
      {session.value?.access === 'token' ? (
        <TokenTree onGo={() => setDrawerOpen(false)} />
      ) : (
        <Tree onGo={() => setDrawerOpen(false)} />
      )}
    </nav>
  );
  return (
    <div class="frame">
      <Header isDrawerOpen={isDrawerOpen} onDrawer={() => setDrawerOpen(!isDrawerOpen)} onHelp={() => setHelpOpen(true)} />
      <div class="below">
        <Split
          label="Width of the tree"
          name="tree"
          initial={0.2}
          least={180}
          only={isNarrow ? 'second' : null}
          first={isNarrow ? null : tree}
          second={<Body />}
        />
        {isNarrow && isDrawerOpen && (
          <div class="drawer" onKeyDown={(event) => event.key === 'Escape' && setDrawerOpen(false)}>
            {tree}
            <div class="veil" onClick={() => setDrawerOpen(false)} />
          </div>
        )}
      </div>
      {isHelpOpen && <Shortcuts onClose={() => setHelpOpen(false)} />}
      <SignInAgain />
      <Questions />
      <Toasts />
    </div>
  );
}

function Unreachable({ error }: { error: unknown }) {
  return (
    <main class="sign-in">
      <div class="card stack">
        <h1>Armilla explorer</h1>
        <Problem error={error} />
        <Button kind="primary" onClick={() => location.reload()}>
          Try again
        </Button>
      </div>
    </main>
  );
}
