//! The page as it lies in dist, in front of a server that was built with an older one: with the same headers as the program's.

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

import type { Server } from './server';

/** What the program itself answers below the page. */
const HANDED_ON = /^\/_explorer\/(?:rest\/|table\/|(?:session|mongo|gremlin)$)/;

const DIST = new URL('../../dist/', import.meta.url).pathname;

const KINDS: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Serves the page of dist, and hands everything else on. */
export async function servePage(behind: Server): Promise<Server> {
  const target = new URL(behind.url);
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const isPage = path.startsWith('/_explorer/') && !HANDED_ON.test(path);
    if (isPage) void file(path.slice('/_explorer/'.length), response);
    else handOn(target, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    pid: behind.pid,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await behind.stop();
    },
  };
}

async function file(path: string, response: ServerResponse): Promise<void> {
  const name = normalize(path || 'index.html');
  try {
    let content = await readFile(join(DIST, name));
    response.setHeader('content-type', KINDS[extname(name)] ?? 'application/octet-stream');
    if (name === 'index.html') {
      const nonce = randomBytes(16).toString('base64');
      content = Buffer.from(content.toString().replace('__NONCE__', nonce));
      response.setHeader(
        'content-security-policy',
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
    }
    response.end(content);
  } catch {
    response.writeHead(404).end();
  }
}

function handOn(target: URL, request: IncomingMessage, response: ServerResponse): void {
  const headers = { ...request.headers, host: target.host };
  for (const name of ['origin', 'referer', 'sec-fetch-site']) delete headers[name as keyof typeof headers];
  const out = ask({ host: target.hostname, port: target.port, method: request.method, path: request.url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  out.on('error', () => response.destroy());
  response.on('close', () => out.destroy());
  request.pipe(out);
}
