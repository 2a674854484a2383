//! What a container was told: its key, its policies, and what a change of them will do.

import { useEffect, useState } from 'preact/hooks';

import { ApiError } from '../../api/client';
import { readContainer, replaceContainer, type ContainerAnswer, type IndexingPolicy } from '../../api/resources';
import { removeContainer } from '../database/index';
import { loadContainers } from '../../shell/account';
import { can, navigate, useUnsaved } from '../../shell/state';
import type { ViewProps } from '../../shell/views';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Problem } from '../../ui/Problem';
import { Spinner } from '../../ui/Spinner';
import { toast } from '../../ui/toast';
import { useLoad } from '../../ui/useLoad';
import { hintedPolicy } from '../query/hints';
import { FeedPolicyField, feedChoice, readFeed } from './FeedPolicyField';
import { Fixed } from './Fixed';
import { IndexProgress } from './IndexProgress';
import { IndexingEditor } from './IndexingEditor';
import { Preview } from './Preview';
import { TtlField, readTtl, ttlChoice } from './TtlField';
import { policyText, readPolicy } from './policy';

import './container.css';

export default function Settings({ database, container, rest }: ViewProps) {
  const load = useLoad((signal) => readContainer(database, container, signal), [database, container]);
  if (load.error != null && !load.value) {
    return (
      <div class="page">
        <Problem error={load.error} />
      </div>
    );
  }
  if (!load.value) {
    return (
      <div class="page">
        <Spinner label="Reading the container" />
      </div>
    );
  }
  return <Form key={`${load.value.container._etag} ${rest.join('/')}`} database={database} read={load.value} rest={rest} onSaved={load.reload} />;
}

interface FormProps {
  database: string;
  read: ContainerAnswer;
  /** Names an index that the policy begins with, not saved yet. */
  rest: readonly string[];
  onSaved(): void;
}

function Form({ database, read, rest, onSaved }: FormProps) {
  const before = read.container;
  const name = before.id;
  const oldPolicy = policyText(before.indexingPolicy);
  const [policy, setPolicy] = useState(() => policyText(hintedPolicy(before.indexingPolicy, rest) as IndexingPolicy));
  const [ttl, setTtl] = useState(ttlChoice(before.defaultTtl));
  const [feed, setFeed] = useState(feedChoice(before.changeFeedPolicy));
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const mayChange = can('manage');

  const [policyRead, ttlRead, feedRead] = [readPolicy(policy), readTtl(ttl), readFeed(feed)];
  const isPolicyChanged = !('policy' in policyRead) || policyText(policyRead.policy) !== oldPolicy;
  const isTtlChanged = !('value' in ttlRead) || ttlRead.value !== before.defaultTtl;
  const oldFeed = readFeed(feedChoice(before.changeFeedPolicy));
  const isFeedChanged = JSON.stringify(feedRead) !== JSON.stringify(oldFeed);
  const isChanged = isPolicyChanged || isTtlChanged || isFeedChanged;
  useUnsaved(isChanged && !isBusy, `the settings of ${name}`);
  useEffect(() => setError(null), [policy, ttl, feed]);

  const wanted =
    'policy' in policyRead && 'value' in ttlRead && 'value' in feedRead
      ? { indexingPolicy: policyRead.policy, defaultTtl: ttlRead.value, changeFeedPolicy: feedRead.value }
      : null;

  const save = async () => {
    if (!wanted) return;
    setBusy(true);
    setError(null);
    try {
      // What the page does not know of a container goes back as it came.
      const { defaultTtl: _ttl, changeFeedPolicy: _feed, ...kept } = before;
      const { defaultTtl, changeFeedPolicy, indexingPolicy } = wanted;
      await replaceContainer(
        database,
        {
          ...kept,
          indexingPolicy,
          ...(defaultTtl === undefined ? {} : { defaultTtl }),
          ...(changeFeedPolicy ? { changeFeedPolicy } : {}),
        },
        before._etag,
      );
      toast('The settings are saved.', 'good');
      void loadContainers(database);
      onSaved();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  const revert = () => {
    setPolicy(oldPolicy);
    setTtl(ttlChoice(before.defaultTtl));
    setFeed(feedChoice(before.changeFeedPolicy));
  };
  const remove = async () => {
    if (await removeContainer(database, before, read.usage.get('documentsCount') ?? null)) navigate({ kind: 'database', database });
  };
  const isConflict = error instanceof ApiError && error.status === 412;

  return (
    <div class="page stack settings">
      <IndexProgress database={database} container={name} begun={read.indexProgress} />
      <Fixed read={read} />
      <section class="card stack form">
        <h2>Indexing policy</h2>
        <IndexingEditor text={policy} onChange={setPolicy} isReadOnly={!mayChange} />
      </section>
      <section class="card stack form">
        <TtlField choice={ttl} onChange={setTtl} disabled={!mayChange} />
      </section>
      <section class="card stack form">
        <h2>Change feed</h2>
        <FeedPolicyField choice={feed} onChange={setFeed} disabled={!mayChange} />
      </section>
      {isChanged && (
        <section class="card stack form what-happens" aria-label="What will happen">
          <h2>What will happen</h2>
          {wanted ? (
            <Preview database={database} read={read} wanted={wanted} />
          ) : (
            <p class="wrong">{'wrong' in policyRead ? policyRead.wrong : 'Something above is not valid yet.'}</p>
          )}
          {error != null && <Problem error={error} />}
          {isConflict && (
            <div class="notice warn">
              Somebody else has changed the container since it was read here.{' '}
              <Button small onClick={onSaved}>
                Read it again and lose the changes here
              </Button>
            </div>
          )}
          <div class="row">
            <Button kind="primary" busy={isBusy} disabled={!wanted} onClick={() => void save()}>
              Save settings
            </Button>
            <Button disabled={isBusy} onClick={revert}>
              Revert
            </Button>
          </div>
        </section>
      )}
      <section class="row form">
        <CopyButton text={JSON.stringify(before, null, 2)} label="Copy the definition of the container as JSON" caption="Copy definition" />
        {mayChange && (
          <Button kind="ghost" onClick={() => void remove()}>
            Delete container …
          </Button>
        )}
      </section>
    </div>
  );
}
