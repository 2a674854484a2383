//! A page of somebody else, on another port of this machine, which tries what pages of strangers can try.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';

export interface Stranger {
  port: number;
  /** What each request to it came with, so that it is seen what a browser tells strangers. */
  heard: { url: string; headers: IncomingHttpHeaders }[];
  stop(): Promise<void>;
}

/** Serves an empty page under every path. */
export async function startStranger(): Promise<Stranger> {
  const heard: Stranger['heard'] = [];
  const server = createServer((request, response) => {
    heard.push({ url: request.url ?? '', headers: request.headers });
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<!doctype html><title>stranger</title><body>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One request of a script. */
export interface Try {
  method: string;
  path: string;
  mode: 'cors' | 'no-cors';
  credentials: 'include' | 'omit';
  headers?: Record<string, string>;
  body?: string;
}

const FORM = 'application/x-www-form-urlencoded';

/** Every way in which a script asks for what matters: with and without the cookie, in sight and blindly, simple and not. */
export function tries(): Try[] {
  const asked: Pick<Try, 'method' | 'path' | 'headers' | 'body'>[] = [
    { method: 'GET', path: '/_explorer/' },
    { method: 'GET', path: '/_explorer/session' },
    { method: 'GET', path: '/_explorer/rest/dbs' },
    { method: 'GET', path: '/_explorer/rest/dbs', headers: { 'x-armilla-csrf': 'guessed' } },
    { method: 'POST', path: '/_explorer/session', headers: { 'content-type': 'text/plain' }, body: '{}' },
    { method: 'POST', path: '/_explorer/session', headers: { 'content-type': 'application/json' }, body: '{}' },
    { method: 'DELETE', path: '/_explorer/session' },
    { method: 'POST', path: '/_explorer/rest/dbs', headers: { 'content-type': 'text/plain' }, body: '{"id":"stranger"}' },
    { method: 'POST', path: '/_explorer/rest/dbs', headers: { 'content-type': FORM }, body: '{"id":"stranger"}' },
    { method: 'POST', path: '/_explorer/rest/dbs', headers: { 'content-type': 'application/json' }, body: '{"id":"stranger"}' },
    { method: 'DELETE', path: '/_explorer/rest/dbs/kept' },
    { method: 'POST', path: '/_explorer/mongo', body: 'frame' },
    { method: 'POST', path: '/_explorer/gremlin', headers: { 'content-type': 'text/plain' }, body: '{"gremlin":"g.V()"}' },
    { method: 'POST', path: '/_explorer/table/Tables', headers: { 'content-type': 'text/plain' }, body: '{"TableName":"t"}' },
  ];
  return asked.flatMap((one) =>
    (['cors', 'no-cors'] as const).flatMap((mode) => (['include', 'omit'] as const).map((credentials) => ({ ...one, mode, credentials }))),
  );
}

/** Sends them from a page. Returns those of which anything at all was seen: a status, a header, a text. */
export function seenOf(page: Page, base: string, all: readonly Try[]): Promise<string[]> {
  return page.evaluate(
    async ([origin, list]) => {
      const seen: string[] = [];
      for (const one of list) {
        const { path, ...init } = one;
        try {
          const answer = await fetch(origin + path, init);
          const text = await answer.text();
          if (answer.type !== 'opaque' || answer.status !== 0 || text !== '') {
            seen.push(`${JSON.stringify(one)}: ${answer.type} ${answer.status} ${text}`);
          }
        } catch {
          // Refused by the browser, or by the server in words that the browser does not hand on.
        }
      }
      return seen;
    },
    [base, all] as const,
  );
}

/** Embeds addresses of the server as a page can embed what is not its own. Returns those that became anything. */
export function embeddedOf(page: Page, base: string, asset: string): Promise<string[]> {
  return page.evaluate(
    async ([origin, file]) => {
      const got: string[] = [];
      const outcome = (element: HTMLElement) =>
        new Promise<string>((resolve) => {
          element.onload = () => resolve('load');
          element.onerror = () => resolve('error');
          setTimeout(() => resolve('nothing'), 3_000);
          document.body.append(element);
        });
      const made = <N extends keyof HTMLElementTagNameMap>(name: N, set: Partial<HTMLElementTagNameMap[N]>) =>
        Object.assign(document.createElement(name), set);
      for (const path of [file, '/_explorer/', '/_explorer/session', '/_explorer/rest/dbs']) {
        const src = origin + path;
        for (const element of [
          made('img', { src }),
          made('script', { src }),
          made('script', { src, type: 'module' }),
          made('link', { href: src, rel: 'stylesheet' }),
        ]) {
          const told = await outcome(element);
          if (told === 'load') got.push(`${element.tagName} ${path}`);
        }
        for (const frame of [made('iframe', { src }), made('object', { data: src })]) {
          await outcome(frame);
          // Frames say that they are loaded whatever is in them; what matters is whether they can be looked into.
          const inside = frame.contentDocument;
          if (inside !== null && inside.URL !== 'about:blank') got.push(`${frame.tagName} ${path}`);
        }
      }
      return got;
    },
    [base, asset] as const,
  );
}

/** Sends forms, which need nobody's consent. */
export async function sendForms(page: Page, base: string): Promise<void> {
  await page.evaluate(async (origin) => {
    const bodies = [
      { enctype: 'text/plain', name: '{"id":"stranger","x":"', value: '"}' },
      { enctype: 'text/plain', name: '{}//', value: '' },
      { enctype: 'application/x-www-form-urlencoded', name: 'id', value: 'stranger' },
      { enctype: 'multipart/form-data', name: 'id', value: 'stranger' },
    ];
    for (const path of ['/_explorer/session', '/_explorer/rest/dbs', '/_explorer/gremlin', '/_explorer/mongo']) {
      for (const { enctype, name, value } of bodies) {
        const frame = document.createElement('iframe');
        frame.name = `frame-${Math.random()}`;
        const form = Object.assign(document.createElement('form'), { method: 'post', action: origin + path, enctype, target: frame.name });
        form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
        document.body.append(frame, form);
        const answered = new Promise<void>((resolve) => {
          frame.onload = () => resolve();
          setTimeout(resolve, 1_000);
        });
        form.submit();
        await answered;
        if (frame.contentDocument !== null && frame.contentDocument.URL !== 'about:blank') throw new Error(`seen: ${path}`);
        frame.remove();
      }
    }
  }, base);
}
