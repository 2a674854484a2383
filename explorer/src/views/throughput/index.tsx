//! What a container may use in a second, what it used, and changing it.

import { useEffect, useState } from 'preact/hooks';

import { readThroughput, type ThroughputState } from '../../api/offers';
import { containerPartitions, nodes } from '../../api/partitions';
import { SECOND, usePoll } from '../../api/poll';
import { can } from '../../shell/state';
import type { ViewProps } from '../../shell/views';
import { count, Figure, Problem, Spinner } from '../../ui';
import { Change } from './Change';
import { History } from './History';
import './throughput.css';

export default function Throughput({ database, container }: ViewProps) {
  const place = `${database}/${container}`;
  const [isPending, setIsPending] = useState(false);
  const every = isPending ? 2 * SECOND : 30 * SECOND;
  const offer = usePoll(place, (signal) => readThroughput(database, container, signal), every);
  const partitions = usePoll(place, (signal) => containerPartitions(database, container, signal), isPending ? SECOND : 5 * SECOND);
  const cluster = usePoll('nodes', nodes, 30 * SECOND);
  const state = offer.value;
  useEffect(() => setIsPending(state?.isPending ?? false), [state]);

  const changed = (next: ThroughputState) => {
    setIsPending(next.isPending);
    offer.refresh();
    partitions.refresh();
  };

  return (
    <div class="page throughput">
      {offer.error !== null && <Problem error={offer.error} />}
      {!state && offer.error === null && <Spinner label="Reading the throughput" />}
      {state && <Now state={state} />}
      {cluster.value && cluster.value.length > 1 && (
        <p class="notice">Several nodes serve the account. The lines are of the partitions that the node has which answers this page.</p>
      )}
      <History key={place} database={database} container={container} partitions={partitions.value} />
      {state && partitions.value && can('manage') && (
        <Change key={state.offer._etag} state={state} container={partitions.value} onChanged={changed} />
      )}
    </div>
  );
}

function Now({ state }: { state: ThroughputState }) {
  return (
    <>
      <div class="figures">
        <Figure
          label={state.owner === 'container' ? 'Throughput of this container' : 'Throughput of the database'}
          value={count(state.value)}
          unit={state.kind === 'manual' ? 'RU/s' : 'RU/s at most'}
        />
        <Figure label="Kind" value={state.kind === 'manual' ? 'Manual' : 'Autoscale'} />
        {state.kind === 'autoscale' && <Figure label="Provisioned in this hour" value={count(state.now)} unit="RU/s" />}
        <Figure label="Least allowed" value={count(state.minimum)} unit="RU/s" />
        <Figure label="Most ever" value={count(state.highestEver)} unit="RU/s" />
      </div>
      {state.owner === 'database' && (
        <p class="notice">
          The container has no throughput of its own: it shares that of its database with the other containers there. The lines below
          are of this container alone.
        </p>
      )}
      {state.isPending && (
        <p class="notice" role="status">
          Physical partitions are being split for the throughput that was asked for. Until that is done it cannot be changed again.
        </p>
      )}
    </>
  );
}
