//! The first container of an account, in two steps.

import { useState } from 'preact/hooks';

import { createContainer, createDatabase } from '../../api/resources';
import { loadDatabases } from '../../shell/account';
import { navigate } from '../../shell/state';
import { Button } from '../../ui/Button';
import { Field, Input } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { toast } from '../../ui/toast';

export function FirstSteps() {
  const [step, setStep] = useState<1 | 2>(1);
  const [database, setDatabase] = useState('');
  const [container, setContainer] = useState('');
  const [path, setPath] = useState('/');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);

  const create = async () => {
    setBusy(true);
    setError(null);
    try {
      await createDatabase(database, null);
      const paths = [path.startsWith('/') ? path : `/${path}`];
      await createContainer(database, { id: container, partitionKey: { paths, kind: 'Hash', version: 2 } }, null);
      toast('The container is there. Its first item can be written.', 'good');
      await loadDatabases();
      navigate({ kind: 'container', database, container, view: 'items', rest: [] });
    } catch (refused) {
      setError(refused);
      await loadDatabases();
    } finally {
      setBusy(false);
    }
  };
  const next = () => {
    if (step === 1 && database.trim()) setStep(2);
    else if (step === 2 && container.trim() && path.length > 1) void create();
  };

  return (
    <form
      class="card stack first-steps"
      aria-label="First steps"
      onSubmit={(event) => {
        event.preventDefault();
        next();
      }}
    >
      <div>
        <h2>The account is empty: create a container</h2>
        <p class="dim">Step {step} of 2</p>
      </div>
      {step === 1 ? (
        <>
          <Field label="Name of the database" help="A database holds containers; users and shared throughput belong to it.">
            <Input value={database} onInput={setDatabase} placeholder="shop" autofocus />
          </Field>
          <div class="row">
            <Button kind="primary" type="submit" disabled={!database.trim()}>
              Next
            </Button>
          </div>
        </>
      ) : (
        <>
          <Field label="Name of the container" help="A container holds items, which are JSON objects.">
            <Input key="container" value={container} onInput={setContainer} placeholder="orders" autofocus />
          </Field>
          <Field
            label="Partition key"
            help="The path of the value by which items are spread. Items with the same value lie together, and a query that names the value asks one partition alone. Take one with many values that your queries know, such as /customerId."
          >
            <Input value={path} onInput={setPath} placeholder="/customerId" />
          </Field>
          {error != null && <Problem error={error} />}
          <div class="row">
            <Button onClick={() => setStep(1)} disabled={isBusy}>
              Back
            </Button>
            <Button kind="primary" type="submit" busy={isBusy} disabled={!container.trim() || path.length < 2}>
              Create
            </Button>
          </div>
        </>
      )}
    </form>
  );
}
