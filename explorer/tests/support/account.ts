//! An account for tests: filled by way of a session, as the page does it.

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  json<T = Record<string, unknown>>(): T;
}

let next = 0;

/** Asks a server without a browser. */
export class Account {
  readonly base: string;
  private session: Promise<{ cookie: string; csrf: string }> | null = null;
  private readonly credential: object;

  constructor(base: string, credential: object = {}) {
    this.base = base;
    this.credential = credential;
  }

  /** Returns the address of a place of the page, such as '#/db/d/c/c/items'. */
  url(fragment = ''): string {
    return `${this.base}/_explorer/${fragment}`;
  }

  /** Returns a name that no other test has. */
  name(begin = 'db'): string {
    next += 1;
    return `${begin}-${process.pid}-${next}`;
  }

  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const { cookie, csrf } = await (this.session ??= this.signIn());
    const response = await fetch(`${this.base}/_explorer/rest${path}`, {
      method,
      headers: { cookie, 'x-armilla-csrf': csrf, 'x-ms-version': '2020-07-15', 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T };
  }

  private async signIn(): Promise<{ cookie: string; csrf: string }> {
    const response = await fetch(`${this.base}/_explorer/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(this.credential),
    });
    if (!response.ok) throw new Error(`signing in: ${response.status} ${await response.text()}`);
    const said = (await response.json()) as { csrf: string };
    const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    return { cookie, csrf: said.csrf };
  }

  private async must(reply: Promise<Reply>): Promise<Reply> {
    const got = await reply;
    if (got.status >= 400) throw new Error(`${got.status}: ${got.text}`);
    return got;
  }

  /** Makes a database with a new name, and returns the name. */
  async database(name = this.name(), throughput?: number): Promise<string> {
    const headers: Record<string, string> = throughput ? { 'x-ms-offer-throughput': String(throughput) } : {};
    await this.must(this.ask('POST', '/dbs', { id: name }, headers));
    return name;
  }

  /** Makes a container; `paths` are those of its partition key. */
  async container(database: string, name: string, paths: string[] = ['/pk'], more: object = {}, throughput = 10_000): Promise<void> {
    const partitionKey = { paths, kind: paths.length > 1 ? 'MultiHash' : 'Hash', version: 2 };
    const headers = throughput ? { 'x-ms-offer-throughput': String(throughput) } : {};
    await this.must(this.ask('POST', `/dbs/${encodeURIComponent(database)}/colls`, { id: name, partitionKey, ...more }, headers as Record<string, string>));
  }

  /** Writes an item under its partition key. */
  async item(database: string, container: string, key: unknown[], item: object | string): Promise<void> {
    const path = `/dbs/${encodeURIComponent(database)}/colls/${encodeURIComponent(container)}/docs`;
    const headers = { 'x-ms-documentdb-partitionkey': JSON.stringify(key), 'x-ms-documentdb-is-upsert': 'true' };
    await this.must(this.ask('POST', path, item, headers));
  }

  /** Writes many items, some at a time; each names its partition key at /pk. */
  async items(database: string, container: string, items: readonly { pk: unknown; [member: string]: unknown }[]): Promise<void> {
    for (let at = 0; at < items.length; at += 40) {
      await Promise.all(items.slice(at, at + 40).map((item) => this.item(database, container, [item.pk], item)));
    }
  }

  /** Asks a query of all partitions, and returns the rows of the first page. */
  async query<R = unknown>(database: string, container: string, query: string): Promise<R[]> {
    const path = `/dbs/${encodeURIComponent(database)}/colls/${encodeURIComponent(container)}/docs`;
    const headers = {
      'content-type': 'application/query+json',
      'x-ms-documentdb-isquery': 'true',
      'x-ms-documentdb-query-enablecrosspartition': 'true',
    };
    const reply = await this.must(this.ask('POST', path, { query, parameters: [] }, headers));
    return reply.json<{ Documents: R[] }>().Documents;
  }
}
