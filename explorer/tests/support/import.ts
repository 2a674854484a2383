//! Many items at once, by the program's own import.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { PROGRAM } from './server';

/** Makes a container, with its database, and writes so many items into it. */
export async function importItems(url: string, database: string, container: string, count: number, item: (n: number) => object): Promise<void> {
  const args = ['import', '--endpoint', `${url}/`, '--database', database, '--container', container, '--create', '/pk'];
  const child = spawn(PROGRAM, [...args, '--throughput', '20000', '--format', 'jsonl', '-'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  // Why it ended early is said by its exit.
  child.stdin.on('error', () => undefined);
  for (let n = 0; n < count && child.exitCode === null; n += 1_000) {
    const lines = Array.from({ length: Math.min(1_000, count - n) }, (_, at) => JSON.stringify(item(n + at)));
    if (!child.stdin.write(`${lines.join('\n')}\n`)) await Promise.race([once(child.stdin, 'drain'), ended]);
  }
  child.stdin.end();
  const code = await ended;
  if (code !== 0) throw new Error(`the import ended with ${code}: ${said}`);
}
