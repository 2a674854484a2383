import type { Footprint } from '../../api/scripts';
import { counted } from '../../ui';

/** What a procedure read and wrote. */
export function FootprintList({ footprint, isForgotten }: { footprint: Footprint; isForgotten: boolean }) {
  const { reads, queries, rows, writes, written } = footprint;
  const read = [
    reads > 0 ? counted(reads, 'item') : '',
    queries > 0 ? `${counted(rows, 'row')} by ${counted(queries, 'query', 'queries')}` : '',
  ].filter(Boolean);
  return (
    <section aria-label="What it read and wrote">
      <h3>Read and written</h3>
      <p>
        {read.length === 0 ? 'It read nothing' : `It read ${read.join(' and ')}`}
        {writes === 0 ? ' and wrote nothing.' : ` and made ${counted(writes, 'write')}${isForgotten ? `, which ${writes === 1 ? 'is' : 'are'} forgotten.` : '.'}`}
      </p>
      {written.length > 0 && (
        <ol class="run-written">
          {written.map(({ operation, id }, at) => (
            <li key={at}>
              <span class="badge">{operation}</span> <code>{id}</code>
            </li>
          ))}
          {writes > written.length && <li class="dim">and {counted(writes - written.length, 'more write', 'more writes')}</li>}
        </ol>
      )}
    </section>
  );
}
