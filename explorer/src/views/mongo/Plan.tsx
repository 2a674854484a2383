import type { Document } from 'bson';
import { useEffect, useState } from 'preact/hooks';

import { Editor } from '../../editor/Editor';
import { count, duration, Figure, ru } from '../../ui';
import { relaxed } from './extended';

/** Below this many documents a logical partition is read as a whole, whatever indexes there are. */
const SCANNED_ALWAYS = 200;

/** How a question was answered. */
export function Plan({ plan }: { plan: Document }) {
  const [text, setText] = useState('');
  useEffect(() => {
    let isGone = false;
    const { operationTime: _time, $clusterTime: _cluster, ok: _ok, ...said } = plan;
    void relaxed([said]).then(([one]) => !isGone && setText(JSON.stringify(one, null, 2)));
    return () => {
      isGone = true;
    };
  }, [plan]);
  const cursor = cursorOf(plan);
  const stats = cursor['executionStats'] as Document | undefined;
  const steps = stepsOf((cursor['queryPlanner'] as Document | undefined)?.['winningPlan'] as Document | undefined);
  const isScan = steps.some((one) => one.name === 'COLLSCAN');
  const examined = Number(stats?.['totalDocsExamined'] ?? 0);
  const others = ((plan['stages'] as Document[] | undefined) ?? []).flatMap((one) => Object.keys(one)).filter((name) => name !== '$cursor');
  return (
    <section class="query-results" aria-label="Plan">
      <div class="mongo-plan">
        <ol class="mongo-steps" aria-label="Steps">
          {[...others].reverse().map((name, at) => (
            <li key={`${name}${at}`}>
              <code>{name}</code> <span class="dim">in memory</span>
            </li>
          ))}
          {steps.map((step) => (
            <li key={step.name + step.about}>
              <code>{step.name}</code> <span class="dim">{step.about}</span>
            </li>
          ))}
        </ol>
        {stats && (
          <div class="figures">
            <Figure label={plan['stages'] ? 'Passed on by the read' : 'Returned'} value={count(Number(stats['nReturned']))} />
            <Figure label="Documents read" value={count(examined)} />
            <Figure label="Index entries read" value={count(Number(stats['totalKeysExamined'] ?? 0))} />
            {stats['requestCharge'] !== undefined && <Figure label="Charge" value={ru(Number(stats['requestCharge']))} unit="RU" />}
            <Figure label="Time" value={took(Number(stats['executionTimeMillis'] ?? 0))} />
          </div>
        )}
        {isScan && (
          <p class="notice">
            No index was used: every document is read and compared.
            {examined <= SCANNED_ALWAYS && ' With so few documents that is the rule, whatever indexes there are.'}
          </p>
        )}
      </div>
      <div class="mongo-plan-text">
        <Editor value={text} language="json" label="The plan as the server tells it" readOnly />
      </div>
    </section>
  );
}

/** The server tells whole milliseconds. */
const took = (milliseconds: number) => (milliseconds < 1 ? '< 1 ms' : duration(milliseconds));

/** Returns what is said about reading the collection: for a pipeline, that is its first stage. */
function cursorOf(plan: Document): Document {
  const stages = plan['stages'] as Document[] | undefined;
  return (stages?.[0]?.['$cursor'] as Document | undefined) ?? plan;
}

function stepsOf(stage: Document | undefined): { name: string; about: string }[] {
  if (!stage) return [];
  const about = [
    stage['indexName'] === undefined ? '' : `index ${String(stage['indexName'])}`,
    stage['keyPattern'] === undefined ? '' : `on ${Object.keys(stage['keyPattern'] as Document).join(', ')}`,
  ];
  return [{ name: String(stage['stage']), about: about.filter(Boolean).join(' ') }, ...stepsOf(stage['inputStage'] as Document | undefined)];
}
