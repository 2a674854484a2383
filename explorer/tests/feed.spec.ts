//! Following the changes of a container.

import { test, expect, expectAccessible, shoot } from './support/fixture';
import { hold } from './support/hold';

const HOSTILE = '<img src=x onerror=alert(1)>';

test('changes appear as they are made, with what is new', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await account.item(database, 'orders', ['a'], { id: 'old', pk: 'a', total: 1 });
  await page.goto(account.url(`#/db/${database}/c/orders/feed`));
  await page.getByRole('button', { name: 'Follow' }).click();
  await expect(page.getByText(/^Following: 0 changes in 2 arcs/)).toBeVisible();

  await account.item(database, 'orders', ['a'], { id: HOSTILE, pk: 'a', total: 12, lines: [1, 2] });
  const changes = page.getByRole('list', { name: 'Changes, the newest first' }).getByRole('listitem');
  await expect(changes).toHaveCount(1);
  await expect(changes.first()).toContainText(HOSTILE);
  await account.item(database, 'orders', ['a'], { id: HOSTILE, pk: 'a', total: 15, lines: [1, 2, 3], note: HOSTILE });
  await expect(changes).toHaveCount(2);
  await expect(changes.first()).toContainText('changed total, lines, note');
  await changes.first().getByRole('button').first().click();
  const text = changes.first().locator('.feed-text');
  await expect(text.locator('del').first()).toContainText('"total": 12');
  await expect(text.locator('ins').first()).toContainText('"total": 15');
  await expect(text).toContainText(`"note": "${HOSTILE}"`);

  await page.getByRole('button', { name: 'Pause' }).click();
  await account.item(database, 'orders', ['b'], { id: 'later', pk: 'b' });
  await page.waitForTimeout(2_200);
  await expect(changes).toHaveCount(2);
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect(changes).toHaveCount(3);
  await page.getByText('Positions').click();
  await expect(page.getByRole('region', { name: 'Positions' }).getByRole('row')).toHaveCount(3);
  await expectAccessible(page);
  await shoot(page, 'feed');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByText(/^Stopped/)).toBeVisible();
});

test('long integers that differ in their last digit are told apart', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await page.goto(account.url(`#/db/${database}/c/orders/feed`));
  await page.getByRole('button', { name: 'Follow' }).click();
  await expect(page.getByText(/^Following: 0 changes/)).toBeVisible();
  const changes = page.getByRole('list', { name: 'Changes, the newest first' }).getByRole('listitem');
  await account.item(database, 'orders', ['a'], '{"id":"1","pk":"a","n":9007199254740993,"same":[9007199254740993]}');
  await expect(changes).toHaveCount(1);
  await account.item(database, 'orders', ['a'], '{"id":"1","pk":"a","n":9007199254740995,"same":[9007199254740993]}');
  await expect(changes).toHaveCount(2);
  await expect(changes.first().locator('.feed-what')).toHaveText('changed n');
  await changes.first().getByRole('button').first().click();
  const text = changes.first().locator('.feed-text');
  await expect(text.locator('del')).toContainText('"n": 9007199254740993');
  await expect(text.locator('ins')).toContainText('"n": 9007199254740995');
});

test('following that is given up before its first answer does not begin', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await page.goto(account.url(`#/db/${database}/c/orders/feed`));
  let asked = 0;
  page.on('request', (request) => {
    if (request.headers()['a-im']) asked += 1;
  });
  const follow = page.getByRole('button', { name: 'Follow' });
  const afterStop = await hold(page, 'GET', '**/pkranges');
  await follow.click();
  await page.getByRole('button', { name: 'Stop' }).click();
  afterStop();
  await page.waitForTimeout(1_500);
  expect(asked).toBe(0);

  const afterLeaving = await hold(page, 'GET', '**/pkranges');
  await follow.click();
  await page.getByRole('navigation', { name: 'Views of the container' }).getByRole('link', { name: 'Settings', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Follow' })).toBeHidden();
  afterLeaving();
  await page.waitForTimeout(1_500);
  expect(asked).toBe(0);
});

test('from the beginning every item comes', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders');
  await account.items(database, 'orders', Array.from({ length: 70 }, (_, n) => ({ id: `i${n}`, pk: n })));
  await page.goto(account.url(`#/db/${database}/c/orders/feed`));
  await expect(page.getByText('which this one has not')).toBeVisible();
  await page.getByLabel('From').selectOption('beginning');
  await page.getByRole('button', { name: 'Follow' }).click();
  await expect(page.getByText(/^Following: 70 changes/)).toBeVisible();
  // Who has everything asks each range once a second.
  let asked = 0;
  page.on('request', (request) => {
    if (request.headers()['a-im']) asked += 1;
  });
  await page.waitForTimeout(3_000);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThanOrEqual(2 * 3);
});

test('all versions and deletes, through a split', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'orders', ['/pk'], { changeFeedPolicy: { retentionDuration: 60 } }, 1_000);
  await page.goto(account.url(`#/db/${database}/c/orders/feed`));
  await page.getByLabel('What comes').selectOption('all-versions');
  await expect(page.getByText('Versions are kept for 1 h')).toBeVisible();
  await page.getByRole('button', { name: 'Follow' }).click();
  await expect(page.getByText(/^Following: 0 changes/)).toBeVisible();
  await account.item(database, 'orders', ['a'], { id: '1', pk: 'a', v: 1 });
  await account.item(database, 'orders', ['a'], { id: '1', pk: 'a', v: 2 });
  const changes = page.getByRole('list', { name: 'Changes, the newest first' }).getByRole('listitem');
  await expect(changes).toHaveCount(2);
  await account.ask('POST', `/_armilla/dbs/${database}/colls/orders/split`, { range: '0' });
  await expect(async () => {
    expect((await account.ask('GET', `/dbs/${database}/colls/orders/pkranges`)).text).toContain('"id":"2"');
  }).toPass();
  await account.ask('DELETE', `/dbs/${database}/colls/orders/docs/1`, undefined, { 'x-ms-documentdb-partitionkey': '["a"]' });
  await expect(changes).toHaveCount(3);
  await expect(changes.locator('.feed-operation')).toHaveText(['delete', 'replace', 'create']);
  await changes.first().getByRole('button').first().click();
  await expect(changes.first().locator('del').first()).toBeVisible();
});
