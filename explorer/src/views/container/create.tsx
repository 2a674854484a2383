//! A new container with all of its policies.

import { useEffect, useState } from 'preact/hooks';

import { createContainer, type NewContainer, type Throughput } from '../../api/resources';
import { databases, loadContainers, loadDatabases, loadOffers, throughputOf } from '../../shell/account';
import { navigate, useUnsaved } from '../../shell/state';
import type { ViewProps } from '../../shell/views';
import { Button } from '../../ui/Button';
import { Field, Input } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { toast } from '../../ui/toast';
import { ThroughputField, readThroughput, type ThroughputChoice } from '../database/ThroughputField';
import { FeedPolicyField, feedChoice, readFeed } from './FeedPolicyField';
import { IndexingEditor } from './IndexingEditor';
import { TtlField, readTtl, ttlChoice } from './TtlField';
import { UniqueKeys, readUniqueKeys } from './UniqueKeys';
import { DEFAULT_POLICY, policyText, readPolicy } from './policy';

import './container.css';

const MOST_LEVELS = 3;

export default function CreateContainer({ database }: ViewProps) {
  const [name, setName] = useState('');
  const [levels, setLevels] = useState(['/']);
  const [uniqueKeys, setUniqueKeys] = useState<string[]>([]);
  const [policy, setPolicy] = useState(policyText(DEFAULT_POLICY));
  const [ttl, setTtl] = useState(ttlChoice(undefined));
  const [feed, setFeed] = useState(feedChoice(undefined));
  const [choice, setChoice] = useState<ThroughputChoice>({ kind: 'manual', manual: '400', most: '1000' });
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    void loadOffers();
    if (!databases.value.value) void loadDatabases();
  }, []);
  const rid = databases.value.value?.find((one) => one.id === database)?._rid;
  const shared = rid ? throughputOf(rid) : null;
  useEffect(() => {
    if (shared) setChoice((before) => ({ ...before, kind: 'none' }));
  }, [shared]);

  useUnsaved(name !== '' && !isBusy, 'a new container');

  const paths = levels.map((one) => (one.startsWith('/') ? one : `/${one}`));
  const throughput = readThroughput(choice);
  const [ttlRead, feedRead, policyRead] = [readTtl(ttl), readFeed(feed), readPolicy(policy)];
  const isReady =
    name.trim() !== '' &&
    paths.every((one) => one.length > 1) &&
    'value' in throughput &&
    'value' in ttlRead &&
    'value' in feedRead &&
    'policy' in policyRead;

  const create = async (body: NewContainer, wanted: Throughput) => {
    setBusy(true);
    setError(null);
    try {
      await createContainer(database, body, wanted);
      await loadContainers(database);
      void loadOffers();
      toast(`The container ${body.id} is there.`, 'good');
      navigate({ kind: 'container', database, container: body.id, view: 'items', rest: [] });
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  const submit = () => {
    if (!isReady || !('value' in throughput) || !('value' in ttlRead) || !('value' in feedRead) || !('policy' in policyRead)) return;
    const keys = readUniqueKeys(uniqueKeys);
    const body: NewContainer = {
      id: name,
      partitionKey: { paths, kind: paths.length > 1 ? 'MultiHash' : 'Hash', version: 2 },
      indexingPolicy: policyRead.policy,
      ...(keys.length > 0 ? { uniqueKeyPolicy: { uniqueKeys: keys } } : {}),
      ...(ttlRead.value === undefined ? {} : { defaultTtl: ttlRead.value }),
      ...(feedRead.value ? { changeFeedPolicy: feedRead.value } : {}),
    };
    void create(body, throughput.value);
  };

  return (
    <div class="page stack">
      <h1>New container in {database}</h1>
      <form
        class="stack form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <section class="card stack">
          <Field label="Name" help="Up to 255 characters; not / \ # ?, and no space at the end. It cannot be changed later.">
            <Input value={name} onInput={setName} autofocus />
          </Field>
          <PartitionKey levels={levels} onChange={setLevels} />
        </section>
        <section class="card stack">
          <ThroughputField
            label="Throughput"
            none={
              shared
                ? ['Shared', `The containers of this database share ${shared}.`]
                : ['As the server has it', 'The server gives a new container its smallest throughput.']
            }
            choice={choice}
            onChange={setChoice}
          />
        </section>
        <section class="card">
          <UniqueKeys keys={uniqueKeys} onChange={setUniqueKeys} />
        </section>
        <section class="card stack">
          <h2>Indexing policy</h2>
          <IndexingEditor text={policy} onChange={setPolicy} />
        </section>
        <section class="card stack">
          <TtlField choice={ttl} onChange={setTtl} />
          <FeedPolicyField choice={feed} onChange={setFeed} />
        </section>
        {error != null && <Problem error={error} />}
        <div class="row">
          <Button kind="primary" type="submit" busy={isBusy} disabled={!isReady}>
            Create container
          </Button>
          <Button onClick={() => navigate({ kind: 'database', database })}>Cancel</Button>
        </div>
      </form>
    </div>
  );
}

function PartitionKey({ levels, onChange }: { levels: readonly string[]; onChange(levels: string[]): void }) {
  return (
    <section class="paths">
      <h3>Partition key</h3>
      <p class="help">
        The path of the value by which items are spread: items with the same value lie together, and queries that name the value
        ask one partition alone. Up to three paths make a hierarchy, such as /tenant, /user. It cannot be changed later.
      </p>
      {levels.map((path, at) => (
        <div class="row" key={at}>
          <Input
            aria-label={levels.length > 1 ? `Partition key, level ${at + 1}` : 'Partition key path'}
            class="mono"
            placeholder="/customerId"
            value={path}
            onInput={(text) => onChange(levels.map((one, index) => (index === at ? text : one)))}
          />
          {levels.length > 1 && (
            <Button kind="ghost" small aria-label={`Remove level ${at + 1}`} onClick={() => onChange(levels.filter((_, index) => index !== at))}>
              ✕
            </Button>
          )}
        </div>
      ))}
      {levels.length < MOST_LEVELS && (
        <Button small onClick={() => onChange([...levels, '/'])}>
          Add a level
        </Button>
      )}
    </section>
  );
}
