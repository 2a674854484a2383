//! What pages of strangers, and code that got into the page, cannot do. Against the program itself: its headers are what is tried.

import { type Browser, type BrowserContext, chromium } from '@playwright/test';

import { Account, expect, test, type Page } from './support/fixture';
import { startServer, type Server } from './support/server';
import { embeddedOf, seenOf, sendForms, startStranger, tries, type Stranger } from './support/stranger';

const KEY = Buffer.from('another key of these tests alone, and it is sixty-four bytes long').toString('base64');

/** The server at a name instead of an address: strangers on the same name are of the same site. */
const named = (server: Server, host = 'localhost') => `http://${host}:${new URL(server.url).port}`;

async function signedIn(browser: Browser, base: string): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${base}/_explorer/`);
  await expect(page.getByText('Full access')).toBeVisible();
  return { context, page };
}

/** Who is signed in still is, by the same session, and nothing came or went. */
async function expectUntouched(page: Page, before: string): Promise<void> {
  expect(await stateOf(page)).toBe(before);
}

function stateOf(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const token = localStorage.getItem('armilla.session') ?? '';
    const headers = { 'x-armilla-csrf': token, 'x-ms-version': '2020-07-15' };
    const session = (await (await fetch('/_explorer/session', { headers })).json()) as { state: string; csrf: string };
    const list = (await (await fetch('/_explorer/rest/dbs', { headers })).json()) as { Databases: { id: string }[] };
    return JSON.stringify([session.state, session.csrf, list.Databases.map((one) => one.id)]);
  });
}

test.describe('a page of another origin', () => {
  let stranger: Stranger;
  test.beforeAll(async () => {
    stranger = await startStranger();
  });
  test.afterAll(() => stranger.stop());

  for (const args of [[], ['--allowed-origins', '*']]) {
    test(`sees nothing and changes nothing${args.length > 0 ? ', though the APIs are open to every page' : ''}`, async ({ browser }) => {
      const server = await startServer(args);
      try {
        await new Account(server.url).database('kept');
        const base = named(server);
        const { context, page } = await signedIn(browser, base);
        const before = await stateOf(page);
        expect(before).toContain('kept');
        const asset = (await page.locator('link[rel=stylesheet]').first().getAttribute('href')) ?? '';
        // Another port is the same site, whose cookies browsers send along; another name is another site.
        for (const host of ['localhost', '127.0.0.1']) {
          const evil = await context.newPage();
          await evil.goto(`http://${host}:${stranger.port}/`);
          expect(await seenOf(evil, base, tries()), host).toEqual([]);
          await sendForms(evil, base);
          expect(await embeddedOf(evil, base, asset), host).toEqual([]);
          expect(await evil.evaluate(() => document.cookie)).toBe('');
          await expectUntouched(page, before);
          await evil.close();
        }
        await context.close();
      } finally {
        await server.stop();
      }
    });
  }

  test('is left without a hold on a window that it opened, and frames nothing', async ({ browser, server }) => {
    const base = named(server);
    const { context } = await signedIn(browser, base);
    const evil = await context.newPage();
    await evil.goto(`http://localhost:${stranger.port}/`);
    const [opened] = await Promise.all([
      context.waitForEvent('page'),
      evil.evaluate((url) => void Object.assign(window, { opened: window.open(url) }), `${base}/_explorer/`),
    ]);
    await expect(opened.getByText('Full access')).toBeVisible();
    expect(await opened.evaluate(() => window.opener === null)).toBe(true);
    await expect.poll(() => evil.evaluate(() => (window as unknown as { opened: Window }).opened.closed)).toBe(true);
    await evil.evaluate((url) => document.body.append(Object.assign(document.createElement('iframe'), { src: url })), `${base}/_explorer/`);
    await expect.poll(() => evil.frames().length).toBe(2);
    await expect.poll(() => evil.frames()[1]?.url()).toMatch(/^chrome-error:/);
    await context.close();
  });

  test('in a frame without an origin, it is a stranger, too', async ({ browser, server }) => {
    const base = named(server);
    const { context, page } = await signedIn(browser, base);
    const before = await stateOf(page);
    const evil = await context.newPage();
    await evil.goto(`http://localhost:${stranger.port}/`);
    await evil.evaluate(() => {
      const frame = document.createElement('iframe');
      frame.setAttribute('sandbox', 'allow-scripts');
      frame.src = 'data:text/html,<title>nobody</title>';
      document.body.append(frame);
    });
    await expect.poll(() => evil.frames().length).toBe(2);
    const inner = evil.frames()[1];
    if (!inner) throw new Error('the frame is not there');
    const seen = await inner.evaluate(async (url) => fetch(url, { credentials: 'include' }).then((answer) => answer.text(), () => 'refused'), `${base}/_explorer/session`);
    expect(seen).toBe('refused');
    await expectUntouched(page, before);
    await context.close();
  });
});

test('a name of a stranger that leads to this machine opens nothing', async ({ server, launchOptions }) => {
  const { port } = new URL(server.url);
  const mine = await chromium.launch({
    ...launchOptions,
    args: [...(launchOptions.args ?? []), '--host-resolver-rules=MAP evil.example 127.0.0.1'],
  });
  try {
    const page = await mine.newPage();
    const answer = await page.goto(`http://evil.example:${port}/_explorer/`);
    expect(answer?.status()).toBe(403);
    expect(await answer?.text()).toContain('evil.example');
    // For the browser, a page that the name led to before is of the same origin as the server now.
    const seen = await page.evaluate(async () => {
      const ask = async (path: string, init?: RequestInit) => (await fetch(path, init)).status;
      return [
        await ask('/_explorer/session'),
        await ask('/_explorer/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }),
        await ask('/_explorer/rest/dbs'),
        await ask('/dbs'),
      ];
    });
    expect(seen).toEqual([403, 403, 403, 403]);
  } finally {
    await mine.close();
  }
});

test.describe('with a key of its own', () => {
  let server: Server;
  test.beforeAll(async () => {
    server = await startServer(['--key', KEY]);
  });
  test.afterAll(() => server.stop());

  test('nothing works without a session', async ({ page }) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${server.url}/_explorer/#/db/d/c/c/items`);
    await expect(page.getByLabel('Key of the account or resource token')).toBeVisible();
    expect(asked.filter((path) => /^\/_explorer\/(rest|table|gremlin|mongo)/.test(path))).toEqual([]);
    const answers = await page.evaluate(async () => {
      const told: string[] = [];
      const ask = async (method: string, path: string, headers: Record<string, string> = {}, body: string | null = null) => {
        const answer = await fetch(`/_explorer${path}`, { method, headers, body });
        told.push(`${method} ${path} ${answer.status} ${answer.headers.get('set-cookie') ?? ''}`.trim());
      };
      for (const headers of [{}, { 'x-armilla-csrf': '' }, { 'x-armilla-csrf': 'guessed' }] as Record<string, string>[]) {
        await ask('GET', '/rest/dbs', headers);
        await ask('GET', '/rest/_armilla/partitions', headers);
        await ask('POST', '/rest/dbs', headers, '{"id":"d"}');
        await ask('GET', '/table/Tables', headers);
        await ask('POST', '/gremlin', headers, '{"gremlin":"g.V()"}');
        await ask('POST', '/mongo', headers, 'frame');
        await ask('DELETE', '/session', headers);
      }
      for (const body of ['{}', '{"key":""}', '{"key":"AAAA"}', '{"token":"type=resource"}']) {
        await ask('POST', '/session', { 'content-type': 'application/json' }, body);
      }
      return told;
    });
    expect(answers.filter((line) => !/ 401$/.test(line))).toEqual([]);
    expect(await page.context().cookies()).toEqual([]);
  });

  test('the cookie, which programs on other ports are sent, opens nothing by itself', async ({ browser }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/_explorer/`);
    await page.getByLabel('Key of the account or resource token').fill(KEY);
    await page.keyboard.press('Enter');
    await expect(page.getByText('Full access')).toBeVisible();
    const [cookie] = await context.cookies();
    const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
    const told = (await (await fetch(`${server.url}/_explorer/session`, { headers })).json()) as { state: string; csrf: null };
    expect([told.state, told.csrf]).toEqual(['needed', null]);
    expect((await fetch(`${server.url}/_explorer/rest/dbs`, { headers })).status).toBe(403);
    // Who has it by right stays signed in, in another tab, and when the page is loaded again.
    const second = await context.newPage();
    await second.goto(`${server.url}/_explorer/`);
    await expect(second.getByText('Full access')).toBeVisible();
    await page.reload();
    await expect(page.getByText('Full access')).toBeVisible();
    await context.close();
  });

  test('scripts find neither the cookie nor the key, wherever they look', async ({ browser }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/_explorer/`);
    await page.getByLabel('Key of the account or resource token').fill(KEY);
    await page.keyboard.press('Enter');
    await expect(page.getByText('Full access')).toBeVisible();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/_explorer/' });
    const found = await page.evaluate(() => {
      const kept = [localStorage, sessionStorage].flatMap((store) => Object.entries({ ...store }).flat());
      const fields = [...document.querySelectorAll('input, textarea')].map((field) => (field as HTMLInputElement).value);
      return [document.cookie, location.href, JSON.stringify(history.state), document.documentElement.outerHTML, ...kept, ...fields].join('\n');
    });
    expect(found).not.toContain(KEY);
    expect(found).not.toContain(cookie?.value);
    // And in all that the page's scripts could reach, as it lies in the memory of the browser.
    const devtools = await context.newCDPSession(page);
    let heap = '';
    devtools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => (heap += chunk));
    await devtools.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
    expect(heap.length).toBeGreaterThan(100_000);
    expect(heap.includes(KEY), 'the key in the memory of the page').toBe(false);
    expect(heap.includes(cookie?.value ?? '-'), 'the cookie in the memory of the page').toBe(false);
    await context.close();
  });
});

test('what gets into the page does not run, and nothing leaves it', async ({ browser, server }) => {
  const { context, page } = await signedIn(browser, server.url);
  const told = await page.evaluate(async () => {
    const stopped: string[] = [];
    document.addEventListener('securitypolicyviolation', (event) => stopped.push(event.effectiveDirective));
    const ran: string[] = [];
    Object.assign(window, { ran: (what: string) => ran.push(what) });
    const add = <N extends keyof HTMLElementTagNameMap>(name: N, set: Partial<HTMLElementTagNameMap[N]>) => {
      const element = Object.assign(document.createElement(name), set);
      document.body.append(element);
      return element;
    };
    add('script', { textContent: "ran('inline script')" });
    add('script', { src: "data:text/javascript,ran('script of data')" });
    add('script', { src: URL.createObjectURL(new Blob(["ran('script of a blob')"])) });
    add('style', { textContent: 'body { outline: 7px solid red }' });
    add('div', { innerHTML: '<p style="outline: 7px solid red" id="painted">x</p><img src="x:" onerror="ran(\'handler\')">' });
    add('iframe', { srcdoc: "<script>parent.ran('frame')</script>" });
    add('iframe', { src: 'data:text/html,frame' });
    add('img', { src: 'http://stranger.example/' });
    add('object', { data: 'data:text/html,object' });
    document.head.append(Object.assign(document.createElement('base'), { href: 'http://stranger.example/' }));
    const form = add('form', { action: 'http://stranger.example/', method: 'post' });
    form.submit();
    try {
      new Worker(URL.createObjectURL(new Blob(["postMessage('worker')"]))).onmessage = () => ran.push('worker');
    } catch {
      // Some browsers throw, others tell by an event.
    }
    try {
      setTimeout("ran('text as code')" as unknown as () => void, 0);
    } catch {
      // The same.
    }
    const left = await fetch('http://stranger.example/', { mode: 'no-cors' }).then(() => true, () => false);
    const socket = await new Promise<boolean>((resolve) => {
      try {
        const made = new WebSocket('ws://stranger.example/');
        made.onerror = () => resolve(false);
        made.onopen = () => resolve(true);
      } catch {
        resolve(false);
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const outlines = [document.body, document.getElementById('painted')].map((one) => (one ? getComputedStyle(one).outlineStyle : 'lost'));
    return { ran, left, socket, outlines, base: document.baseURI, here: location.href, stopped: [...new Set(stopped)].sort() };
  });
  expect(told.ran).toEqual([]);
  expect(told.left).toBe(false);
  expect(told.socket).toBe(false);
  expect(told.outlines).toEqual(['none', 'none']);
  expect(told.base).toContain(server.url);
  for (const directive of ['script-src-elem', 'script-src-attr', 'style-src-elem', 'style-src-attr', 'connect-src', 'frame-src', 'img-src', 'base-uri', 'form-action']) {
    expect(told.stopped).toContain(directive);
  }
  expect(told.here).toContain(`${server.url}/_explorer/`);
  await context.close();
});
