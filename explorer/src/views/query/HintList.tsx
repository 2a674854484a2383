import { tryOut, type Comparison, type OperationCost } from '../../api/advice';
import { optionOf } from '../../api/alterations';
import { mayLook } from '../../shell/views';
import { Button, CopyButton, Problem, ru, Spinner } from '../../ui';
import { useTask } from '../../ui/useTask';
import { type Hint, policyText, settingsLink } from './hints';
import { isSameShape } from './shape';

export interface HintListProps {
  database: string;
  container: string;
  /** The query that the indexes are for. */
  text: string;
  hints: readonly Hint[];
}

/** Indexes that would help, each with a way to where they are put, and with what it would come to. */
export function HintList({ hints, ...about }: HintListProps) {
  return (
    <ul class="query-hints">
      {hints.map((hint) => (
        <li key={policyText(hint)} class="notice warn">
          <OneHint {...about} hint={hint} />
        </li>
      ))}
    </ul>
  );
}

function OneHint({ database, container, text, hint }: Omit<HintListProps, 'hints'> & { hint: Hint }) {
  const task = useTask<Comparison>();
  const estimate = (paths: Extract<Hint, { kind: 'composite' }>['paths']) => {
    const option = optionOf({ kind: 'composite', container: `${database}/${container}`, paths });
    task.run((signal) => tryOut({ database, container }, [option], signal));
  };
  return (
    <>
      <p>{hint.kind === 'composite' ? 'This composite index would help:' : 'An index of this path would help:'}</p>
      <p class="mono">
        {hint.kind === 'composite'
          ? hint.paths.map((one) => `${one.path} ${one.order}`).join(', ')
          : hint.path}
      </p>
      <div class="row wrap">
        <a class="button compact plain" href={settingsLink(database, container, hint)}>
          Open the settings with it
        </a>
        <CopyButton
          text={policyText(hint)}
          label={hint.kind === 'composite' ? 'Copy as an element of compositeIndexes' : 'Copy as an element of includedPaths'}
        />
        {hint.kind === 'composite' && mayLook() && (
          <Button small disabled={task.isBusy} title="Measures on a copy what it would save: that takes some seconds" onClick={() => estimate(hint.paths)}>
            Estimate
          </Button>
        )}
        {task.isBusy && (
          <>
            <Spinner label="The server measures it" />
            <Button kind="ghost" small onClick={task.cancel}>
              Cancel
            </Button>
          </>
        )}
      </div>
      {task.error !== null && <Problem error={task.error} />}
      {task.value && !task.isBusy && task.error === null && !task.wasCancelled && (
        <p role="status">{estimated(task.value, operationOf(task.value, `${database}/${container}: `, text))}</p>
      )}
    </>
  );
}

/** Returns the recorded operation that a query is. */
function operationOf({ operations }: Comparison, begin: string, text: string): OperationCost | null {
  return operations.find((one) => one.operation.startsWith(begin) && isSameShape(one.operation.slice(begin.length), text)) ?? null;
}

function estimated({ savedPerSecond }: Comparison, operation: OperationCost | null): string {
  if (operation) {
    const { before, after } = operation;
    const isLess = after < before;
    return `This query: ${ru(before)} RU today, ${ru(after)} RU with the index.${isLess ? '' : ' As it is written, it does not gain by it.'}`;
  }
  const all = `${ru(Math.abs(savedPerSecond))} RU/s ${savedPerSecond < 0 ? 'more' : 'less'}`;
  return `${all} for all recorded requests of the container together. This query is not among them, so it is not told what it would cost.`;
}
