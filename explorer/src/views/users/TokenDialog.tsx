//! Makes a resource token and shows it once.

import { useState } from 'preact/hooks';

import { makeToken, TOKEN_SECONDS, type Permission } from '../../api/users';
import { Button, CopyButton, Dialog, Field, Input, Problem, TextArea } from '../../ui';

interface TokenDialogProps {
  database: string;
  user: string;
  permission: Permission;
  onClose(): void;
}

interface Token {
  text: string;
  /** When it ends. */
  end: Date;
}

export function TokenDialog({ database, user, permission, onClose }: TokenDialogProps) {
  const [text, setText] = useState(String(TOKEN_SECONDS.usual));
  const [token, setToken] = useState<Token | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const seconds = Number(text);
  const isValid = Number.isInteger(seconds) && seconds >= TOKEN_SECONDS.least && seconds <= TOKEN_SECONDS.most;

  async function make() {
    if (!isValid) return;
    setIsBusy(true);
    setError(null);
    try {
      const made = await makeToken(database, user, permission.id, seconds);
      setToken({ text: made, end: new Date(Date.now() + seconds * 1000) });
    } catch (cause) {
      setError(cause);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <Dialog
      wide
      title={`Resource token of ${permission.id}`}
      onClose={onClose}
      onSubmit={() => void make()}
      footer={
        token ? (
          <>
            <CopyButton text={token.text} label="Copy the token" caption="Copy the token" />
            <Button onClick={onClose}>Done</Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" busy={isBusy} disabled={!isValid}>
              Make a token
            </Button>
          </>
        )
      }
    >
      <div class="stack">
        {token ? (
          <>
            <p>
              Good until {token.end.toLocaleString('en-GB')}. Whoever has it may do what the permission says. It is not kept here: close
              this, and it is gone from the page.
            </p>
            <Field label="Token">
              <TextArea value={token.text} readOnly rows={5} />
            </Field>
          </>
        ) : (
          <>
            <p>
              A token is made for {permission.resource}
              {permission.partitionKey && `, partition key ${JSON.stringify(permission.partitionKey)}`}, and shown once.
            </p>
            <Field
              label="Good for, in seconds"
              help={`${TOKEN_SECONDS.least} to ${TOKEN_SECONDS.most}; an hour is ${TOKEN_SECONDS.usual}.`}
              error={isValid ? null : 'A whole number within these bounds.'}
            >
              <Input
                type="number"
                value={text}
                min={TOKEN_SECONDS.least}
                max={TOKEN_SECONDS.most}
                onInput={setText}
                autofocus
              />
            </Field>
          </>
        )}
        {error !== null && <Problem error={error} />}
      </div>
    </Dialog>
  );
}
