//! Much data, many containers, a slow server: the page stays as quick as it can be.

import { importItems } from './support/import';
import { Account, expect, startAccount, test, type Page } from './support/fixture';
import type { Server } from './support/server';

/** How many items the large container has. */
const ITEMS = Number(process.env['EXPLORER_ITEMS'] ?? 50_000);

/** Pages of the table that are scrolled through. */
const PAGES = Math.min(200, Math.round(ITEMS / 1_250));

const MEGABYTE = 1024 * 1024;

/** Figures for whoever runs it; nothing is compared with them. */
function tell(what: string, figures: Record<string, number | string>): void {
  console.log(`${what}: ${Object.entries(figures).map(([name, value]) => `${name} ${value}`).join(', ')}`);
}

/** What the scripts of the page hold in memory, after what they no longer need was let go. */
async function heapOf(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  await devtools.detach();
  return usedSize;
}

/** What no step may take, in milliseconds, on a machine that does other things meanwhile; on a quiet one all take much less. */
const SLOW = 4_000;

test.describe('with much in it', () => {
  let server: Server;
  let account: Account;
  test.beforeAll(async () => {
    test.setTimeout(60_000 + ITEMS);
    server = await startAccount(['--memory', '--throttle', 'off', '--durability', 'relaxed', '--sharing-containers-max', '300']);
    account = new Account(server.url);
  });
  test.afterAll(() => server.stop());

  test(`a container of ${ITEMS.toLocaleString('en')} items is looked through`, async ({ page }) => {
    test.setTimeout(60_000 + ITEMS);
    const item = (n: number) => ({ id: `i${n}`, pk: `k${n % 1_000}`, n, title: `Item number ${n}` });
    await importItems(server.url, 'large', 'items', ITEMS, item);
    const begun = Date.now();
    await page.goto(account.url('#/db/large/c/items/items'));
    await expect(page.getByRole('gridcell').first()).toBeVisible();
    const first = Date.now() - begun;
    expect(first).toBeLessThan(5_000);

    const table = page.getByRole('grid', { name: 'Items' });
    const status = page.getByText('more as you scroll');
    const before = await heapOf(page);
    const scrolling = Date.now();
    for (let pages = 1; pages < PAGES; pages += 1) {
      await expect(status).toContainText(`${(pages * 100).toLocaleString('en')} items`);
      await table.evaluate((element) => (element.scrollTop = element.scrollHeight));
    }
    await expect(status).toContainText(`${(PAGES * 100).toLocaleString('en')} items`);
    const perPage = (Date.now() - scrolling) / (PAGES - 1);
    expect(perPage).toBeLessThan(SLOW);
    expect(await page.getByRole('row').count()).toBeLessThan(80);
    const heap = await heapOf(page);
    expect(heap).toBeLessThan(100 * MEGABYTE);

    const looking = Date.now();
    await page.getByLabel('Filter: what stands behind WHERE').fill(`c.n = ${ITEMS - 1}`);
    await page.keyboard.press('Enter');
    await expect(page.getByText('1 match, all of them')).toBeVisible();
    const filtered = Date.now() - looking;
    // At once, though the table was scrolled far down when it had more rows.
    await expect(page.getByRole('gridcell', { name: `i${ITEMS - 1}`, exact: true })).toBeVisible({ timeout: 500 });
    await page.goto(account.url());
    await expect(page.getByLabel('Figures of the account')).toContainText(ITEMS.toLocaleString('en'));
    tell(`${ITEMS} items`, {
      'first rows (ms)': first,
      'each further page (ms)': Math.round(perPage),
      'rows loaded': PAGES * 100,
      'memory before and after (MB)': `${(before / MEGABYTE).toFixed(1)} ${(heap / MEGABYTE).toFixed(1)}`,
      'filter by one value (ms)': filtered,
    });
  });

  test('200 containers are found and walked by keys without waiting', async ({ page }) => {
    test.setTimeout(60_000);
    const database = await account.database('many', 20_000);
    for (let at = 0; at < 200; at += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, n) => account.container(database, `container-${at + n}`, ['/pk'], {}, 0)));
    }
    await page.goto(account.url(`#/db/${database}`));
    await expect(page.getByText('200 containers')).toBeVisible();
    const tree = page.getByRole('tree');
    const active = page.locator('.tree .line.active');
    const slowest: Record<string, number> = {};
    const within = async (what: string, act: () => Promise<void>) => {
      const begun = Date.now();
      await act();
      slowest[`${what} (ms)`] = Date.now() - begun;
      expect(Date.now() - begun, what).toBeLessThan(SLOW);
    };
    await tree.focus();
    await page.keyboard.press('Home');
    await within('to the end', async () => {
      await page.keyboard.press('End');
      await expect(active).toBeInViewport();
      await expect(active).not.toHaveText(/many/);
    });
    await within('to the beginning', async () => {
      await page.keyboard.press('Home');
      await expect(active).toBeInViewport();
    });
    await within('thirty lines down', async () => {
      for (let line = 0; line < 30; line += 1) await page.keyboard.press('ArrowDown');
      await expect(active).toBeInViewport();
    });
    await page.keyboard.press('Home');
    await within('by typing', async () => {
      await page.keyboard.type('container-17');
      await expect(active).toHaveText(/container-17/);
      await expect(active).toBeInViewport();
    });
    await within('filtered', async () => {
      await page.getByLabel('Filter by name').fill('container-199');
      await expect(tree.getByRole('treeitem', { name: 'container-199' })).toBeVisible();
      await expect(tree.getByRole('treeitem', { name: 'container-2', exact: true })).toHaveCount(0);
    });
    await within('opened', async () => {
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await expect(page).toHaveURL(/container-199\/items/);
    });
    await within('all again', async () => {
      await page.getByLabel('Filter by name').fill('');
      await expect(tree.getByRole('treeitem', { name: 'container-199', exact: true })).toBeInViewport();
    });
    // Who comes by a link sees where that is.
    await page.goto(account.url(`#/db/${database}/c/container-150/items`));
    await page.reload();
    await expect(tree.getByRole('treeitem', { name: 'container-150', exact: true })).toBeInViewport();
    tell('200 containers', slowest);
  });
});

test.describe('a slow server', () => {
  const DELAY_MS = 2_000;

  /** Delays every answer, and writes down what was sent. */
  async function slow(page: Page): Promise<string[]> {
    const sent: string[] = [];
    await page.route('**/_explorer/rest/**', async (route) => {
      const request = route.request();
      const isQuery = request.headers()['x-ms-documentdb-isquery'] !== undefined;
      sent.push(`${isQuery ? 'QUERY' : request.method()} ${new URL(request.url()).pathname.replace('/_explorer/rest', '')}`);
      await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
      // The page may have gone on meanwhile.
      await route.continue().catch(() => undefined);
    });
    return sent;
  }

  const writes = (sent: readonly string[]) => sent.filter((line) => /^(POST|PUT|PATCH|DELETE)/.test(line));

  test('says that it is busy, and writes once however often it is told', async ({ page, account }) => {
    const database = await account.database();
    await account.container(database, 'c');
    await account.item(database, 'c', ['a'], { id: 'one', pk: 'a' });
    const sent = await slow(page);
    await page.goto(account.url(`#/db/${database}/c/c/items`));
    await expect(page.locator('main .spinner, .items .spinner').first()).toBeVisible();
    await expect(page.getByRole('gridcell', { name: 'one' })).toBeVisible();
    await page.getByRole('button', { name: 'New item' }).click();
    sent.length = 0;
    const create = page.getByRole('button', { name: 'Create', exact: true });
    await create.dblclick();
    await expect(page.locator('.detail button[aria-busy=true]')).toBeDisabled();
    await page.keyboard.press('ControlOrMeta+s');
    await expect(page.getByText(/Created for/)).toBeVisible();
    expect(writes(sent)).toEqual([`POST /dbs/${database}/colls/c/docs`]);

    sent.length = 0;
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete item' }).dblclick();
    await expect(page.getByText(/The item is deleted/)).toBeVisible();
    expect(writes(sent)).toHaveLength(1);

    await page.goto(account.url('#/new-database'));
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`${database}-slow`);
    sent.length = 0;
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Create database' })).toHaveAttribute('aria-busy', 'true');
    await expect(page).toHaveURL(new RegExp(`#/db/${database}-slow$`));
    expect(writes(sent)).toEqual(['POST /dbs']);
  });

  test('reading is stopped, and goes on where it was', async ({ page, account }) => {
    const database = await account.database();
    await account.container(database, 'c');
    await account.items(database, 'c', Array.from({ length: 150 }, (_, n) => ({ id: `i-${n}`, pk: `k-${n % 5}` })));
    await page.goto(account.url(`#/db/${database}/c/c/items`));
    const status = page.getByText('more as you scroll');
    await expect(status).toContainText('100 items');
    const sent = await slow(page);
    await page.getByRole('grid', { name: 'Items' }).evaluate((element) => (element.scrollTop = element.scrollHeight));
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
    await expect(status).toContainText('100 items');
    expect(sent.filter((line) => line.startsWith('QUERY') || line.endsWith('/docs'))).toHaveLength(1);
    await page.getByRole('button', { name: 'Go on looking' }).or(page.getByRole('button', { name: 'Try again' })).click();
    await expect(page.getByText('150 items, all of them')).toBeVisible();
  });

  test('a view that is left is forgotten, and its answer shows nowhere', async ({ page, account }) => {
    const database = await account.database();
    for (const name of ['first', 'second']) {
      await account.container(database, name);
      await account.item(database, name, ['a'], { id: `in-${name}`, pk: 'a' });
    }
    await page.goto(account.url(`#/db/${database}/c/first/items`));
    await expect(page.getByRole('gridcell', { name: 'in-first' })).toBeVisible();
    await slow(page);
    await page.getByRole('button', { name: 'Load the items again' }).click();
    await page.goto(account.url(`#/db/${database}/c/second/items`));
    await expect(page.getByRole('gridcell', { name: 'in-second' })).toBeVisible();
    await page.waitForTimeout(DELAY_MS);
    await expect(page.getByRole('gridcell', { name: 'in-first' })).toHaveCount(0);
  });
});
