//! Advice on the data model of a container, or of the account: what was found, what it costs, and what would be better.

import { useState } from 'preact/hooks';

import { forgetRequests, type Advice, type Selection, type Stage } from '../../api/advice';
import { can } from '../../shell/state';
import type { ViewProps } from '../../shell/views';
import { ago, Button, bytes, Choice, confirm, count, counted, duration, Empty, Figure, Problem, ru, Spinner, toast } from '../../ui';
import { useTask } from '../../ui/useTask';
import { Code } from './Code';
import { ComparisonTable } from './ComparisonTable';
import { FindingCard } from './FindingCard';
import { keep, kept, look, type Look } from './look';
import { typeMemberOf, type Known } from './recipes';
import { command, selectionOf } from './selection';
import { WhatIf } from './WhatIf';

import '../../ui/table.css';
import './advice.css';

type Width = 'container' | 'database';

export default function AdvicePage({ database, container }: ViewProps) {
  const [width, setWidth] = useState<Width>('container');
  const task = useTask<Look>(kept(database, container));
  const found = task.value;
  const begin = () => {
    const selection = selectionOf(database, width === 'container' ? container : '');
    task.run(async (signal) => {
      const next = await look(selection, signal);
      keep(database, container, next);
      return next;
    });
  };
  const known = knownOf(database, found);
  return (
    <div class="page stack advice">
      {database === '' && <h1>Advice on the data models of the account</h1>}
      <section class="card stack" aria-label="Look">
        <h2>What could be better</h2>
        <p>
          The server looks at a sample of the items and at its record of what it was asked, and measures on a copy in memory what
          another model would cost. That takes seconds, and its memory and processors meanwhile, so it begins when you press the
          button. It costs no request units, and nothing is changed by it.
        </p>
        {database !== '' && (
          <Choice
            label="Look at"
            value={width}
            onChange={setWidth}
            disabled={task.isBusy}
            options={[
              ['container', `Only ${container}`, 'The quicker look.'],
              ['database', `All containers of ${database}`, 'Also sees what items of one have to do with those of another.'],
            ]}
          />
        )}
        <div class="row wrap">
          <Button kind="primary" busy={task.isBusy} onClick={begin}>
            {found ? 'Look again' : 'Look'}
          </Button>
          {task.isBusy && (
            <>
              <Spinner label="The server is looking" />
              <Button onClick={task.cancel}>Cancel</Button>
            </>
          )}
          {task.wasCancelled && <span role="status">Cancelled.</span>}
          {can('manage') && !task.isBusy && (
            <Button kind="ghost" onClick={() => void forget()}>
              Forget the record…
            </Button>
          )}
        </div>
        {task.error !== null && <Problem error={task.error} />}
      </section>
      {found && <Found found={found} known={known} here={database === '' ? null : `${database}/${container}`} />}
      <WhatIf database={database} container={container} known={known} />
    </div>
  );
}

async function forget(): Promise<void> {
  const isSure = await confirm({
    title: 'Forget what was asked?',
    text:
      'The server forgets its record of the requests to all containers of the account. Advice is made from what is asked from then on: ' +
      'good after the application was changed. No item is touched.',
    action: 'Forget the record',
    danger: true,
  });
  if (!isSure) return;
  try {
    await forgetRequests();
    toast('The record is forgotten. A new one has begun.', 'good');
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), 'bad');
  }
}

function knownOf(database: string, found: Look | null): Known {
  const operations = (found?.advice.findings ?? []).flatMap((one) => [...(one.comparison?.operations ?? []).map((line) => line.operation), ...one.evidence]);
  return {
    database,
    endpoint: `${location.origin}/`,
    definitions: found?.definitions ?? new Map(),
    typeMember: typeMemberOf(operations),
  };
}

interface FoundProps {
  found: Look;
  known: Known;
  here: string | null;
}

function Found({ found, known, here }: FoundProps) {
  const { advice, selection } = found;
  return (
    <>
      <Facts found={found} />
      {wasIdle(advice) && <Idle advice={advice} />}
      <section class="stack" aria-label="Findings">
        <h2>{advice.findings.length === 0 ? 'Nothing was found' : counted(advice.findings.length, 'finding')}</h2>
        {advice.findings.length === 0 ? (
          <p class="dim">
            That is no praise: what is usual is told from 1,000 items on, and what is not asked for is believed after a day of requests.
          </p>
        ) : (
          <ol class="advice-findings">
            {advice.findings.map((finding, at) => (
              // The number belongs to the look: another look begins with its own first one unfolded.
              <li key={`${found.at} ${at}`}>
                <FindingCard finding={finding} selection={selection} known={known} here={here} isOpen={at === 0} />
              </li>
            ))}
          </ol>
        )}
      </section>
      {advice.stages.length > 0 && <Stages stages={advice.stages} selection={selection} />}
    </>
  );
}

/** Nothing was asked, or so little that it rounds to nothing. */
function wasIdle(advice: Advice): boolean {
  return advice.containers.every((one) => one.chargePerSecond === 0);
}

function Idle({ advice }: { advice: Advice }) {
  return (
    <section class="card" aria-label="No requests yet">
      <Empty title="Hardly anything was asked yet">
        <p class="advice-idle">
          Advice comes from use: which queries there are, how often, and what follows from what. In the last {duration(advice.seconds * 1000)} there
          were next to no requests. Let the application work on this server for a while, or its tests, or a load like that of a
          busy hour, and look again. Until then only the items speak.
        </p>
      </Empty>
    </section>
  );
}

function Facts({ found: { advice, at } }: { found: Look }) {
  const { containers } = advice;
  const sum = (of: (one: Advice['containers'][number]) => number) => containers.reduce((all, one) => all + of(one), 0);
  return (
    <section class="card stack" aria-label="What was looked at">
      <div class="figures">
        {containers.length !== 1 && <Figure label="Containers" value={count(containers.length)} />}
        <Figure label="Items" value={count(sum((one) => one.items))} />
        <Figure label="Of them looked at" value={count(sum((one) => one.sampled))} />
        <Figure label="Their size" value={bytes(sum((one) => one.bytes))} hint="Of all items, not of the sample alone" />
        <Figure label="Physical partitions" value={count(sum((one) => one.partitions))} />
        <Figure label="Requests of" value={duration(advice.seconds * 1000)} hint="Since the start of the server, or since the record was forgotten" />
        <Figure label="Their charge" value={ru(sum((one) => one.chargePerSecond))} unit="RU/s" />
        {containers.length === 1 && <Figure label="Whole account" value={ru(advice.chargePerSecond)} unit="RU/s" />}
      </div>
      {containers.length > 1 && (
        <details class="advice-recipe">
          <summary>By container</summary>
          <div class="scroll" role="region" aria-label="What was looked at, by container" tabIndex={0}>
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">Container</th>
                  <th scope="col" class="number">Items</th>
                  <th scope="col" class="number">Looked at</th>
                  <th scope="col" class="number">Size</th>
                  <th scope="col" class="number">Partitions</th>
                  <th scope="col" class="number">RU/s</th>
                </tr>
              </thead>
              <tbody>
                {containers.map((one) => (
                  <tr key={one.container}>
                    <td>{one.container}</td>
                    <td class="number">{count(one.items)}</td>
                    <td class="number">{count(one.sampled)}</td>
                    <td class="number">{bytes(one.bytes)}</td>
                    <td class="number">{count(one.partitions)}</td>
                    <td class="number">{ru(one.chargePerSecond)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      <p class="dim small">Looked at {ago(at)}.</p>
    </section>
  );
}

/** The changes together: what one saves, another may save as well. */
function Stages({ stages, selection }: { stages: readonly Stage[]; selection: Selection }) {
  return (
    <section class="card stack" aria-label="All of it">
      <h2>All of it</h2>
      <p>The changes above together, one group after the other: what one of them saves, another may save as well.</p>
      {stages.map((stage, at) => (
        <section class="stack" key={at}>
          <h3>
            {at + 1}. {stage.title}
          </h3>
          <ComparisonTable comparison={stage.comparison} label={`What operations cost with all of it: ${stage.title}`} />
          {stage.try.length > 0 && <Code name="Try these on the command line" text={command(selection, stage.try)} />}
        </section>
      ))}
    </section>
  );
}
