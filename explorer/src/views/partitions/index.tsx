//! Where a container's data lies: the ring of hashed keys, its arcs, and what each partition serves.

import { useState } from 'preact/hooks';

import { containerPartitions, nodes } from '../../api/partitions';
import { usePoll } from '../../api/poll';
import { can } from '../../shell/state';
import type { ViewProps } from '../../shell/views';
import { bytes, count, counted, Empty, Figure, Problem, ru, Spinner } from '../../ui';
import { Bars } from './Bars';
import { Detail } from './Detail';
import { provisioned, totals } from './figures';
import { KeyFinder } from './KeyFinder';
import { ReshapeButtons, ReshapeStatus } from './Reshaping';
import { useReshaping } from './reshape';
import { Ring } from './Ring';
import './partitions.css';

/** Nodes come and go seldom. */
const NODES_MS = 10_000;

export default function Partitions({ database, container }: ViewProps) {
  const polled = usePoll(`${database}/${container}`, (signal) => containerPartitions(database, container, signal));
  const cluster = usePoll('nodes', nodes, NODES_MS);
  const [chosen, setChosen] = useState<string | null>(null);
  const reshaping = useReshaping(polled.value, polled.refresh);

  const figures = polled.value;
  if (!figures) {
    if (polled.error !== null) return <div class="page"><Problem error={polled.error} /></div>;
    return <div class="page"><Spinner label="Reading the figures" /></div>;
  }
  if (figures.partitions.length === 0) {
    return <Empty title="No partitions">The server tells of no physical partition of this container.</Empty>;
  }

  const all = totals(figures);
  const whole = provisioned(figures);
  const partition = figures.partitions.find((one) => one.id === chosen) ?? figures.partitions[0];
  const list = cluster.value ?? [];
  return (
    <div class="page partitions">
      {polled.error !== null && <Problem error={polled.error} />}
      <div class="figures">
        <Figure label="Physical partitions" value={count(figures.partitions.length)} />
        <Figure
          label={figures.shared ? 'Throughput of the database' : 'Throughput'}
          value={whole === null ? '–' : count(whole)}
          unit={figures.autoscaleNow === null ? 'RU/s' : 'RU/s at most'}
        />
        {figures.autoscaleNow !== null && <Figure label="Autoscale now" value={count(figures.autoscaleNow)} unit="RU/s" />}
        <Figure label="Used, last second" value={ru(all.used)} unit="RU" />
        <Figure label="Refused, last minute" value={count(all.refused)} />
        <Figure label="Items" value={count(all.items)} />
        <Figure label="Stored" value={bytes(all.stored)} />
      </div>
      {figures.shared && (
        <p class="notice">
          The throughput belongs to the database, and all containers in it that have none of their own draw on it. What others use
          of a share is not counted here.
        </p>
      )}
      {figures.failed !== null && <p class="notice warn">A change of the partitions did not work: {figures.failed}</p>}
      {figures.pending && !reshaping.current && (
        <p class="notice">More partitions are being made for the throughput that was asked for.</p>
      )}
      {reshaping.current && <ReshapeStatus reshape={reshaping.current} onDismiss={reshaping.dismiss} />}
      <div class="partitions-pictures">
        <section class="card">
          <h2>The ring of hashed keys</h2>
          <Ring container={figures} selected={partition?.id ?? null} onSelect={setChosen} />
          <Legend />
          <KeyFinder database={database} container={container} onFound={setChosen} />
        </section>
        <section class="card">
          <h2>Physical partitions</h2>
          <Bars container={figures} selected={partition?.id ?? null} nodes={list} onSelect={setChosen} />
          {list.length > 0 && (
            <p class="note">
              {list.map((node) => `${node.address} has ${counted(node.partitions, 'partition')} of the account`).join('; ')}.
            </p>
          )}
        </section>
      </div>
      {partition && (
        <section class="card" aria-label={`Partition ${partition.id}`}>
          <div class="detail-head">
            <h2>Partition {partition.id}</h2>
            {partition.status === 'splitting' && <span class="badge warn">splitting</span>}
            {can('manage') && <ReshapeButtons container={figures} partition={partition} reshaping={reshaping} />}
          </div>
          <Detail partition={partition} nodes={list} />
        </section>
      )}
    </div>
  );
}

function Legend() {
  return (
    <ul class="ring-legend">
      <li>
        <span class="ring-key used" aria-hidden="true" />
        outer band: used of its share in the last second
      </li>
      <li>
        <span class="ring-key stored" aria-hidden="true" />
        inner band: stored, against the largest
      </li>
      <li>
        <span class="ring-key rim" aria-hidden="true" />
        rim: requests refused in the last minute
      </li>
    </ul>
  );
}
