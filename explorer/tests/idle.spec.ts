//! A page that stands open: what it asks while somebody looks, and that it asks nothing while nobody does.

import { readFile } from 'node:fs/promises';

import { Account, expect, startAccount, test, watch, type Page } from './support/fixture';

const LOOK_MS = 5_000;
/** Longer than any view waits between two questions. */
const HIDDEN_MS = 6_000;
const IDLE_MS = 10_000;

/** How often the kernel counts a second of a process's work. */
const TICKS_A_SECOND = 100;

/** Whether the page is looked at can be said by the test: browsers without a screen show every page. */
function letHide(): void {
  let isHidden = false;
  Object.defineProperty(document, 'hidden', { get: () => isHidden });
  Object.defineProperty(document, 'visibilityState', { get: () => (isHidden ? 'hidden' : 'visible') });
  Object.assign(window, {
    hide(hidden: boolean) {
      isHidden = hidden;
      document.dispatchEvent(new Event('visibilitychange'));
    },
  });
}

const hide = (page: Page, hidden: boolean) => page.evaluate((value) => (window as unknown as { hide(hidden: boolean): void }).hide(value), hidden);

/** Writes down what a page asks of the server, by path. */
function count(page: Page): { asked: Map<string, number>; begin(): void } {
  const asked = new Map<string, number>();
  page.on('request', (request) => {
    const path = new URL(request.url()).pathname.replace(/^\/_explorer/, '');
    asked.set(path, (asked.get(path) ?? 0) + 1);
  });
  return { asked, begin: () => asked.clear() };
}

const total = (asked: ReadonlyMap<string, number>) => [...asked.values()].reduce((sum, one) => sum + one, 0);

/** Ranges of the container: its feed asks each. */
const RANGES = 2;

test('live views ask once a second at most, and nothing while they are hidden', async ({ context, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await account.items(database, 'c', Array.from({ length: 20 }, (_, n) => ({ id: `i${n}`, pk: n })));
  await context.addInitScript(letHide);
  const checks: (() => void)[] = [];
  const views = await Promise.all(
    [
      { name: '', most: 1, shown: 'Provisioned' },
      { name: 'partitions', most: 1, shown: 'The ring of hashed keys' },
      { name: 'throughput', most: 1, shown: 'Request units used' },
      { name: 'feed', most: RANGES, shown: `in ${RANGES} arcs` },
    ].map(async (view) => {
      const page = await context.newPage();
      checks.push(watch(page));
      const counted = count(page);
      await page.goto(account.url(view.name === '' ? '' : `#/db/${database}/c/c/${view.name}`));
      if (view.name === 'feed') await page.getByRole('button', { name: 'Follow' }).click();
      await expect(page.getByText(view.shown).first()).toBeVisible();
      return { ...view, page, counted };
    }),
  );
  const [first] = views;
  if (!first) throw new Error('there is a view');
  // What a view reads once, when it is opened.
  await first.page.waitForTimeout(1_500);

  for (const { counted } of views) counted.begin();
  await first.page.waitForTimeout(LOOK_MS);
  for (const { name, most, counted } of views) {
    const told = `${name || 'home'}: ${JSON.stringify([...counted.asked])}`;
    expect(total(counted.asked), told).toBeGreaterThan(0);
    // Each thing that a view shows; the feed asks for each range.
    expect(Math.max(...counted.asked.values()), told).toBeLessThanOrEqual((most * LOOK_MS) / 1_000);
    expect(total(counted.asked), told).toBeLessThanOrEqual((most * LOOK_MS) / 1_000 + 2);
  }

  await Promise.all(views.map(({ page }) => hide(page, true)));
  // What was on its way.
  await first.page.waitForTimeout(300);
  for (const { counted } of views) counted.begin();
  await first.page.waitForTimeout(HIDDEN_MS);
  for (const { name, counted } of views) expect([...counted.asked], `${name || 'home'}, hidden`).toEqual([]);

  // Shown again, they go on by themselves, though the home page takes its time.
  await Promise.all(views.map(({ page }) => hide(page, false)));
  for (const { name, counted } of views) {
    await expect.poll(() => total(counted.asked), { message: `${name || 'home'}, shown again` }).toBeGreaterThan(0);
  }
  for (const check of checks) check();
});

test('tabs that are opened at once, as a browser does that is started again, share a session', async ({ browser, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  for (let round = 0; round < 2; round += 1) {
    const context = await browser.newContext();
    const refused: string[] = [];
    context.on('response', (answer) => answer.status() === 403 && refused.push(answer.url()));
    const pages = await Promise.all(Array.from({ length: 5 }, () => context.newPage()));
    await Promise.all(pages.map((page) => page.goto(account.url(`#/db/${database}/c/c/settings`))));
    for (const page of pages) await expect(page.getByLabel('For all items')).toBeVisible();
    expect(refused).toEqual([]);
    await context.close();
  }
});

/** Seconds that a process has worked so far. */
async function workOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

for (const view of ['home', 'partitions']) {
  test(`the server rests while the view ${view} is looked at`, async ({ page }) => {
    test.skip(process.platform !== 'linux', 'the kernel tells what a process has worked in /proc');
    const server = await startAccount();
    try {
      const account = new Account(server.url);
      const database = await account.database();
      await account.container(database, 'c');
      await account.items(database, 'c', Array.from({ length: 50 }, (_, n) => ({ id: `i${n}`, pk: n })));
      await page.goto(account.url(view === 'home' ? '' : `#/db/${database}/c/c/${view}`));
      await expect(page.getByText(view === 'home' ? 'Provisioned' : 'The ring of hashed keys').first()).toBeVisible();
      await page.waitForTimeout(1_000);
      const pid = server.pid ?? 0;
      const before = await workOf(pid);
      await page.waitForTimeout(IDLE_MS);
      const worked = (await workOf(pid)) - before;
      console.log(`${view}: the server worked ${(worked * 1_000).toFixed(0)} ms in ${IDLE_MS / 1_000} s`);
      expect(worked).toBeLessThanOrEqual(IDLE_MS / 1_000 / 100);
    } finally {
      await page.goto('about:blank');
      await server.stop();
    }
  });
}
