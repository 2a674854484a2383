import { useEffect, useRef, useState } from 'preact/hooks';

import { keyRanges, type KeyRange, type Page, queryPage } from '../../api/query';
import { Button, count, counted, Problem, ru, Spinner } from '../../ui';
import type { Asked } from './runner';
import { Bar, fine } from './Statistics';

/** More partitions than these are not asked: it would cost much and tell little more. */
const PARTITIONS_MAX = 100;
/** How many are asked at once. */
const AT_ONCE = 4;

interface Found {
  range: KeyRange;
  page: Page | null;
  error: unknown;
}

/** The query asked of each physical partition by itself: what each cost and had. */
export function PartitionsView({ asked }: { asked: Asked }) {
  const [found, setFound] = useState<Found[] | null>(null);
  const [all, setAll] = useState(0);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const run = async () => {
    const mine = new AbortController();
    abort.current = mine;
    setRunning(true);
    setError(null);
    setFound(null);
    try {
      const ranges = await keyRanges(asked.database, asked.container, mine.signal);
      setAll(ranges.length);
      const list: Found[] = ranges.slice(0, PARTITIONS_MAX).map((range) => ({ range, page: null, error: null }));
      setFound([...list]);
      let next = 0;
      const lane = async () => {
        for (let one = list[next++]; one; one = list[next++]) {
          try {
            one.page = await queryPage({
              ...asked, scope: { kind: 'range', id: one.range.id }, continuation: null, signal: mine.signal,
            });
          } catch (cause) {
            if (mine.signal.aborted) return;
            one.error = cause;
          }
          setFound([...list]);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
    } catch (cause) {
      if (!mine.signal.aborted) setError(cause);
    } finally {
      if (abort.current === mine) setRunning(false);
    }
  };

  if (!found) {
    return (
      <div class="query-padded stack">
        <p>
          The query can be asked of each physical partition by itself, to see where its rows are and what each partition costs.
          That costs about as much as the query again.
        </p>
        {error !== null && <Problem error={error} />}
        <div class="row">
          <Button busy={isRunning} onClick={() => void run()}>
            Ask each partition
          </Button>
        </div>
      </div>
    );
  }
  return <Answers {...{ found, all, isRunning }} onAgain={() => void run()} onCancel={() => {
    abort.current?.abort();
    setRunning(false);
  }} />;
}

interface AnswersProps {
  found: readonly Found[];
  all: number;
  isRunning: boolean;
  onAgain(): void;
  onCancel(): void;
}

function Answers({ found, all, isRunning, onAgain, onCancel }: AnswersProps) {
  const pages = found.flatMap((one) => (one.page ? [one.page] : []));
  const most = (of: (page: Page) => number) => Math.max(0.01, ...pages.map(of));
  const [dearest, longest] = [most((page) => page.charge), most((page) => page.rows.length)];
  const total = pages.reduce((sum, page) => sum + page.charge, 0);
  const inVain = pages.filter((page) => page.rows.length === 0).length;
  const failed = found.find((one) => one.error !== null);
  return (
    <div class="query-partitions">
      <div class="row wrap query-padded">
        <span class="grow" role="status">
          {isRunning ? (
            <Spinner label={`Asked ${pages.length} of ${found.length}`} />
          ) : (
            <>
              {counted(pages.length, 'partition')} for <strong>{ru(total)}</strong> RU
              {inVain > 0 && `; ${inVain === pages.length ? 'none' : count(inVain)} of them had ${inVain === pages.length ? 'a row' : 'no row'}`}.
              {all > found.length && ` The first ${found.length} of ${count(all)} partitions.`}
            </>
          )}
        </span>
        {isRunning ? (
          <Button small onClick={onCancel}>
            Cancel
          </Button>
        ) : (
          <Button small onClick={onAgain}>
            Ask again
          </Button>
        )}
      </div>
      {failed && <Problem error={failed.error} />}
      <table class="query-figures">
        <caption class="unseen">What each physical partition cost and returned, first page</caption>
        <thead>
          <tr>
            <th scope="col">Partition</th>
            <th scope="col" class="number">Rows</th>
            <td class="query-narrow" />
            <th scope="col" class="number query-narrow">Looked at</th>
            <th scope="col" class="number query-narrow">In the server</th>
            <th scope="col" class="number">RU</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {found.map(({ range, page, error }) => (
            <tr key={range.id}>
              <th scope="row" title={`from ${range.minInclusive || 'the start'} to ${range.maxExclusive}`}>
                {range.id}
              </th>
              <td class="number">{page ? `${count(page.rows.length)}${page.continuation === null ? '' : ' +'}` : error ? 'failed' : ''}</td>
              <td class="query-bar-cell rows query-narrow">{page && <Bar share={page.rows.length / longest} />}</td>
              <td class="number query-narrow">{page?.metrics ? count(page.metrics.retrieved) : ''}</td>
              <td class="number query-narrow">{page?.metrics ? fine(page.metrics.totalMs) : ''}</td>
              <td class="number">{page ? ru(page.charge) : ''}</td>
              <td class="query-bar-cell">{page && <Bar share={page.charge / dearest} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {pages.some((page) => page.continuation !== null) && (
        <p class="dim small query-padded">A plus means that the partition has more rows than the first page.</p>
      )}
    </div>
  );
}
