//! One finding: told in a line, and unfolded with how it is known, what it costs, and what can be done.

import { placeOf, type Finding, type Selection, type Severity } from '../../api/advice';
import { parseOption } from '../../api/alterations';
import { can, href } from '../../shell/state';
import { policyText } from '../container/policy';
import { ApplyPolicy } from './ApplyPolicy';
import { Code } from './Code';
import { ComparisonTable } from './ComparisonTable';
import { saved, sureness } from './figures';
import { Recipe } from './Recipe';
import type { Known } from './recipes';
import { command } from './selection';

const SEVERITIES: Record<Severity, string> = { severe: 'Severe', warning: 'Warning', note: 'Note' };

export interface FindingCardProps {
  finding: Finding;
  selection: Selection;
  known: Known;
  /** The container whose page this is; null on the page of the account. */
  here: string | null;
  isOpen: boolean;
}

export function FindingCard({ finding, selection, known, here, isOpen }: FindingCardProps) {
  const { comparison, container } = finding;
  const options = finding.try;
  const hasRecipe = !finding.indexingPolicy && options.some((one) => parseOption(one) !== null);
  return (
    <details class="card flush advice-finding" open={isOpen}>
      <summary>
        <SeverityWord severity={finding.severity} />
        <h3>{finding.title}</h3>
        {container !== null && container !== here && <span class="dim mono">{container}</span>}
        {comparison && <span class="dim advice-saved">{saved(comparison).split(',')[0]}</span>}
      </summary>
      <div class="stack advice-body">
        <section>
          <h4>How it is known</h4>
          <ul>
            {finding.evidence.map((line, at) => (
              <li key={at}>{line}</li>
            ))}
          </ul>
        </section>
        <section>
          <h4>What to do</h4>
          <p>{finding.advice}</p>
          {finding.but !== undefined && <p>But: {finding.but}</p>}
        </section>
        {comparison && (
          <section>
            <h4>What it comes to</h4>
            <ComparisonTable comparison={comparison} label={`What operations cost: ${finding.title}`} />
          </section>
        )}
        {options.length > 0 && <Code name="Try it on the command line" text={command(selection, options)} />}
        {finding.indexingPolicy && container !== null && <Policy finding={finding} container={container} known={known} />}
        {hasRecipe && <Recipe options={options} known={known} />}
        <dl class="facts">
          <div>
            <dt>How sure</dt>
            <dd>{sureness(finding.confidence)}</dd>
          </div>
          <div>
            <dt>Rule</dt>
            <dd class="mono">{finding.rule}</dd>
          </div>
          <div>
            <dt>Explained in</dt>
            <dd class="mono">{finding.page}</dd>
          </div>
          {container !== null && container !== here && (
            <div>
              <dt>Container</dt>
              <dd>
                <a href={href({ kind: 'container', ...placeOf(container, known.database), view: 'advice', rest: [] })}>{container}</a>
              </dd>
            </div>
          )}
        </dl>
      </div>
    </details>
  );
}

function SeverityWord({ severity }: { severity: Severity }) {
  return <span class={`badge advice-severity ${severity}`}>{SEVERITIES[severity] ?? severity}</span>;
}

function Policy({ finding, container, known }: { finding: Finding; container: string; known: Known }) {
  const { indexingPolicy: advised } = finding;
  if (!advised) return null;
  if (!can('manage')) {
    return (
      <>
        <p class="notice">Signed in read-only: applying it takes the key of the account. This is the policy.</p>
        <Code name="Indexing policy" text={policyText(advised)} />
      </>
    );
  }
  const base = known.definitions.get(container)?.indexingPolicy ?? null;
  return <ApplyPolicy {...placeOf(container, known.database)} advised={advised} base={base} />;
}
