//! Everything that the server tells of one physical partition.

import type { HotKey, Latency, Node, OperationKind, Partition } from '../../api/partitions';
import { bytes, count, Figure, ru } from '../../ui';
import { duration, isOpened, keyText, nodeText } from './figures';

export function Detail({ partition, nodes }: { partition: Partition; nodes: Node[] }) {
  const { parents } = partition;
  return (
    <>
      <dl class="bounds">
        <dt>From</dt>
        <dd>{partition.minInclusive === '' ? 'the beginning of the ring' : <code>{partition.minInclusive}</code>}</dd>
        <dt>To</dt>
        <dd>{partition.maxExclusive === 'FF' ? 'the end of the ring' : <code>{partition.maxExclusive}</code>}</dd>
        {parents.length > 0 && (
          <>
            <dt>Made of</dt>
            <dd>{parents.join(', ')}</dd>
          </>
        )}
        {partition.node !== null && (
          <>
            <dt>Served by</dt>
            <dd>{nodeText(nodes, partition.node)}</dd>
          </>
        )}
      </dl>
      {isOpened(partition) ? (
        <Figures partition={partition} />
      ) : (
        <p class="note">This partition was not opened since the server started, so nothing was counted yet. The first request to it changes that.</p>
      )}
    </>
  );
}

function Figures({ partition }: { partition: Partition }) {
  return (
    <>
      <div class="figures">
        <Figure label="Used, last second" value={ru(partition.usedRuLastSecond ?? 0)} unit="RU" />
        <Figure label="Share of every second" value={count(partition.provisionedRu ?? 0)} unit="RU" />
        <Figure label="Used, last minute" value={ru(partition.usedRuLastMinute ?? 0)} unit="RU" />
        <Figure label="Busiest second" value={String(Math.round(partition.normalizedPercent ?? 0))} unit="% of share" />
        <Figure label="Requests, last minute" value={count(partition.requestsLastMinute ?? 0)} />
        <Figure label="Refused, last minute" value={count(partition.refusedLastMinute ?? 0)} />
        <Figure label="Items" value={count(partition.items ?? 0)} />
        <Figure label="Data" value={bytes(partition.bytes ?? 0)} />
        <Figure label="Index" value={bytes(partition.indexBytes ?? 0)} />
        <Figure label="Used since the start" value={ru(partition.totalRu ?? 0)} unit="RU" />
        <Figure label="Requests since the start" value={count(partition.totalRequests ?? 0)} />
        <Figure label="Refused since the start" value={count(partition.totalRefused ?? 0)} />
        <Figure label="Last commit" value={count(partition.lsn ?? 0)} />
      </div>
      <div class="detail-tables">
        <Hottest keys={partition.hottest ?? []} used={partition.usedRuLastMinute ?? 0} />
        {partition.latencies && <Latencies latencies={partition.latencies} />}
      </div>
    </>
  );
}

/** The keys that cost the most in the last minute, and their part of what all of them cost. */
function Hottest({ keys, used }: { keys: HotKey[]; used: number }) {
  const known = keys.filter((entry) => entry.partitionKey !== null);
  // What is told of keys may be a little more than what was counted as used: both are of moments.
  const whole = Math.max(used, known.reduce((sum, entry) => sum + entry.ru, 0));
  return (
    <section tabIndex={0} aria-label="Hottest partition keys">
      <h3>Hottest partition keys, last minute</h3>
      {known.length === 0 ? (
        <p class="note">No request named a partition key here in the last minute.</p>
      ) : (
        <table class="hottest">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col" class="number">
                RU
              </th>
              <th scope="col" class="wide">
                Part of this partition
              </th>
            </tr>
          </thead>
          <tbody>
            {known.map((entry) => {
              const percent = whole > 0 ? (entry.ru / whole) * 100 : 0;
              return (
                <tr key={keyText(entry.partitionKey)}>
                  <th scope="row">
                    <code>{keyText(entry.partitionKey)}</code>
                  </th>
                  <td class="number">{ru(entry.ru)}</td>
                  <td class="wide">
                    <span class="bar used" aria-hidden="true">
                      <span style={{ width: `${percent}%` }} />
                    </span>
                    <span class="bars-text">{percent.toFixed(percent < 10 ? 1 : 0)} %</span>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}

const KINDS: [OperationKind, string][] = [
  ['read', 'Point reads'],
  ['write', 'Writes'],
  ['query', 'Queries and feeds'],
  ['script', 'Scripts'],
];

const STEP_WIDTH = 5;
const SPREAD_HEIGHT = 22;

/** A bar for each class of times, the slower the further right. */
function Spread({ latency }: { latency: Latency }) {
  if (latency.count === 0) return null;
  const classes = latency.upTo.map(([upTo, sum], at) => ({ upTo, count: sum - (latency.upTo[at - 1]?.[1] ?? 0) }));
  const most = Math.max(...classes.map((one) => one.count));
  const told = classes
    .filter((one) => one.count > 0)
    .map((one) => `${one.upTo === null ? 'longer' : `up to ${duration(one.upTo)}`}: ${count(one.count)}`);
  const label = told.join(', ');
  return (
    <svg class="spread" width={classes.length * STEP_WIDTH} height={SPREAD_HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      {classes.map((one, at) => {
        const height = one.count === 0 ? 0 : Math.max(2, (one.count / most) * SPREAD_HEIGHT);
        return <rect key={at} x={at * STEP_WIDTH} y={SPREAD_HEIGHT - height} width={STEP_WIDTH - 1} height={height} />;
      })}
    </svg>
  );
}

function Latencies({ latencies }: { latencies: Record<OperationKind, Latency> }) {
  return (
    <section tabIndex={0} aria-label="Time in the server">
      <h3>Time in the server, since the start</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col" class="number">
              Count
            </th>
            <th scope="col" class="number">
              Half within
            </th>
            <th scope="col" class="number">
              99 % within
            </th>
            <th scope="col">Spread</th>
          </tr>
        </thead>
        <tbody>
          {KINDS.map(([kind, label]) => (
            <tr key={kind}>
              <th scope="row">{label}</th>
              <td class="number">{count(latencies[kind].count)}</td>
              <td class="number">{duration(latencies[kind].p50Us)}</td>
              <td class="number">{duration(latencies[kind].p99Us)}</td>
              <td>
                <Spread latency={latencies[kind]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
