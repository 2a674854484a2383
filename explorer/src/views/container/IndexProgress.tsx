//! How far a changed indexing policy has been carried out.

import { useEffect, useState } from 'preact/hooks';

import { readContainer } from '../../api/resources';

export function IndexProgress({ database, container, begun }: { database: string; container: string; begun: number | null }) {
  const [progress, setProgress] = useState(begun);
  const isDone = progress === null || progress >= 100;
  const wasRunning = begun !== null && begun < 100;
  useEffect(() => {
    if (isDone) return;
    const timer = setInterval(() => {
      if (document.hidden) return;
      // A read that fails leaves the last figure: the next one may succeed.
      readContainer(database, container).then(
        (read) => setProgress(read.indexProgress),
        () => undefined,
      );
    }, 1000);
    return () => clearInterval(timer);
  }, [isDone]);
  if (!wasRunning) return null;
  const percent = Math.min(100, progress ?? 100);
  return (
    <section class="notice form stack" role="status">
      <p>{isDone ? 'The index follows the new policy.' : `The index is being changed: ${percent} %. Queries are answered meanwhile.`}</p>
      <div class="progress" role="progressbar" aria-label="Progress of the index" aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100}>
        <div style={{ width: `${percent}%` }} />
      </div>
    </section>
  );
}
