import { useMemo } from 'preact/hooks';

import { addPages, explainTree, scansForFilter, type Step } from '../../api/explain';
import type { Explained, IndexUse } from '../../api/query';
import { bytes, count, Empty, ru } from '../../ui';
import { HintList } from './HintList';
import { type Hint, hintsOf } from './hints';
import type { Asked } from './runner';
import { Bar } from './Statistics';

export interface ExplainViewProps {
  asked: Asked;
  /** What each page told; or a plan that was not run. */
  pages?: readonly Explained[];
  explained?: Explained;
  indexes: IndexUse | null;
}

interface Line {
  step: Step;
  depth: number;
}

/** How a query is answered, as a tree: what comes out is above, where it is found is below. */
export function ExplainView({ asked, pages, explained: plan, indexes }: ExplainViewProps) {
  const explained = useMemo(() => plan ?? addPages(pages ?? []), [plan, pages]);
  const lines = useMemo(() => (explained ? flat(explainTree(explained), 0) : []), [explained]);
  if (!explained) return <Empty title="The server did not explain this query" />;
  const wasRun = explained.price !== undefined;
  const total = explained.charge ?? 0;
  const uses = indexes ?? planned(explained);
  const hints = hintsOf(uses, explained);
  return (
    <div class="query-explain">
      <table class="query-steps">
        <caption class="unseen">Steps of the query, from its result to where its items are found</caption>
        <thead>
          <tr>
            <th scope="col">Step</th>
            {wasRun && (
              <>
                <th scope="col" class="number query-narrow">Count</th>
                <th scope="col" class="number">RU</th>
                <th scope="col">Share of the charge</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ step, depth }, index) => (
            <tr key={index} class={step.charge === null ? 'unpriced' : ''}>
              <th scope="row">
                <div class="query-step" style={{ '--depth': depth }}>
                  <span class="unseen">Level {depth + 1}: </span>
                  <span class="query-step-name">{step.name}</span>
                  {step.detail && <code>{step.detail}</code>}
                  {step.note && <small class="dim">{step.note}</small>}
                </div>
              </th>
              {wasRun && (
                <>
                  <td class="number query-narrow">
                    {step.count === null ? '' : count(step.count)}
                    {step.bytes === null ? null : <small class="dim"> {bytes(step.bytes)}</small>}
                  </td>
                  <td class="number">{step.charge === null ? '' : ru(step.charge)}</td>
                  <td class="query-bar-cell">
                    {step.charge !== null && total > 0 && (
                      <div class="query-share-line">
                        <Bar share={step.charge / total} />
                        <span>{Math.round((step.charge / total) * 100)} %</span>
                      </div>
                    )}
                  </td>
                </>
              )}
            </tr>
          ))}
        </tbody>
        {wasRun && (
          <tfoot>
            <tr>
              <th scope="row">Together</th>
              <td class="number query-narrow" />
              <td class="number">{ru(total)}</td>
              <td />
            </tr>
          </tfoot>
        )}
      </table>
      <Indexes {...{ asked, explained, hints }} uses={uses} />
    </div>
  );
}

interface IndexesProps {
  asked: Asked;
  explained: Explained;
  uses: IndexUse;
  hints: readonly Hint[];
}

function Indexes({ asked, explained, uses, hints }: IndexesProps) {
  const used = [...uses.usedSingle, ...uses.usedComposite.map((one) => `(${one.join(', ')})`)];
  return (
    <section class="query-indexes" aria-label="Indexes">
      <h3>Indexes</h3>
      <p>
        {used.length === 0 ? (
          <span class="dim">No index was used.</span>
        ) : (
          <>
            Used:{' '}
            {used.map((one, index) => (
              <span key={one}>
                {index > 0 && ', '}
                <code>{one}</code>
              </span>
            ))}
          </>
        )}
      </p>
      {hints.length > 0 ? (
        <HintList database={asked.database} container={asked.container} text={asked.text} hints={hints} />
      ) : scansForFilter(explained) ? (
        <p class="notice">
          Items are scanned and the filter is checked on each. No index serves this filter as it is written: functions over a
          property, for example, cannot be looked up.
        </p>
      ) : (
        <p class="dim">No other index would help this query.</p>
      )}
    </section>
  );
}

function flat(steps: readonly Step[], depth: number): Line[] {
  return steps.flatMap((step) => [{ step, depth }, ...flat(step.below, depth + 1)]);
}

/** Returns the indexes that the plans name, each once. */
function planned(explained: Explained): IndexUse {
  const use: IndexUse = { usedSingle: [], usedComposite: [], missingSingle: [], missingComposite: [] };
  const add = (single: string[], composite: string[][], one: { paths: string[]; isComposite: boolean }) => {
    const [path = ''] = one.paths;
    if (!one.isComposite && !single.includes(path)) single.push(path);
    if (one.isComposite && !composite.some((other) => other.join() === one.paths.join())) composite.push(one.paths);
  };
  for (const partition of explained.partitions) {
    for (const one of partition.indexes) add(use.usedSingle, use.usedComposite, one);
    for (const one of partition.missingIndexes) add(use.missingSingle, use.missingComposite, one);
  }
  return use;
}
