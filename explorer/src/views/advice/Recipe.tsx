//! The steps of a change that cannot be made by a button.

import { optionOf, parseOption } from '../../api/alterations';
import { Code } from './Code';
import { recipeOf, titleOf, type Known } from './recipes';

/** The steps of all the changes that options name; nothing for options that this page does not know. */
export function Recipe({ options, known }: { options: readonly string[]; known: Known }) {
  const changes = options.map(parseOption).filter((change) => change !== null);
  if (changes.length === 0) return null;
  return (
    <>
      {changes.map((change) => (
        <details class="advice-recipe" key={optionOf(change)}>
          <summary>How it is done: {titleOf(change)}</summary>
          <ol>
            {recipeOf(change, known).map((step, at) => (
              <li key={at}>
                <p>{step.text}</p>
                {step.code && <Code {...step.code} />}
                {step.link && (
                  <p>
                    <a href={step.link.href}>{step.link.text}</a>
                  </p>
                )}
              </li>
            ))}
          </ol>
        </details>
      ))}
    </>
  );
}
