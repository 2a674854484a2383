//! What there is in the account.

import { useEffect } from 'preact/hooks';

import { accountFigures, figuresOf, type Figures as Sum } from '../../api/account';
import { databases, loadDatabases, loadOffers, offers, throughputOf } from '../../shell/account';
import { can, href, session } from '../../shell/state';
import { Figure } from '../../ui/Figure';
import { Problem } from '../../ui/Problem';
import { Spinner } from '../../ui/Spinner';
import { bytes, count, ru } from '../../ui/format';
import { useEvery, useLoad } from '../../ui/useLoad';
import { FirstSteps } from './FirstSteps';

import '../../ui/table.css';
import './home.css';

export default function Home() {
  return session.value?.access === 'token' ? <WithToken /> : <Account />;
}

function WithToken() {
  return (
    <div class="page stack">
      <h1>Signed in with a resource token</h1>
      <p>It opens what its permission names, one container or a part of it. Name the container at the left to open it.</p>
    </div>
  );
}

function Account() {
  const figures = useLoad((signal) => accountFigures(signal), []);
  // A slow server is not asked twice at a time.
  useEvery(5000, () => !figures.isBusy && figures.reload());
  useEffect(() => {
    void loadOffers();
    if (!databases.value.value && !databases.value.isBusy) void loadDatabases();
  }, []);
  const list = databases.value;
  return (
    <div class="page stack home">
      <h1>Account</h1>
      {list.error != null && <Problem error={list.error} />}
      {!list.value && list.isBusy && <Spinner label="Loading databases" />}
      {figures.error != null && <Problem error={figures.error} />}
      {list.value && <Figures all={figures.value} />}
      {list.value?.length === 0 && can('manage') && <FirstSteps />}
      {list.value && list.value.length > 0 && <Databases all={figures.value} />}
      <p class="dim small">
        {session.value?.server.name} {session.value?.server.version} · APIs: {apis().join(', ')} · Press <kbd>?</kbd> for the
        keyboard shortcuts
      </p>
    </div>
  );
}

function apis(): string[] {
  const there = session.value?.apis;
  const names = { sql: 'SQL', mongo: 'MongoDB', gremlin: 'Gremlin', table: 'Table' };
  return (Object.keys(names) as (keyof typeof names)[]).filter((one) => there?.[one]).map((one) => names[one]);
}

function Figures({ all }: { all: readonly Sum[] | null }) {
  const total = figuresOf(all ?? []);
  const provisioned = (offers.value.value ?? []).reduce((so, offer) => {
    return so + (offer.content.offerAutopilotSettings?.maxThroughput ?? offer.content.offerThroughput);
  }, 0);
  const hint = total.unknown > 0 ? `${total.unknown} partitions have not been opened since the start and are not counted` : undefined;
  const isLeast = total.unknown > 0;
  return (
    <section class="card figures" aria-label="Figures of the account">
      <Figure label="Databases" value={count(databases.value.value?.length ?? 0)} />
      <Figure label="Containers" value={count(total.containers)} />
      <Figure label="Physical partitions" value={count(total.partitions)} />
      <Figure label={isLeast ? 'Items, at least' : 'Items'} value={count(total.items)} {...(hint ? { hint } : {})} />
      <Figure label="Data and indexes" value={bytes(total.bytes)} {...(hint ? { hint } : {})} />
      <Figure label="Provisioned" value={count(provisioned)} unit="RU/s" />
      <Figure label="Used in the last minute" value={ru(total.usedLastMinute)} unit="RU" />
    </section>
  );
}

function Databases({ all }: { all: readonly Sum[] | null }) {
  return (
    <section class="card flush">
      <div class="row between head">
        <h2>Databases</h2>
        <div class="row">
          <a class="button" href={href({ kind: 'advice' })}>
            Advice
          </a>
          {can('manage') && (
            <a class="button" href={href({ kind: 'new-database' })}>
              New database
            </a>
          )}
        </div>
      </div>
      <div class="scroll">
        <table class="list">
          <thead>
            <tr>
              <th>Name</th>
              <th class="number">Containers</th>
              <th class="number">Items</th>
              <th class="number">Data and indexes</th>
              <th class="number">RU, last minute</th>
              <th class="number">Shared throughput</th>
            </tr>
          </thead>
          <tbody>
            {(databases.value.value ?? []).map((one) => {
              const total = figuresOf((all ?? []).filter((container) => container.database === one.id));
              return (
                <tr key={one.id}>
                  <td>
                    <a href={href({ kind: 'database', database: one.id })}>{one.id}</a>
                  </td>
                  <td class="number">{count(total.containers)}</td>
                  <td class="number">{count(total.items)}</td>
                  <td class="number">{bytes(total.bytes)}</td>
                  <td class="number">{ru(total.usedLastMinute)}</td>
                  <td class="number">{throughputOf(one._rid) ?? <span class="dim">none</span>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
