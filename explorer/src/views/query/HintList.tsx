import { CopyButton } from '../../ui';
import { type Hint, policyText, settingsLink } from './hints';

/** Indexes that would help, each with a way to where they are put. */
export function HintList({ database, container, hints }: { database: string; container: string; hints: readonly Hint[] }) {
  return (
    <ul class="query-hints">
      {hints.map((hint) => (
        <li key={policyText(hint)} class="notice warn">
          <p>{hint.kind === 'composite' ? 'This composite index would help:' : 'An index of this path would help:'}</p>
          <p class="mono">
            {hint.kind === 'composite'
              ? hint.paths.map((one) => `${one.path} ${one.order}`).join(', ')
              : hint.path}
          </p>
          <div class="row">
            <a class="button compact plain" href={settingsLink(database, container, hint)}>
              Open the settings with it
            </a>
            <CopyButton
              text={policyText(hint)}
              label={hint.kind === 'composite' ? 'Copy as an element of compositeIndexes' : 'Copy as an element of includedPaths'}
            />
          </div>
        </li>
      ))}
    </ul>
  );
}
