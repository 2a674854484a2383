//! What a container is and stays.

import type { ComponentChildren } from 'preact';

import type { ContainerAnswer } from '../../api/resources';
import { count } from '../../ui/format';

export function Fixed({ read }: { read: ContainerAnswer }) {
  const { container, usage } = read;
  const key = container.partitionKey;
  const unique = container.uniqueKeyPolicy?.uniqueKeys ?? [];
  const conflict = container.conflictResolutionPolicy;
  const items = usage.get('documentsCount');
  const rows: [string, ComponentChildren][] = [
    ['Partition key', key ? <code>{key.paths.join(', ')}</code> : 'none: one partition for ever'],
    ['Unique keys', unique.length > 0 ? unique.map((one) => <code key={one.paths.join()}>{one.paths.join(', ')}</code>) : 'none'],
  ];
  if (conflict) {
    const path = conflict.conflictResolutionPath;
    rows.push(['Conflict resolution', `${conflict.mode ?? ''}${path ? ` by ${path}` : ''}; all regions share their data, so there are no conflicts`]);
  }
  if (container.computedProperties?.length) {
    rows.push([
      'Computed properties',
      container.computedProperties.map((one) => (
        <div key={one.name}>
          <code>
            {one.name}: {one.query}
          </code>
        </div>
      )),
    ]);
  }
  if (items !== undefined) rows.push(['Items', count(items)]);
  rows.push(['Resource id', <code key="rid">{container._rid}</code>]);
  return (
    <section class="card form" aria-label="What stays as it is">
      <dl class="pairs">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
