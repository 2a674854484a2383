//! What saving changed settings will do, before it is done.

import { useEffect, useState } from 'preact/hooks';

import { ask } from '../../api/client';
import { containerPath, type ContainerAnswer, type IndexingPolicy } from '../../api/resources';
import { Button } from '../../ui/Button';
import { Problem } from '../../ui/Problem';
import { counted, ru } from '../../ui/format';
import type { FeedPolicy } from './FeedPolicyField';
import { ttlText } from './TtlField';
import { changeOf } from './policy';

export interface Wanted {
  indexingPolicy: IndexingPolicy;
  defaultTtl: number | undefined;
  changeFeedPolicy: FeedPolicy | undefined;
}

export interface PreviewProps {
  database: string;
  read: ContainerAnswer;
  wanted: Wanted;
}

export function Preview({ database, read, wanted }: PreviewProps) {
  const before = read.container;
  const items = read.usage.get('documentsCount');
  const all = items === undefined ? 'All items' : counted(items, 'item');
  const { added, removed, isModeChanged } = changeOf(before.indexingPolicy, wanted.indexingPolicy);
  const isPolicyChanged = added.length + removed.length > 0 || isModeChanged;
  const isNone = wanted.indexingPolicy.indexingMode?.toLowerCase() === 'none';
  const oldFeed = before.changeFeedPolicy as FeedPolicy | undefined;
  const feed = wanted.changeFeedPolicy;
  return (
    <>
      <ul class="preview">
        {isModeChanged && (
          <li>{isNone ? 'The index is given up: every query reads all items.' : 'Items are indexed again.'}</li>
        )}
        {added.map((one) => (
          <li key={`+${one}`}>
            Comes: <code>{one}</code>
          </li>
        ))}
        {removed.map((one) => (
          <li key={`-${one}`}>
            Goes: <code>{one}</code>
          </li>
        ))}
        {isPolicyChanged && !isNone && (
          <li>
            {all} {items === 1 ? 'is' : 'are'} looked at again in the background. Answers of queries stay right meanwhile; a query that
            needs what is not built yet reads more items, and costs more.
          </li>
        )}
        {wanted.defaultTtl !== before.defaultTtl && <TtlLines before={before.defaultTtl} after={wanted.defaultTtl} />}
        {!feed && (oldFeed?.retentionDuration ?? 0) > 0 && (
          <li>Versions and deletes that the change feed keeps are given up; readers of all versions are refused.</li>
        )}
        {feed && (oldFeed?.retentionDuration ?? 0) === 0 && (
          <li>From now on the change feed keeps every version and delete for {feed.retentionDuration} minutes. Nothing from before is told.</li>
        )}
        {feed && (oldFeed?.retentionDuration ?? 0) > 0 && <li>Versions are kept for {feed.retentionDuration} minutes.</li>}
      </ul>
      {wanted.defaultTtl !== before.defaultTtl && wanted.defaultTtl !== undefined && (
        <Expiring database={database} container={before.id} ttl={wanted.defaultTtl} />
      )}
    </>
  );
}

function TtlLines({ before, after }: { before: number | undefined; after: number | undefined }) {
  if (after === undefined) return <li>Nothing expires any more, whatever the ttl of an item says. What has expired stays gone.</li>;
  const lines =
    after === -1
      ? ['Only items with a ttl of their own expire, counted from their last write.']
      : [
          `An item that is written now expires at ${new Date(Date.now() + after * 1000).toLocaleString()}, ${ttlText(after)} after the write.`,
          `Items last written before ${new Date(Date.now() - after * 1000).toLocaleString()} are gone at once.`,
        ];
  if (before === undefined) lines.push('Items with a ttl of their own follow it from now on, counted from their last write.');
  return (
    <>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </>
  );
}

/** Counts, on request, the items that a time to live takes at once: that is a query, which costs something. */
function Expiring({ database, container, ttl }: { database: string; container: string; ttl: number }) {
  const [said, setSaid] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    setSaid(null);
    setError(null);
  }, [ttl]);
  const countThem = async () => {
    setBusy(true);
    setError(null);
    try {
      const now = Math.floor(Date.now() / 1000);
      const own = `(IS_NUMBER(c.ttl) AND c.ttl > 0 AND c._ts + c.ttl <= ${now})`;
      const rest = ttl > 0 ? ` OR (NOT IS_DEFINED(c.ttl) AND c._ts <= ${now - ttl})` : '';
      const answer = await ask({
        method: 'POST',
        path: `${containerPath(database, container)}/docs`,
        body: { query: `SELECT VALUE COUNT(1) FROM c WHERE ${own}${rest}`, parameters: [] },
        headers: {
          'x-ms-documentdb-isquery': 'true',
          'x-ms-documentdb-query-enablecrosspartition': 'true',
          'content-type': 'application/query+json',
        },
      });
      const found = answer.json<{ Documents: number[] }>().Documents[0] ?? 0;
      setSaid(`${counted(found, 'item')} would be gone at once. Counting them cost ${ru(answer.charge ?? 0)} RU.`);
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="stack">
      <div class="row wrap">
        <Button small busy={isBusy} onClick={() => void countThem()}>
          Count the items that expire at once
        </Button>
        {said ? <span role="status">{said}</span> : <span class="dim">a query over all items: it costs request units</span>}
      </div>
      {error != null && <Problem error={error} />}
    </div>
  );
}
