//! A server for tests: the program on a folder and ports of its own.

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Which program: the one that was built, unless the environment names another. */
export const PROGRAM = process.env['ARMILLA_BIN'] ?? new URL('../../../target/release/armilla', import.meta.url).pathname;

const START_MS = 30_000;

export interface Server {
  /** Like http://127.0.0.1:12345. */
  url: string;
  /** Its process, where it is one of ours. */
  pid?: number | undefined;
  stop(): Promise<void>;
}

const OTHER_PORTS = ['--table-port', '--mongo-port', '--gremlin-port'];

/** Starts the program, and waits until it answers. The APIs besides SQL are off unless `args` have their ports. */
export async function startServer(args: readonly string[] = []): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'armilla-explorer-'));
  const off = OTHER_PORTS.filter((name) => !args.includes(name)).flatMap((name) => [name, 'off']);
  const ports = ['--port', '0', ...off];
  const child = spawn(PROGRAM, ['--data-dir', folder, ...ports, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const port = await ready(child);
    return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`the server was not ready in time: ${said}`)), START_MS);
    const read = (part: Buffer) => {
      said += part.toString();
      const port = /armilla ready: sql=https?:\/\/[^:]+:(\d+)/.exec(said)?.[1];
      if (!port) return;
      clearTimeout(timer);
      resolve(port);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', (part: Buffer) => {
      said += part.toString();
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the server ended with ${code}: ${said}`));
    });
  });
}
