//! A new database.

import { useState } from 'preact/hooks';

import { createDatabase, type Throughput } from '../../api/resources';
import { loadDatabases } from '../../shell/account';
import { navigate } from '../../shell/state';
import { Button } from '../../ui/Button';
import { Field, Input } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { toast } from '../../ui/toast';
import { ThroughputField, readThroughput, type ThroughputChoice } from './ThroughputField';

export default function CreateDatabase() {
  const [name, setName] = useState('');
  const [choice, setChoice] = useState<ThroughputChoice>({ kind: 'none', manual: '400', most: '1000' });
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const throughput = readThroughput(choice);

  const create = async (wanted: Throughput) => {
    setBusy(true);
    setError(null);
    try {
      await createDatabase(name, wanted);
      await loadDatabases();
      toast(`The database ${name} is there.`, 'good');
      navigate({ kind: 'database', database: name });
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <div class="page stack">
      <h1>New database</h1>
      <form
        class="card stack form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() && !('wrong' in throughput)) void create(throughput.value);
        }}
      >
        <Field label="Name" help="Up to 255 characters; not / \ # ?, and no space at the end. It cannot be changed later.">
          <Input value={name} onInput={setName} autofocus />
        </Field>
        <ThroughputField
          label="Throughput shared by its containers"
          none={['None', 'Each container has throughput of its own.']}
          choice={choice}
          onChange={setChoice}
        />
        {error != null && <Problem error={error} />}
        <div class="row">
          <Button kind="primary" type="submit" busy={isBusy} disabled={!name.trim() || 'wrong' in throughput}>
            Create database
          </Button>
          <Button onClick={() => navigate({ kind: 'home' })}>Cancel</Button>
        </div>
      </form>
    </div>
  );
}
