import { useState } from 'preact/hooks';

import { queryPage } from '../../api/query';
import { href, navigate } from '../../shell/state';
import { Button, ru, toast } from '../../ui';
import { DEMO_OPERATIONS, type DemoOperation, type DemoStep, type Version } from './demo';
import { typedValue } from './parameters';
import { keepDraft, type Kept } from './store';

export interface DemoListProps {
  database: string;
  container: string;
  onChoose(kept: Kept): void;
}

const NAMES = [...new Set(DEMO_OPERATIONS.map((one) => one.name))];
const VERSIONS: Version[] = ['V1', 'V2', 'V3'];
const HOW = { query: 'query', read: 'read', write: 'write', procedure: 'procedure' } as const;

/** The ten operations of the worked example in the three versions of its data model, with what each costs. */
export function DemoList({ database, container, onChoose }: DemoListProps) {
  const own = VERSIONS.find((version) => database === `blog-${version.toLowerCase()}`) ?? 'V1';
  const [chosen, setChosen] = useState<{ name: string; version: Version }>({ name: 'Q3', version: own });
  const [isBusy, setBusy] = useState(false);
  const operation = DEMO_OPERATIONS.find((one) => one.name === chosen.name && one.version === chosen.version);

  const open = async (step: DemoStep) => {
    setBusy(true);
    try {
      const kept = await filled(step);
      if (step.database === database && step.container === container) {
        onChoose(kept);
      } else {
        keepDraft(step.database, step.container, kept);
        navigate(href({ kind: 'container', database: step.database, container: step.container, view: 'query', rest: [] }));
      }
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'bad');
    } finally {
      setBusy(false);
    }
  };

  return (
    <div class="demo">
      <p class="dim small">
        A blog platform in three data models: the same ten operations, and what each costs in request units by the model of
        charges, with 67 physical partitions of posts. With fewer partitions, what asks all of them costs less.
      </p>
      <div class="demo-scroll">
        <table class="demo-table">
          <thead>
            <tr>
              <th scope="col">Operation</th>
              {VERSIONS.map((version) => (
                <th scope="col" key={version} class="number">
                  {version}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {NAMES.map((name) => (
              <tr key={name}>
                <th scope="row">
                  <span class="badge">{name}</span> {DEMO_OPERATIONS.find((one) => one.name === name)?.title}
                </th>
                {VERSIONS.map((version) => (
                  <td key={version} class="number">
                    <button
                      type="button"
                      class="demo-cell"
                      aria-pressed={chosen.name === name && chosen.version === version}
                      aria-label={`${name} in ${version}`}
                      onClick={() => setChosen({ name, version })}
                    >
                      {ru(DEMO_OPERATIONS.find((one) => one.name === name && one.version === version)?.charge ?? 0)}
                    </button>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {operation && <Steps {...{ operation, isBusy }} onOpen={(step) => void open(step)} />}
    </div>
  );
}

function Steps({ operation, isBusy, onOpen }: { operation: DemoOperation; isBusy: boolean; onOpen(step: DemoStep): void }) {
  return (
    <section class="demo-steps" aria-live="polite">
      <h3>
        {operation.name} in {operation.version}: {operation.title}
      </h3>
      <p>{operation.note}</p>
      <ol>
        {operation.steps.map((step, index) => (
          <li key={index}>
            <div class="row">
              <span class="badge">{HOW[step.how]}</span>
              <span class="grow dim small">
                {step.database}/{step.container}
                {step.how === 'query' && (step.key === null ? ', all partitions' : ', one logical partition')}
              </span>
              {step.how === 'query' && (
                <Button small busy={isBusy} onClick={() => onOpen(step)}>
                  Open in the editor
                </Button>
              )}
            </div>
            {step.how === 'query' ? <pre>{step.text}</pre> : <p>{step.text}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Returns a query with values for its parameters, found among the items where they differ from run to run. */
async function filled(step: DemoStep): Promise<Kept> {
  const typed: Record<string, string> = {};
  let charge = 0;
  for (const [name, value] of Object.entries(step.parameters)) {
    if ('typed' in value) {
      typed[name] = value.typed;
      continue;
    }
    const page = await queryPage({
      database: step.database, container: step.container, text: value.find, parameters: [], scope: { kind: 'all' }, pageSize: 1,
      continuation: null,
    });
    charge += page.charge;
    const [found] = page.rows;
    if (found !== undefined) typed[name] = typedValue(found);
  }
  if (charge > 0) toast(`An id to ask for was looked up for ${ru(charge)} RU.`);
  return { text: step.text, typed, key: step.key === null ? null : (typed[step.key] ?? step.key) };
}
