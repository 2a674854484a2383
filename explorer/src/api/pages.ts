//! Lists that the server gives in pages.

import { ask } from './client';

/** More than any container or user has of these: most lists come in one page. */
const PAGE = '200';

/** Reads a list to its end. */
export async function everyPage<R>(path: string, member: string, signal?: AbortSignal): Promise<R[]> {
  const rows: R[] = [];
  let continuation: string | null = null;
  do {
    const headers: Record<string, string> = { 'x-ms-max-item-count': PAGE };
    if (continuation !== null) headers['x-ms-continuation'] = continuation;
    const answer = await ask({ path, headers, signal, retries: 5 });
    rows.push(...(answer.json<Record<string, R[]>>()[member] ?? []));
    continuation = answer.continuation;
  } while (continuation !== null);
  return rows;
}
