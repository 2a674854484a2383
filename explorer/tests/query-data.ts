//! What the tests of queries ask: orders of six cities, over several physical partitions.

import type { Account, Page } from './support/fixture';

export const CITIES = [['Bonn', 7.1, 50.73], ['Oslo', 10.75, 59.91], ['Lyon', 4.84, 45.76], ['Porto', -8.61, 41.15], ['Graz', 15.44, 47.07], ['Turku', 22.27, 60.45]] as const;

export const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>';

/** Makes a container of 180 orders with two physical partitions or more, and returns where it is. */
export async function makeOrders(account: Account): Promise<{ database: string; container: string }> {
  const database = await account.database(account.name('query'));
  await account.container(database, 'orders', ['/pk'], {}, 20_000);
  const items = Array.from({ length: 180 }, (_, n) => {
    const [pk, longitude, latitude] = CITIES[n % CITIES.length] ?? CITIES[0];
    return {
      id: String(n),
      pk,
      total: n * 10,
      status: ['open', 'paid', 'sent'][n % 3],
      date: `2026-01-${String((n % 28) + 1).padStart(2, '0')}T00:00:00.0000000Z`,
      tags: ['a', 'b'].slice(0, n % 3),
      customer: { name: n === 5 ? HOSTILE : `Customer ${n}`, 'e-mail': `c${n}@example.org` },
      place: { type: 'Point', coordinates: [longitude + n / 1000, latitude] },
    };
  });
  await account.items(database, 'orders', items);
  return { database, container: 'orders' };
}

/** Opens the query view and waits for the editor. */
export async function openQuery(page: Page, account: Account, { database, container }: { database: string; container: string }): Promise<void> {
  await page.goto(account.url(`#/db/${encodeURIComponent(database)}/c/${encodeURIComponent(container)}/query`));
  await page.locator('.cm-content').waitFor();
}

/** Types a query in place of what is in the editor, without taking completions. */
export async function write(page: Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Query', exact: true });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  await editor.evaluate((element, value) => {
    const data = new DataTransfer();
    data.setData('text/plain', value);
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
}

/** Runs a query by the keys, and waits until it has an answer. */
export async function run(page: Page, text: string): Promise<void> {
  await write(page, text);
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByRole('region', { name: 'Results' }).waitFor();
  await page.getByRole('button', { name: /^Run/ }).waitFor();
}
