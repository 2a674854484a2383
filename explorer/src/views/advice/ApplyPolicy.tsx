//! An advised indexing policy, put into the container: with what it changes before, and how far the index is afterwards.

import { useState } from 'preact/hooks';

import { ApiError } from '../../api/client';
import { readContainer, replaceContainer, type ContainerAnswer, type IndexingPolicy } from '../../api/resources';
import { loadContainers } from '../../shell/account';
import { Button, Dialog, Problem } from '../../ui';
import type { FeedPolicy } from '../container/FeedPolicyField';
import { IndexProgress } from '../container/IndexProgress';
import { Preview } from '../container/Preview';
import { changeOf, policyText } from '../container/policy';
import { diff } from '../items/diff';
import { rebased } from './policy';

export interface ApplyPolicyProps {
  database: string;
  container: string;
  advised: IndexingPolicy;
  /** The policy that the container had when the advice was made; null where it is not known. */
  base: IndexingPolicy | null;
}

interface Asked {
  read: ContainerAnswer;
  policy: IndexingPolicy;
}

export function ApplyPolicy({ database, container, advised, base }: ApplyPolicyProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [applied, setApplied] = useState<{ progress: number | null } | null>(null);
  const [isThere, setThere] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);

  const guarded = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  const look = () =>
    guarded(async () => {
      const read = await readContainer(database, container);
      const present = read.container.indexingPolicy;
      const policy = rebased(base ?? present, advised, present);
      const { added, removed, isModeChanged } = changeOf(present, policy);
      const isChange = added.length + removed.length > 0 || isModeChanged;
      setThere(!isChange);
      setAsked(isChange ? { read, policy } : null);
    });
  const apply = ({ read, policy }: Asked) =>
    guarded(async () => {
      // What the page does not know of a container goes back as it came.
      await replaceContainer(database, { ...read.container, indexingPolicy: policy }, read.container._etag);
      setAsked(null);
      setApplied({ progress: null });
      void loadContainers(database);
      setApplied({ progress: (await readContainer(database, container)).indexProgress });
    });

  if (applied) {
    const isRunning = applied.progress !== null && applied.progress < 100;
    return (
      <div class="stack">
        <p class="notice good" role="status">
          The policy of {container} is applied. What it comes to is seen by looking again, when it was asked for a while.
        </p>
        {isRunning && <IndexProgress database={database} container={container} begun={applied.progress} />}
        {!isRunning && <p class="dim">{applied.progress === null ? 'Its index is being changed.' : 'Its index follows the policy.'}</p>}
        {error !== null && <Problem error={error} />}
      </div>
    );
  }
  return (
    <div class="stack">
      <div class="row wrap">
        <Button kind="primary" busy={isBusy && !asked} onClick={() => void look()}>
          Apply…
        </Button>
        <span class="dim">changes the indexing policy of {container}; what it changes is shown before</span>
      </div>
      {isThere && (
        <p class="notice good" role="status">
          The policy of {container} has this already.
        </p>
      )}
      {error !== null && !asked && <Problem error={error} />}
      {asked && (
        <Dialog
          title={`Change the indexing policy of ${container}?`}
          wide
          onClose={() => {
            setAsked(null);
            setError(null);
          }}
          onSubmit={() => !isBusy && void apply(asked)}
          footer={
            <>
              <Button onClick={() => setAsked(null)}>Cancel</Button>
              <Button kind="primary" type="submit" busy={isBusy}>
                Apply the policy
              </Button>
            </>
          }
        >
          <Preview database={database} read={asked.read} wanted={wanted(asked)} />
          <details class="advice-recipe">
            <summary>The whole policy, now and then</summary>
            <Sides now={policyText(asked.read.container.indexingPolicy)} then={policyText(asked.policy)} />
          </details>
          {error !== null && <Problem error={error} />}
          {error instanceof ApiError && error.status === 412 && (
            <div class="notice warn">
              The container was changed since it was read here.{' '}
              <Button small onClick={() => void look()}>
                Read it again
              </Button>
            </div>
          )}
        </Dialog>
      )}
    </div>
  );
}

function Sides({ now, then }: { now: string; then: string }) {
  const [left, right] = diff(now, then);
  return (
    <div class="advice-sides">
      {([['Now', left], ['Then', right]] as const).map(([name, lines]) => (
        <section key={name}>
          <h4>{name}</h4>
          <pre tabIndex={0} role="group" aria-label={name}>
            {lines.map((line, at) => (
              <div key={at} class={line.isOther ? 'other' : ''}>
                {line.text || ' '}
              </div>
            ))}
          </pre>
        </section>
      ))}
    </div>
  );
}

/** Everything but the policy stays. */
function wanted({ read: { container }, policy }: Asked) {
  return {
    indexingPolicy: policy,
    defaultTtl: container.defaultTtl,
    changeFeedPolicy: container.changeFeedPolicy as FeedPolicy | undefined,
  };
}
