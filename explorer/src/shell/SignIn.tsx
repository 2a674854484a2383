//! The sign-in: one field for a key of the account or a resource token.

import { useState } from 'preact/hooks';

import { phase, session, signIn, type Credential } from '../api/session';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Field, Input } from '../ui/Field';
import { Problem } from '../ui/Problem';

import './sign-in.css';

/** A resource token says of itself what it is; everything else is tried as a key. */
function credential(text: string): Credential {
  const plain = text.trim();
  const isToken = plain.startsWith('type=resource') || plain.startsWith('type%3Dresource') || plain.startsWith('type%3dresource');
  return isToken ? { token: plain } : { key: plain };
}

function useSignIn() {
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (given: Credential) => {
    setBusy(true);
    setError(null);
    try {
      await signIn(given);
      setText('');
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return { text, setText, error, isBusy, send };
}

type State = ReturnType<typeof useSignIn>;

function Fields({ text, setText, error }: State) {
  return (
    <>
      <Field label="Key of the account or resource token">
        <Input type="password" value={text} onInput={setText} autofocus autocomplete="off" />
      </Field>
      {error != null && <Problem error={error} />}
      <dl class="rights">
        <div>
          <dt>Primary or secondary key</dt>
          <dd>everything: data, scripts, containers, users, throughput</dd>
        </div>
        <div>
          <dt>Read-only key</dt>
          <dd>sees everything, changes nothing</dd>
        </div>
        <div>
          <dt>Resource token</dt>
          <dd>one container or some of its items, as a permission of a user allows</dd>
        </div>
      </dl>
      <p class="help">
        The key goes to this server alone. The browser keeps a cookie of the session, which scripts cannot read, and no key.
      </p>
    </>
  );
}

/** The whole page, before anything else is seen. */
export function SignInPage() {
  const state = useSignIn();
  const isFree = session.value?.state === 'open';
  return (
    <main class="sign-in">
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (state.text.trim()) void state.send(credential(state.text));
        }}
      >
        <div>
          <h1>Armilla explorer</h1>
          <p class="dim">{location.host}</p>
        </div>
        {isFree && (
          <div class="stack">
            <p>This server has the well-known key and is asked from its own machine: no key is needed.</p>
            <Button kind="primary" busy={state.isBusy} onClick={() => void state.send({})}>
              Sign in without a key
            </Button>
            <p class="dim">Or see the account as somebody else does:</p>
          </div>
        )}
        <Fields {...state} />
        <Button kind={isFree ? 'plain' : 'primary'} type="submit" busy={state.isBusy} disabled={!state.text.trim()}>
          Sign in
        </Button>
      </form>
    </main>
  );
}

/** Over the page, when the session has ended: what was typed stays below it. */
export function SignInAgain() {
  const state = useSignIn();
  if (phase.value !== 'ended') return null;
  const submit = () => {
    if (state.text.trim()) void state.send(credential(state.text));
  };
  return (
    <Dialog
      title="The session has ended"
      onSubmit={submit}
      footer={
        <Button kind="primary" type="submit" busy={state.isBusy} disabled={!state.text.trim()}>
          Sign in and go on
        </Button>
      }
    >
      <p>Sign in again: what you have typed is still here.</p>
      <Fields {...state} />
    </Dialog>
  );
}
