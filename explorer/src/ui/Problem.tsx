import { ApiError } from '../api/client';
import { CopyButton } from './CopyButton';
import { ru } from './format';

import './parts.css';

/** What went wrong, whole: nothing that the server said is kept back. */
export function Problem({ error }: { error: unknown }) {
  const text = error instanceof Error ? error.message : String(error);
  const facts: [string, string][] = [];
  if (error instanceof ApiError) {
    if (error.status > 0) facts.push(['Status', String(error.status)]);
    if (error.code) facts.push(['Code', error.code]);
    const substatus = error.answer.headers.get('x-ms-substatus');
    if (substatus && substatus !== '0') facts.push(['Substatus', substatus]);
    if (error.charge !== null) facts.push(['Charge', `${ru(error.charge)} RU`]);
    if (error.retryAfterMs !== null) facts.push(['Try again after', `${error.retryAfterMs} ms`]);
    if (error.activityId) facts.push(['Activity', error.activityId]);
  }
  return (
    <div class="problem" role="alert">
      <p class="said">{text}</p>
      {facts.length > 0 && (
        <div class="facts">
          <dl class="facts">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd class="mono">{value}</dd>
              </div>
            ))}
          </dl>
          <CopyButton
            text={[text, ...facts.map(([name, value]) => `${name}: ${value}`)].join('\n')}
            label="Copy the whole message"
          />
        </div>
      )}
    </div>
  );
}
