//! Tests of the APIs besides SQL: a server that has them all, and requests to them.

import { BSON, type Document } from 'bson';

import { startAccount, test as base } from './fixture';
import type { Server } from './server';

const PORTS = ['--table-port', '0', '--mongo-port', '0', '--gremlin-port', '0'];

export const test = base.extend<object, { server: Server; apis: Apis }>({
  server: [
    async ({}, use) => {
      const server = await startAccount(PORTS);
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  apis: [
    async ({ server }, use) => {
      await use(new Apis(server.url));
    },
    { scope: 'worker' },
  ],
});

/** Asks the other APIs without a browser. */
export class Apis {
  private readonly base: string;
  private session: Promise<Record<string, string>> | null = null;

  constructor(base: string) {
    this.base = base;
  }

  private async ask(path: string, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>): Promise<Response> {
    const mine = await (this.session ??= this.signIn());
    const response = await fetch(`${this.base}/_explorer/${path}`, { method: 'POST', headers: { ...mine, ...headers }, body });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  private async signIn(): Promise<Record<string, string>> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.base}/_explorer/session`, { method: 'POST', headers, body: '{}' });
    const { csrf } = (await response.json()) as { csrf: string };
    return { cookie: (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '', 'x-armilla-csrf': csrf };
  }

  /** Runs a command of the MongoDB API. */
  async mongo(database: string, command: Document): Promise<Document> {
    const document = BSON.serialize({ ...command, $db: database });
    const message = new Uint8Array(21 + document.length);
    const head = new DataView(message.buffer);
    head.setInt32(0, message.length, true);
    head.setInt32(12, 2013, true);
    message.set(document, 21);
    const response = await this.ask('mongo', {}, message);
    const reply = BSON.deserialize(new Uint8Array(await response.arrayBuffer()).subarray(21));
    if (reply['ok'] !== 1) throw new Error(String(reply['errmsg']));
    return reply;
  }

  /** Runs a script of the Gremlin API. */
  async gremlin(database: string, container: string, gremlin: string, bindings: object = {}): Promise<unknown[]> {
    const headers = { accept: 'application/json', 'content-type': 'application/json', 'x-armilla-graph': `/dbs/${database}/colls/${container}` };
    const response = await this.ask('gremlin', headers, JSON.stringify({ gremlin, bindings }));
    return ((await response.json()) as { result: { data: unknown[] } }).result.data;
  }

  /** Makes a table, or an entity of one. */
  async table(path: string, body: object): Promise<void> {
    await this.ask(`table/${path}`, { 'content-type': 'application/json', accept: 'application/json;odata=nometadata', 'x-ms-offer-throughput': '10000' }, JSON.stringify(body));
  }
}

