//! A database: its containers, with what they hold.

import { useEffect, useState } from 'preact/hooks';

import { accountFigures } from '../../api/account';
import { deleteContainer, deleteDatabase, type Container } from '../../api/resources';
import { containers, databases, loadContainers, loadDatabases, loadOffers, throughputOf, wantContainers } from '../../shell/account';
import { can, href, navigate } from '../../shell/state';
import { usersView, type ViewProps } from '../../shell/views';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Problem } from '../../ui/Problem';
import { Spinner } from '../../ui/Spinner';
import { confirm } from '../../ui/confirm';
import { bytes, count, counted, ru } from '../../ui/format';
import { toast } from '../../ui/toast';
import { useEvery, useLoad } from '../../ui/useLoad';

import '../../ui/table.css';

/** How many rows are shown before more are asked for. */
const STEP = 200;

export default function DatabasePage({ database }: ViewProps) {
  const figures = useLoad((signal) => accountFigures(signal), [database]);
  // A slow server is not asked twice at a time.
  useEvery(5000, () => !figures.isBusy && figures.reload());
  const [shown, setShown] = useState(STEP);
  useEffect(() => {
    void wantContainers(database);
    void loadOffers();
    if (!databases.value.value && !databases.value.isBusy) void loadDatabases();
  }, [database]);
  const load = containers.value.get(database);
  const list = load?.value ?? [];
  const rid = databases.value.value?.find((one) => one.id === database)?._rid;
  const shared = rid ? throughputOf(rid) : null;
  const of = (container: string) => figures.value?.find((one) => one.database === database && one.container === container);

  const remove = async () => {
    const items = (figures.value ?? []).filter((one) => one.database === database).reduce((so, one) => so + one.items, 0);
    const isSure = await confirm({
      title: `Delete the database ${database}?`,
      text: `${counted(list.length, 'container')} with ${counted(items, 'item')} are deleted with it, and its users and permissions. This cannot be taken back.`,
      action: 'Delete database',
      danger: true,
      ...(list.length > 0 ? { typed: database } : {}),
    });
    if (!isSure) return;
    try {
      await deleteDatabase(database);
      await loadDatabases();
      toast(`The database ${database} is deleted.`, 'good');
      navigate({ kind: 'home' });
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'bad');
    }
  };
  return (
    <div class="page stack">
      <div class="row between wrap">
        <div>
          <h1>{database}</h1>
          <p class="dim">
            {load?.value ? counted(list.length, 'container') : 'Database'}
            {shared ? ` · ${shared} shared by those without throughput of their own` : ''}
          </p>
        </div>
        <div class="row">
          {usersView && can('manage') && (
            <a class="button plain" href={href({ kind: 'users', database, rest: [] })}>
              Users
            </a>
          )}
          {can('manage') && (
            <>
              <Button kind="primary" onClick={() => navigate({ kind: 'new-container', database })}>
                New container
              </Button>
              <Button onClick={() => void remove()}>Delete database</Button>
            </>
          )}
        </div>
      </div>
      {load?.error != null && <Problem error={load.error} />}
      {!load?.value && load?.isBusy && <Spinner label="Loading containers" />}
      {load?.value && list.length === 0 && (
        <section class="card">
          <Empty title="This database has no containers">
            <p>A container holds items, which are JSON objects, spread by a partition key.</p>
          </Empty>
        </section>
      )}
      {list.length > 0 && (
        <section class="card flush scroll" aria-label="Containers" tabIndex={0}>
          <table class="list">
            <thead>
              <tr>
                <th>Container</th>
                <th>Partition key</th>
                <th class="number">Items</th>
                <th class="number">Data and indexes</th>
                <th class="number">Partitions</th>
                <th class="number">RU, last minute</th>
                <th class="number">Throughput</th>
                {can('manage') && <th class="unlabelled" aria-label="Commands" />}
              </tr>
            </thead>
            <tbody>
              {list.slice(0, shown).map((one) => {
                const figure = of(one.id);
                return (
                  <tr key={one.id}>
                    <td>
                      <a href={href({ kind: 'container', database, container: one.id, view: 'items', rest: [] })}>{one.id}</a>
                    </td>
                    <td class="mono">{one.partitionKey?.paths.join(', ') ?? <span class="dim">none</span>}</td>
                    <td class="number">{figure ? count(figure.items) : ''}</td>
                    <td class="number">{figure ? bytes(figure.bytes) : ''}</td>
                    <td class="number">{figure ? count(figure.partitions) : ''}</td>
                    <td class="number">{figure ? ru(figure.usedLastMinute) : ''}</td>
                    <td class="number">{throughputOf(one._rid) ?? <span class="dim">shared</span>}</td>
                    {can('manage') && (
                      <td class="number">
                        <Button kind="ghost" small aria-label={`Delete ${one.id}`} onClick={() => void removeContainer(database, one, of(one.id)?.items ?? null)}>
                          Delete
                        </Button>
                      </td>
                    )}
                  </tr>
                );
              })}
            </tbody>
          </table>
          {list.length > shown && (
            <p class="more">
              <Button kind="ghost" onClick={() => setShown(shown + STEP)}>
                Show {Math.min(STEP, list.length - shown)} more of {count(list.length)}
              </Button>
            </p>
          )}
        </section>
      )}
    </div>
  );
}

/** Asks, and deletes a container. Tells whether it is gone. */
export async function removeContainer(database: string, { id }: Pick<Container, 'id'>, items: number | null): Promise<boolean> {
  const isSure = await confirm({
    title: `Delete the container ${id}?`,
    text:
      items === 0
        ? 'It has no items. This cannot be taken back.'
        : `${items === null ? 'Its items' : counted(items, 'item')} and its scripts are deleted with it. This cannot be taken back.`,
    action: 'Delete container',
    danger: true,
    ...(items === 0 ? {} : { typed: id }),
  });
  if (!isSure) return false;
  try {
    await deleteContainer(database, id);
    await loadContainers(database);
    toast(`The container ${id} is deleted.`, 'good');
    return true;
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), 'bad');
    return false;
  }
}
